package observer

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"terminalproxy/protocol"
	"terminalproxy/proxy/terminal/child"
	"terminalproxy/proxy/view/snapshot"
)

// runUnseen plays on a running observer without a recorder or a subscriber.
func runUnseen(t *testing.T, play func(t *testing.T, s *stage)) {
	synctest.Test(t, func(t *testing.T) {
		s := newStage(t, 20, 3)
		s.conf.Recorder = nil
		go s.Run()
		defer s.Stop()
		s.feedOutput("a line\r\n")
		time.Sleep(time.Second)
		s.publishedRows()
		play(t, s)
	})
}

// copy passes output on as the copier does while it has more.
func (s *stage) copy(out string) (due, unseen bool) {
	if due, unseen, _ = s.Feed([]byte(out)); due {
		s.Wake()
	}
	synctest.Wait()
	return due, unseen
}

func TestTheModelWaitsWithoutViewers(t *testing.T) {
	row := func(s *stage) (row string) {
		s.Call(func(time.Time) { row = s.rowText(1) })
		return row
	}
	piece := strings.Repeat("\x00", 64<<10)
	t.Run("until somebody looks", func(t *testing.T) {
		runUnseen(t, func(t *testing.T, s *stage) {
			due, unseen := s.copy("one" + piece)
			require.False(t, due)
			require.True(t, unseen)
			require.Equal(t, "", s.rowText(1))
			require.Equal(t, "one", row(s))
		})
	})
	t.Run("until the output rests", func(t *testing.T) {
		runUnseen(t, func(t *testing.T, s *stage) {
			s.copy("one" + piece)
			s.Wake()
			synctest.Wait()
			require.Equal(t, "one", s.rowText(1))
		})
	})
	t.Run("until there is too much", func(t *testing.T) {
		runUnseen(t, func(t *testing.T, s *stage) {
			for fed := 0; fed+len(piece) < maxUnseen; fed += len(piece) {
				due, _ := s.copy(piece)
				require.False(t, due)
			}
			require.Zero(t, s.spent)
			due, _ := s.copy("one" + piece)
			require.True(t, due)
			require.Equal(t, "one", s.rowText(1))
			require.Equal(t, 1, s.spent)
		})
	})
	t.Run("until it takes too long", func(t *testing.T) {
		runUnseen(t, func(t *testing.T, s *stage) {
			s.copy("one" + piece)
			time.Sleep(unseenFor - 1)
			due, _ := s.copy(piece)
			require.False(t, due)
			time.Sleep(time.Nanosecond)
			due, _ = s.copy(piece)
			require.True(t, due)
			require.Equal(t, "one", s.rowText(1))
		})
	})
	for name, looks := range map[string]func(s *stage){
		"somebody subscribes":       func(s *stage) { s.SetSubscribed(true) },
		"somebody looks on":         func(s *stage) { s.Call(func(now time.Time) { s.SetViewed(now, true) }) },
		"somebody waits":            func(s *stage) { s.openWait(protocol.Until{Text: "never"}) },
		"an agent drives":           func(s *stage) { s.Call(func(time.Time) { s.driven = true }) },
		"somebody types":            func(s *stage) { s.writes.Add(1) },
		"the user hides the screen": func(s *stage) { s.Call(func(now time.Time) { s.ControlChanged(now, true) }) },
		"a secret is asked for":     func(s *stage) { s.Call(func(time.Time) { s.line = noEcho }); s.feedOutput("Password: ") },
		"a recording runs":          func(s *stage) { s.Call(func(time.Time) { s.conf.Recorder = s }) },
	} {
		t.Run("not when "+name, func(t *testing.T) {
			runUnseen(t, func(t *testing.T, s *stage) {
				looks(s)
				synctest.Wait()
				due, unseen := s.copy(piece)
				require.True(t, due)
				require.False(t, unseen)
			})
		})
	}
}

// While output waits for the model, no frame is reported as settled.
func TestNothingSettlesWhileOutputWaits(t *testing.T) {
	runUnseen(t, func(t *testing.T, s *stage) {
		s.feedOutput("\x1b[Hone   ")
		synctest.Wait()
		s.copy("\rtwo")
		time.Sleep(unseenFor - time.Millisecond)
		require.Empty(t, s.publishedRows())
		time.Sleep(time.Second)
		require.Equal(t, []string{"two", "two*"}, s.publishedRows())
	})
}

// A piece that is fed while more output comes keeps its bytes, also if a post cut its block.
func TestAPieceIsNotOverwritten(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	var s spool
	var in, out []byte
	for i := range 500 {
		b := s.takePiece(r.Uint64N(1e5))
		p := bytes.Repeat([]byte{byte(i)}, r.IntN(blockSize))
		in = append(in, p...)
		s.add(p)
		out = append(out, b...)
		s.recycle(b)
	}
	require.True(t, bytes.HasPrefix(in, out))
}

// A full spool is taken for a model that has a viewer now, though it had none when it was filled.
func TestAFullSpoolIsTaken(t *testing.T) {
	runUnseen(t, func(t *testing.T, s *stage) {
		for range 2 * spoolMax / (64 << 10) {
			s.copy(strings.Repeat("\x00", 64<<10))
		}
		require.True(t, s.HasRoom())
		s.writes.Add(1)
		require.False(t, s.HasRoom())
		due, _, full := s.Feed([]byte("x"))
		require.True(t, due && full)
		s.Wake()
		synctest.Wait()
		require.True(t, s.HasRoom())
	})
}

// Whatever is printed, typed, asked and hidden meanwhile, a viewer sees what a model that was
// always fed would show.
func TestTheLateModelShowsTheSame(t *testing.T) {
	unseen := 0
	for seed := range uint64(12) {
		t.Run(fmt.Sprint("seed ", seed), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) { unseen += compare(t, rand.New(rand.NewPCG(seed, 16))) })
		})
	}
	require.Greater(t, unseen, 100, "how often the model was left alone")
}

// compare plays the same on two stages: one whose model is always fed, and one that is left alone
// when possible. It returns how often that was.
func compare(t *testing.T, r *rand.Rand) (unseen int) {
	eager, late := newStage(t, 30, 6), newStage(t, 30, 6)
	both := []*stage{eager, late}
	for _, s := range both {
		s.conf.Recorder = nil
		go s.Run()
		defer s.Stop()
	}
	eager.SetSubscribed(true)
	each := func(do func(s *stage)) {
		for _, s := range both {
			do(s)
			synctest.Wait()
		}
	}
	open := [2]<-chan snapshot.Result{}
	for range 300 {
		switch n := r.IntN(20); {
		case n < 11:
			out := printed(r)
			eager.feedOutput(out)
			if _, alone := late.copy(out); alone {
				unseen++
			} else {
				late.Wake()
			}
			synctest.Wait()
		case n < 13:
			time.Sleep(time.Duration(r.IntN(50)) * time.Millisecond)
			each(func(s *stage) { s.Wake() })
		case n < 15:
			require.Equal(t, eager.everything(), late.everything())
		case n == 15 && open[0] == nil:
			text := fmt.Sprint(r.IntN(10))
			for i, s := range both {
				open[i] = s.openWait(protocol.Until{Text: text})
			}
		case n == 16 && open[0] != nil:
			require.Equal(t, outcome(open[0]), outcome(open[1]))
			open = [2]<-chan snapshot.Result{}
			each(func(s *stage) { s.Call(func(time.Time) { s.CancelWait("w") }) })
		case n == 17:
			cols, rows := 10+r.IntN(40), 2+r.IntN(8)
			each(func(s *stage) { s.Call(func(now time.Time) { s.Resize(now, cols, rows) }) })
		case n == 18:
			on := r.IntN(2) == 0
			each(func(s *stage) { s.Call(func(now time.Time) { s.ControlChanged(now, on) }) })
		case n == 19:
			late.SetSubscribed(r.IntN(3) == 0)
			line := []child.Line{noEcho, cooked, cooked}[r.IntN(3)]
			each(func(s *stage) {
				s.Call(func(time.Time) { s.line = line }) // what was printed before is fed
				s.writes.Add(1)
			})
		}
	}
	require.Equal(t, eager.everything(), late.everything())
	return unseen
}

// printed returns a random piece of output.
func printed(r *rand.Rand) string {
	switch r.IntN(6) {
	case 0:
		return strings.Repeat(fmt.Sprintf("line %d\r\n", r.IntN(10)), r.IntN(40))
	case 1:
		return fmt.Sprintf("\x1b[%d;%dH\x1b[3%dm%d", 1+r.IntN(8), 1+r.IntN(30), r.IntN(8), r.IntN(10))
	case 2:
		return []string{"\x1b[?1049h", "\x1b[?1049l", "\x1b[2J", "\x1b[?2026h", "\x1b[?2026l", "\x1b]0;title\x07"}[r.IntN(6)]
	case 3:
		return "Password: "
	case 4:
		return strings.Repeat("long ", 200*r.IntN(3)) // of several blocks together
	}
	return fmt.Sprint(r.IntN(10))
}

// everything returns what a look shows, without its revision numbers.
func (s *stage) everything() (all string) {
	s.Call(func(now time.Time) {
		s.now = now
		f := s.AnswerFrame(now)
		f.Seq, f.IdleMs, f.Settled, f.Activity = 0, 0, false, nil // these depend on the time of the look
		if f.Blackout != nil {
			f.Blackout.SinceMs = 0
		}
		frame, err := json.Marshal(f)
		require.NoError(s, err)
		all = string(frame) + "\n" + s.allVisible()
	})
	return all
}

// outcome words how a wait ended, or that it is still open.
func outcome(ended <-chan snapshot.Result) string {
	synctest.Wait()
	select {
	case r := <-ended:
		return fmt.Sprintf("%v %q %q", r.End, r.Matched, r.Stood)
	default:
		return "goes on"
	}
}
