package copier_test

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"terminalproxy/proxy/display/copier"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

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
