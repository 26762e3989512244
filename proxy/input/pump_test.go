package input_test

import (
	"math/rand/v2"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"terminalproxy/protocol"
	"terminalproxy/proxy/control"
	"terminalproxy/proxy/input"
	"terminalproxy/proxy/keys"
)

// TestR15ReclaimKeyBetweenPieces types the reclaim key while a long input is half written: nothing of the agent's follows.
func TestR15ReclaimKeyBetweenPieces(t *testing.T) {
	inBubble(t, true, func(t *testing.T, w *world) {
		w.room = 3 * 64
		j := w.offer(w.job(many(10)...))
		require.Equal(t, 3, strings.Count(w.story(), "write "))
		w.press("\x1c")
		w.drain(-1)
		require.Equal(t, []string{"read \x1c", "flush"}, w.ledger[3:])
		require.Equal(t, input.Receipt{Fate: input.Dropped, Written: 192, Dropped: 448, Unsubmitted: 192}, j.receipt(t))
		require.Equal(t, 448, w.ctl.dropped)
		require.Equal(t, 192, w.ctl.unsubmitted)
	})
}

// TestR15KeyboardFirst has both ready before the pump looks: the keyboard goes first, and the agent writes nothing.
func TestR15KeyboardFirst(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, true, nil)
		j := w.job("rm -rf /\r")
		w.pump.Offer(j.Job)
		w.typed <- []byte("\x1cu")
		w.start()
		synctest.Wait()
		require.Equal(t, "read \x1cu | write u", w.story())
		require.Equal(t, input.Dropped, j.receipt(t).Fate)
		w.stop()
	})
}

// TestR15NothingWhileTheKeyboardSpeaks: the reclaim key comes in the last of several reads. The reads before pause nobody, and
// an agent's input is ready from the first on: nothing of it is written before the keyboard has no more to say.
func TestR15NothingWhileTheKeyboardSpeaks(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, true, nil)
		j := w.job("rm -rf /\r")
		w.pump.Offer(j.Job)
		for range 10 {
			w.typed <- []byte("\x1b[I")
		}
		w.typed <- []byte{0x1c}
		w.start()
		synctest.Wait()
		require.Equal(t, strings.Repeat("\x1b[I", 10), w.written())
		require.Equal(t, input.Dropped, j.receipt(t).Fate)
		w.stop()
	})
}

// TestAPostComesBeforeTheKeyThatFollowsIt: who draws a question posts that it stands there, and then the user answers it. The
// poll that finds the answer may have looked for the wake before it was there.
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

// lateWake posts within every poll that finds the keyboard readable, and does not say that it was woken by that.
type lateWake struct {
	*world
	post func()
}

func (b lateWake) Wait(want input.Events, timeout time.Duration) (input.Events, error) {
	got, err := b.world.Wait(want, timeout)
	if got&input.Readable != 0 {
		b.post()
		got &^= input.Woken
	}
	return got, err
}

// TestR15LookBeforeEachPiece counts pieces between two looks at the keyboard: a key that arrives with any piece is read
// before the next one is written.
func TestR15LookBeforeEachPiece(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, true, nil)
		looks := &counting{world: w, keyAt: 3}
		w.pump = input.New(input.Config{
			Keyboard: w, Program: looks, Poll: w, Scan: scanner{keys.NewScanner(keys.ReclaimKey{})}, Control: w.ctl,
		})
		w.start()
		long := w.offer(w.job(strings.Repeat("x", 1000)))
		require.Equal(t, input.Receipt{Fate: input.Dropped, Written: 3 * input.PieceMax, Dropped: 1000 - 3*input.PieceMax, Unsubmitted: 3 * input.PieceMax}, long.receipt(t))
		w.stop()
	})
}

// counting types the reclaim key from within the write of piece keyAt.
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

// TestR20WholeUnits cuts an agent's key in half (the program had room for two bytes of it): the user's key waits for the
// rest. After a reclaim the rest is not written.
func TestR20WholeUnits(t *testing.T) {
	for _, c := range []struct{ typed, want string }{
		{"u", "write \x1b[ | read u | write A | write u"},
		{"\x1b[?62c", "write \x1b[ | read \x1b[?62c | write A | write \x1b[?62c"},
		{"\x1cu", "write \x1b[ | read \x1cu | flush | write u"},
	} {
		inBubble(t, true, func(t *testing.T, w *world) {
			w.room = 2
			j := w.offer(w.job("\x1b[A"))
			w.press(c.typed)
			w.drain(-1)
			require.Equal(t, c.want, w.story())
			j.receipt(t)
		})
	}
}

func TestR4ReclaimKeyInBurst(t *testing.T) {
	inBubble(t, true, func(t *testing.T, w *world) {
		w.room = 0
		j := w.offer(w.job("agent"))
		w.press("abc\x1cdef")
		w.drain(-1)
		require.Equal(t, "abcdef", w.written())
		require.Equal(t, input.Dropped, j.receipt(t).Fate)
	})
}

func TestR4ReclaimKeyInPaste(t *testing.T) {
	for _, reads := range [][]string{
		{"\x1b[200~abc\x1cdef\x1b[201~after"},
		{"\x1b[200~abc", "\x1c", "def\x1b[20", "1~after"},
		{"\x1b[200~abc\x1b[92;5udef\x1b[201~after"},
	} {
		inBubble(t, true, func(t *testing.T, w *world) {
			for _, r := range reads {
				w.press(r)
			}
			require.Equal(t, "after", w.written())
			require.Equal(t, control.Observing, w.ctl.Phase())
		})
	}
}

// TestR4PasteWithoutEnd: a paste that never ends is held for a second, no longer.
func TestR4PasteWithoutEnd(t *testing.T) {
	inBubble(t, true, func(t *testing.T, w *world) {
		w.press("\x1b[200~abc")
		w.sleep(999 * time.Millisecond)
		require.Empty(t, w.written())
		w.sleep(time.Millisecond)
		require.Equal(t, "\x1b[200~abc", w.written())
		w.press("d")
		require.Equal(t, "\x1b[200~abcd", w.written())
	})
}

func TestPasteWithoutAgentIsNotHeld(t *testing.T) {
	inBubble(t, false, func(t *testing.T, w *world) {
		w.press("\x1b[200~a\x1cb")
		require.Equal(t, "\x1b[200~a\x1cb", w.written(), "a paste passes as it is while nobody is to be stopped")
	})
}

// TestR5ChildCountsNoReclaimKey holds the reclaim key for two seconds: none reaches the program.
func TestR5ChildCountsNoReclaimKey(t *testing.T) {
	inBubble(t, true, func(t *testing.T, w *world) {
		for range 60 {
			w.press("\x1c")
			w.sleep(time.Second / 30)
		}
		require.NotContains(t, w.written(), "\x1c")
		w.sleep(3 * time.Second)
		w.press("\x1c") // opens the menu
		w.ctl.Shown(time.Now())
		w.sleep(control.Drawn)
		w.press("\x1c")
		require.Equal(t, "\x1c", w.written())
	})
}

// TestR6UserPausesAgent: the agent waits until the user has not typed for a second, and then goes on.
func TestR6UserPausesAgent(t *testing.T) {
	inBubble(t, true, func(t *testing.T, w *world) {
		w.press("u")
		j := w.offer(w.job("agent"))
		w.sleep(900 * time.Millisecond)
		w.press("s")
		w.sleep(999 * time.Millisecond)
		require.Equal(t, "us", w.written())
		w.sleep(time.Millisecond)
		require.Equal(t, "usagent", w.written())
		require.Equal(t, input.Written, j.receipt(t).Fate)
	})
}

// TestR6RepliesDoNotPause: what the terminal says by itself reaches the program at once and stops nobody.
func TestR6RepliesDoNotPause(t *testing.T) {
	for _, reply := range []string{"\x1b[?62;22c", "\x1b[>1;2c", "\x1b]11;rgb:0000/0000/0000\x1b\\", "\x1b[I", "\x1b[O", "\x1b[0n", "\x1b[<35;3;4M"} {
		inBubble(t, true, func(t *testing.T, w *world) {
			w.press(reply)
			w.offer(w.job("agent"))
			require.Equal(t, reply+"agent", w.written())
		})
	}
}

// TestR7UnrecognisedReclaimKeyPauses: a layout on which the key cannot be told from others still stops the agent.
func TestR7UnrecognisedReclaimKeyPauses(t *testing.T) {
	inBubble(t, true, func(t *testing.T, w *world) {
		w.press("\x1b[1169;5u")
		w.offer(w.job("agent"))
		require.Equal(t, "\x1b[1169;5u", w.written())
	})
}

func TestR6LoneEscape(t *testing.T) {
	for _, c := range []struct {
		name    string
		granted bool
		typed   string
		wait    time.Duration
	}{
		{"driven", true, "\x1b", 50 * time.Millisecond},
		{"driven, open sequence", true, "\x1b[92;", time.Second},
		{"alone", false, "\x1b", 0},
		{"alone, open sequence", false, "\x1b[92;", time.Second},
	} {
		t.Run(c.name, func(t *testing.T) {
			inBubble(t, c.granted, func(t *testing.T, w *world) {
				w.press(c.typed)
				if c.wait > 0 {
					w.sleep(c.wait - time.Nanosecond)
					require.Empty(t, w.written())
					w.sleep(time.Nanosecond)
				}
				require.Equal(t, c.typed, w.written())
			})
		})
	}
}

func TestR14StaleEpoch(t *testing.T) {
	inBubble(t, true, func(t *testing.T, w *world) {
		old := w.job("old")
		w.press("\x1c")
		require.ErrorIs(t, w.offer(old).receipt(t).Err, control.ErrNoGrant)
		w.pump.Post(func(now time.Time) {
			require.NoError(t, w.ctl.Request(now, control.Request{ID: "r", Agent: control.Agent{ID: agent}, Level: protocol.LevelDrive}))
		})
		synctest.Wait()
		w.ctl.Shown(time.Now())
		w.sleep(control.DrawnUnawares)
		w.press("\a")
		require.True(t, w.ctl.Driven())
		again := w.job("old")
		again.Epoch = old.Epoch
		require.ErrorIs(t, w.offer(again).receipt(t).Err, control.ErrStale)
		require.Empty(t, w.written())
	})
}

// TestR14TenThousandFrames: whatever was on its way when the user pressed the key is refused.
func TestR14TenThousandFrames(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, true, nil)
		jobs := make([]*job, 10_000)
		for i := range jobs {
			jobs[i] = w.job("agent")
			w.pump.Offer(jobs[i].Job)
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

// TestR17NotReading: two seconds after the program stopped reading the input fails, with what was taken and what was not.
// When it reads again, so does the next input.
func TestR17NotReading(t *testing.T) {
	inBubble(t, true, func(t *testing.T, w *world) {
		w.room = 100
		j := w.offer(w.job(many(4)...))
		queued := w.offer(w.job("more"))
		w.sleep(2*time.Second - time.Nanosecond)
		require.Empty(t, j.receipts)
		w.sleep(time.Nanosecond)
		require.Equal(t, input.Receipt{Fate: input.NotReading, Written: 100, Dropped: 156}, j.receipt(t))
		require.Equal(t, input.Receipt{Fate: input.NotReading, Dropped: 4}, queued.receipt(t))

		w.drain(-1)
		require.Equal(t, input.Written, w.offer(w.job("next")).receipt(t).Fate, "the program reads again")
	})
}

// TestR17UserBlocked: the user's own keys wait for a program that does not read; the agent's input fails, theirs never.
func TestR17UserBlocked(t *testing.T) {
	inBubble(t, true, func(t *testing.T, w *world) {
		w.room = 0
		w.press("u")
		j := w.offer(w.job("agent"))
		w.sleep(time.Minute)
		require.Equal(t, input.NotReading, j.receipt(t).Fate)
		w.drain(-1)
		require.Equal(t, "u", w.written())
	})
}

func TestR6TypingOutlastsPatience(t *testing.T) {
	inBubble(t, true, func(t *testing.T, w *world) {
		w.press("u")
		j := w.job("agent")
		j.Wait = 1500 * time.Millisecond
		w.offer(j)
		w.sleep(900 * time.Millisecond)
		w.press("u")
		w.sleep(600 * time.Millisecond)
		require.Equal(t, input.Receipt{Fate: input.UserTyping, Dropped: 5}, j.receipt(t))
		require.Equal(t, "uu", w.written())
	})
}

// TestPatienceIsWithTheUser: a slow program is not a user who types, and must not be reported as one.
func TestPatienceIsWithTheUser(t *testing.T) {
	inBubble(t, true, func(t *testing.T, w *world) {
		w.room = 0
		j := w.job("agent")
		j.Wait = time.Second
		w.offer(j)
		w.sleep(1500 * time.Millisecond)
		w.drain(-1)
		require.Equal(t, input.Written, j.receipt(t).Fate)
	})
}

func TestStopAnswersEverybody(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, true, nil)
		w.room = 3
		w.start()
		half, queued := w.offer(w.job("agent")), w.offer(w.job("more"))
		silent := w.job("never prepared")
		silent.Prepare = func([]input.Piece, func([]input.Piece, error)) {}
		w.offer(silent)
		w.stop()
		late := w.offer(w.job("late"))
		require.Equal(t, input.Receipt{Fate: input.Gone, Written: 3, Dropped: 2}, half.receipt(t))
		require.Equal(t, "age", half.wrote)
		for _, j := range []*job{queued, silent, late} {
			require.Equal(t, input.Receipt{Fate: input.Gone, Dropped: j.Size}, j.receipt(t))
		}
		require.False(t, w.pump.Post(func(time.Time) {}))
	})
}

func TestProgramGone(t *testing.T) {
	inBubble(t, true, func(t *testing.T, w *world) {
		w.gone = errGone
		require.Equal(t, input.Receipt{Fate: input.Gone, Dropped: 5}, w.offer(w.job("agent")).receipt(t))
		w.press("u")
		require.Empty(t, w.written())
	})
}

func TestQueueLimit(t *testing.T) {
	inBubble(t, true, func(t *testing.T, w *world) {
		w.room = 0
		jobs := make([]*job, 65)
		for i := range jobs {
			jobs[i] = w.offer(w.job("x"))
		}
		require.ErrorIs(t, jobs[64].receipt(t).Err, input.ErrFull)
		require.Empty(t, jobs[63].receipts)
		w.drain(-1)
		require.Equal(t, strings.Repeat("x", 64), w.written())
	})
}

// TestPrepareIsAskedAnew: the user typed while the conditions were checked, so they are checked again afterwards.
func TestPrepareIsAskedAnew(t *testing.T) {
	inBubble(t, true, func(t *testing.T, w *world) {
		var answers []func([]input.Piece, error)
		j := w.job("agent")
		j.Prepare = func(_ []input.Piece, answer func([]input.Piece, error)) { answers = append(answers, answer) }
		w.offer(j)
		require.Len(t, answers, 1)
		w.press("u")
		answers[0]([]input.Piece{{Bytes: []byte("stale")}}, nil)
		w.sleep(time.Second)
		require.Len(t, answers, 2)
		answers[1]([]input.Piece{{Bytes: []byte("fresh")}}, nil)
		synctest.Wait()
		require.Equal(t, "ufresh", w.written())
		require.Len(t, j.receipts, 1)
	})
}

func TestGapLeavesAKeyAlone(t *testing.T) {
	inBubble(t, true, func(t *testing.T, w *world) {
		j := w.job("\x1b:")
		j.Prepare = func(_ []input.Piece, answer func([]input.Piece, error)) {
			answer([]input.Piece{{Bytes: []byte("\x1b"), Gap: 60 * time.Millisecond}, {Bytes: []byte(":")}}, nil)
		}
		w.offer(j)
		w.sleep(60*time.Millisecond - time.Nanosecond)
		require.Equal(t, "\x1b", w.written())
		w.sleep(time.Nanosecond)
		require.Equal(t, "\x1b:", w.written())
	})
}

// TestEndOfInput: the end of an input that is no terminal is typed, twice after a line without its end.
func TestEndOfInput(t *testing.T) {
	for _, c := range []struct{ typed, want string }{{"", "\x04"}, {"a\n", "a\n\x04"}, {"a", "a\x04\x04"}} {
		synctest.Test(t, func(t *testing.T) {
			ended := 0
			w := newWorld(t, false, func(conf *input.Config) {
				conf.ByHand = true
				conf.KeyboardEnded = func(error) { ended++ }
			})
			w.start()
			if c.typed != "" {
				w.press(c.typed)
			}
			close(w.typed)
			synctest.Wait()
			require.Equal(t, c.want, w.written())
			require.Equal(t, 1, ended)
			w.stop()
		})
	}
}

// TestR13Untouched: without a scanner every byte passes as it is.
func TestR13Untouched(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, false, func(conf *input.Config) { conf.Scan, conf.Control = nil, nil })
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

// TestR11OverrunReclaims: a user who types past what can be held for a program that does not read gets the keyboard back.
func TestR11OverrunReclaims(t *testing.T) {
	inBubble(t, true, func(t *testing.T, w *world) {
		w.room = 0
		block := strings.Repeat("u", 4096)
		for range 257 {
			w.press(block)
		}
		require.Equal(t, control.Observing, w.ctl.Phase())
	})
}

// TestReceiptsAlwaysMatch plays random schedules of keys, inputs, slow programs and ends: every input gets one receipt,
// its sum is right, and what the program got is what user and receipts say, those bytes included that were taken back.
func TestReceiptsAlwaysMatch(t *testing.T) {
	for seed := range uint64(60) {
		inBubble(t, true, func(t *testing.T, w *world) {
			r := rand.New(rand.NewPCG(seed, 3))
			var jobs []*job
			user, unread := 0, 0
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
						w.unread = r.IntN(200)
						unread += w.unread
						w.press("\x1c")
						w.ctl.Shown(time.Now())
					}
				}
			}
			w.unread = 0
			w.drain(-1)
			w.pump.Post(func(now time.Time) { w.ctl.End(now, protocol.ReasonExited) })
			synctest.Wait()
			taken, back := 0, 0
			for _, j := range jobs {
				reached := len(j.wrote) - j.flushed()
				require.GreaterOrEqual(t, reached, 0)
				require.LessOrEqual(t, reached, j.receipt(t).Written)
				taken += reached
				back += j.flushed()
			}
			require.LessOrEqual(t, back, unread)
			require.Equal(t, len(w.written()), taken+back+strings.Count(w.written(), "u")+strings.Count(w.written(), "\x1c"))
			require.Equal(t, user, strings.Count(w.written(), "u"), "no key of the user's is lost")
		})
	}
}
