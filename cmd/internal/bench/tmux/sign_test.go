//go:build linux

package tmux_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/creack/pty"
	"github.com/stretchr/testify/require"
	"golang.org/x/term"
)

// answerer is the program on whose screen the sign stands. To a key it answers with what its argument says, and to F with a
// flood of so many lines.
func answerer(args []string) error {
	lines, err := strconv.Atoi(args[1])
	if err != nil {
		return err
	}
	if _, err := term.MakeRaw(0); err != nil {
		return err
	}
	answer, err := strconv.Unquote(`"` + args[0] + `"`)
	if err != nil {
		return err
	}
	flood := bytes.Repeat([]byte("0123456789 0123456789 0123456789 0123456789 0123456789 0123456789\r\n"), 400)
	fmt.Print("\x1b[2J\x1b[Hready")
	for key := make([]byte, 1); ; {
		if _, err := os.Stdin.Read(key); err != nil {
			return err
		}
		out := []byte(answer)
		if key[0] == 'F' {
			for n := 0; n < lines; n += 400 {
				if _, err := os.Stdout.Write(flood); err != nil {
					return err
				}
			}
			out = []byte("\x1b[H@")
		}
		if _, err := os.Stdout.Write(out); err != nil {
			return err
		}
	}
}

// window is a user's terminal in which an answerer runs under the proxy.
type window struct {
	tb     testing.TB
	screen *os.File
	buf    []byte
}

func (w *world) window(answer string, lines int, signed bool) *window {
	w.tb.Helper()
	cmd := w.command(binary("proxy"), "--agent", "--grant", "drive", "--no-notice="+strconv.FormatBool(!signed), binary("answerer"), answer, strconv.Itoa(lines))
	v := &window{tb: w.tb, buf: make([]byte, 64<<10)}
	w.runs(cmd, func() (err error) {
		v.screen, err = pty.StartWithSize(cmd, &pty.Winsize{Cols: cols, Rows: rows})
		return err
	})
	w.tb.Cleanup(func() { _ = v.screen.Close() })
	v.see("ready")
	id := ""
	w.until("a session", func() bool {
		var list struct {
			Sessions []struct {
				ID string `json:"sessionId"`
			} `json:"sessions"`
		}
		out, err := w.command(binary("gateway"), "ls", "--json").Output()
		if err != nil || json.Unmarshal(out, &list) != nil || len(list.Sessions) == 0 {
			return false
		}
		id = list.Sessions[0].ID
		return true
	})
	w.output(binary("gateway"), "request", id, "--as", "claude", "--reason", "measure")
	if signed {
		v.see("claude drives \u00b7 Ctrl+\\")
	} else {
		v.see("[claude drives]")
	}
	return v
}

// see reads until text comes.
func (v *window) see(text string) {
	v.tb.Helper()
	var seen []byte
	for !bytes.Contains(seen, []byte(text)) {
		n, err := v.screen.Read(v.buf)
		require.NoError(v.tb, err)
		seen = append(seen[max(0, len(seen)-200):], v.buf[:n]...)
	}
}

// asks presses a key and says how long the answer takes.
func (v *window) asks(key, answer string) time.Duration {
	began := time.Now()
	_, err := v.screen.WriteString(key)
	require.NoError(v.tb, err)
	v.see(answer)
	return time.Since(began)
}

func median(all []time.Duration) time.Duration {
	slices.Sort(all)
	return all[len(all)/2]
}

// answers are what programs print for a key: an echo, a change in place as vim's, and one that needs the model to tell that
// it leaves the sign alone.
var answers = []struct{ name, answer string }{
	{"echo", `~\r`}, {"in place", `\x1b[?25l\x1b[3;7H\x1b[33m~\x1b[m\x1b[K\x1b[3;8H\x1b[?25h`}, {"with a title", `\x1b]0;t\a\x1b[3;7H~`},
}

// BenchmarkSign states what the sign costs that an agent drives, in pairs of windows with and without it (--no-notice): what is added to the
// echo of a key at the median, and how many times as long a flood takes.
func BenchmarkSign(b *testing.B) {
	for _, c := range answers {
		b.Run(c.name, func(b *testing.B) {
			with, without := newWorld(b).window(c.answer, 0, true), newWorld(b).window(c.answer, 0, false)
			var a, z []time.Duration
			for b.Loop() {
				a, z = append(a, with.asks("k", "~")), append(z, without.asks("k", "~"))
			}
			b.ReportMetric(0, "ns/op")
			b.ReportMetric(float64(median(z).Nanoseconds())/1e3, "without-µs")
			b.ReportMetric(float64((median(a)-median(z)).Nanoseconds())/1e3, "added-µs")
		})
	}
	b.Run("flood", func(b *testing.B) {
		const lines = 200_000
		with, without := newWorld(b).window("~", lines, true), newWorld(b).window("~", lines, false)
		var ratios []float64
		for n := 0; b.Loop(); n++ {
			var a, z time.Duration
			if n%2 == 0 {
				a, z = with.asks("F", "@"), without.asks("F", "@")
			} else {
				z, a = without.asks("F", "@"), with.asks("F", "@")
			}
			ratios = append(ratios, float64(a)/float64(z))
		}
		slices.Sort(ratios)
		b.ReportMetric(0, "ns/op")
		b.ReportMetric(ratios[len(ratios)/2], "x-without")
	})
}

// TestTheSignStandsWhereItIsMeasured keeps the benchmark honest: the window with it has it, and both answer.
func TestTheSignStandsWhereItIsMeasured(t *testing.T) {
	with := newWorld(t).window(`~`, 400, true)
	with.asks("k", "~")
	with.asks("F", "@")
	with.see("claude paused")
	without := newWorld(t).window(`~`, 400, false)
	without.asks("k", "~")
	without.asks("F", "@")
}
