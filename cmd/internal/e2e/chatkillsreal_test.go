package e2e_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"terminalproxy/cmd/internal/fakemodel"
	"terminalproxy/protocol"
)

// The table of TestTheEndOfAHostedAgentDependsOnNoPeer with real agents, for the cases in which
// they differ. TestChatMatrix kills agents and gateway chat in an approval.
func TestTheEndOfARealAgentDependsOnNoPeer(t *testing.T) {
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

// prompted lets the user send a prompt and the model read it.
func (b *besideClaude) prompted() {
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
	h.start = func() { b.starts(" --permission-mode default") }
	h.brief = b.prompted
	h.leave = func() { b.prompted(); b.wants("made-never") }
	h.ask = func() {
		b.prompted()
		b.answers(colour)
		b.s.wait("Enter to select")
		b.until("Which colour?")
	}
	return h
}

func (w *world) realHeadless() *hosted {
	b := &besideClaude{chatting: w.chats(chatAgents[0])}
	h := b.hosted()
	h.start = func() {
		h.s.anew(h.env + "gateway run --chat -- claude --permission-mode default")
		b.id = w.session()
		b.until(`"state":"at prompt"`)
	}
	h.brief = func() {
		w.good("chat", "send", b.id, "make a file")
		require.Contains(w.t, b.next().Text, "make a file")
	}
	h.leave = func() { h.brief(); b.runs("touch made-never"); b.until(`"command":"touch made-never"`) }
	h.ask = func() { h.brief(); b.answers(colour); b.until("Which colour?") }
	return h
}

func (w *world) realOpencode() *hosted {
	c := w.chats(chatAgentNamed("opencode"))
	h := c.hosted()
	h.start = func() {
		h.s.anew(h.env + "proxy --chat opencode")
		w.session()
		c.opencodeIsReady()
	}
	h.brief = func() {
		c.says("make a file")
		require.Contains(w.t, c.next().Text, "make a file")
	}
	h.leave = func() {
		h.brief()
		c.runs("touch made-never")
		h.s.wait("Permission required")
	}
	h.ask = func() {
		h.brief()
		c.answers(fakemodel.Turn{Tool: "question", Args: args{"questions": []args{{
			"question": "Which colour?", "header": "Colour", "options": []args{{"label": "Red", "description": "warm"}, {"label": "Blue", "description": "cold"}},
		}}}})
		w.chatting(w.session(), protocol.ChatAsks)
		h.s.wait("Which colour?")
	}
	return h
}

func (w *world) realChat(agent chatAgent) *hosted {
	c := w.chats(agent)
	h := c.hosted()
	h.start = func() {
		c.starts("")
		h.s.wait("→ You:")
		if agent.mode != "" {
			h.s.wait("the mode is")
		}
	}
	h.brief = func() {
		c.says("make a file")
		require.Contains(w.t, c.next().Text, "make a file")
	}
	h.leave = func() { h.brief(); c.wants("touch made-never") }
	if agent.asks != "" {
		question := args{"id": "colour", "question": "Which colour?", "header": "Colour", "options": []args{{"label": "Red", "description": "warm"}, {"label": "Blue", "description": "cold"}}}
		if agent.asksIf == "" {
			question["multiSelect"] = false
		}
		h.ask = func() {
			h.brief()
			c.answers(fakemodel.Turn{Tool: agent.asks, Args: args{"questions": []args{question}}})
			c.asked("Which colour?")
		}
	}
	return h
}
