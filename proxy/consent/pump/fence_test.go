//go:build linux

package pump_test

import (
	"bytes"
	"errors"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"
	"golang.org/x/term"

	"terminalproxy/protocol"
	"terminalproxy/proxy/consent/control"
	"terminalproxy/proxy/consent/pump"
	"terminalproxy/proxy/terminal/child"
	"terminalproxy/proxy/terminal/keys"
	"terminalproxy/proxy/terminal/tty"
)

const helperEnv = "PUMP_TEST_HELPER"

// TestMain makes the test binary its own helper program, which reads its terminal in raw mode and
// prints what each read got.
func TestMain(m *testing.M) {
	if size := os.Getenv(helperEnv); size != "" {
		os.Exit(recite(size))
	}
	os.Exit(m.Run())
}

// monotonic returns a time in nanoseconds that all processes share.
func monotonic() int64 {
	var ts unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_MONOTONIC, &ts); err != nil {
		return 0
	}
	return ts.Nano()
}

// recite prints every read in brackets, with the time at which it returned. It reads slowly: size
// bytes at a time, with a write in between.
func recite(size string) int {
	n, err := strconv.Atoi(size)
	if err != nil {
		return 2
	}
	if _, err := term.MakeRaw(0); err != nil {
		return 3
	}
	_, _ = os.Stdout.WriteString("ready ")
	for b := make([]byte, n); ; {
		got, err := unix.Read(0, b)
		if err != nil || got <= 0 {
			return 0
		}
		_, _ = os.Stdout.WriteString("[" + string(b[:got]) + "@" + strconv.FormatInt(monotonic(), 10) + "]")
	}
}

// program is a child with the pump's words.
type program struct{ *child.Child }

func (p program) Write(b []byte) (int, error) {
	n, err := p.Child.Write(b)
	if errors.Is(err, child.ErrAgain) {
		err = pump.ErrAgain
	}
	return n, err
}

type poller struct{ *tty.Poller }

func (p poller) Wait(want pump.Events, timeout time.Duration) (pump.Events, error) {
	got, err := p.Poller.Wait(tty.Events(want), timeout)
	return pump.Events(got), err
}

// pipe is a keyboard that the test types on.
type pipe struct{ r, w int }

func (k pipe) Read(p []byte) (int, error) {
	n, err := unix.Read(k.r, p)
	if errors.Is(err, unix.EAGAIN) {
		return 0, pump.ErrAgain
	}
	return n, err
}

// bench is a real program behind a real pump.
type bench struct {
	*child.Child
	kbd  pipe
	out  chan []byte
	poll *tty.Poller
	done chan struct{}

	written int // the agent's bytes that the program can have read, as the receipts of the last fence say
}

func startProgram(tb testing.TB, readSize string) *bench {
	tb.Helper()
	self, err := os.Executable()
	require.NoError(tb, err)
	c, err := child.Start(child.Config{Path: self, Cols: 80, Rows: 24, Env: append(os.Environ(), helperEnv+"="+readSize)})
	require.NoError(tb, err)
	var fds [2]int
	require.NoError(tb, unix.Pipe2(fds[:], unix.O_NONBLOCK|unix.O_CLOEXEC))
	b := &bench{Child: c, kbd: pipe{fds[0], fds[1]}, out: make(chan []byte, 1<<16), done: make(chan struct{})}
	b.poll, err = tty.NewPoller(fds[0], c.Descriptor())
	require.NoError(tb, err)
	go b.copyOutput()
	tb.Cleanup(func() {
		_ = unix.Kill(c.Pid(), unix.SIGKILL)
		c.Wait()
		<-b.done
		b.poll.Close()
		c.Close()
		unix.Close(fds[0])
		unix.Close(fds[1])
	})
	b.until(tb, "ready ")
	return b
}

// copyOutput passes on what the program prints, until the program's end.
func (b *bench) copyOutput() {
	defer close(b.done)
	defer close(b.out)
	for {
		fds := []unix.PollFd{{Fd: int32(b.Descriptor()), Events: unix.POLLIN}}
		if _, err := unix.Poll(fds, -1); err != nil {
			continue
		}
		buf := make([]byte, 32<<10)
		n, err := b.Read(buf)
		switch {
		case errors.Is(err, child.ErrAgain):
		case err != nil:
			return
		default:
			b.out <- buf[:n]
		}
	}
}

// until collects the program's output up to the mark.
func (b *bench) until(tb testing.TB, mark string) string {
	tb.Helper()
	var got []byte
	for !bytes.Contains(got, []byte(mark)) {
		got = append(got, soon(tb, b.out, "output to "+mark)...)
	}
	return string(got)
}

// soon receives what a working pump sends at once.
func soon[T any](tb testing.TB, from <-chan T, what string) T {
	tb.Helper()
	late := time.NewTimer(2 * time.Minute)
	defer late.Stop()
	select {
	case got, ok := <-from:
		require.True(tb, ok, "the program ended before %s", what)
		return got
	case <-late.C:
		require.FailNow(tb, "it does not come", what)
		panic("unreachable")
	}
}

// fence lets an agent flood the program, presses the key after that many bytes of output, and
// types. It returns the program's reads, when the pump had reclaimed, and how long after the key
// the agent's last byte was written (negative: before). Every round is a session of the pump on the
// same program.
func (b *bench) fence(tb testing.TB, after int) (reads string, reclaimed int64, last time.Duration) {
	ctl := &machine{Machine: control.New(control.Config{Pregrant: protocol.LevelDrive})}
	require.NoError(tb, ctl.Request(time.Now(), control.Request{ID: "r", Agent: control.Agent{ID: agent}, Level: protocol.LevelDrive}))
	writer := &watched{program: program{b.Child}}
	epoch := ctl.Epoch()
	p := pump.New(pump.Config{
		Keyboard: b.kbd, Program: writer, Poll: poller{b.poll},
		Scan: scanner{keys.NewScanner(keys.Bindings{})}, Control: ctl,
	})
	ended := make(chan error, 1)
	go func() { ended <- p.Run() }()
	flood := bytes.Repeat([]byte{'A'}, 4096)
	receipts := make(chan pump.Receipt, 8)
	flushed := 0
	for range cap(receipts) {
		p.Enqueue(pump.Job{
			Agent: agent, Epoch: epoch, Size: len(flood), Done: func(r pump.Receipt) { receipts <- r },
			Flushed: func(n int) { flushed += n },
			Prepare: func(left []pump.Piece, answer func([]pump.Piece, error)) {
				if left == nil {
					left = []pump.Piece{{Bytes: bytes.Clone(flood)}}
				}
				answer(left, nil)
			},
		})
	}
	for len(reads) < after { // the key comes somewhere in the flood
		reads += string(soon(tb, b.out, "what the agent types"))
	}
	pressed := time.Now()
	_, err := unix.Write(b.kbd.w, []byte("\x1cUUUZ"))
	require.NoError(tb, err)
	reads += b.until(tb, "Z@")
	if !strings.HasSuffix(reads, "]") {
		reads += b.until(tb, "]")
	}
	p.Stop()
	require.NoError(tb, soon(tb, ended, "the pump's end"))
	b.written = -flushed
	for range cap(receipts) {
		r := soon(tb, receipts, "a receipt")
		b.written += r.Written
		if r.Fate != pump.Refused {
			require.Equal(tb, len(flood), r.Written+r.Dropped)
		}
	}
	return reads, writer.flushed, writer.last.Sub(pressed)
}

// watched remembers when the agent's last byte was written, and when its unread bytes were taken
// from the program.
type watched struct {
	program
	last    time.Time
	flushed int64
}

func (w *watched) Write(b []byte) (int, error) {
	n, err := w.program.Write(b)
	if n > 0 && b[0] == 'A' {
		w.last = time.Now()
	}
	return n, err
}

func (w *watched) FlushInput() (int, error) {
	n, err := w.program.FlushInput()
	w.flushed = monotonic()
	return n, err
}

var oneRead = regexp.MustCompile(`\[(\w+)@(\d+)\]?`)

// TestFenceR15R16 floods a slow reader two hundred times, and presses the reclaim key in the
// middle. The program reads the agent's bytes, then the user's; what it had not read at the key is
// gone.
func TestFenceR15R16(t *testing.T) {
	rounds := 200
	if testing.Short() {
		rounds = 50
	}
	const readSize = 32
	b := startProgram(t, strconv.Itoa(readSize))
	var off []int
	for i := range rounds {
		reads, reclaimed, _ := b.fence(t, 1+500*(i%4))
		require.NotZero(t, reclaimed)
		var stream strings.Builder
		late := 0
		for _, read := range oneRead.FindAllStringSubmatch(reads, -1) {
			stream.WriteString(read[1])
			at, err := strconv.ParseInt(read[2], 10, 64)
			require.NoError(t, err)
			if at > reclaimed && strings.HasPrefix(read[1], "A") {
				late++
			}
		}
		require.Equal(t, "UUUZ", strings.TrimLeft(stream.String(), "A"), "round %d: A*U*", i)
		off = append(off, strings.Count(stream.String(), "A")-b.written)
		require.LessOrEqual(t, late, 1, "round %d: one read was in flight", i)
	}
	slices.Sort(off)
	require.Zero(t, off[len(off)/2], "what the program read, less what the receipts say (R80); only while it is in a read that is not known exactly: %v", off)
}

// BenchmarkReclaimR16 measures how long after the reclaim key the agent's last byte is written to a
// slow program that an agent floods.
func BenchmarkReclaimR16(b *testing.B) {
	p := startProgram(b, "32")
	var took []time.Duration
	for b.Loop() {
		_, _, last := p.fence(b, 1)
		took = append(took, max(0, last))
	}
	slices.Sort(took)
	b.ReportMetric(float64(took[len(took)*99/100].Microseconds()), "p99-µs")
	b.ReportMetric(float64(took[len(took)-1].Microseconds()), "max-µs")
}
