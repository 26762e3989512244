package pump_test

import (
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"terminalproxy/protocol"
	"terminalproxy/proxy/consent/control"
	"terminalproxy/proxy/consent/pump"
	"terminalproxy/proxy/terminal/keys"
)

// scanner is package keys' scanner with the pump's words.
type scanner struct{ *keys.Scanner }

var kinds = map[keys.Kind]pump.Kind{
	keys.Key: pump.Key, keys.Reclaim: pump.Reclaim, keys.Release: pump.Release, keys.Confirm: pump.Confirm,
	keys.ConfirmRepeat: pump.ConfirmRepeat, keys.Idle: pump.Report,
	keys.Reply: pump.Report, keys.Focus: pump.Report, keys.Motion: pump.Report, keys.Mouse: pump.Key,
	keys.PasteStart: pump.PasteStart, keys.Paste: pump.Paste, keys.PasteEnd: pump.PasteEnd,
}

func (s scanner) Scan(p []byte, emit func(pump.Unit)) {
	s.Scanner.Scan(p, func(u keys.Unit) {
		emit(pump.Unit{Kind: kinds[u.Kind], Bytes: u.Bytes})
	})
}

func (s scanner) Flush(emit func(pump.Unit)) {
	s.Scanner.Flush(func(u keys.Unit) { emit(pump.Unit{Kind: kinds[u.Kind], Bytes: u.Bytes}) })
}

// machine is package control's machine with the pump's words.
type machine struct {
	*control.Machine
	events               []control.Event
	elsewhere            bool   // another program is in front
	refuses              error  // of every input, if it is set
	checked              func() // is called by each check, if it is set
	dropped, unsubmitted int    // summed over all ends
}

func (m *machine) CheckInput(now time.Time, agent string, epoch uint64) error {
	if m.checked != nil {
		m.checked()
	}
	if m.refuses != nil {
		return m.refuses
	}
	return m.Machine.CheckInput(now, agent, epoch)
}

func (m *machine) IsPausedByProgram() bool { return m.elsewhere }

// Guarded is true here: these worlds can tell which program is back.
func (m *machine) DependsOnProgram() bool { return true }

func (m *machine) PublishChanges(_ time.Time, dropped, unsubmitted int) {
	m.dropped += dropped
	m.unsubmitted += unsubmitted
	m.events = append(m.events, m.TakeEvents()...)
}

// world is a keyboard, a program and a poller in one, with a ledger of what the pump did to them,
// in order. It lives in a synctest bubble: its goroutines are the test's and the pump's, and time
// passes when both wait.
type world struct {
	t      *testing.T
	pump   *pump.Pump
	ctl    *machine
	ledger []string

	typed chan []byte // future reads of the keyboard; closed at its end
	next  []byte      // the read that polling found
	ended bool
	room  int // bytes that the program takes, negative for no limit
	wake  chan struct{}
	space chan struct{} // the program has room again
	done  chan error
	over  chan struct{} // closed with the test: no pump outlives it
	gone  error         // the error of the program's Write
	idle  int           // turns in a row in which the pump neither waited, read nor wrote

	got       []byte // what the program was given and was not taken back
	unread    int    // how many of the newest of those bytes it has not read
	group     int    // has the terminal
	canonical bool   // the line settings
	spell     uint64 // how often they were seen to be raw
	away      bool   // the program does not ask for more
	restores  bool   // the program reads one key raw, and then restores canonical mode

	turn sync.Mutex // tells the race detector what the bubble's clock orders
}

// agent drives in every world that has a grant.
const agent = "agent-1"

func newWorld(t *testing.T, granted bool, change func(*pump.Config)) *world {
	t.Helper()
	w := &world{
		t: t, room: -1, typed: make(chan []byte, 1024), wake: make(chan struct{}, 1),
		space: make(chan struct{}, 1), done: make(chan error, 1), over: make(chan struct{}),
	}
	w.ctl = &machine{Machine: control.New(control.Config{Keyboard: true, Yield: time.Second, Pregrant: protocol.LevelDrive})}
	if granted {
		w.grant()
	}
	c := pump.Config{Keyboard: w, Program: w, Poll: w, Scan: scanner{keys.NewScanner(keys.Bindings{})}, Control: w.ctl}
	c.Unexpected = func(s pump.State, e pump.Event) { t.Errorf("%s cannot happen to an input that is %s", e, s) }
	if change != nil {
		change(&c)
	}
	w.pump = pump.New(c)
	return w
}

func (w *world) grant() {
	require.NoError(w.t, w.ctl.Request(time.Now(), control.Request{ID: "r", Agent: control.Agent{ID: agent}, Level: protocol.LevelDrive}))
}

// grantAgain gives the agent control after the user took it. It is called while the pump waits.
func (w *world) grantAgain() {
	w.pump.Post(func(now time.Time) {
		_ = w.ctl.GrantFromOwner(now, control.RemoteGrant{Level: protocol.LevelDrive})
		_ = w.ctl.Request(now, control.Request{ID: "r", Agent: control.Agent{ID: agent}, Level: protocol.LevelDrive})
	})
	synctest.Wait()
	require.True(w.t, w.ctl.IsDriven())
}

func (w *world) start() {
	w.t.Cleanup(func() { close(w.over) }) // a failing test does not reach stop
	go func() { w.done <- w.pump.Run() }()
}

// stop ends the pump and waits for it.
func (w *world) stop() {
	w.t.Helper()
	w.pump.Stop()
	select {
	case err := <-w.done:
		require.NoError(w.t, err)
	case <-time.After(time.Hour): // of the bubble's
		require.FailNow(w.t, "the pump does not stop")
	}
}

// press types s, and returns when the pump has handled it.
func (w *world) press(s string) {
	w.typed <- []byte(s)
	synctest.Wait()
}

// sleep lets time pass, and returns when its effects are over.
func (w *world) sleep(d time.Duration) {
	w.order()
	time.Sleep(d)
	synctest.Wait()
}

// Both sides call order, between what the test did and what the pump does after waiting.
func (w *world) order() {
	w.turn.Lock()
	w.turn.Unlock() //nolint:staticcheck // only the order matters
}

// story returns the ledger in one line.
func (w *world) story() string { return strings.Join(w.ledger, " | ") }

// written returns everything that the program was given.
func (w *world) written() string {
	var b strings.Builder
	for _, line := range w.ledger {
		if text, ok := strings.CutPrefix(line, "write "); ok {
			b.WriteString(text)
		}
	}
	return b.String()
}

// idleMost is how many idle turns in a row a busy pump may take: time stands still in a bubble
// meanwhile, and a pump that spins would hang the test.
const idleMost = 10_000

var (
	errSpins = errors.New("the pump spins")
	errOver  = errors.New("the test is over")
)

func (w *world) Wait(want pump.Events, timeout time.Duration) (pump.Events, error) {
	defer w.order()
	if w.idle++; w.idle > idleMost {
		return 0, errSpins
	}
	if got := w.look(want); got != 0 || timeout == 0 {
		return got, nil
	}
	w.idle = 0
	var typed chan []byte
	if want&pump.Readable != 0 {
		typed = w.typed
	}
	var space chan struct{}
	if want&pump.Writable != 0 {
		space = w.space
	}
	var late <-chan time.Time
	if timeout > 0 {
		late = time.After(timeout)
	}
	select {
	case <-w.over:
		return 0, errOver
	case <-w.wake:
		return pump.Woken | w.look(want), nil
	case b, ok := <-typed:
		w.next, w.ended = b, !ok
		return pump.Readable, nil
	case <-space:
		return pump.Writable, nil
	case <-late:
		return w.look(want), nil
	}
}

// look is Wait without waiting.
func (w *world) look(want pump.Events) (got pump.Events) {
	select {
	case <-w.wake:
		got |= pump.Woken
	default:
	}
	if want&pump.Readable != 0 {
		select {
		case b, ok := <-w.typed:
			w.next, w.ended = b, !ok
			got |= pump.Readable
		default:
		}
	}
	if want&pump.Writable != 0 {
		select {
		case <-w.space:
			got |= pump.Writable
		default:
		}
	}
	return got
}

func (w *world) Wake() {
	select {
	case w.wake <- struct{}{}:
	default:
	}
}

func (w *world) Read(p []byte) (int, error) {
	if w.ended {
		return 0, nil
	}
	if w.next == nil {
		return 0, pump.ErrAgain
	}
	n := copy(p, w.next)
	w.next, w.idle = nil, 0
	w.ledger = append(w.ledger, "read "+string(p[:n]))
	return n, nil
}

func (w *world) Write(p []byte) (int, error) {
	if w.gone != nil {
		return 0, w.gone
	}
	if w.room == 0 {
		return 0, pump.ErrAgain
	}
	n := len(p)
	if w.room > 0 {
		n = min(n, w.room)
		w.room -= n
	}
	w.idle = 0
	w.ledger, w.got = append(w.ledger, "write "+string(p[:n])), append(w.got, p[:n]...)
	w.canonical = w.canonical || w.restores
	return n, nil
}

// drain lets the program take n more bytes. It is called while the pump waits.
func (w *world) drain(n int) {
	w.room = n
	select {
	case w.space <- struct{}{}:
	default:
	}
	synctest.Wait()
}

func (w *world) FlushInput() (int, error) {
	n := w.CountUnread()
	w.ledger, w.got = append(w.ledger, "flush"), w.got[:len(w.got)-n]
	return n, nil
}

func (w *world) CountUnread() int     { return min(w.unread, len(w.got)) }
func (w *world) ForegroundGroup() int { return w.group }

func (w *world) CanonicalSpell() (spell uint64, ends [pump.LineEnds]byte) {
	if !w.canonical {
		w.spell++
		return 0, ends
	}
	return w.spell + 1, [pump.LineEnds]byte{'\n', '\r', 4, 0, 0, 0x15, 3}
}

// job is an agent's input in the given pieces, with its receipt.
type job struct {
	pump.Job
	receipts []pump.Receipt
	wrote    string
	back     []int // what was taken back after the receipt
}

// flushed returns how much of the job the program was given and did not read.
func (j *job) flushed() int {
	n := len(j.wrote) - j.receipts[0].Written
	for _, back := range j.back {
		n += back
	}
	return n
}

func (w *world) job(pieces ...string) *job {
	j := &job{Job: pump.Job{Agent: agent, Epoch: w.ctl.Epoch(), Size: len(strings.Join(pieces, ""))}}
	j.Prepare = func(left []pump.Piece, answer func([]pump.Piece, error)) {
		if left != nil {
			answer(left, nil)
			return
		}
		cut := make([]pump.Piece, 0, len(pieces))
		for _, p := range pieces {
			cut = append(cut, pump.Piece{Bytes: []byte(p)})
		}
		answer(cut, nil)
	}
	j.Wrote = func(p []byte) { j.wrote += string(p) }
	j.Done = func(r pump.Receipt) { j.receipts = append(j.receipts, r) }
	j.Flushed = func(n int) { j.back = append(j.back, n) }
	return j
}

// actingJob is a job whose pieces all act, as Enter does.
func (w *world) actingJob(pieces ...string) *job {
	j := w.job(pieces...)
	j.Prepare = func(left []pump.Piece, answer func([]pump.Piece, error)) {
		if left != nil {
			answer(left, nil)
			return
		}
		var cut []pump.Piece
		for _, p := range pieces {
			cut = append(cut, pump.Piece{Bytes: []byte(p), Acts: strings.HasSuffix(p, "\r")})
		}
		answer(cut, nil)
	}
	return j
}

// offer hands the job over and waits until the pump is idle.
func (w *world) offer(j *job) *job {
	w.pump.Enqueue(j.Job)
	synctest.Wait()
	return j
}

// receipt returns the job's only receipt; its sum matches the size, unless the job was not
// accepted.
func (j *job) receipt(t *testing.T) pump.Receipt {
	t.Helper()
	require.Len(t, j.receipts, 1, "one receipt each")
	r := j.receipts[0]
	require.GreaterOrEqual(t, len(j.wrote), r.Written, "what it was told of as it was written")
	if r.Fate == pump.Refused {
		require.Error(t, r.Err)
		if r.Written == 0 {
			return r
		}
	}
	require.Equal(t, j.Size, r.Written+r.Dropped)
	return r
}

// inBubble runs do in a bubble of fake time.
func inBubble(t *testing.T, granted bool, do func(*testing.T, *world)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, granted, nil)
		w.start()
		synctest.Wait()
		do(t, w)
		w.stop()
	})
}

// inBubbleWith is inBubble with a grant and another configuration.
func inBubbleWith(t *testing.T, change func(*world, *pump.Config), do func(*testing.T, *world)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, true, nil)
		change(w, &w.pump.Config)
		w.start()
		synctest.Wait()
		do(t, w)
		w.stop()
	})
}

var errGone = errors.New("input/output error")

// many returns n pieces of 64 bytes.
func many(n int) []string {
	pieces := make([]string, n)
	for i := range pieces {
		pieces[i] = fmt.Sprintf("%064d", i)
	}
	return pieces
}
