//go:build linux

package built_test

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// answering answers each line that it reads; the kernel collects them.
const answering = `while read line; do echo "<$line>"; done`

// asks types a line and returns what is shown when it is taken for answered.
type asks func(line string) (screen string, err error)

// overSend types as models do, with one call of terminal_send.
func overSend(p *place) asks {
	return func(line string) (string, error) {
		answer, err := p.host.call("tools/call", toolCall("terminal_send", map[string]any{"text": line, "enter": true}))
		if err != nil {
			return "", err
		}
		return text(answer)
	}
}

// behindQuiet types the line and Enter apart, each behind a screen that is quiet for as long as programs need that tell typing from
// pasting, and waits for the answer in the same way: what one had to do who knows nothing of the program.
func behindQuiet(p *place) asks {
	return func(line string) (string, error) {
		p.host.tool("terminal_send", map[string]any{"text": line, "settle_ms": 0})
		p.host.tool("terminal_wait", map[string]any{"for": "idle", "value": "250ms"})
		p.host.tool("terminal_send", map[string]any{"enter": true, "settle_ms": 0})
		return p.host.tool("terminal_wait", map[string]any{"for": "idle", "value": "300ms"}), nil
	}
}

// typed types into tmux over a connection and looks until the answer is there, which tmux does not say.
func (c *control) typed(line string) (screen string, err error) {
	if _, err := io.WriteString(c.in, "send-keys -l "+line+"\nsend-keys Enter\n"); err != nil {
		return "", err
	}
	if err := errors.Join(c.skip("%end"), c.skip("%end")); err != nil {
		return "", err
	}
	for range 10_000 {
		if screen, err = c.capture(); err != nil || strings.Contains(screen, "<"+line+">") {
			return screen, err
		}
	}
	return screen, nil
}

// answerer is a terminal of an agent's with a program that answers lines.
func answerer(tb testing.TB) *place {
	w := newWorld(tb)
	p := &place{world: w, host: w.mcp()}
	p.host.tool("terminal_run", map[string]any{"program": "sh", "args": []string{"-c", "echo '" + drawn + "'; " + answering}, "cols": cols, "rows": rows})
	p.found()
	return p
}

// inTmuxAnswers is the same in a window of tmux.
func inTmuxAnswers(tb testing.TB) *control {
	w := newWorld(tb)
	p := &place{world: w, tmux: w.path("tmux")}
	w.tmuxServer(answering)
	return p.control()
}

// BenchmarkLine is how long it takes to type a line and to have its answer, with a program for which the kernel collects lines: with one
// call, with quiet times behind the line and behind Enter, and in tmux.
func BenchmarkLine(b *testing.B) {
	needTmux(b)
	p, other := answerer(b), answerer(b)
	lanes := []struct {
		name string
		ask  asks
		took []time.Duration
	}{{"send", overSend(p), nil}, {"quiet", behindQuiet(other), nil}, {"control", inTmuxAnswers(b).typed, nil}}
	n, missed := 0, 0
	for b.Loop() {
		n++
		for i := range lanes {
			line := fmt.Sprint("line", n)
			began := time.Now()
			screen, err := lanes[i].ask(line)
			lanes[i].took = append(lanes[i].took, time.Since(began))
			require.NoError(b, err)
			if answered := strings.Contains(screen, "<"+line+">"); lanes[i].name == "quiet" && !answered {
				missed++ // on a busy machine a screen is quiet before the program has had its turn
			} else {
				require.True(b, answered, "%s: %s", lanes[i].name, screen)
			}
		}
	}
	b.ReportMetric(0, "ns/op") // of all lanes together: says nothing
	for _, l := range lanes {
		b.ReportMetric(micros((&lane{took: l.took}).quantile(.5)), l.name+"-µs")
	}
	b.ReportMetric(float64(missed), "quiet-missed")
	of := func(i int) time.Duration { return (&lane{took: lanes[i].took}).quantile(.5) }
	b.ReportMetric(times(of(0), of(1)), "x-quiet")
	b.ReportMetric(times(of(0), of(2)), "x-control")
}

// TestEveryWayTypesALine keeps the benchmark honest.
func TestEveryWayTypesALine(t *testing.T) {
	needTmux(t)
	p := answerer(t)
	for name, ask := range map[string]asks{"send": overSend(p), "control": inTmuxAnswers(t).typed} {
		screen, err := ask(name)
		require.NoError(t, err)
		require.Contains(t, screen, "<"+name+">")
	}
}
