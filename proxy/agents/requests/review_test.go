package requests

import (
	"bytes"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"terminalproxy/protocol"
	"terminalproxy/proxy/consent/control"
	"terminalproxy/proxy/consent/line"
	"terminalproxy/proxy/consent/pump"
	"terminalproxy/proxy/terminal/child"
	"terminalproxy/proxy/view/snapshot"
)

// The comment on reviewState draws the table that the code has.
func TestReviewIsDrawn(t *testing.T) {
	source, err := os.ReadFile("review.go")
	require.NoError(t, err)
	header := fmt.Sprintf("//\t%-15s", "")
	for s := reviewAsked; int(s) < reviewStates; s++ {
		header += fmt.Sprintf(" %-7s", s)
	}
	require.Contains(t, string(source), "\n"+strings.TrimRight(header, " ")+"\n")
	for e := reviewEvent(0); int(e) < reviewEvents; e++ {
		drawn := fmt.Sprintf("//\t%-15s", e)
		for s := reviewAsked; int(s) < reviewStates; s++ {
			name := "."
			if to := reviewTransitions[s][e]; to != 0 {
				name = to.String()
			}
			drawn += fmt.Sprintf(" %-7s", name)
		}
		require.Contains(t, string(source), "\n"+strings.TrimRight(drawn, " ")+"\n")
	}
}

// Every transition of the table is walked by a real review, and every end but one has its answer.
func TestReviewIsWalked(t *testing.T) {
	for s := reviewAsked; int(s) < reviewStates; s++ {
		for e := reviewEvent(0); int(e) < reviewEvents; e++ {
			if reviewTransitions[s][e] != 0 {
				t.Run(fmt.Sprint(s, "/", e), func(t *testing.T) {
					synctest.Test(t, func(t *testing.T) { walkReview(t, s, e) })
				})
			}
		}
	}
}

// reachReview returns a way to a state. The next turn of the observer brings the look.
func reachReview(s reviewState) []reviewEvent {
	looking := []reviewEvent{stepBefore, processed}
	return map[reviewState][]reviewEvent{
		reviewPausing: {stepBefore},
		reviewWaiting: {conditionBefore},
		reviewLooking: looking,
		reviewUnclear: append(looking, ownerUnclear),
		reviewUnseen:  append(looking, keysUnshown),
		reviewUnready: append(looking, programStarting),
		reviewMoving:  append(looking, lineMoves),
		reviewUntold:  append(looking, readinessUntold),
	}[s]
}

func walkReview(t *testing.T, s reviewState, e reviewEvent) {
	t.Helper()
	w := newReviewWorld(t)
	way := reachReview(s)
	if s == reviewLooking && e == programEnded {
		way = way[:1] // the observer ends between the wait's end and the look
	}
	for _, step := range way {
		to := reviewTransitions[w.review.state][step]
		w.do(step)
		require.Equal(t, to, w.review.state, "after %s on the way", step)
		require.Empty(t, w.answers)
	}
	w.looks = nil
	w.do(e)
	switch to := reviewTransitions[s][e]; {
	case to == reviewLooking && (e == begunAtOnce || e == recheckDue):
		require.Contains(t, w.looks, reviewLooking, "it looks in the same turn")
	default:
		require.Equal(t, to, w.review.state)
	}
	if e == inputEnded {
		require.Empty(t, w.looks, "it is not looked at any longer")
	}
	answered := w.review.state == reviewDone && e != inputEnded
	require.Equal(t, answered, len(w.answers) == 1, "%v", w.answers)
	typed := answered && e != programEnded
	require.Equal(t, typed && w.review.left == nil, w.screens == 1, "the screen before the input is kept")
	defer w.requireCalm()
	if e == begunAtOnce || e == recheckDue || !answered {
		return
	}
	require.Empty(t, w.in.conditions.waiting)
	occupied, waits := errors.AsType[*pump.OccupiedError](w.answers[0])
	refused, not := errors.AsType[*refusal](w.answers[0])
	require.Equal(t, e == lineOccupied, waits, "%v", occupied)
	require.Equal(t, e == inputRefused || e == programEnded, not, "%v", refused)
	if e == programEnded {
		require.Equal(t, protocol.CodeExited, refused.code)
	}
}

// requireCalm lets all that still runs come: it changes nothing that has ended, and the table knows
// it.
func (w *reviewWorld) requireCalm() {
	state, answers := w.review.state, len(w.answers)
	w.wake()
	if state == reviewDone {
		require.Equal(w.t, state, w.review.state)
		require.Len(w.t, w.answers, answers)
	}
	require.Empty(w.t, w.log.String())
}

// The user typed while a condition was awaited: the rest is not typed though the condition is met
// before that is looked at, or was met when the rest was judged before.
func TestAMetConditionDoesNotExcuseTheUsersKeys(t *testing.T) {
	for _, again := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			w := newReviewWorld(t)
			if again {
				w.in.conditions.ends = map[int]*protocol.UntilResult{0: {Met: true}}
				w.userTypes("x")
			}
			w.do(conditionBefore)
			if !again {
				w.userTypes("x")
				w.endWait(snapshot.Met)
			}
			require.Equal(t, reviewDone, w.review.state)
			require.Len(t, w.answers, 1)
			no, ok := errors.AsType[*refusal](w.answers[0])
			require.True(t, ok)
			require.Equal(t, protocol.CodeUserTyping, no.code)
			w.requireCalm()
		})
	}
}

// reviewWorld makes each event happen to one review. It plays the goroutines of the observer and
// the pump.
type reviewWorld struct {
	*stage
	t       *testing.T
	in      *delivery
	review  *review
	answers []error
	looks   []reviewState // at each look at the foreground
	wait    *snapshot.Wait
	hidden  bool
	bash    bool // is in the foreground, at its prompt
	changed time.Time
	screens int // recorded
	log     bytes.Buffer

	mu    sync.Mutex
	posts []func(now time.Time)
	ended bool
}

func newReviewWorld(t *testing.T) *reviewWorld {
	t.Helper()
	w := &reviewWorld{t: t}
	w.stage = newStage(func(c *Config) {
		c.Log = slog.New(slog.NewTextHandler(&w.log, nil))
		c.Observer = reviewObserver{c.Observer.(stagedObserver), w}
		c.Program = reviewProgram{c.Program.(stagedProgram), w}
		c.Tracker = &line.Tracker{Cooked: func() bool { return false }, Group: func() int { return 7 }}
	})
	w.blocked = child.Blocked{Group: 7, Reads: true}
	m := &protocol.Input{RequestID: "i1", Parts: []protocol.InputPart{
		{InputKind: protocol.InputText, Data: "a"}, {InputKind: protocol.InputText, Data: "b"},
	}}
	w.in = w.deliveries.newDelivery(m, 0, nil)
	w.in.record = reviewRecord{w: w}
	require.True(t, w.in.life.Advance(pump.TurnCame))
	w.review = &review{
		in: w.in, state: reviewAsked, since: time.Now(),
		answer: func(_ []pump.Piece, err error) { w.answers = append(w.answers, err) },
	}
	return w
}

// turn runs what the observer was posted, but not what that posts.
func (w *reviewWorld) turn() {
	w.mu.Lock()
	posts := w.posts
	w.posts = nil
	w.mu.Unlock()
	for _, do := range posts {
		do(time.Now())
	}
}

// wake lets the timer run out, and the observer take what it posts.
func (w *reviewWorld) wake() {
	time.Sleep(lineEvery)
	synctest.Wait()
	w.turn()
}

// endObserver ends the observer after its last turn.
func (w *reviewWorld) endObserver() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.ended = true
}

// endWait ends the open wait.
func (w *reviewWorld) endWait(end snapshot.End) {
	done := w.wait.Done
	w.wait = nil
	done(snapshot.Result{End: end})
}

// do makes an event happen.
func (w *reviewWorld) do(e reviewEvent) {
	r := w.review
	switch e {
	case begunAtOnce:
		r.post(r.begin)
		w.turn()
	case stepBefore, conditionBefore:
		if e == conditionBefore {
			w.in.conditions.byPart = map[int]condition{0: {}}
		}
		r.left = []pump.Piece{{Bytes: []byte("b"), Step: 2}}
		r.post(r.begin)
		w.turn()
	case notProcessed:
		w.behind = true
		w.endWait(snapshot.TimedOut)
	case processed, conditionMet:
		time.Sleep(maxStillWait) // no part of the time that looks may take
		w.endWait(snapshot.Met)
	case recheckDue:
		w.wake()
	case inputEnded:
		require.True(w.t, w.in.life.Advance(pump.ControlEnded))
		if r.state == reviewPausing {
			w.endWait(snapshot.Met)
			return
		}
		w.wake()
	case programEnded:
		state := r.state
		w.endObserver()
		switch state {
		case reviewAsked:
			r.post(r.begin)
		case reviewPausing:
			w.endWait(snapshot.Stopped)
		default:
			w.wake()
		}
	case inputRefused:
		w.hidden = true
		w.wake()
	default:
		w.arrangeLook(e)
		w.turn()
	}
}

// arrangeLook makes the next look find e.
func (w *reviewWorld) arrangeLook(e reviewEvent) {
	switch e {
	case ownerUnclear:
		w.bash, w.behind = true, true
		w.userTypes("ls")
	case lineOccupied:
		w.bash = true
		w.userTypes("ls")
		w.Observer.Model().Feed([]byte("ls"))
		w.line.noteMoved()
	case keysUnshown:
		w.userTypes("n")
		w.in.saw, w.behind, w.review.left = glimpse{looked: true, settled: true, row: "Continue?"}, true, nil
	case programStarting:
		w.in.steps[1].InputKind = protocol.InputPaste
		w.blocked = child.Blocked{Group: 7, Leads: time.Second / 2}
	case lineMoves:
		now := time.Now()
		require.NoError(w.t, w.machine.GrantFromOwner(now, control.RemoteGrant{Level: protocol.LevelType}))
		ask := control.Request{ID: "q", Agent: control.Agent{ID: "a-1", Name: "claude"}, Level: protocol.LevelType}
		require.NoError(w.t, w.machine.Request(now, ask))
		w.changed = now
	case readinessUntold:
		w.blocked = child.Blocked{Group: 7, Unclear: true}
	case inputPassed:
	default:
		require.Fail(w.t, "no way is known to "+e.String())
	}
}

// userTypes types behind a prompt.
func (w *reviewWorld) userTypes(keys string) {
	w.Observer.Model().Feed([]byte("$ "))
	w.line.noteMoved()
	w.Tracker.ReadPrompt(w.line.screen())
	w.Tracker.NoteUserKeys([]byte(keys))
}

type reviewObserver struct {
	stagedObserver
	w *reviewWorld
}

func (o reviewObserver) Post(do func(now time.Time)) bool {
	o.w.mu.Lock()
	defer o.w.mu.Unlock()
	if !o.w.ended {
		o.w.posts = append(o.w.posts, do)
	}
	return !o.w.ended
}

func (o reviewObserver) OpenWait(_ time.Time, _ bool, wait snapshot.Wait, _ func(error)) {
	o.w.wait = &wait
}

func (o reviewObserver) InputRefusal(time.Time) error {
	if o.w.hidden {
		return control.ErrHidden
	}
	return nil
}

func (o reviewObserver) NoteTyping([]byte, snapshot.Readiness)   {}
func (o reviewObserver) CheckExpectation(*protocol.Expect) error { return nil }
func (o reviewObserver) LastChange() time.Time                   { return o.w.changed }

type reviewProgram struct {
	stagedProgram
	w *reviewWorld
}

// BlockedOn is asked by each look.
func (p reviewProgram) BlockedOn() (child.Blocked, bool) {
	if p.w.review != nil {
		p.w.looks = append(p.w.looks, p.w.review.state)
	}
	return p.w.blocked, true
}

func (p reviewProgram) SettingsInSpell() (s child.Settings, spell uint64, err error) {
	if p.w.bash {
		s = child.Settings{Signals: true, Extended: true, Flow: true, Output: true, Quit: 28, Suspend: 26}
	}
	return s, 0, nil
}

func (p reviewProgram) GroupLeader() (child.GroupLeader, bool) {
	return child.GroupLeader{Exe: "/bin/bash", Args: []string{"bash"}}, p.w.bash
}

// reviewRecord counts the screens.
type reviewRecord struct {
	Record
	w *reviewWorld
}

func (r reviewRecord) RecordScreen(time.Time) { r.w.screens++ }
