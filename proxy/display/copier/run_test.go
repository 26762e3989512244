package copier_test

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"terminalproxy/proxy/display/copier"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// A chunk is on the user's screen before the model has it.
func TestTheUserComesFirst(t *testing.T) {
	runCopier(t, nil, func(t *testing.T, r *rig) {
		r.print("a")
		r.equal(`screen "a" | model "a" | wake`, r.takeNotes())
		require.False(t, r.c.HasUnfedOutput())
		r.change(func() { r.alarm = true })
		synctest.Wait()
		require.False(t, r.c.HasUnfedOutput())
		r.reading = func() { require.True(t, r.c.HasUnfedOutput()) }
		r.print("b")
	})
}

// The terminal's answer must not come before the program's question is known, nor pass for the
// answer to a question that is drawn after the chunk.
func TestTheProgramsQuestionsAreReportedFirst(t *testing.T) {
	line := func(r *rig, conf *copier.Config) {
		shown("line")(r, conf)
		conf.CursorAsked = func(times int) {
			r.mu.Lock()
			defer r.mu.Unlock()
			r.note("asks %d", times)
		}
	}
	runCopier(t, line, func(t *testing.T, r *rig) {
		r.print("a\x1b[6")
		r.takeNotes()
		r.print("n\x1b[6n\x1b[5n\x1b[?6n")
		require.Contains(t, r.takeNotes(), `asks 2 | model "n\x1b[6n\x1b[5n\x1b[?6n" | screen "[-]\x1b[6n\x1b[6n\x1b[5n\x1b[?6n[line]"`)
		r.shows.text = ""
		r.print("x")
		r.takeNotes()
		r.print("\x1b[6n")
		require.Contains(t, r.takeNotes(), `asks 1 | screen "\x1b[6n" | model "\x1b[6n"`)
	})
}

// Waking the model for each chunk of a flood would cost too much, and half a screen is not worth
// showing.
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
			runCopier(t, nil, func(t *testing.T, r *rig) {
				r.print(c.chunks...)
				time.Sleep(c.sooner)
				synctest.Wait()
				require.NotContains(t, r.takeNotes(), "wake")
				time.Sleep(c.later - c.sooner)
				synctest.Wait()
				r.equal("wake", r.takeNotes())
			})
		})
	}
	t.Run("as much as it may wait for", func(t *testing.T) {
		runCopier(t, nil, func(t *testing.T, r *rig) {
			for range 32 << 10 / 4095 {
				r.print(whole)
				require.NotContains(t, r.takeNotes(), "wake")
			}
			r.print(whole)
			require.Contains(t, r.takeNotes(), "wake")
		})
	})
}

// The model waits until the output has paused for a while, or the screen has taken none for a
// while.
func TestTheModelWaitsWithoutViewers(t *testing.T) {
	large := strings.Repeat("x", 300)
	woken := func(r *rig) bool { synctest.Wait(); return strings.HasSuffix(r.takeNotes(), "wake") }
	quiet := func(r *rig, _ *copier.Config) { r.unseen = true }
	runCopier(t, quiet, func(t *testing.T, r *rig) {
		r.print(large)
		time.Sleep(2*time.Millisecond - 1)
		require.False(t, woken(r))
		r.print(large)
		time.Sleep(2*time.Millisecond - 1)
		require.False(t, woken(r))
		time.Sleep(time.Nanosecond)
		require.True(t, woken(r))
		r.print("k") // a key's echo
		require.True(t, woken(r))
	})
	runCopier(t, quiet, func(t *testing.T, r *rig) {
		r.setRoom(0)
		r.print(large)
		time.Sleep(2*time.Millisecond - 1)
		require.False(t, woken(r))
		time.Sleep(time.Nanosecond)
		require.True(t, woken(r))
		r.setRoom(-1)
		require.Equal(t, large, r.screen())
	})
}

// After the program's end, its output may pause for 100 ms and last 2 s.
func TestAProgramInTheBackgroundIsNotWaitedForLongR60(t *testing.T) {
	runCopier(t, nil, func(t *testing.T, r *rig) {
		began := time.Now()
		r.c.FinishOutput()
		time.Sleep(99 * time.Millisecond)
		r.print("late")
		<-r.c.Done()
		require.Equal(t, 199*time.Millisecond, time.Since(began))
		require.True(t, r.c.HeldOpen())
		r.equal("late", r.screen())
	})
	runCopier(t, nil, func(t *testing.T, r *rig) {
		began := time.Now()
		r.c.FinishOutput()
		for over := false; !over; {
			r.print("more")
			select {
			case <-r.c.Done():
				over = true
			case <-time.After(50 * time.Millisecond):
			}
		}
		require.Equal(t, 2*time.Second, time.Since(began))
	})
}

// Drawing it with each chunk would cost too much. It returns when there is time, and in any case
// after 100 ms.
func TestAFloodHidesTheRemark(t *testing.T) {
	flood := func(t *testing.T, r *rig, chunk string) {
		r.takeNotes()
		for range 16 {
			r.print("a")
			require.Contains(t, r.takeNotes(), "[-]a[remark]")
		}
		r.print(chunk)
	}
	runCopier(t, shown("remark"), func(t *testing.T, r *rig) {
		flood(t, r, "b")
		r.equal(`screen "[-]" | screen "b" | model "b" | wake | screen "[remark]" | drawn`, r.takeNotes())
	})
	runCopier(t, shown("remark"), func(t *testing.T, r *rig) {
		require.True(t, r.c.SetWatchdog(r))
		flood(t, r, strings.Repeat("w", 4095))
		r.equal("", r.watchdog())
		trickle := func(d time.Duration) {
			for end := time.Now().Add(d); time.Now().Before(end); {
				time.Sleep(390 * time.Microsecond) // there may be more in 400
				r.print("c")
			}
		}
		trickle(99 * time.Millisecond)
		require.NotContains(t, r.takeNotes(), "remark")
		trickle(2 * time.Millisecond)
		require.Contains(t, r.takeNotes(), "remark")
	})
}

// The terminal is asked where the program's output begins, only before the first of it.
func TestTheTerminalIsAskedBeforeTheFirstOutput(t *testing.T) {
	runCopier(t, func(r *rig, conf *copier.Config) { shown("")(r, conf); r.shows.locates = "where?" }, func(t *testing.T, r *rig) {
		synctest.Wait()
		require.NotContains(t, r.takeNotes(), "where?", "a program that prints nothing")
		r.print("a")
		require.Contains(t, r.takeNotes(), `screen "where?" | screen "a" | model "a"`)
		r.print("b")
		require.NotContains(t, r.takeNotes(), "where?")
	})
}

// What was read is on the user's screen, and the copier continues with everything but reading.
func TestALateModelHoldsOnlyTheProgram(t *testing.T) {
	runCopier(t, shown(""), func(t *testing.T, r *rig) {
		r.change(func() { r.full = true })
		r.print("a", "b")
		require.Equal(t, "a", r.screen())
		require.True(t, r.c.SetWatchdog(r), "it does what it is asked for")
		r.shows.text = "line"
		r.c.Repaint()
		time.Sleep(time.Second)
		require.Equal(t, "[line]", r.screen())
		r.change(func() { r.full = false })
		time.Sleep(time.Second)
		require.Equal(t, "[-]b[line]", r.screen())

		r.change(func() { r.full = true })
		r.print("c")
		r.change(func() { r.output, r.ended = []string{"d", "e"}, true })
		time.Sleep(time.Second)
		r.c.FinishOutput()
		<-r.c.Done()
		require.Contains(t, r.screen(), "d[line][-]e[line]", "the rest of a program that has ended is not held")
	})
}

// The copier waits for no drawing, and draws when it is told that the model has caught up.
func TestNothingIsDrawnWhileTheModelIsBehind(t *testing.T) {
	runCopier(t, watched("line"), func(t *testing.T, r *rig) {
		r.print("a")
		r.screen()
		r.takeNotes()
		r.shows.mu.Lock()
		r.shows.behind, r.shows.up = true, false
		r.shows.mu.Unlock()
		r.c.Repaint()
		r.c.ResendScreen()
		r.print("b")
		time.Sleep(time.Second)
		require.Equal(t, "b", r.screen())
		require.NotContains(t, r.takeNotes(), "repaint")
		r.shows.mu.Lock()
		r.shows.behind = false
		r.shows.mu.Unlock()
		r.c.NoteCaughtUp()
		synctest.Wait()
		require.Equal(t, "[line]", r.screen())
		require.Contains(t, r.takeNotes(), "repaint")
	})
}
