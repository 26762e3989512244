package copier_test

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"terminalproxy/proxy/copier"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// TestTheUserComesFirst: a chunk is on the user's screen before the model has it.
func TestTheUserComesFirst(t *testing.T) {
	runs(t, nil, func(t *testing.T, r *rig) {
		r.prints("a")
		r.equal(`screen "a" | model "a" | wake`, r.did())
		require.False(t, r.c.InHand())
		r.change(func() { r.alarm = true })
		synctest.Wait()
		require.False(t, r.c.InHand())
		r.reading = func() { require.True(t, r.c.InHand()) }
		r.prints("b")
	})
}

func TestWithoutAModelEverythingPasses(t *testing.T) {
	runs(t, func(_ *rig, conf *copier.Config) { conf.Model = nil }, func(_ *testing.T, r *rig) {
		r.takes(2)
		r.prints("a\x1b[2hb")
		r.takes(-1)
		r.prints("c")
		r.equal("a\x1b[2hbc", r.screen())
	})
}

// TestAFullScreenHoldsUpNobodyElse: the model has the chunk that the screen does not take, and the screen gets the rest of it
// in order.
func TestAFullScreenHoldsUpNobodyElse(t *testing.T) {
	runs(t, nil, func(_ *testing.T, r *rig) {
		r.takes(2)
		r.prints("abcdef", "g")
		r.equal(`screen "ab" | model "abcdef" | wake`, r.did())
		r.takes(3)
		r.equal(`screen "cde"`, r.did())
		r.takes(-1)
		r.equal(`screen "f" | screen "g" | model "g" | wake`, r.did())
	})
}

// TestAClosedWindowHoldsUpNobodyElse: the program and its observers go on.
func TestAClosedWindowHoldsUpNobodyElse(t *testing.T) {
	runs(t, nil, func(_ *testing.T, r *rig) {
		r.change(func() { r.shut = true })
		r.prints("a")
		r.prints("b")
		r.equal(`model "a" | wake | model "b" | wake`, r.did())
	})
}

// TestTheModelIsWokenWhenTheOutputPauses: for each chunk of a flood would cost too much, and half a screen is nothing to see.
func TestTheModelIsWokenWhenTheOutputPauses(t *testing.T) {
	echo, piece, whole := "a", strings.Repeat("p", 256), strings.Repeat("w", 4095)
	for _, c := range []struct {
		name   string
		chunks []string
		sooner time.Duration // not by then
		later  time.Duration
	}{
		{"bulk", []string{piece}, 99 * time.Microsecond, 101 * time.Microsecond},
		{"a whole read", []string{whole}, 1999 * time.Microsecond, 2001 * time.Microsecond},
		{"the tail of one", []string{whole, echo}, 399 * time.Microsecond, 401 * time.Microsecond},
	} {
		t.Run(c.name, func(t *testing.T) {
			runs(t, nil, func(t *testing.T, r *rig) {
				r.prints(c.chunks...)
				time.Sleep(c.sooner)
				synctest.Wait()
				require.NotContains(t, r.did(), "wake")
				time.Sleep(c.later - c.sooner)
				synctest.Wait()
				r.equal("wake", r.did())
			})
		})
	}
	t.Run("as much as it may wait for", func(t *testing.T) {
		runs(t, nil, func(t *testing.T, r *rig) {
			for range 32 << 10 / 4095 {
				r.prints(whole)
				require.NotContains(t, r.did(), "wake")
			}
			r.prints(whole)
			require.Contains(t, r.did(), "wake")
		})
	})
}

func TestTheEndOfTheProgramsTerminalEndsTheCopying(t *testing.T) {
	runs(t, nil, func(t *testing.T, r *rig) {
		r.change(func() { r.output, r.ended = []string{"a", "b"}, true })
		<-r.c.Done()
		r.equal("ab", r.screen())
		require.False(t, r.c.HeldOpen())
	})
}

// TestR60AProgramInTheBackgroundIsNotWaitedForLong: when the program has ended its output may pause for 100 ms, and take 2 s.
func TestR60AProgramInTheBackgroundIsNotWaitedForLong(t *testing.T) {
	runs(t, nil, func(t *testing.T, r *rig) {
		began := time.Now()
		r.c.End()
		time.Sleep(99 * time.Millisecond)
		r.prints("late")
		<-r.c.Done()
		require.Equal(t, 199*time.Millisecond, time.Since(began))
		require.True(t, r.c.HeldOpen())
		r.equal("late", r.screen())
	})
	runs(t, nil, func(t *testing.T, r *rig) {
		began := time.Now()
		r.c.End()
		for over := false; !over; {
			r.prints("more")
			select {
			case <-r.c.Done():
				over = true
			case <-time.After(50 * time.Millisecond):
			}
		}
		require.Equal(t, 2*time.Second, time.Since(began))
	})
}

// TestAbandonWaitsForNothing: neither for the program nor for a screen that takes no output.
func TestAbandonWaitsForNothing(t *testing.T) {
	runs(t, nil, func(t *testing.T, r *rig) {
		r.takes(0)
		r.prints("a", "b")
		r.c.Abandon()
		<-r.c.Done()
		require.False(t, r.c.HeldOpen())
	})
}

// TestTheFilterIsForSessionsWithAgents: the keyboard cannot be locked, the clipboard is out of reach while an agent drives,
// and the model gets what the program wrote.
func TestTheFilterIsForSessionsWithAgents(t *testing.T) {
	clip := "\x1b]52;c;eA==\a"
	runs(t, shown(""), func(t *testing.T, r *rig) {
		r.prints("a\x1b[2h" + clip)
		r.equal("a"+clip, r.screen())
		require.Contains(t, r.did(), `model "a\x1b[2h\x1b]52;c;eA==\a"`)
		r.strict = true
		r.prints("b" + clip)
		r.equal("b", r.screen())
		r.prints("c\x1b[3")
		r.equal("c", r.screen())
		r.change(func() { r.ended = true })
		<-r.c.Done()
		r.equal("\x1b[3", r.screen()) // half of a sequence goes out at the end
	})
}

// BenchmarkRun copies what fits into one read of a PTY, with an agent that looks on.
func BenchmarkRun(b *testing.B) {
	for name, line := range map[string]string{
		"ascii":   "the quick brown fox jumps over the lazy dog\r\n",
		"colours": "\x1b[2m12:34:56\x1b[0m \x1b[1;32mINFO\x1b[0m \x1b[38;2;90;120;200mmodule\x1b[0m: request\r\n",
		"utf8":    "日本語のテキスト привет Лл 12\r\n",
	} {
		b.Run(name, func(b *testing.B) {
			text := strings.Repeat(line, 100)[:4095]
			f := &flood{chunk: []byte(text), left: b.N}
			b.SetBytes(int64(len(text)))
			b.ReportAllocs()
			c := copier.New(copier.Config{Program: f, Screen: f, Poll: f, Model: f, Strict: func() bool { return false }})
			b.ResetTimer()
			c.Run()
		})
	}
}
