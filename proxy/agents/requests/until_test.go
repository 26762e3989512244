package requests

import (
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"terminalproxy/protocol"
	"terminalproxy/proxy/consent/control"
	"terminalproxy/proxy/consent/pump"
	"terminalproxy/proxy/view/snapshot"
)

// stepObserver holds the wait between two steps open until the test ends it.
type stepObserver struct {
	waitingObserver
	shut  *atomic.Bool // no timer gets in any longer
	holds *atomic.Bool // posted functions do not run
}

func (o stepObserver) InputRefusal(time.Time) error { return nil }

func (o stepObserver) Post(do func(now time.Time)) bool {
	if o.shut.Load() {
		return false
	}
	if !o.holds.Load() {
		do(time.Now())
	}
	return true
}

func (o stepObserver) AnswerFrame(time.Time) *protocol.Frame { return &protocol.Frame{} }

// twoSteps is an input of two steps, of which the first has been typed.
func twoSteps(t *testing.T) (*stage, stepObserver, *delivery) {
	t.Helper()
	o := stepObserver{waitingObserver{open: make(map[string]func(snapshot.Result))}, new(atomic.Bool), new(atomic.Bool)}
	s := newStage(func(c *Config) {
		o.stagedObserver, _ = c.Observer.(stagedObserver)
		c.Observer = o
	})
	m := &protocol.Input{RequestID: "in", AgentID: "ada", Parts: []protocol.InputPart{
		{InputKind: protocol.InputText, Data: "one", Until: &protocol.Until{Text: "done"}, Stop: []protocol.Until{{Text: "failed"}}},
		{InputKind: protocol.InputText, Data: "two", Until: &protocol.Until{Text: "done"}},
	}}
	conditions, err := compileConditions(m)
	require.NoError(t, err)
	return s, o, s.deliveries.newDelivery(m, 3, conditions)
}

// A step is typed only if the one before came true, and the user did not type meanwhile.
func TestAStepFollowsOnlyWhatCameTrue(t *testing.T) {
	met := snapshot.Result{End: snapshot.Met, Matched: "done", Line: "done"}
	failed := &snapshot.Alternative{Stop: true, Until: protocol.Until{Text: "failed"}}
	for name, c := range map[string]struct {
		end   snapshot.Result
		types bool // the user, meanwhile
		code  protocol.Code
	}{
		"it came":                       {end: met},
		"it did not come":               {end: snapshot.Result{End: snapshot.TimedOut}, code: protocol.CodeTimeout},
		"the program ended":             {end: snapshot.Result{End: snapshot.Exited}, code: protocol.CodeExited},
		"the session ended":             {end: snapshot.Result{End: snapshot.Stopped}, code: protocol.CodeExited},
		"its search takes too long":     {end: snapshot.Result{End: snapshot.Costly}, code: protocol.CodeBadMessage},
		"a stop condition came":         {end: snapshot.Result{End: snapshot.Met, Matched: "failed", Alternative: failed}, code: protocol.CodeScreenChanged},
		"it came, and the user's keys":  {end: met, types: true, code: protocol.CodeUserTyping},
		"nothing but the user's keys":   {types: true, code: protocol.CodeUserTyping},
		"the stop, and the user's keys": {end: snapshot.Result{End: snapshot.Met, Matched: "failed", Alternative: failed}, types: true, code: protocol.CodeScreenChanged},
	} {
		t.Run(name, func(t *testing.T) {
			s, o, in := twoSteps(t)
			defer o.shut.Store(true)
			if c.types && c.end.Matched == "" {
				s.Tracker.NoteUserKeys([]byte("x"))
			}
			require.True(t, in.life.Advance(pump.TurnCame))
			o.holds.Store(true)
			var refused []error
			r := &review{
				in: in, left: []pump.Piece{{Bytes: []byte("two"), Step: 2}}, state: reviewAsked,
				answer: func(_ []pump.Piece, err error) { refused = append(refused, err) },
			}
			r.begin(time.Now())
			if end := o.open["in#2"]; c.end.Matched != "" || c.end.End != snapshot.Met {
				require.Equal(t, reviewWaiting, r.state, "the condition is open")
				require.Empty(t, refused)
				if c.types {
					s.Tracker.NoteUserKeys([]byte("x"))
				}
				end(c.end)
			}
			if c.code == "" {
				require.Empty(t, refused)
				require.Equal(t, reviewLooking, r.state)
				require.Equal(t, "done", in.conditions.ends[0].Line)
				return
			}
			require.Equal(t, reviewDone, r.state)
			require.Len(t, refused, 1)
			var why *refusal
			require.ErrorAs(t, refused[0], &why)
			require.Equal(t, c.code, why.code, why.message)
		})
	}
}

// As the user takes the keyboard back, the wait after the last step ends, and the receipt says
// so; also when the wait comes after that.
func TestTakingTheKeyboardBackEndsTheLastStep(t *testing.T) {
	for name, late := range map[string]bool{"during the wait": false, "before the wait": true} {
		t.Run(name, func(t *testing.T) {
			s, o, in := twoSteps(t)
			defer o.shut.Store(true)
			reclaim := func() {
				s.waits.endControlWaits(control.Event{Agent: control.Agent{ID: "ada"}, Epoch: 3, Reason: protocol.ReasonReclaimed}, "revoked", false)
			}
			for _, e := range []pump.Event{pump.TurnCame, pump.Passed, pump.AllWritten} {
				require.True(t, in.life.Advance(e))
			}
			result := &protocol.InputResult{Status: protocol.StatusWritten, Parts: make([]protocol.PartResult, 2)}
			if late {
				reclaim()
			}
			in.reply.answerAtCondition(time.Now(), result)
			if !late {
				require.Contains(t, o.open, "in#3")
				require.Empty(t, s.sent)
				reclaim()
			}
			require.Empty(t, o.open)
			require.Equal(t, protocol.ReasonReclaimed, result.Ended)
			require.False(t, in.conditions.ends[1].Met)
			require.Len(t, s.sent, 1)
		})
	}
}
