package mcp

import (
	"testing"

	"github.com/stretchr/testify/require"

	"terminalproxy/protocol"
)

// An agent learns its id from the user's grant alone, not from a program that prints the word.
func TestOnlyAGrantNamesTheAgent(t *testing.T) {
	control := protocol.Until{Control: true}
	for name, c := range map[string]struct {
		change func(*protocol.WaitResult, *protocol.Until)
		agent  string
	}{
		"a grant":             {func(*protocol.WaitResult, *protocol.Until) {}, "a-1"},
		"a grant that came":   {func(r *protocol.WaitResult, _ *protocol.Until) { r.Came = &control }, "a-1"},
		"a text of any":       {func(r *protocol.WaitResult, _ *protocol.Until) { r.Came = &protocol.Until{Text: "granted"} }, ""},
		"a text":              {func(_ *protocol.WaitResult, u *protocol.Until) { *u = protocol.Until{Text: "granted"} }, ""},
		"a stop pattern":      {func(r *protocol.WaitResult, _ *protocol.Until) { r.Stopped, r.Came = true, &protocol.Until{Text: "x"} }, ""},
		"a refusal":           {func(r *protocol.WaitResult, _ *protocol.Until) { r.Matched = "refused" }, ""},
		"no frame":            {func(r *protocol.WaitResult, _ *protocol.Until) { r.Frame = nil }, ""},
		"the end of a grant":  {func(r *protocol.WaitResult, _ *protocol.Until) { r.Ended = protocol.ReasonReclaimed }, ""},
		"the end of its time": {func(r *protocol.WaitResult, _ *protocol.Until) { r.Met = false }, ""},
	} {
		t.Run(name, func(t *testing.T) {
			until := control
			got := &protocol.WaitResult{
				Met: true, Matched: "granted",
				Frame: &protocol.Frame{Keyboard: protocol.Keyboard{Holder: protocol.HolderAgent, AgentID: "a-1"}},
			}
			c.change(got, &until)
			require.Equal(t, c.agent, grantedAgent(got, until))
		})
	}
}
