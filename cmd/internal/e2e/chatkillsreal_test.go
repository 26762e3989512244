package e2e_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"terminalproxy/cmd/internal/fakemodel"
	"terminalproxy/protocol"
)

// The table of TestAHostedAgentEndsWhicheverPeerIsKilled with real agents, for the cases in which
// they differ. TestChatMatrix kills agents and gateway chat in an approval.
func TestARealAgentEndsWhicheverPeerIsKilled(t *testing.T) {
	clients(t)
	t.Parallel()
	busy := []string{"at work", "in a question"}
	claude := killVictim{name: "claude", line: `^\S+ \S*claude --`}
	kinds := []hostKind{
		{"proxy --chat claude", besideProxy, []killVictim{claude, killsHook, killsGateway, {name: "proxy", line: besideProxy}}, (*world).realClaude},
		{"gateway run --chat -- claude", headlessRun, []killVictim{{name: "gateway run", line: headlessRun, only: busy}}, (*world).realHeadless},
		{"proxy --chat opencode", besideProxy, []killVictim{
			{name: "interface", line: `^\S+ \S*opencode\S* attach`, only: busy}, {name: "server", line: `^\S+ \S*opencode\S* serve`, only: busy}, {name: "proxy", line: besideProxy, only: []string{"in an approval"}},
		}, (*world).realOpencode},
	}
	for _, agent := range chatAgents {
		programs := agent.programs
		if programs == nil {
			programs = []string{agent.name}
		}
		k := hostKind{command: "gateway chat --with " + agent.name, host: chatHost, prepare: func(w *world) *hosted { return w.realChat(agent) }}
		for i, p := range programs {
			v := killVictim{name: p, line: `^\S+ (?:\S*node(?: --\S+)* )?\S*/` + p + `(?: |$)`, only: busy, stays: i > 0}
			if i > 0 {
				v.only = append([]string{"in an approval"}, busy...)
			}
			k.victims = append(k.victims, v)
		}
		k.victims = append(k.victims, killVictim{name: "gateway chat", line: chatHost, only: busy[:1]})
		kinds = append(kinds, k)
	}
	killTable(t, kinds)
}

// hosted returns the conversation in the form that the table of kills needs.
func (c *chatting) hosted() *hosted {
	return &hosted{w: c.w, s: c.s, env: c.env}
}

// prompt lets the user send a prompt and the model read it.
func (b *besideClaude) prompt() {
	b.w.t.Helper()
	b.s.typed("make a file")
	b.s.wait("make a file")
	b.s.press("Enter")
	require.Contains(b.w.t, b.next().Text, "make a file")
}

var colour = fakemodel.Turn{Tool: "AskUserQuestion", Args: args{"questions": []args{{
	"question": "Which colour?", "header": "Colour", "multiSelect": false, "options": []args{{"label": "Red", "description": "warm"}, {"label": "Blue", "description": "cold"}},
}}}}

func (w *world) realClaude() *hosted {
	b := besideClaudeIn(w)
	h := b.hosted()
	h.start = func() { b.start(" --permission-mode default") }
	h.brief = b.prompt
	h.leave = func() { b.prompt(); b.askForFile("made-never") }
	h.ask = func() {
		b.prompt()
		b.reply(colour)
		b.s.wait("Enter to select")
		b.waitForLog("Which colour?")
	}
	return h
}

func (w *world) realHeadless() *hosted {
	b := &besideClaude{chatting: w.newChat(chatAgents[0])}
	h := b.hosted()
	h.start = func() {
		h.s.runAnew(h.env + "gateway run --chat -- claude --permission-mode default")
		b.id = w.session()
		b.waitForLog(`"state":"at prompt"`)
	}
	h.brief = func() {
		w.mustGateway("chat", "send", b.id, "make a file")
		require.Contains(w.t, b.next().Text, "make a file")
	}
	h.leave = func() { h.brief(); b.callShell("touch made-never"); b.waitForLog(`"command":"touch made-never"`) }
	h.ask = func() { h.brief(); b.reply(colour); b.waitForLog("Which colour?") }
	return h
}

func (w *world) realOpencode() *hosted {
	c := w.newChat(chatAgentNamed("opencode"))
	h := c.hosted()
	h.start = func() {
		h.s.runAnew(h.env + "proxy --chat opencode")
		w.session()
		c.waitForOpencode()
	}
	h.brief = func() {
		c.say("make a file")
		require.Contains(w.t, c.next().Text, "make a file")
	}
	h.leave = func() {
		h.brief()
		c.callShell("touch made-never")
		h.s.wait("Permission required")
	}
	h.ask = func() {
		h.brief()
		c.reply(fakemodel.Turn{Tool: "question", Args: args{"questions": []args{{
			"question": "Which colour?", "header": "Colour", "options": []args{{"label": "Red", "description": "warm"}, {"label": "Blue", "description": "cold"}},
		}}}})
		w.waitForChat(w.session(), protocol.ChatAsks)
		h.s.wait("Which colour?")
	}
	return h
}

func (w *world) realChat(agent chatAgent) *hosted {
	c := w.newChat(agent)
	h := c.hosted()
	h.start = func() {
		c.start("")
		h.s.wait("→ You:")
		if agent.mode != "" {
			h.s.wait("the mode is")
		}
	}
	h.brief = func() {
		c.say("make a file")
		require.Contains(w.t, c.next().Text, "make a file")
	}
	h.leave = func() { h.brief(); c.askToRun("touch made-never") }
	if agent.asks != "" {
		question := args{"id": "colour", "question": "Which colour?", "header": "Colour", "options": []args{{"label": "Red", "description": "warm"}, {"label": "Blue", "description": "cold"}}}
		if agent.asksIf == "" {
			question["multiSelect"] = false
		}
		h.ask = func() {
			h.brief()
			c.reply(fakemodel.Turn{Tool: agent.asks, Args: args{"questions": []args{question}}})
			c.waitRequest("Which colour?")
		}
	}
	return h
}
