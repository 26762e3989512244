package requests

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"terminalproxy/protocol"
	"terminalproxy/proxy/consent/control"
)

func TestAnswers(t *testing.T) {
	ada, bert := control.Agent{ID: "ada"}, control.Agent{ID: "bert"}
	given := func(ids ...string) control.Event { return control.Event{Granted: true, Agent: ada, Requests: ids} }
	ended := func(why protocol.Reason, ids ...string) control.Event {
		return control.Event{Agent: ada, Requests: ids, Reason: why}
	}
	for _, tt := range []struct {
		name string
		do   func(a *unheardAnswers)
		want string
	}{
		{"nothing was asked", func(*unheardAnswers) {}, ""},
		{"heard by who asked", func(a *unheardAnswers) { a.recordDecision(given("1"), "granted", false) }, ""},
		{"nobody waited", func(a *unheardAnswers) { a.markAbandoned("1", false); a.recordDecision(given("1"), "granted", false) }, "granted"},
		{"nobody waited for a refusal", func(a *unheardAnswers) {
			a.markAbandoned("1", false)
			a.recordDecision(ended(protocol.ReasonRefused, "1"), "refused", false)
		}, "refused"},
		{"left as it was answered", func(a *unheardAnswers) { a.recordDecision(given("1"), "granted", false); a.markAbandoned("1", false) }, "granted"},
		{"one of two was heard", func(a *unheardAnswers) {
			a.markAbandoned("1", false)
			a.recordDecision(given("1", "2"), "granted", false)
		}, ""},
		{"two were not", func(a *unheardAnswers) {
			a.markAbandoned("1", false)
			a.recordDecision(given("1", "2"), "granted", false)
			a.markAbandoned("2", false)
		}, "granted"},
		{"a wait heard it", func(a *unheardAnswers) {
			a.markAbandoned("1", false)
			a.recordDecision(given("1"), "granted", true)
			a.markAbandoned("2", false)
		}, ""},
		{"taken back before it was heard", func(a *unheardAnswers) {
			a.markAbandoned("1", false)
			a.recordDecision(given("1"), "granted", false)
			a.recordDecision(ended(protocol.ReasonReclaimed), "reclaimed", false)
		}, "reclaimed"},
		{"asked again", func(a *unheardAnswers) {
			a.markAbandoned("1", false)
			a.recordDecision(ended(protocol.ReasonRefused, "1"), "refused", false)
			a.noteRequest("ada", "2")
		}, ""},
		{"asked again under the same number", func(a *unheardAnswers) {
			a.markAbandoned("1", false)
			a.noteRequest("ada", "1")
			a.recordDecision(given("1"), "granted", false)
		}, ""},
		{"given back by the agent", func(a *unheardAnswers) {
			a.markAbandoned("1", false)
			a.recordDecision(given("1"), "granted", false)
			a.recordDecision(ended(protocol.ReasonReleased), "released", false)
		}, ""},
		{"control that the agent knew of was taken back", func(a *unheardAnswers) {
			a.recordDecision(given("1"), "granted", false)
			a.recordDecision(ended(protocol.ReasonReclaimed), "reclaimed", false)
		}, "reclaimed"},
		{"taken back while the agent typed", func(a *unheardAnswers) {
			a.recordDecision(given("1"), "granted", false)
			a.recordDecision(ended(protocol.ReasonReclaimed), "reclaimed", true)
		}, ""},
		{"only the oldest of many requests was dropped", func(a *unheardAnswers) {
			a.markAbandoned("1", false)
			a.recordDecision(ended(protocol.ReasonReplaced, "1"), "replaced", false)
		}, ""},
		{"withdrawn, and still asked by another call", func(a *unheardAnswers) {
			a.noteRequest("ada", "1")
			a.markAbandoned("1", true)
			a.recordDecision(given("1", "2"), "granted", false)
		}, ""},
		{"many requests were left", func(a *unheardAnswers) {
			for i := range 1000 {
				a.markAbandoned(fmt.Sprint("x", i), false)
			}
			a.markAbandoned("1", false)
			a.recordDecision(given("1"), "granted", false)
			require.LessOrEqual(t, len(a.abandoned), answersKept)
		}, "granted"},
	} {
		var a unheardAnswers
		tt.do(&a)
		require.Empty(t, a.takeDecision(bert.ID), tt.name)
		require.Equal(t, tt.want, a.takeDecision(ada.ID), tt.name)
		require.Empty(t, a.takeDecision(ada.ID), "once: %s", tt.name)
	}
}

// The asker leaves, and the other agent's answer comes before that is known.
func TestAnAnswerIsKeptWhileAnotherAgentIsAnswered(t *testing.T) {
	var a unheardAnswers
	for agent, request := range map[string]string{"ada": "1", "bert": "2"} {
		a.recordDecision(control.Event{Agent: control.Agent{ID: agent}, Requests: []string{request}, Reason: protocol.ReasonRefused}, "refused", false)
	}
	require.Equal(t, "ada", a.markAbandoned("1", false))
	require.Equal(t, "bert", a.markAbandoned("2", false))
	require.Equal(t, "refused", a.takeDecision("ada"))
	require.Equal(t, "refused", a.takeDecision("bert"))
}

// The two met on the way, and the answer is for the next wait.
func TestAnAnswerToACancelledWait(t *testing.T) {
	var a unheardAnswers
	a.markAbandoned("1", false)
	a.recordDecision(control.Event{Agent: control.Agent{ID: "ada"}, Requests: []string{"1"}, Reason: protocol.ReasonRefused}, "refused", false)
	require.Equal(t, "refused", a.takeForWait("ada", "2"))
	require.Equal(t, "ada", a.markAbandoned("2", false))
	require.Equal(t, "refused", a.takeForWait("ada", "3"))
	require.Empty(t, a.takeForWait("ada", "4"), "it was heard")
}

func TestAnswersToARepeatedWait(t *testing.T) {
	var a unheardAnswers
	refused := control.Event{Agent: control.Agent{ID: "ada"}, Requests: []string{"1"}, Reason: protocol.ReasonRefused}
	a.markAbandoned("1", false)
	a.recordDecision(refused, "refused", false)
	require.Equal(t, "refused", a.takeForWait("ada", "2"))
	require.Equal(t, "refused", a.takeForWait("ada", "2"))
	require.Empty(t, a.takeForWait("bert", "2"), "another agent's")
	require.Empty(t, a.takeForWait("ada", "3"), "another wait")
	a.noteRequest("ada", "4")
	require.Empty(t, a.takeForWait("ada", "2"), "it asked anew")

	a.markAbandoned("1", false)
	a.recordDecision(refused, "refused", false)
	require.Equal(t, "refused", a.takeForWait("ada", "5"))
	a.recordDecision(control.Event{Granted: true, Agent: control.Agent{ID: "ada"}, Requests: []string{"6"}}, "granted", false)
	require.Empty(t, a.takeForWait("ada", "5"), "control has changed")
	a.markDelivered("ada", "7", "granted")
	require.Equal(t, "granted", a.takeForWait("ada", "7"), "the wait was open as it was decided")
	for i := range 1000 {
		a.storeDecision(fmt.Sprint("x", i), "granted")
		a.takeForWait(fmt.Sprint("x", i), "1")
		require.LessOrEqual(t, len(a.delivered), answersKept)
	}
}
