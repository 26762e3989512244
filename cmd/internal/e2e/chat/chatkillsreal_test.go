package chat_test

import (
	"testing"

	"terminalproxy/cmd/internal/dev/fakemodel"
	"terminalproxy/cmd/internal/e2e/world"

	"github.com/stretchr/testify/require"
)

// The table of TestAHostedAgentEndsWhicheverPeerIsKilled with real agents, for the cases in which
// they differ. TestChatMatrix_Client kills agents and gateway chat in an approval.
func TestARealAgentEndsWhicheverPeerIsKilled_Client(t *testing.T) {
	world.Clients(t)
	t.Parallel()
	busy := []string{"at work", "in a question"}
	claude := killVictim{name: "claude", line: `^\S+ \S*claude --`}
	kinds := []hostKind{
		{"proxy --chat claude", besideProxy, []killVictim{claude, killsHook, killsGateway, {name: "proxy", line: besideProxy}}, (*world.World).RealClaude},
		{"gateway run --chat -- claude", headlessRun, []killVictim{{name: "gateway run", line: headlessRun, only: busy}}, (*world.World).RealHeadless},
	}
	for _, agent := range world.ChatAgents {
		programs := agent.Programs
		if programs == nil {
			programs = []string{agent.Name}
		}
		k := hostKind{command: "gateway chat --with " + agent.Name, host: chatHost, prepare: func(w *world.World) *world.Hosted { return realChat(w, agent) }}
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

func realChat(w *world.World, agent world.ChatAgent) *world.Hosted {
	c := w.NewChat(agent)
	h := c.Hosted()
	h.Start = func() {
		start(c, "")
		h.S.Wait("→ You:")
		if agent.Mode != "" {
			h.S.Wait("the mode is")
		}
	}
	h.Brief = func() {
		c.Say("make a file")
		require.Contains(w.T, c.Next().Text, "make a file")
	}
	h.Leave = func() { h.Brief(); askToRun(c, "touch made-never") }
	if agent.Asks != "" {
		question := world.Args{"id": "colour", "question": "Which colour?", "header": "Colour", "options": []world.Args{{"label": "Red", "description": "warm"}, {"label": "Blue", "description": "cold"}}}
		if agent.AsksIf == "" {
			question["multiSelect"] = false
		}
		h.Ask = func() {
			h.Brief()
			c.Reply(fakemodel.Turn{Tool: agent.Asks, Args: world.Args{"questions": []world.Args{question}}})
			waitRequest(c, "Which colour?")
		}
	}
	return h
}
