//go:build linux

package built_test

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/creack/pty"
	"github.com/stretchr/testify/require"
	"golang.org/x/term"
)

const (
	// rounds is how often everything is measured in turn, burst the output of one round, in MiB.
	rounds = 7
	burst  = 4
	// typed is how many keys are typed, and keyEvery the rest before each: with so many lanes in turn each of them rests several times that.
	typed    = 150
	keyEvery = 5 * time.Millisecond
	starts   = 20
)

// lanesOfUser are what may stand between a program and its user. The first is nothing, the second the least that a wrapper can be.
var lanesOfUser = []struct {
	name string
	sits func(w *world, program string, args ...string) *os.File
}{
	{"bare", (*world).screen},
	{"copy", (*world).copied},
	{"proxy", func(w *world, program string, args ...string) *os.File {
		return w.screen(binary("proxy"), append([]string{"--", program}, args...)...)
	}},
	{"agent", func(w *world, program string, args ...string) *os.File {
		return w.screen(binary("proxy"), append([]string{"--agent", "--", program}, args...)...)
	}},
	{"script", func(w *world, program string, args ...string) *os.File {
		return w.screen("script", "-qfc", "exec "+strings.Join(append([]string{program}, args...), " "), "/dev/null")
	}},
	{"tmux", func(w *world, program string, args ...string) *os.File {
		w.tmuxServer("exec " + strings.Join(append([]string{program}, args...), " "))
		return w.screen("tmux", "-u", "-S", w.path("tmux"), "attach")
	}},
}

// copied runs a program under a plain copy of the bytes of one terminal to another.
func (w *world) copied(program string, args ...string) *os.File {
	return w.screen(binary("copy"), append([]string{program}, args...)...)
}

// installedLanes are those whose program is on this machine.
func installedLanes() (found []int) {
	for i, l := range lanesOfUser {
		if l.name == "script" || l.name == "tmux" {
			if _, err := exec.LookPath(l.name); err != nil {
				continue
			}
		}
		found = append(found, i)
	}
	return found
}

// copyHelper runs a program on a terminal of its own and copies what is typed and what is printed: what every wrapper has to do.
func copyHelper(args []string) error {
	restored, err := term.MakeRaw(int(os.Stdin.Fd()))
	if err != nil {
		return err
	}
	defer func() { _ = term.Restore(int(os.Stdin.Fd()), restored) }()
	cmd := exec.Command(args[0], args[1:]...)
	size, err := pty.GetsizeFull(os.Stdin)
	if err != nil {
		return err
	}
	inner, err := pty.StartWithSize(cmd, size)
	if err != nil {
		return err
	}
	go func() { _, _ = io.Copy(struct{ io.Writer }{inner}, struct{ io.Reader }{os.Stdin}) }() // ends with the process
	_, _ = io.Copy(struct{ io.Writer }{os.Stdout}, struct{ io.Reader }{inner})
	return cmd.Wait()
}

// flood prints burst MiB of a corpus for every line on its standard input, and then a mark with the line.
func flood(args []string) error {
	text := corpora[args[0]](1 << 20)
	if _, err := os.Stdout.WriteString(drawn); err != nil {
		return err
	}
	for lines := bufio.NewScanner(os.Stdin); lines.Scan(); {
		for range burst {
			if _, err := os.Stdout.Write(text); err != nil {
				return err
			}
		}
		if _, err := fmt.Fprintf(os.Stdout, "\x1b[r\x1b[m\x1b[H\x1b[K<%s>", lines.Text()); err != nil {
			return err
		}
	}
	return nil
}

// echoKeys prints each key as it comes.
func echoKeys([]string) error {
	if _, err := term.MakeRaw(int(os.Stdin.Fd())); err != nil {
		return err
	}
	if _, err := os.Stdout.WriteString(drawn); err != nil {
		return err
	}
	for key := make([]byte, 1); ; {
		if _, err := os.Stdin.Read(key); err != nil {
			return nil //nolint:nilerr // the terminal has ended
		}
		if _, err := os.Stdout.Write(key); err != nil {
			return err
		}
	}
}

// seat is a program at a user's terminal, and what the user sees.
type seat struct {
	lane
	name   string
	screen *os.File
	cost   []time.Duration // processor time of a round
	tail   []byte
}

// sees reads the screen until words are there.
func (s *seat) sees(words string) error {
	s.tail = s.tail[:0]
	for p := make([]byte, 64<<10); ; {
		n, err := s.screen.Read(p)
		if err != nil {
			return err
		}
		s.tail = append(s.tail, p[:n]...)
		if bytes.Contains(s.tail, []byte(words)) {
			return nil
		}
		s.tail = append(s.tail[:0], s.tail[max(0, len(s.tail)-64):]...)
	}
}

// press types and waits for the answer.
func (s *seat) press(tb testing.TB, keys, answer string) time.Duration {
	tb.Helper()
	began := time.Now()
	_, err := s.screen.WriteString(keys)
	require.NoError(tb, errors.Join(err, s.sees(answer)), s.name)
	return time.Since(began)
}

// seats starts a program in each lane, and waits until it is there.
func seats(tb testing.TB, program string, args ...string) (all []*seat) {
	tb.Helper()
	for _, i := range installedLanes() {
		w := newWorld(tb)
		s := &seat{lane: lane{at: w}, name: lanesOfUser[i].name}
		s.screen = lanesOfUser[i].sits(w, binary(program), args...)
		require.NoError(tb, s.sees(drawn), s.name)
		all = append(all, s)
	}
	return all
}

// reportSeats reports a figure of each lane.
func reportSeats(b *testing.B, all []*seat, unit string, figure func(*seat) float64) {
	b.Helper()
	for _, s := range all {
		b.ReportMetric(figure(s), s.name+"-"+unit)
	}
}

// reportRatios reports how much faster ours are than the others, as the median over the rounds: in one round all meet the same load.
func reportRatios(b *testing.B, all []*seat, unit string) {
	b.Helper()
	for _, ours := range all {
		for _, other := range all {
			if ours.name != "proxy" && ours.name != "agent" || other == ours {
				continue
			}
			var ratios []float64
			for i, took := range ours.took {
				ratios = append(ratios, times(other.took[i], took))
			}
			slices.Sort(ratios)
			b.ReportMetric(ratios[len(ratios)/2], ours.name+":"+other.name+"-"+unit)
		}
	}
}

// BenchmarkOutput is how fast a program's output comes to its user, and what the wrapper spends on it, with what it has left to do then.
func BenchmarkOutput(b *testing.B) {
	for _, corpus := range []string{"text", "colours", "unicode", "cursor"} {
		b.Run(corpus, func(b *testing.B) {
			all := seats(b, "flood", corpus)
			mark := 0
			round := func(s *seat) {
				mark++
				before := s.at.cpu(b)
				took := s.press(b, fmt.Sprintf("m%d\r", mark), fmt.Sprintf("<m%d>", mark))
				if s.name == "agent" {
					time.Sleep(100 * time.Millisecond) // the model takes what it has left
				}
				s.took, s.cost = append(s.took, took), append(s.cost, s.at.cpu(b)-before)
			}
			for _, s := range all {
				round(s)
				s.took, s.cost = nil, nil
			}
			for b.Loop() {
				for range rounds {
					for _, s := range all {
						round(s)
					}
				}
			}
			b.ReportMetric(0, "ns/op")
			reportSeats(b, all, "MiB/s", func(s *seat) float64 { return burst / s.quantile(.5).Seconds() })
			reportRatios(b, all, "MiB/s")
			reportSeats(b, all, "cpu-ms/MiB", func(s *seat) float64 { return micros((&lane{took: s.cost}).quantile(.5)) / 1e3 / burst })
		})
	}
}

// BenchmarkKey is how long a key takes to its echo, and what the wrapper spends on a key that comes alone.
func BenchmarkKey(b *testing.B) {
	all := seats(b, "echo-keys")
	for _, s := range all {
		s.press(b, "Q", "Q")
		s.begin(b)
	}
	for b.Loop() {
		for n := range typed {
			for _, s := range all {
				time.Sleep(keyEvery)
				key := string("QZ"[n%2])
				s.took = append(s.took, s.press(b, key, key))
			}
		}
	}
	b.ReportMetric(0, "ns/op") // mostly rest
	reportSeats(b, all, "p50-µs", func(s *seat) float64 { return micros(s.quantile(.5)) })
	reportSeats(b, all, "p99-µs", func(s *seat) float64 { return micros(s.quantile(.99)) })
	reportSeats(b, all, "cpu-µs", func(s *seat) float64 { return micros(s.each(b)) })
}

// BenchmarkStart is how long a program takes from its start to its end that does nothing.
func BenchmarkStart(b *testing.B) {
	w := newWorld(b)
	require.NoError(b, os.WriteFile(w.path("tmux.conf"), []byte(tmuxConf), 0o600))
	commands := []struct {
		name string
		argv []string
	}{
		{"bare", []string{"true"}},
		{"proxy", []string{binary("proxy"), "true"}},
		{"agent", []string{binary("proxy"), "--agent", "true"}},
		{"script", []string{"script", "-qfc", "true", "/dev/null"}},
		{"tmux", []string{"tmux", "-u", "-S", w.path("tmux"), "-f", w.path("tmux.conf"), "new-session", "true"}},
	}
	commands = slices.DeleteFunc(commands, func(c struct {
		name string
		argv []string
	},
	) bool {
		_, err := exec.LookPath(c.argv[0])
		return err != nil
	})
	took := make(map[string]*lane)
	for b.Loop() {
		for range starts {
			for _, c := range commands {
				if took[c.name] == nil {
					took[c.name] = new(lane)
				}
				took[c.name].took = append(took[c.name].took, w.startAndEnd(c.argv))
			}
		}
	}
	b.ReportMetric(0, "ns/op")
	for name, l := range took {
		b.ReportMetric(micros(l.quantile(.5))/1e3, name+"-ms")
	}
}

// startAndEnd runs a command on a terminal, and gives the time it took.
func (w *world) startAndEnd(argv []string) time.Duration {
	w.tb.Helper()
	cmd := w.command(argv[0], argv[1:]...)
	began := time.Now()
	screen, err := pty.StartWithSize(cmd, &pty.Winsize{Cols: cols, Rows: rows})
	require.NoError(w.tb, err)
	_, err = io.Copy(io.Discard, screen)
	require.ErrorIs(w.tb, err, syscall.EIO, "the end of a terminal on Linux")
	require.NoError(w.tb, cmd.Wait(), "%v", argv)
	took := time.Since(began)
	require.NoError(w.tb, screen.Close())
	return took
}

// TestEveryLaneShowsTheSame keeps the benchmarks honest: each lane is there, brings what is printed, and what is typed.
func TestEveryLaneShowsTheSame(t *testing.T) {
	for _, s := range seats(t, "flood", "text") {
		s.press(t, "m1\r", "<m1>")
		if s.name != "bare" {
			require.NotEmpty(t, s.at.family(t), "%s: nothing of it is counted", s.name)
		}
	}
	for _, s := range seats(t, "echo-keys") {
		s.press(t, "Q", "Q")
	}
}
