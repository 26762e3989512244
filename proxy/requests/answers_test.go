package requests

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"terminalproxy/protocol"
	"terminalproxy/proxy/control"
)

func TestAnswers(t *testing.T) {
	ada, bert := control.Agent{ID: "ada"}, control.Agent{ID: "bert"}
	given := func(ids ...string) control.Event { return control.Event{Granted: true, Agent: ada, Requests: ids} }
	ended := func(why protocol.Reason, ids ...string) control.Event {
		return control.Event{Agent: ada, Requests: ids, Reason: why}
	}
	for _, tt := range []struct {
		name string
		do   func(a *answers)
		want string
	}{
		{"nothing was asked", func(*answers) {}, ""},
		{"heard by who asked", func(a *answers) { a.decided(given("1"), "granted", false) }, ""},
		{"nobody waited", func(a *answers) { a.leave("1", false); a.decided(given("1"), "granted", false) }, "granted"},
		{"nobody waited for a refusal", func(a *answers) { a.leave("1", false); a.decided(ended(protocol.ReasonRefused, "1"), "refused", false) }, "refused"},
		{"left as it was answered", func(a *answers) { a.decided(given("1"), "granted", false); a.leave("1", false) }, "granted"},
		{"one of two was heard", func(a *answers) { a.leave("1", false); a.decided(given("1", "2"), "granted", false) }, ""},
		{"two were not", func(a *answers) {
			a.leave("1", false)
			a.decided(given("1", "2"), "granted", false)
			a.leave("2", false)
		}, "granted"},
		{"a wait heard it", func(a *answers) { a.leave("1", false); a.decided(given("1"), "granted", true); a.leave("2", false) }, ""},
		{"taken back before it was heard", func(a *answers) {
			a.leave("1", false)
			a.decided(given("1"), "granted", false)
			a.decided(ended(protocol.ReasonReclaimed), "reclaimed", false)
		}, "reclaimed"},
		{"asked again", func(a *answers) {
			a.leave("1", false)
			a.decided(ended(protocol.ReasonRefused, "1"), "refused", false)
			a.asks("ada", "2")
		}, ""},
		{"asked again under the same number", func(a *answers) {
			a.leave("1", false)
			a.asks("ada", "1")
			a.decided(given("1"), "granted", false)
		}, ""},
		{"given back by the agent", func(a *answers) {
			a.leave("1", false)
			a.decided(given("1"), "granted", false)
			a.decided(ended(protocol.ReasonReleased), "released", false)
		}, ""},
		{"control that the agent knew of was taken back", func(a *answers) {
			a.decided(given("1"), "granted", false)
			a.decided(ended(protocol.ReasonReclaimed), "reclaimed", false)
		}, "reclaimed"},
		{"taken back while the agent typed", func(a *answers) {
			a.decided(given("1"), "granted", false)
			a.decided(ended(protocol.ReasonReclaimed), "reclaimed", true)
		}, ""},
		{"only the oldest of many requests was dropped", func(a *answers) {
			a.leave("1", false)
			a.decided(ended(protocol.ReasonReplaced, "1"), "replaced", false)
		}, ""},
		{"withdrawn, and still asked by another call", func(a *answers) {
			a.asks("ada", "1")
			a.leave("1", true)
			a.decided(given("1", "2"), "granted", false)
		}, ""},
		{"many requests were left", func(a *answers) {
			for i := range 1000 {
				a.leave(fmt.Sprint("x", i), false)
			}
			a.leave("1", false)
			a.decided(given("1"), "granted", false)
			require.LessOrEqual(t, len(a.left), answersKept)
		}, "granted"},
	} {
		var a answers
		tt.do(&a)
		require.Empty(t, a.take(bert.ID), tt.name)
		require.Equal(t, tt.want, a.take(ada.ID), tt.name)
		require.Empty(t, a.take(ada.ID), "once: %s", tt.name)
	}
}

// TestAnswersToAWaitThatIsRepeated: the connection was lost, and the answer with it.
// TestAnAnswerIsKeptWhileAnotherAgentIsAnswered: who asked goes, the other one's answer comes before that is known.
func TestAnAnswerIsKeptWhileAnotherAgentIsAnswered(t *testing.T) {
	var a answers
	for agent, request := range map[string]string{"ada": "1", "bert": "2"} {
		a.decided(control.Event{Agent: control.Agent{ID: agent}, Requests: []string{request}, Reason: protocol.ReasonRefused}, "refused", false)
	}
	require.Equal(t, "ada", a.leave("1", false))
	require.Equal(t, "bert", a.leave("2", false))
	require.Equal(t, "refused", a.take("ada"))
	require.Equal(t, "refused", a.take("bert"))
}

// TestAnAnswerToAWaitThatIsGivenUp: the two met on the way, and the answer is for the next wait.
func TestAnAnswerToAWaitThatIsGivenUp(t *testing.T) {
	var a answers
	a.leave("1", false)
	a.decided(control.Event{Agent: control.Agent{ID: "ada"}, Requests: []string{"1"}, Reason: protocol.ReasonRefused}, "refused", false)
	require.Equal(t, "refused", a.takeFor("ada", "2"))
	require.Equal(t, "ada", a.leave("2", false))
	require.Equal(t, "refused", a.takeFor("ada", "3"))
	require.Empty(t, a.takeFor("ada", "4"), "it was heard")
}

func TestAnswersToAWaitThatIsRepeated(t *testing.T) {
	var a answers
	refused := control.Event{Agent: control.Agent{ID: "ada"}, Requests: []string{"1"}, Reason: protocol.ReasonRefused}
	a.leave("1", false)
	a.decided(refused, "refused", false)
	require.Equal(t, "refused", a.takeFor("ada", "2"))
	require.Equal(t, "refused", a.takeFor("ada", "2"))
	require.Empty(t, a.takeFor("bert", "2"), "another agent's")
	require.Empty(t, a.takeFor("ada", "3"), "another wait")
	a.asks("ada", "4")
	require.Empty(t, a.takeFor("ada", "2"), "it asked anew")

	a.leave("1", false)
	a.decided(refused, "refused", false)
	require.Equal(t, "refused", a.takeFor("ada", "5"))
	a.decided(control.Event{Granted: true, Agent: control.Agent{ID: "ada"}, Requests: []string{"6"}}, "granted", false)
	require.Empty(t, a.takeFor("ada", "5"), "control has changed")
	a.tell("ada", "7", "granted")
	require.Equal(t, "granted", a.takeFor("ada", "7"), "the wait was open as it was decided")
	for i := range 1000 {
		a.keep(fmt.Sprint("x", i), "granted")
		a.takeFor(fmt.Sprint("x", i), "1")
		require.LessOrEqual(t, len(a.told), answersKept)
	}
}
