package chat_test

import (
	"testing"

	"terminalproxy/cmd/internal/e2e/world"

	"github.com/stretchr/testify/require"
)

// The table of TestAHostedAgentEndsWhicheverPeerIsKilled with real agents, for the cases in which
// they differ. TestChatMatrix_Client kills agents and gateway chat in an approval.
func TestARealAgentEndsWhicheverPeerIsKilled_Client(t *testing.T) {
	world.Clients(t)
	t.Parallel()
	const approval = "in an approval"
	claude := killVictim{name: "claude", line: `^\S+ \S*claude --`, only: []string{"at work", approval}}
	proxy := killVictim{name: "proxy", line: besideProxy, only: []string{approval}}
	run := killVictim{name: "gateway run", line: headlessRun, only: []string{approval}}
	kinds := []hostKind{
		{"proxy --chat claude", besideProxy, []killVictim{claude, proxy}, (*world.World).RealClaude},
		{"gateway run --chat -- claude", headlessRun, []killVictim{run}, (*world.World).RealHeadless},
	}
	atWork := killMoments[1:2]
	for _, agent := range world.ChatAgents {
		programs := agent.Programs
		if programs == nil {
			programs = []string{agent.Name}
		}
		k := hostKind{
			command: "gateway chat --with " + agent.Name, host: chatHost,
			victims: []killVictim{{name: "gateway chat", line: chatHost, only: atWork}},
			prepare: func(w *world.World) *world.Hosted { return realChat(w, agent) },
		}
		for i, p := range programs {
			line := `^\S+ (?:\S*node(?: --\S+)* )?\S*/` + p + `(?: |$)`
			k.victims = append(k.victims, killVictim{name: p, line: line, only: atWork, stays: i > 0})
		}
		kinds = append(kinds, k)
	}
	for _, k := range kinds {
		t.Run(k.command, func(t *testing.T) {
			w := world.New(t)
			w.Serve("gateway")
			h := k.prepare(w)
			for _, v := range k.victims {
				killAt(h, k, v)
			}
		})
	}
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
	return h
}
