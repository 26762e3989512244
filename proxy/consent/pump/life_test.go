package pump_test

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"terminalproxy/proxy/consent/control"
	"terminalproxy/proxy/consent/pump"
)

// impossible has the reason why an event cannot happen in the states that the table gives no next
// state for.
var impossible = map[pump.Event]string{
	pump.TurnCame:     "its turn comes once, and then it is judged",
	pump.LineOccupied: "only what is being judged gets an answer",
	pump.Postponed:    "only what is being judged gets an answer",
	pump.Passed:       "only what is being judged passes, and not if the user has typed meanwhile",
	pump.AskedUser:    "the user is only asked about what has just been judged",
	pump.LetThrough:   "the user was not asked",
	pump.UserTyped:    "it has left the queue",
	pump.Shifted:      "its facts are looked at right before a piece, and not within one",
	pump.PartWritten:  "only what is ready is written",
	pump.PieceWritten: "only what is ready is written",
	pump.StepWritten:  "only what is ready is written",
	pump.TakenBack:    "every state has it",
	pump.AllWritten:   "only what is ready is written",
	pump.Failed:       "the user's answer, or the user's key behind half a piece, comes first",
	pump.NotAllowed:   "the user was not asked",
	pump.GivenUp:      "it has left the queue",
	pump.TypedOn:      "a question has its own limit, and half a piece is finished",
	pump.StayedAway:   "a question has its own limit, and half a piece is finished",
	pump.Unread:       "a question has its own limit, and half a piece is finished",
	pump.NotBack:      "a question has its own limit, and no piece begins before the program is back",
	pump.ControlEnded: "it has left the queue",
	pump.Stuck:        "it has left the queue",
	pump.Exited:       "it has left the queue",
	pump.Receipted:    "the receipt is made at its end, and sent once",
}

// The comment on pump.State draws the table that the code has.
func TestLifeIsDrawn(t *testing.T) {
	source, err := os.ReadFile("life.go")
	require.NoError(t, err)
	drawn := fmt.Sprintf("//\t%-12s", "")
	for s := pump.Queued; s < pump.StateCount; s++ {
		drawn += fmt.Sprintf(" %-*s", width(s), s)
	}
	require.Contains(t, string(source), "\n"+strings.TrimRight(drawn, " ")+"\n")
	for e := range pump.EventCount {
		drawn, everywhere := fmt.Sprintf("//\t%-12s", e), true
		for s := pump.Queued; s < pump.StateCount; s++ {
			to := pump.After(s, e)
			name := to.String()
			if to == 0 {
				name, everywhere = ".", false
			}
			drawn += fmt.Sprintf(" %-*s", width(s), name)
		}
		require.Contains(t, string(source), "\n"+strings.TrimRight(drawn, " ")+"\n")
		require.Equal(t, everywhere, e == pump.TakenBack)
		require.NotEmpty(t, impossible[e], "%s has a reason", e)
	}
}

func width(s pump.State) int {
	if s >= pump.Ended {
		return 5
	}
	return 7
}

// What cannot happen changes nothing, and every cell of the table says so.
func TestLifeRefusesWhatCannotHappen(t *testing.T) {
	for s := pump.Queued; s < pump.StateCount; s++ {
		for e := range pump.EventCount {
			var l pump.Life
			for _, step := range reach(s, false) {
				require.True(t, l.Advance(step), "%s on the way to %s", step, s)
			}
			require.Equal(t, s, l.State())
			to := pump.After(s, e)
			require.Equal(t, to != 0, l.Advance(e), "%s in %s", e, s)
			if to == 0 {
				to = s
			}
			require.Equal(t, to, l.State(), "%s in %s", e, s)
		}
	}
}

// reach returns a way to a state, behind a piece if begun is set.
func reach(s pump.State, begun bool) (way []pump.Event) {
	if begun {
		way = []pump.Event{pump.TurnCame, pump.Passed, pump.PieceWritten, pump.Shifted}
	}
	return append(way, map[pump.State][]pump.Event{
		pump.Judging: {pump.TurnCame},
		pump.Voided:  {pump.TurnCame, pump.UserTyped},
		pump.Held:    {pump.TurnCame, pump.AskedUser},
		pump.Ready:   {pump.TurnCame, pump.Passed},
		pump.Begun:   {pump.TurnCame, pump.Passed, pump.PartWritten},
		pump.Crossed: {pump.TurnCame, pump.Passed, pump.PartWritten, pump.UserTyped},
		pump.Ended:   {pump.TurnCame, pump.Passed, pump.AllWritten},
		pump.Sent:    {pump.TurnCame, pump.Passed, pump.AllWritten, pump.Receipted},
	}[s]...)
}

// Every transition of the table is walked in a real pump, and every end gives its receipt.
func TestLifeIsWalked(t *testing.T) {
	for s := pump.Queued; s < pump.StateCount; s++ {
		for e := range pump.EventCount {
			if pump.After(s, e) == 0 {
				continue
			}
			t.Run(fmt.Sprint(s, "/", e), func(t *testing.T) {
				inBubbleWith(t, prepareWalk, func(t *testing.T, w *world) { walk(t, w, s, e) })
			})
		}
	}
}

func prepareWalk(w *world, c *pump.Config) {
	w.room = 0
	c.IsProgramBack = func(time.Time) bool { return !w.away }
}

func walk(t *testing.T, w *world, s pump.State, e pump.Event) {
	t.Helper()
	begun := s < pump.Ended && e == pump.TakenBack
	k := newWalk(w, e, begun)
	if e == pump.TakenBack {
		w.unread = 1
	}
	for _, step := range reach(s, begun) {
		require.NotZero(t, pump.After(k.Life.State(), step), "%s after %s", step, k.Life.State())
		to := pump.After(k.Life.State(), step)
		k.do(t, step)
		require.Equal(t, to, k.Life.State(), "after %s on the way", step)
	}
	require.Equal(t, s, k.Life.State())
	k.do(t, e)
	to := pump.After(s, e)
	switch {
	case e == pump.TakenBack && s >= pump.Ended:
		require.Equal(t, []int{1}, k.back, "a correction follows the receipt")
	case e == pump.TakenBack: // the user took the keyboard back in the same moment
		to = pump.Ended
		require.Equal(t, len(k.wrote)-1, k.receipt(t).Written)
	case to == pump.Ended:
		r := k.receipt(t)
		require.Equal(t, pump.FateOf(e), r.Fate)
		require.Equal(t, s == pump.Held, r.Held)
	}
	require.Equal(t, to, k.Life.State())
	if to < pump.Ended {
		require.Empty(t, k.receipts, "no receipt before the end")
	}
}

// walker makes each event happen to one job.
type walker struct {
	*job
	w      *world
	pieces []pump.Piece
	left   []pump.Piece
	answer func([]pump.Piece, error)
	asks   bool
	shifts bool
}

// newWalk offers a job that waits for another program, so that it takes only the steps it is told.
func newWalk(w *world, e pump.Event, begun bool) *walker {
	k := &walker{w: w, pieces: []pump.Piece{{Bytes: []byte("abcd"), Step: 1}}}
	switch {
	case begun, e == pump.PieceWritten:
		k.pieces = append(k.pieces, pump.Piece{Bytes: []byte("efgh")})
	case e == pump.StepWritten:
		k.pieces[0].Acts = true
		k.pieces = append(k.pieces, pump.Piece{Bytes: []byte("efgh"), Step: 2})
	}
	size := 0
	for _, p := range k.pieces {
		size += len(p.Bytes)
	}
	k.job = w.job("x")
	k.Life, k.ID, k.Size = new(pump.Life), "i1", size
	k.Prepare = func(left []pump.Piece, answer func([]pump.Piece, error)) {
		if k.left, k.answer = left, answer; left == nil {
			k.left = slices.Clone(k.pieces)
		}
	}
	k.Hold = func(now time.Time, _ []pump.Piece, _ pump.Line) (bool, error) {
		if !k.asks {
			return false, nil
		}
		return true, w.ctl.AskConfirmation(now, control.Confirmation{Keys: "abcd", Until: now.Add(30 * time.Second)})
	}
	k.Holds = func() bool {
		w.ctl.elsewhere = w.ctl.elsewhere || k.shifts
		return !k.shifts
	}
	switch e { //nolint:exhaustive // the others need no limit
	case pump.TypedOn, pump.StayedAway: // within the pause for a user who types
		k.Wait = 300 * time.Millisecond
	case pump.Unread: // after it
		k.Wait = 1500 * time.Millisecond
	}
	w.set(func() { w.ctl.elsewhere = true })
	w.offer(k.job)
	return k
}

// set changes the world on the pump's goroutine.
func (w *world) set(change func()) {
	w.pump.Post(func(time.Time) { change() })
	synctest.Wait()
}

// do makes an event happen.
func (k *walker) do(t *testing.T, e pump.Event) {
	t.Helper()
	w := k.w
	if k.stepOn(e) {
		return
	}
	switch e {
	case pump.UserTyped:
		w.press("u")
	case pump.GivenUp:
		w.pump.WithdrawInput("i1", true)
		synctest.Wait()
	case pump.TakenBack:
		w.press("\x1c")
	case pump.ControlEnded:
		w.press("\x1c")
	case pump.TypedOn: // a paste that is held back pauses the agent before it reaches the program
		w.press("\x1b[200~x")
		w.set(func() { w.ctl.elsewhere = false })
		w.sleep(400 * time.Millisecond)
	case pump.StayedAway:
		w.set(func() { w.ctl.elsewhere = true })
		w.sleep(400 * time.Millisecond)
	case pump.Unread, pump.NotBack: // the terminal's answer may move the program
		w.set(func() { w.away = true })
		w.pump.TypeReply([]byte("r"))
		synctest.Wait()
		w.drain(k.pendingUser() + 1)
		w.set(func() { w.ctl.elsewhere = false })
		w.sleep(map[pump.Event]time.Duration{pump.Unread: 1600 * time.Millisecond, pump.NotBack: 15 * time.Second}[e])
	case pump.Stuck:
		w.pump.TypeReply([]byte("r"))
		w.sleep(3 * time.Second)
	case pump.Exited:
		w.gone = errGone
		w.pump.TypeReply([]byte("r"))
		synctest.Wait()
	case pump.Receipted:
		require.True(t, k.Life.Advance(e))
	default:
		require.Fail(t, "no way is known to "+e.String())
	}
}

// stepOn has the events that are steps of the judging and the writing.
func (k *walker) stepOn(e pump.Event) bool {
	w := k.w
	answer := func(err error) {
		k.answer(k.left, err)
		synctest.Wait()
	}
	switch e {
	case pump.TurnCame:
		w.set(func() { w.ctl.elsewhere, k.shifts = false, false })
	case pump.LineOccupied:
		answer(&pump.OccupiedError{Line: "git pu"})
	case pump.Postponed:
		w.press("\x1b[200~x")
		answer(nil)
	case pump.Passed:
		answer(nil)
	case pump.AskedUser:
		k.asks = true
		answer(nil)
	case pump.LetThrough:
		w.set(func() { w.ctl.elsewhere = true })
		w.confirmHeld()
	case pump.NotAllowed:
		w.sleep(time.Minute)
	case pump.Shifted:
		w.set(func() { w.ctl.elsewhere, k.shifts = false, true })
		w.drain(0)
	case pump.PartWritten:
		w.set(func() { w.ctl.elsewhere, k.shifts = false, false })
		w.drain(1)
	case pump.PieceWritten, pump.StepWritten, pump.AllWritten:
		// Without the program's delay, the next step is judged at once.
		w.set(func() { w.ctl.elsewhere, k.shifts, w.away = false, false, e == pump.StepWritten })
		w.drain(k.pieceLeft())
	case pump.Failed:
		if s := k.Life.State(); s == pump.Judging || s == pump.Voided {
			answer(errors.New("the screen changed"))
			break
		}
		w.set(func() { w.ctl.elsewhere, w.ctl.refuses = false, control.ErrHidden })
		w.drain(0)
	default:
		return false
	}
	return true
}

// pieceLeft returns how many bytes of the present piece the program has yet to take.
func (k *walker) pieceLeft() int {
	written := len(k.wrote)
	for _, p := range k.pieces {
		if written < len(p.Bytes) {
			return len(p.Bytes) - written
		}
		written -= len(p.Bytes)
	}
	return 0
}

// pendingUser returns how many bytes of the user wait before the present piece.
func (k *walker) pendingUser() int {
	if k.Life.State() == pump.Voided {
		return 1
	}
	return 0
}

// The end of a paste whose bytes are discarded is no typing of the user: what was judged passes.
func TestTheEmptyRestOfAPasteIsNoTyping(t *testing.T) {
	inBubble(t, true, func(t *testing.T, w *world) {
		w.press("\x1b[200~secret\x1c") // the reclaim key discards the rest
		w.sleep(200 * time.Millisecond)
		w.grantAgain()
		prepared := 0
		j := w.job()
		j.Size = 4
		j.Prepare = func(left []pump.Piece, answer func([]pump.Piece, error)) {
			if prepared++; left == nil {
				left = []pump.Piece{{Bytes: []byte("abcd"), Step: 1}}
			}
			answer(left, nil)
		}
		w.room = 2
		w.offer(j)
		w.sleep(time.Second) // the paste has not ended by then
		w.drain(-1)
		require.Equal(t, "abcd", w.written())
		require.Equal(t, 1, prepared, "it was judged once")
		require.Equal(t, pump.Receipt{Fate: pump.Written, Written: 4}, j.receipt(t))
	})
}
