//go:build linux

package built_test

import (
	"context"
	"io"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"terminalproxy/protocol"
)

const (
	// marks is how many marks one turn of the benchmark prints; -benchtime 4x makes four times as many.
	marks = 50
	// quiet is at least how long one lane rests before its mark. There are three, in turn: each has been quiet for three
	// times that.
	quiet = 75 * time.Millisecond
	// pollEvery is the rhythm of a poll, as agents' tools have it.
	pollEvery = 50 * time.Millisecond
)

// sight is a mark in an observer's hands: when it was written, and when the observer had it.
type sight struct {
	written, had int64
	err          error
}

// observer is ready for a mark when it returns; the channel brings what it saw.
type observer func(mark string) <-chan sight

// observers are what an agent can use.
var observers = []struct {
	name  string
	setup func(*place) observer
}{
	{"subscription", subscribed},
	{"wait", waiting},
	{"mcp-wait", mcpWaiting},
}

// streaming makes an observer of something that brings texts: look is called for each, from one goroutine.
type streaming struct {
	wanted chan string
	seen   chan sight
}

func newStreaming() *streaming {
	return &streaming{wanted: make(chan string, 1), seen: make(chan sight, 1)}
}

func (s *streaming) observe(mark string) <-chan sight {
	s.wanted <- mark
	return s.seen
}

// watch looks at texts until there are no more. It ends when next does.
func (s *streaming) watch(next func() (string, error)) {
	mark := ""
	for {
		text, err := next()
		if err != nil {
			return
		}
		if mark == "" {
			select {
			case mark = <-s.wanted:
			default:
				continue
			}
		}
		if at, ok := printed(text, mark); ok {
			s.seen <- sight{written: at, had: monotonic()}
			mark = ""
		}
	}
}

// shows is the text of a message about a session.
func shows(m protocol.Message) string {
	if s, ok := m.(*protocol.Snapshot); ok && s.Screen != nil {
		return strings.Join(s.Screen.Lines, "\n")
	}
	return ""
}

func subscribed(p *place) observer {
	ctx, cancel := context.WithCancel(context.Background())
	p.tb.Cleanup(cancel)
	stream, err := p.client().Subscribe(ctx, p.id, 0)
	require.NoError(p.tb, err)
	s := newStreaming()
	go s.watch(func() (string, error) { // ends with the stream
		m, ok := <-stream
		if !ok {
			return "", io.EOF
		}
		return shows(m), nil
	})
	return s.observe
}

// once makes an observer of a question with one answer.
func once(ask func(mark string) (text string, err error)) observer {
	return func(mark string) <-chan sight {
		seen := make(chan sight, 1)
		go func() { // ends with the answer
			text, err := ask(mark)
			at, ok := printed(text, mark)
			if err == nil && !ok {
				err = io.ErrUnexpectedEOF
			}
			seen <- sight{written: at, had: monotonic(), err: err}
		}()
		return seen
	}
}

func waiting(p *place) observer {
	c := p.client()
	return once(func(mark string) (string, error) {
		got, err := c.Wait(context.Background(), &protocol.Wait{SessionID: p.id, Until: protocol.Until{Text: mark + ":"}, TimeoutMs: patience.Milliseconds()})
		if err != nil {
			return "", err
		}
		return strings.Join(got.Frame.Screen.Lines, "\n"), nil
	})
}

func mcpWaiting(p *place) observer {
	m := p.mcp()
	return once(func(mark string) (string, error) {
		answer, err := m.call("tools/call", toolCall("terminal_wait", map[string]any{
			"for": "text", "value": mark + ":", "timeout_ms": patience.Milliseconds(),
		}))
		if err != nil {
			return "", err
		}
		return text(answer)
	})
}

// notified observes by tmux's notifications of output.
func notified(p *place) observer {
	c := p.control()
	s := newStreaming()
	go s.watch(func() (string, error) { return c.out.ReadString('\n') }) // ends with the client
	return s.observe
}

// polling observes by looking again and again, from some moment within the rhythm on.
func polling(p *place) observer {
	return once(func(mark string) (string, error) {
		time.Sleep(rand.N(pollEvery))
		tick := time.NewTicker(pollEvery)
		defer tick.Stop()
		for end := time.Now().Add(patience); ; <-tick.C {
			screen, err := p.capture()
			if _, ok := printed(screen, mark); ok || err != nil || time.Now().After(end) {
				return screen, err
			}
		}
	})
}

// watchful is a lane of an observer.
type watchful struct {
	lane
	place   *place
	observe observer
	count   int
}

func newWatchful(p *place, o observer) *watchful {
	return &watchful{lane: lane{at: p.world}, place: p, observe: o}
}

// mark rests, prints one mark and measures until the observer has it.
func (l *watchful) mark(tb testing.TB, rest time.Duration) {
	l.count++
	mark := "MK" + strconv.Itoa(l.count)
	l.counted(func() {
		seen := l.observe(mark)
		time.Sleep(rest)
		l.place.prints(mark)
		select {
		case s := <-seen:
			require.NoError(tb, s.err)
			l.took = append(l.took, time.Duration(s.had-s.written))
		case <-time.After(patience):
			require.FailNow(tb, "nobody saw "+mark)
		}
	})
}

func BenchmarkObserve(b *testing.B) {
	needTmux(b)
	for _, c := range observers {
		b.Run("user/"+c.name, func(b *testing.B) {
			p, one, other := ofUser(b), inTmux(b), inTmux(b)
			ours, control, poll := newWatchful(p, c.setup(p)), newWatchful(one, notified(one)), newWatchful(other, polling(other))
			for _, l := range []*watchful{ours, control, poll} {
				l.mark(b, quiet) // the first use of everything
				l.begin(b)
			}
			for b.Loop() {
				for range marks {
					ours.mark(b, quiet)
					control.mark(b, quiet)
					poll.mark(b, quiet)
				}
			}
			p50 := ours.quantile(.5)
			b.ReportMetric(0, "ns/op") // mostly rest
			b.ReportMetric(micros(p50), "p50-µs")
			b.ReportMetric(micros(ours.quantile(.99)), "p99-µs")
			b.ReportMetric(micros(ours.each(b)), "cpu-µs")
			b.ReportMetric(times(p50, control.quantile(.5)), "x-control")
			b.ReportMetric(times(p50, poll.quantile(.5)), "x-capture")
			b.ReportMetric(times(ours.each(b), control.each(b)), "cpu-x-control")
			b.ReportMetric(micros(control.quantile(.5)), "control-p50-µs")
			b.ReportMetric(micros(control.quantile(.99)), "control-p99-µs")
			b.ReportMetric(micros(control.each(b)), "control-cpu-µs")
			b.ReportMetric(micros(poll.quantile(.5)), "capture-p50-µs")
			b.ReportMetric(micros(poll.quantile(.99)), "capture-p99-µs")
		})
	}
}
