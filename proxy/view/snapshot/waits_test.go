package snapshot

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"terminalproxy/protocol"
	"terminalproxy/proxy/view/corpus"
)

// fakeView is a screen of rows that the test writes.
type fakeView struct {
	left     []string
	scrolled uint64
	rev      uint64
	rows     []string
	revs     []uint64
	wrapped  map[int]bool
	cursor   int
	title    string
	titled   uint64 // the revision at which
	exited   bool
	waiting  string
	failed   bool  // the command, by the shell's marks
	read     []int // the rows whose text was asked for
}

func newView(rows ...string) *fakeView {
	v := &fakeView{rev: 1, rows: rows, wrapped: map[int]bool{}}
	v.revs = make([]uint64, len(rows))
	for i := range v.revs {
		v.revs[i] = 1
	}
	return v
}

func (v *fakeView) set(row int, text string) {
	v.rev++
	v.rows[row], v.revs[row] = text, v.rev
}

// scroll moves every row up by one, as a line feed in the bottom row does.
func (v *fakeView) scroll(bottom string) {
	v.rev++
	v.rows = append(slices.Clone(v.rows[1:]), bottom)
	for i := range v.revs {
		v.revs[i] = v.rev
	}
}

func (v *fakeView) Title() string             { return v.title }
func (v *fakeView) TitleRev() uint64          { return v.titled }
func (v *fakeView) LinesGone(uint64) []string { return v.left }
func (v *fakeView) Rev() uint64               { return v.rev }
func (v *fakeView) Size() (int, int)          { return 80, len(v.rows) }
func (v *fakeView) RowText(row int) string    { v.read = append(v.read, row); return v.rows[row] }
func (v *fakeView) RowRev(row int) uint64     { return v.revs[row] }
func (v *fakeView) RowWrapped(row int) bool   { return v.wrapped[row] }
func (v *fakeView) FirstLine() uint64         { return v.scrolled }
func (v *fakeView) RowPiece(row int) string   { return v.rows[row] }
func (v *fakeView) Cursor() (int, int)        { return v.cursor, 0 }
func (v *fakeView) Hash() string              { return fmt.Sprint("hash-", v.rev) }
func (v *fakeView) Foreground() string        { return "vim" }
func (v *fakeView) ExitStatus() (int, bool)   { return 3, v.exited }

func (v *fakeView) InputWait(time.Time) string { return v.waiting }
func (v *fakeView) CommandFailed() bool        { return v.failed }

// bench is a session's waits with everything around them.
type bench struct {
	t        testing.TB
	view     *fakeView
	text     *Rolling
	throttle *Throttle
	waits    *Waits
	results  []string
	met      *Alternative // of the last result
}

func newBench(t testing.TB, rows ...string) *bench {
	b := &bench{t: t, view: newView(rows...), text: NewRolling(4000), throttle: NewThrottle(0, 0)}
	b.waits = NewWaits(b.text, b.throttle)
	return b
}

func (b *bench) add(u protocol.Until, now int, more ...func(*Wait)) {
	b.t.Helper()
	cond, err := Compile(u)
	require.NoError(b.t, err)
	w := Wait{ID: "w", Condition: cond, Done: func(r Result) {
		result := fmt.Sprintf("%s:%d:%s", r.ID, r.End, r.Matched)
		if r.Stood != "" {
			result += ":" + r.Stood
		}
		if r.Repainting != nil {
			result += fmt.Sprint(":", r.Repainting)
		}
		b.results = append(b.results, result)
	}}
	for _, change := range more {
		change(&w)
	}
	require.NoError(b.t, b.waits.Add(w, b.view, at(now)))
}

func named(id string) func(*Wait) { return func(w *Wait) { w.ID = id } }
func (b *bench) check(now int)    { b.waits.EvaluateAll(b.view, at(now)) }
func (b *bench) print(s string)   { play(b.t, b.text, s) }
func (b *bench) changed(now int)  { b.throttle.NoteChange(at(now)); b.check(now) }
func (b *bench) open(why string)  { b.t.Helper(); require.Empty(b.t, b.results, why) }
func (b *bench) ended(want ...string) {
	b.t.Helper()
	require.Equal(b.t, want, b.results)
	require.Zero(b.t, b.waits.Len())
	_, timer := b.waits.Next()
	require.False(b.t, timer)
	require.Nil(b.t, b.text.kept.ended, "nobody listens any more")
}

// TestWaits plays what happens on a screen while agents wait.
func TestWaits(t *testing.T) {
	corpus.Plays(t, "waits", func(t *testing.T, steps []corpus.Step) {
		var b *bench
		for _, s := range steps {
			if s.Words[0] == "screen" {
				b = newBench(t, strings.Split(s.Arg(1), "|")...)
				continue
			}
			b.step(s)
			for _, w := range s.Wants {
				b.is(w, s.Line)
			}
		}
	})
}

func (b *bench) step(s corpus.Step) {
	n, _ := strconv.Atoi(s.Arg(1))
	switch s.Words[0] {
	case "wait":
		b.wait(s)
	case "set":
		b.view.set(n, s.Arg(2))
	case "scroll":
		b.view.scroll(s.Arg(1))
	case "wrapped":
		b.view.wrapped[n] = true
	case "title":
		b.view.rev++
		b.view.title, b.view.titled = s.Arg(1), b.view.rev
	case "failed":
		b.view.failed = true
	case "waiting":
		b.view.waiting = s.Arg(1)
	case "exited":
		b.view.exited = true
	case "forget":
		b.view.read = nil
	case "rev":
		b.view.rev = uint64(n)
	case "print":
		b.print(s.Arg(1))
	case "row":
		b.text.Row(n)
	case "printed":
		b.throttle.NoteChange(at(n))
	case "half-drawn", "drawn":
		b.throttle.SetHeld(at(n), s.Words[0] == "half-drawn")
	case "scrolled": // the rows that left the screen since the wait's revision
		b.view.left = s.Words[1:]
	case "ticks": // from, to: each 100 ms, a program paints rows (row=text, # is the number of the tick)
		to, _ := strconv.Atoi(s.Arg(2))
		for ; n <= to; n++ {
			for _, w := range s.Words[3:] {
				row, text, _ := strings.Cut(w, "=")
				text = strings.ReplaceAll(text, "#", strconv.Itoa(n))
				switch y, err := strconv.Atoi(row); {
				case row == "scroll":
					b.view.scroll(text)
					b.view.scrolled++
				case err == nil:
					b.view.set(y, text)
				default: // any row
					b.view.set(n%len(b.view.rows), text)
				}
			}
			b.changed(100 * n)
		}
	case "check":
		b.check(n)
	case "ahead", "may-wait", "may-work", "typed":
		r := map[string]Readiness{"ahead": Working, "may-wait": MaybeWaiting, "may-work": MaybeWorking}[s.Words[0]]
		b.waits.NoteTyping([]byte(s.Arg(1)), r)
	case "cancel":
		b.waits.Cancel(s.Arg(1))
	case "blind", "seeing":
		b.waits.SetBlind(s.Words[0] == "blind")
	case "secret", "answered":
		b.waits.NoteSecretPrompt(s.Words[0] == "secret", at(20), 5)
	default:
		require.FailNow(b.t, "no such step", s.Line)
	}
}

// wait adds the wait of a step. What stands behind "stop" or "or" is another condition, of which the
// first counts.
func (b *bench) wait(s corpus.Step) {
	number := func(name string) int { n, _ := strconv.Atoi(s.Option(name)); return n }
	words, alternatives := s.Words[2:], []Alternative{}
	for i, word := range words {
		if word == "stop" || word == "or" {
			other := untilOf(words[i+1:])
			c, err := Compile(other)
			require.NoError(b.t, err)
			alternatives = append(alternatives, Alternative{c, word == "stop", other})
		}
	}
	if i := slices.IndexFunc(words, func(w string) bool { return w == "stop" || w == "or" }); i >= 0 {
		words = words[:i]
	}
	b.add(untilOf(words), number("at"), func(w *Wait) {
		w.ID, w.AfterSeq, w.SinceSeq = s.Arg(1), uint64(number("after")), uint64(number("since"))
		w.InputSeq, w.Alternatives = uint64(number("input")), alternatives
		done := w.Done
		w.Done = func(r Result) { b.met = r.Alternative; done(r) }
		if s.Option("deadline") != "" {
			w.Deadline = at(number("deadline"))
		}
		if s.Option("not-before") != "" {
			w.NotBefore = at(number("not-before"))
		}
	})
}

// untilOf makes the condition at the front of words.
func untilOf(words []string) protocol.Until {
	s := corpus.Step{Words: words[:1]}
	quiet, _ := strconv.ParseInt(s.Option("quiet"), 10, 64)
	return protocol.Until{
		Text: s.Option("text"), Regex: s.Option("regex"), Title: s.Option("title"), TitleRegex: s.Option("title-regex"), Gone: s.Option("gone"),
		QuietMs: quiet, Changed: words[0] == "changed", Settled: words[0] == "settled", Waiting: words[0] == "waiting",
		Exit: words[0] == "exit", Control: words[0] == "control", Repaints: slices.Contains(words, "repaints"),
	}
}

// is checks a step's expectation.
func (b *bench) is(w corpus.Want, line string) {
	b.t.Helper()
	switch w.Name {
	case "":
		require.Equal(b.t, "open", w.Value, line)
		b.open(line)
	case "ended":
		b.ended(strings.Split(w.Value, ",")...)
	case "by": // the other condition that was met
		got := "none"
		if b.met != nil {
			got = map[bool]string{true: "stop", false: "or"}[b.met.Stop]
		}
		require.Equal(b.t, w.Value, got, line)
	case "results":
		require.Equal(b.t, w.Value, strings.Join(b.results, ","), line)
	case "next":
		next, ok := b.waits.Next()
		require.True(b.t, ok)
		require.Equal(b.t, w.Value, fmt.Sprint(next.Sub(at(0)).Milliseconds()), line)
	case "read":
		require.Equal(b.t, w.Value, fmt.Sprint(b.view.read), line)
	default:
		require.FailNow(b.t, "no such fact", line)
	}
}

func TestWaitsAreBounded(t *testing.T) {
	b := newBench(t, "a")
	for i := range MaxWaits {
		b.add(protocol.Until{Text: "x"}, 0, named(fmt.Sprint(i)))
	}
	cond, err := Compile(protocol.Until{Exit: true})
	require.NoError(t, err)
	require.ErrorIs(t, b.waits.Add(Wait{ID: "more", Condition: cond}, b.view, at(0)), ErrTooManyWaits)
	require.ErrorIs(t, b.waits.Add(Wait{ID: "7", Condition: cond}, b.view, at(0)), ErrWaitOpen)
	require.True(t, b.waits.Cancel("7"))
	require.False(t, b.waits.Cancel("7"))
	b.open("a cancelled wait is not told")
	for range 10 * maxRevisions {
		b.view.set(0, "a")
		b.check(1)
	}
	require.LessOrEqual(t, len(b.waits.revisions), maxRevisions)
}

func TestCompileRefuses(t *testing.T) {
	for _, regex := range []string{`a(b`, `a(?=b)`, `((a{100}){100}){100}`} {
		_, err := Compile(protocol.Until{Regex: regex})
		require.ErrorContains(t, err, `field "until.regex": is no RE2 regular expression`)
	}
	_, err := Compile(protocol.Until{TitleRegex: "a("})
	require.ErrorContains(t, err, `field "until.titleRegex": is no RE2`)
	_, err = Compile(protocol.Until{})
	require.EqualError(t, err, `field "until": sets no condition`)
}

func TestCheckExpect(t *testing.T) {
	v := newView("$ ls", "notes.txt and mo", "re", "$ ")
	v.wrapped[1] = true
	v.cursor = 3
	for _, c := range corpus.Rows[struct{ Expect, Want string }](t, "expect") {
		var expect *protocol.Expect
		require.NoError(t, json.Unmarshal([]byte(c.Expect), &expect))
		err := CheckExpect(expect, v)
		if c.Want == "" {
			require.NoError(t, err)
			continue
		}
		require.EqualError(t, err, c.Want)
	}
}

// A wait with an expensive expression ends with a reason, so that it does not delay the program's
// output. The others stay.
func TestADearWaitIsGivenUp(t *testing.T) {
	text := NewRolling(4000)
	w, v, now := NewWaits(text, NewThrottle(0, 0)), newView(""), time.Unix(1000, 0)
	ended := map[string]End{}
	for id, pattern := range map[string]string{"cheap": "cheap[0-9]", "dear": "(([0-9]?){30}){9}x"} {
		c, err := Compile(protocol.Until{Regex: pattern})
		require.NoError(t, err)
		require.NoError(t, w.Add(Wait{ID: id, Condition: c, Done: func(r Result) { ended[r.ID] = r.End }}, v, now))
	}
	for range 10_000 {
		text.Print([]byte(strings.Repeat("7", 1000)))
		text.Control('\n')
		if w.EvaluateAll(v, now); len(ended) > 0 {
			break
		}
	}
	require.Equal(t, map[string]End{"dear": Costly}, ended)
	text.Print([]byte("cheap7"))
	text.Control('\n')
	w.EvaluateAll(v, now)
	require.Equal(t, Met, ended["cheap"])
}

func TestAllowance(t *testing.T) {
	var a allowance
	now := time.Unix(1000, 0)
	require.True(t, a.spendTime(0, searchBurst, now))
	require.False(t, a.spendTime(0, time.Nanosecond, now))
	now = now.Add(time.Second)
	require.True(t, a.spendTime(0, time.Second/searchShare-time.Nanosecond, now), "a tenth of the time")
	require.False(t, a.spendTime(0, time.Microsecond, now))
	require.True(t, a.spendTime(2000, searchPerByte*1900, now), "and what bytes are worth, which comes on top")
}
