package requests

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"terminalproxy/protocol"
	"terminalproxy/proxy/consent/pump"
	"terminalproxy/proxy/terminal/child"
	"terminalproxy/proxy/view/corpus"
)

// A paste waits for a program that has just been started, until it enables bracketed paste, waits
// for input, or is too old to do so.
func TestInputWaitsForAStartingProgram(t *testing.T) {
	for _, c := range corpus.Rows[struct {
		Name, Kind, Text, Facts string
		Want                    bool
	}](t, "starting") {
		facts := corpus.Step{Words: strings.Fields(c.Facts)}
		has := func(word string) bool { return slices.Contains(facts.Words, word) }
		age, _ := time.ParseDuration(facts.Option("leads"))
		s := newStage(nil)
		s.cooked, s.blank, s.behind = has("cooked"), has("blank"), has("behind")
		if has("group") {
			s.blocked = child.Blocked{Group: 7, Leads: age, Reads: has("reads"), Polls: has("polls"), Shares: has("shares")}
		}
		if has("asked") {
			s.Observer.Model().Feed([]byte("\x1b[?2004h"))
		}
		now, since := time.Now(), time.Now()
		if has("waited") {
			since = now.Add(-2 * time.Second)
		}
		in := &delivery{steps: splitSteps(&protocol.Input{Parts: []protocol.InputPart{
			{InputKind: protocol.InputKeys, Data: "i"}, {InputKind: protocol.InputKind(c.Kind), Data: c.Text},
		}})}
		require.Equal(t, c.Want, s.line.isStarting(in.nextStep([]pump.Piece{{Step: 2}}), since, now), c.Name)
		require.Equal(t, s.blank && c.Want, s.line.isStarting(in.nextStep(nil), now, now), "the key before it")
	}
}
