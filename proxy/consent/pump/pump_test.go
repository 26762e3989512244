package pump_test

import (
	"math/rand/v2"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"terminalproxy/protocol"
	"terminalproxy/proxy/consent/pump"
	"terminalproxy/proxy/terminal/keys"
)

// The drawer of a question posts that the question stands, and then the user answers it. The poll
// that finds the answer may have checked for the wake before the post.
func TestAPostComesBeforeTheKeyThatFollowsIt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, false, nil)
		w.typed <- []byte("u")
		w.pump.Poll = lateWake{w, func() { w.pump.Post(func(time.Time) { w.ledger = append(w.ledger, "post") }) }}
		w.start()
		synctest.Wait()
		require.Equal(t, "post | read u | write u", w.story())
		w.stop()
	})
}

// lateWake posts within every poll that finds the keyboard readable, and does not report that the
// post woke it.
type lateWake struct {
	*world
	post func()
}

func (b lateWake) Wait(want pump.Events, timeout time.Duration) (pump.Events, error) {
	got, err := b.world.Wait(want, timeout)
	if got&pump.Readable != 0 {
		b.post()
		got &^= pump.Woken
	}
	return got, err
}

// TestLookBeforeEachPieceR15 counts pieces between two looks at the keyboard: a key that arrives
// with any piece is read before the next one is written.
func TestLookBeforeEachPieceR15(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, true, nil)
		looks := &counting{world: w, keyAt: 3}
		w.pump = pump.New(pump.Config{
			Keyboard: w, Program: looks, Poll: w, Scan: scanner{keys.NewScanner(keys.Bindings{})}, Control: w.ctl,
		})
		w.start()
		long := w.offer(w.job(strings.Repeat("x", 1000)))
		require.Equal(t, pump.Receipt{Fate: pump.Dropped, Written: 3 * pump.MaxPiece, Dropped: 1000 - 3*pump.MaxPiece, Unsubmitted: 3 * pump.MaxPiece}, long.receipt(t))
		w.stop()
	})
}

// counting types the reclaim key during the write of piece keyAt.
type counting struct {
	*world
	writes, keyAt int
}

func (c *counting) Write(p []byte) (int, error) {
	if c.writes++; c.writes == c.keyAt {
		c.typed <- []byte{0x1c}
	}
	return c.world.Write(p)
}

// Every input on its way when the user pressed the key is refused.
func TestTenThousandFramesR14(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, true, nil)
		jobs := make([]*job, 10_000)
		for i := range jobs {
			jobs[i] = w.job("agent")
			w.pump.Enqueue(jobs[i].Job)
		}
		w.typed <- []byte{0x1c}
		w.start()
		w.stop()
		require.Empty(t, w.written())
		for _, j := range jobs {
			require.Zero(t, j.receipt(t).Written)
		}
	})
}

func TestStopAnswersEveryInput(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, true, nil)
		w.room = 3
		w.start()
		half, queued := w.offer(w.job("agent")), w.offer(w.job("more"))
		silent := w.job("never prepared")
		silent.Prepare = func([]pump.Piece, func([]pump.Piece, error)) {}
		w.offer(silent)
		w.stop()
		late := w.offer(w.job("late"))
		require.Equal(t, pump.Receipt{Fate: pump.ProgramEnded, Written: 3, Dropped: 2}, half.receipt(t))
		require.Equal(t, "age", half.wrote)
		for _, j := range []*job{queued, silent, late} {
			require.Equal(t, pump.Receipt{Fate: pump.ProgramEnded, Dropped: j.Size}, j.receipt(t))
		}
		require.False(t, w.pump.Post(func(time.Time) {}))
	})
}

func TestQueueLimit(t *testing.T) {
	inBubble(t, true, func(t *testing.T, w *world) {
		w.room = 0
		jobs := make([]*job, 65)
		for i := range jobs {
			jobs[i] = w.offer(w.job("x"))
		}
		require.ErrorIs(t, jobs[64].receipt(t).Err, pump.ErrFull)
		require.Empty(t, jobs[63].receipts)
		w.drain(-1)
		require.Equal(t, strings.Repeat("x", 64), w.written())
	})
}

// If the user types while the conditions are checked, they are checked again afterwards.
func TestPrepareIsAskedAnew(t *testing.T) {
	inBubble(t, true, func(t *testing.T, w *world) {
		var answers []func([]pump.Piece, error)
		j := w.job("agent")
		j.Prepare = func(_ []pump.Piece, answer func([]pump.Piece, error)) { answers = append(answers, answer) }
		w.offer(j)
		require.Len(t, answers, 1)
		w.press("u")
		answers[0]([]pump.Piece{{Bytes: []byte("stale")}}, nil)
		w.sleep(time.Second)
		require.Len(t, answers, 2)
		answers[1]([]pump.Piece{{Bytes: []byte("fresh")}}, nil)
		synctest.Wait()
		require.Equal(t, "ufresh", w.written())
		require.Len(t, j.receipts, 1)
	})
}

func TestGapLeavesAKeyAlone(t *testing.T) {
	inBubble(t, true, func(t *testing.T, w *world) {
		j := w.job("\x1b:")
		j.Prepare = func(_ []pump.Piece, answer func([]pump.Piece, error)) {
			answer([]pump.Piece{{Bytes: []byte("\x1b"), Gap: 60 * time.Millisecond}, {Bytes: []byte(":")}}, nil)
		}
		w.offer(j)
		w.sleep(60*time.Millisecond - time.Nanosecond)
		require.Equal(t, "\x1b", w.written())
		w.sleep(time.Nanosecond)
		require.Equal(t, "\x1b:", w.written())
	})
}

// The keyboard belongs to another program: the pump reads none of it until NoteNewKeyboard, while agents type.
func TestAnUnheardKeyboard(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, false, func(conf *pump.Config) { conf.LeaveKeyboard = true })
		w.start()
		go func() { w.typed <- []byte("x") }()
		synctest.Wait()
		require.Empty(t, w.written())
		w.pump.Post(func(time.Time) { w.pump.NoteNewKeyboard() })
		synctest.Wait()
		require.Equal(t, "x", w.written())
		w.stop()
	})
}

// Without a scanner every byte passes as it is.
func TestUntouchedR13(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, false, func(conf *pump.Config) { conf.Scan, conf.Control = nil, nil })
		w.start()
		var all strings.Builder
		r := rand.New(rand.NewPCG(1, 2))
		for range 256 {
			b := make([]byte, 4096)
			for i := range b {
				b[i] = byte(r.Uint32())
			}
			all.Write(b)
			w.press(string(b))
		}
		require.True(t, all.String() == w.written(), "1 MiB of random bytes")
		w.stop()
	})
}

// TestReceiptsAlwaysMatch plays random schedules of keys, inputs, slow programs and ends. Every
// input gets one receipt, and its sum is right. The program got what user and receipts say,
// including the bytes that were taken back.
func TestReceiptsAlwaysMatch(t *testing.T) {
	for seed := range uint64(60) {
		inBubble(t, true, func(t *testing.T, w *world) {
			r := rand.New(rand.NewPCG(seed, 3))
			var jobs []*job
			user := 0
			w.unread = r.IntN(200)
			for range 60 {
				switch r.IntN(8) {
				case 0, 1, 2:
					j := w.job(many(1 + r.IntN(4))...)
					j.Wait = time.Duration(r.IntN(3)) * time.Second
					jobs = append(jobs, w.offer(j))
				case 3:
					w.press("u")
					user++
				case 4:
					w.drain(r.IntN(300))
				case 5:
					w.sleep(time.Duration(r.IntN(3000)) * time.Millisecond)
				case 6:
					w.drain(-1)
				case 7:
					if r.IntN(6) == 0 {
						w.press("\x1c")
						w.ctl.NoteShown(time.Now(), w.ctl.Shown().Turn)
					}
				}
			}
			w.drain(-1)
			w.pump.Post(func(now time.Time) { w.ctl.End(now, protocol.ReasonExited) })
			synctest.Wait()
			taken := 0
			for _, j := range jobs {
				reached := len(j.wrote) - j.flushed()
				require.GreaterOrEqual(t, reached, 0)
				require.LessOrEqual(t, reached, j.receipt(t).Written)
				taken += reached
			}
			got := string(w.got)
			require.Equal(t, len(got), taken+strings.Count(got, "u")+strings.Count(got, "\x1c"))
			require.Equal(t, user, strings.Count(got, "u"), "no key of the user's is lost, or comes twice")
		})
	}
}

// keyLog notes whose keys the pump reported.
type keyLog struct{ user, agent string }

func (k *keyLog) NoteUserKeys(b []byte)  { k.user += string(b) }
func (k *keyLog) NoteAgentKeys(b []byte) { k.agent += string(b) }

// The keys are reported before the program has them.
func TestAllKeysAreReportedR63(t *testing.T) {
	log := &keyLog{}
	inBubbleWith(t, func(_ *world, c *pump.Config) { c.Line = log }, func(t *testing.T, w *world) {
		w.press("u\x1b[A")
		w.sleep(2 * time.Second)
		w.offer(w.job("ag", "ent"))
		w.press("\x1b[200~p\x1b[201~")
		w.sleep(2 * time.Second)
		require.Equal(t, &keyLog{"u\x1b[A\x1b[200~p\x1b[201~", "agent"}, log)
	})
}

// What is remembered is bounded.
func TestManyInputsR80(t *testing.T) {
	inBubble(t, true, func(t *testing.T, w *world) {
		var jobs []*job
		for range 300 {
			jobs = append(jobs, w.offer(w.job(strings.Repeat("x\r", 4<<10))))
		}
		w.unread = 70_000
		w.press("\x1c")
		back := 0
		for _, j := range jobs {
			back += j.flushed()
		}
		require.LessOrEqual(t, back, 70_000)
		require.Equal(t, back, w.ctl.dropped)
		require.Positive(t, back)
	})
}

// away is a control that reports another program in front before the piece of a given number.
type away struct {
	*machine
	asked, at int
}

func (a *away) CheckInput(now time.Time, agent string, epoch uint64) error {
	if a.asked++; a.asked == a.at {
		a.elsewhere = true
	}
	return a.machine.CheckInput(now, agent, epoch)
}

// No piece is written while another program is in front, even if that appears in the middle of an
// input. The input continues by itself when the program is back.
func TestInputWaitsForItsProgram(t *testing.T) {
	for at, want := range map[int]int{1: 0, 2: 0, 3: 0, 4: 64, 5: 128} { // asked for the queue, for the preparation, then for each piece
		inBubbleWith(t, func(w *world, c *pump.Config) { c.Control = &away{machine: w.ctl, at: at} }, func(t *testing.T, w *world) {
			j := w.offer(w.job(many(10)...))
			w.sleep(5 * time.Minute)
			require.Len(t, w.written(), want, "seen at the question %d", at)
			require.Empty(t, j.receipts)
			w.ctl.elsewhere = false
			w.sleep(100 * time.Millisecond)
			require.Equal(t, pump.Receipt{Fate: pump.Written, Written: 640}, j.receipt(t))
		})
	}
}
