package snapshot

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"terminalproxy/protocol"
)

// fakeView is a screen of rows that the test writes.
type fakeView struct {
	rev     uint64
	rows    []string
	revs    []uint64
	wrapped map[int]bool
	cursor  int
	exited  bool
	waiting string
	read    []int // the rows whose text was asked for
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

func (v *fakeView) Rev() uint64             { return v.rev }
func (v *fakeView) Size() (int, int)        { return 80, len(v.rows) }
func (v *fakeView) RowText(row int) string  { v.read = append(v.read, row); return v.rows[row] }
func (v *fakeView) RowRev(row int) uint64   { return v.revs[row] }
func (v *fakeView) RowWrapped(row int) bool { return v.wrapped[row] }
func (v *fakeView) Cursor() (int, int)      { return v.cursor, 0 }
func (v *fakeView) Hash() string            { return fmt.Sprint("hash-", v.rev) }
func (v *fakeView) Foreground() string      { return "vim" }
func (v *fakeView) Exited() (int, bool)     { return 3, v.exited }

func (v *fakeView) Waiting(time.Time) string { return v.waiting }

// bench is a session's waits with everything around them.
type bench struct {
	t        testing.TB
	view     *fakeView
	text     *Rolling
	throttle *Throttle
	waits    *Waits
	results  []string
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
		b.results = append(b.results, fmt.Sprintf("%s %d %q", r.ID, r.End, r.Matched))
	}}
	for _, change := range more {
		change(&w)
	}
	require.NoError(b.t, b.waits.Add(w, b.view, at(now)))
}

func after(seq uint64) func(*Wait) { return func(w *Wait) { w.AfterSeq = seq } }
func deadline(ms int) func(*Wait)  { return func(w *Wait) { w.Deadline = at(ms) } }
func notBefore(ms int) func(*Wait) { return func(w *Wait) { w.NotBefore = at(ms) } }
func named(id string) func(*Wait)  { return func(w *Wait) { w.ID = id } }
func (b *bench) check(now int)     { b.waits.Check(b.view, at(now)) }
func (b *bench) print(s string)    { play(b.t, b.text, s) }
func (b *bench) changed(now int)   { b.throttle.Changed(at(now)); b.check(now) }
func (b *bench) open(why string)   { b.t.Helper(); require.Empty(b.t, b.results, why) }
func (b *bench) ended(want ...string) {
	b.t.Helper()
	require.Equal(b.t, want, b.results)
	require.Zero(b.t, b.waits.Len())
	_, timer := b.waits.Next()
	require.False(b.t, timer)
	require.Nil(b.t, b.text.kept.ended, "nobody listens any more")
}

func TestWaitText(t *testing.T) {
	b := newBench(t, "$ make", "")
	b.add(protocol.Until{Text: "make"}, 0)
	b.ended(`w 0 "make"`)

	b = newBench(t, "$ make", "")
	b.add(protocol.Until{Text: "ok"}, 0)
	b.open("not there yet")
	b.view.set(1, "all ok")
	b.check(1)
	b.ended(`w 0 "ok"`)
}

func TestWaitRegexOverWrappedRows(t *testing.T) {
	b := newBench(t, "tests pas", "sed: 12", "")
	b.add(protocol.Until{Regex: `passed: \d+`}, 0)
	b.open("two rows are two lines")
	b.view.wrapped[0] = true
	b.view.set(1, "sed: 123")
	b.check(1)
	b.ended(`w 0 "passed: 123"`)
}

func TestWaitTextThatAFloodCarriedAway(t *testing.T) {
	b := newBench(t, "")
	b.add(protocol.Until{Regex: `DONE \w+`}, 0)
	b.print("DONE now\r\n" + strings.Repeat("y\r\n", 100_000))
	b.check(1)
	b.ended(`w 0 "DONE now"`)
}

func TestWaitTextOnTheUnfinishedLine(t *testing.T) {
	b := newBench(t, "")
	b.print("Pass")
	b.add(protocol.Until{Text: "Password:"}, 0)
	b.open("half of it")
	b.print("word: ")
	b.check(1)
	b.ended(`w 0 "Password:"`)
}

func TestWaitAfterSeqIgnoresWhatWasThere(t *testing.T) {
	b := newBench(t, "$ make; echo DONE", "")
	b.print("$ make; echo DONE")
	b.check(0)
	b.add(protocol.Until{Text: "DONE"}, 1, after(1))
	b.print("\r\n")
	b.view.scroll("")
	b.check(2)
	b.open("the command line only ended")
	b.print("cc\r\n")
	b.view.scroll("cc")
	b.check(3)
	b.open("and moved")
	b.print("DONE\r\n")
	b.view.scroll("DONE")
	b.check(4)
	b.ended(`w 0 "DONE"`)
}

func TestWaitAfterSeqThatBeginsLate(t *testing.T) {
	b := newBench(t, "$ make; echo DONE", "")
	b.print("$ make; echo DONE")
	b.check(0)
	b.print("\r\n")
	b.view.scroll("")
	b.check(1)
	b.add(protocol.Until{Text: "DONE"}, 2, after(1))
	b.open("the row scrolled before the wait began")
	b.waits.Cancel("w")

	b.print("DONE\r\n" + strings.Repeat("$ \r\n", 50))
	b.view.scroll("$ ")
	b.check(3)
	b.add(protocol.Until{Text: "DONE"}, 4, after(1))
	b.ended(`w 0 "DONE"`)
}

func TestWaitAfterSeqSeesARowDrawnInPlace(t *testing.T) {
	b := newBench(t, "~", "1 line")
	b.check(0)
	b.add(protocol.Until{Text: "11 lines"}, 0, after(1))
	b.print("{row 0}1{row 6}s") // a full-screen program writes only what differs
	b.view.set(1, "11 lines")
	b.check(1)
	b.ended(`w 0 "11 lines"`)
}

func TestWaitExaminesChangedRowsOnly(t *testing.T) {
	b := newBench(t, "a", "b", "c", "d")
	b.add(protocol.Until{Text: "x"}, 0)
	b.view.read = nil
	b.view.set(2, "cc")
	b.check(1)
	b.check(2)
	require.Equal(t, []int{2}, b.view.read)
}

func TestWaitGone(t *testing.T) {
	b := newBench(t, "loading", "loading too")
	b.add(protocol.Until{Gone: "loading"}, 0)
	b.view.set(0, "")
	b.check(1)
	b.open("the other row still has it")
	b.view.set(1, "done")
	b.check(2)
	b.ended(`w 0 "gone"`)

	b = newBench(t, "ready")
	b.add(protocol.Until{Gone: "loading"}, 0, after(1))
	b.open("nothing happened since")
	b.view.set(0, "loading")
	b.check(1)
	b.open("it came")
	b.view.set(0, "")
	b.check(2)
	b.ended(`w 0 "gone"`)
}

func TestWaitChanged(t *testing.T) {
	b := newBench(t, "a")
	b.add(protocol.Until{Changed: true}, 0)
	b.check(1)
	b.open("the same screen")
	b.view.set(0, "b")
	b.check(2)
	b.ended(`w 0 "changed"`)

	b = newBench(t, "a")
	b.view.set(0, "b")
	b.add(protocol.Until{Changed: true}, 0, after(1))
	b.ended(`w 0 "changed"`)
}

func TestWaitQuiet(t *testing.T) {
	for _, c := range []struct {
		name  string
		until protocol.Until
		more  []func(*Wait)
		react bool // the program answers at 20 ms
		want  int  // when the wait is met
		word  string
	}{
		{"quiet already", protocol.Until{QuietMs: 5}, nil, false, 10, "quiet"},
		{"from the last change", protocol.Until{QuietMs: 100}, nil, false, 100, "quiet"},
		{"a change restarts it", protocol.Until{QuietMs: 100}, nil, true, 120, "quiet"},
		{"settled", protocol.Until{Settled: true}, nil, false, 30, "settled"},
		{"not before an input", protocol.Until{Settled: true}, []func(*Wait){notBefore(15)}, false, 45, "settled"},
		{"the program has its time to react", protocol.Until{Settled: true}, []func(*Wait){after(1)}, false, 40, "settled"},
		{"and then it has reacted", protocol.Until{QuietMs: 100}, []func(*Wait){after(1)}, true, 120, "quiet"},
	} {
		t.Run(c.name, func(t *testing.T) {
			b := newBench(t, "a")
			b.throttle.Changed(at(0))
			b.add(c.until, 10, c.more...)
			if c.want > 10 {
				b.open("too early")
				if c.react {
					b.view.set(0, "b")
					b.changed(20)
				}
				next, ok := b.waits.Next()
				require.True(t, ok)
				require.Equal(t, at(c.want), next)
				b.check(c.want - 1)
				b.open("too early still")
				b.check(c.want)
			}
			b.ended(fmt.Sprintf("w 0 %q", c.word))
		})
	}
}

func TestWaitSettledWhileHeld(t *testing.T) {
	b := newBench(t, "a")
	b.throttle.Changed(at(0))
	b.throttle.Hold(at(1), true)
	b.add(protocol.Until{Settled: true}, 10)
	b.check(500)
	b.open("the screen is half drawn")
	b.throttle.Hold(at(501), false)
	b.check(501)
	b.ended(`w 0 "settled"`)
}

func TestWaitForTheProgram(t *testing.T) {
	b := newBench(t, "a")
	b.view.waiting = "waiting"
	b.add(protocol.Until{Waiting: true}, 0)
	b.ended(`w 0 "waiting"`)

	b = newBench(t, "a")
	b.add(protocol.Until{Waiting: true}, 0)
	b.open("it is busy")
	b.view.waiting = "waiting (guess: relay)"
	b.check(1)
	b.ended(`w 0 "waiting (guess: relay)"`)

	// Not every input shows: that the screen is the one of before says nothing.
	b = newBench(t, "a")
	b.view.waiting = "waiting"
	b.add(protocol.Until{Waiting: true}, 0, after(1))
	b.ended(`w 0 "waiting"`)
}

func TestWaitExit(t *testing.T) {
	b := newBench(t, "a")
	b.add(protocol.Until{Exit: true}, 0, named("exit"))
	b.add(protocol.Until{Text: "bye"}, 0, named("shown"))
	b.add(protocol.Until{Text: "never"}, 0, named("text"))
	b.add(protocol.Until{Control: true}, 0, named("control"))
	b.check(1)
	b.open("it runs")
	b.view.set(0, "bye")
	b.view.exited = true
	b.check(2)
	b.ended(`exit 0 "exit"`, `shown 0 "bye"`, `text 2 ""`, `control 2 ""`)
	b.results = nil
	b.add(protocol.Until{Text: "never"}, 3)
	b.ended(`w 2 ""`)
}

func TestWaitDeadline(t *testing.T) {
	b := newBench(t, "a")
	b.add(protocol.Until{Text: "x"}, 0, deadline(50))
	b.add(protocol.Until{Text: "y"}, 0, deadline(40), named("first"))
	next, ok := b.waits.Next()
	require.True(t, ok)
	require.Equal(t, at(40), next)
	b.check(39)
	b.open("there is time")
	b.check(40)
	b.view.set(0, "x")
	b.check(50)
	b.ended(`first 1 ""`, `w 0 "x"`)
}

func TestWaitControl(t *testing.T) {
	b := newBench(t, "a")
	b.add(protocol.Until{Control: true}, 0, named("mine"))
	b.add(protocol.Until{Control: true}, 0, named("yours"))
	b.add(protocol.Until{Text: "x"}, 0, named("text"))
	b.waits.Decide(func(id string) bool { return id != "yours" }, "granted")
	require.Equal(t, []string{`mine 0 "granted"`}, b.results)
	b.waits.Stop()
	b.ended(`mine 0 "granted"`, `yours 3 ""`, `text 3 ""`)
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
	for range 10 * maxSeen {
		b.view.set(0, "a")
		b.check(1)
	}
	require.LessOrEqual(t, len(b.waits.seen), maxSeen)
}

func TestWaitDoneMayUseTheWaits(t *testing.T) {
	b := newBench(t, "a")
	cond, err := Compile(protocol.Until{Changed: true})
	require.NoError(t, err)
	rounds := 0
	var again func(Result)
	add := func() {
		require.NoError(t, b.waits.Add(Wait{ID: "w", Condition: cond, Done: again}, b.view, at(0)))
	}
	again = func(Result) { rounds++; add() }
	add()
	for range 3 {
		b.view.set(0, "b")
		b.check(1)
	}
	require.Equal(t, 3, rounds)
	require.Equal(t, 1, b.waits.Len())
}

func TestCompileRefuses(t *testing.T) {
	for _, c := range []struct{ name, regex, want string }{
		{"no closing", `a(b`, `field "until.regex": is no RE2 regular expression: missing closing ): "a(b"`},
		{"not RE2", `a(?=b)`, `field "until.regex": is no RE2 regular expression: invalid or unsupported Perl syntax: "(?="`},
		{"too big", `((a{100}){100}){100}`, `field "until.regex": is no RE2 regular expression: invalid repeat count: "{100}"`},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := Compile(protocol.Until{Regex: c.regex})
			var field *protocol.FieldError
			require.ErrorAs(t, err, &field)
			require.Equal(t, "until.regex", field.Field)
			require.EqualError(t, err, c.want)
		})
	}
	_, err := Compile(protocol.Until{})
	require.EqualError(t, err, `field "until": sets no condition`)
}

func TestCheckExpect(t *testing.T) {
	v := newView("$ ls", "notes.txt and mo", "re", "$ ")
	v.wrapped[1] = true
	v.cursor = 3
	seq, old, row, other := uint64(1), uint64(9), 3, 0
	for _, c := range []struct {
		name   string
		expect *protocol.Expect
		want   string
	}{
		{"nothing", nil, ""},
		{"empty", &protocol.Expect{}, ""},
		{"all", &protocol.Expect{Seq: &seq, Hash: "hash-1", Text: "and more", CursorRow: &row, Foreground: "vim"}, ""},
		{"seq", &protocol.Expect{Seq: &old}, "expected revision 9, the screen is at 1"},
		{"hash", &protocol.Expect{Hash: "x"}, "expected the screen with hash x, it is hash-1"},
		{"cursor", &protocol.Expect{CursorRow: &other}, "expected the cursor in row 0, it is in row 3"},
		{"foreground", &protocol.Expect{Foreground: "less"}, `expected "less" in the foreground, it is "vim"`},
		{"text", &protocol.Expect{Text: "txt$"}, `expected "txt$" on the screen, it is not there`},
		{"one of several", &protocol.Expect{Seq: &seq, Text: "ls -l"}, `expected "ls -l" on the screen, it is not there`},
	} {
		t.Run(c.name, func(t *testing.T) {
			err := CheckExpect(c.expect, v)
			if c.want == "" {
				require.NoError(t, err)
				return
			}
			require.EqualError(t, err, c.want)
		})
	}
}

// TestLookingWithoutWaitsPlaysNothing: what a flood prints stays unplayed while nobody waits, however often the screen is
// looked at.
func TestLookingWithoutWaitsPlaysNothing(t *testing.T) {
	b := newBench(t, "a line")
	for now := range 100 {
		b.print("a line\r\n")
		b.changed(now)
	}
	require.NotEmpty(t, b.text.log.ops, "the log was played though nobody asked for the text")
	require.Zero(t, b.text.kept.lines)
}

// While the screen may not be looked at, nothing on it meets a wait; quiet, the exit and time do.
func TestBlindWaits(t *testing.T) {
	b := newBench(t, "hidden", "")
	b.waits.Blind(true)
	b.view.waiting = "waiting"
	b.add(protocol.Until{Text: "hidden"}, 0, named("text"))
	b.add(protocol.Until{Regex: "h.*"}, 0, named("regex"), deadline(50))
	b.add(protocol.Until{Gone: "absent"}, 0, named("gone"))
	b.add(protocol.Until{Changed: true}, 0, named("changed"))
	b.add(protocol.Until{Waiting: true}, 0, named("waiting"))
	b.view.set(1, "more")
	b.check(1)
	b.open("nobody may look")
	b.check(60)
	require.Len(t, b.results, 1, "time does not stop: %v", b.results)
	require.Contains(t, b.results[0], "regex")
	b.waits.Blind(false)
	b.check(61)
	require.Len(t, b.results, 5, "%v", b.results)

	b = newBench(t, "hidden")
	b.waits.Blind(true)
	b.add(protocol.Until{QuietMs: 10}, 0, named("quiet"))
	b.add(protocol.Until{Exit: true}, 0, named("exit"))
	b.add(protocol.Until{Text: "hidden"}, 0, named("text"))
	b.check(10)
	b.view.exited = true
	b.check(11)
	require.Len(t, b.results, 3, "%v", b.results)
}

// Who knows of a question for a secret waits for what comes after it; who does not is told that the program waits.
func TestR23WaitingIsForWhoMayAnswer(t *testing.T) {
	for name, c := range map[string]struct {
		now  int
		more []func(*Wait)
		met  bool
	}{
		"began before":                  {10, nil, true},
		"began with it":                 {20, nil, true},
		"began afterwards":              {30, nil, false},
		"typed before, began afterward": {30, []func(*Wait){after(4)}, true},
		"typed when it stood":           {30, []func(*Wait){after(5)}, false},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t, "Password:")
			b.view.rev = 5
			if c.now > 20 {
				b.waits.Asks(true, at(20), 5)
			}
			b.add(protocol.Until{Waiting: true}, c.now, c.more...)
			b.waits.Asks(true, at(20), 5)
			b.view.waiting = "waiting"
			b.check(40)
			met := []string{`w 0 "waiting"`}
			if !c.met {
				b.open("the user answers that")
				b.waits.Asks(false, at(20), 5)
				b.check(50)
			}
			require.Equal(t, met, b.results)
		})
	}
}
