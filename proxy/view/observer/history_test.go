package observer

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/acarl005/stripansi"
	"github.com/stretchr/testify/require"

	"terminalproxy/protocol"
	"terminalproxy/proxy/terminal/child"
)

// shownFrame returns a frame as an answer has it, without the program's activity.
func shownFrame(o *Observer) *protocol.Frame {
	f := o.Frame(time.Now())
	o.completeFrame(f)
	return f
}

// mustAnswer returns the answer to a read.
func mustAnswer(t *testing.T, o *Observer, m *protocol.Read) *protocol.ReadResult {
	t.Helper()
	r := &protocol.ReadResult{}
	require.NoError(t, o.CompleteRead(time.Now(), m, r))
	return r
}

// follower is an agent that follows a terminal by its changes.
type follower struct {
	seq    uint64
	screen []string
}

// follow reads on and puts the changes together.
func (r *follower) follow(t *testing.T, o *Observer, most int) *protocol.ReadResult {
	t.Helper()
	got := mustAnswer(t, o, &protocol.Read{SinceSeq: r.seq, Follow: true, Scrollback: most})
	f := got.Frame
	if f.Screen.Lines != nil {
		r.screen = f.Screen.Lines
	} else {
		require.Equal(t, r.seq, f.Since)
		r.screen = protocol.Patch(protocol.Move(r.screen, f.Moved), f.Changed)
	}
	r.seq = f.Seq
	return got
}

func logLine(i int) string { return fmt.Sprintf("line number %d of a log of some length", i) }

func lines(from, to int) string {
	var b strings.Builder
	for i := from; i < to; i++ {
		b.WriteString(logLine(i) + "\r\n")
	}
	return b.String()
}

func TestFollowingALog(t *testing.T) {
	o := newWatched(60, 6)
	r := follower{}
	o.FeedNow([]byte("$ make all the many things\r\n"))
	r.follow(t, o, 100)

	o.FeedNow([]byte(lines(0, 2)))
	got := r.follow(t, o, 100)
	require.Len(t, got.Frame.Changed, 2)
	require.Empty(t, got.Text)

	o.FeedNow([]byte(lines(2, 5))) // the command scrolls off, and so does line 0; both were seen
	got = r.follow(t, o, 100)
	require.Equal(t, 1, got.Frame.Moved)
	require.EqualValues(t, 1, got.Frame.Line)
	require.Equal(t, []protocol.Row{{Row: 2, Text: logLine(2)}, {Row: 3, Text: logLine(3)}, {Row: 4, Text: logLine(4)}}, got.Frame.Changed)
	require.Empty(t, got.Text)
	require.Equal(t, got.FirstLine, got.NextLine)

	o.FeedNow([]byte(lines(5, 50))) // far more than the screen holds
	got = r.follow(t, o, 100)
	require.NotNil(t, got.Frame.Screen.Lines, "nothing is left of the old screen")
	require.NotZero(t, got.Frame.Since)
	require.Equal(t, strings.ReplaceAll(strings.TrimSuffix(lines(5, 45), "\r\n"), "\r", ""), got.Text)
	require.EqualValues(t, 6, got.FirstLine)
	require.EqualValues(t, 46, got.NextLine)
	require.EqualValues(t, 40, got.Unseen)
	require.EqualValues(t, 46, got.Frame.Line)

	o.FeedNow([]byte(lines(50, 100)))
	got = r.follow(t, o, 10)
	require.Equal(t, strings.ReplaceAll(strings.TrimSuffix(lines(85, 95), "\r\n"), "\r", ""), got.Text, "the newest ten")
	require.EqualValues(t, 86, got.FirstLine)
	require.EqualValues(t, 45, got.Unseen)

	got = r.follow(t, o, 100)
	require.Empty(t, got.Frame.Changed)
	require.Nil(t, got.Frame.Screen.Lines, "nothing new")
}

func TestAChangedRowThatScrolledOffIsReadAgain(t *testing.T) {
	o := newWatched(60, 4)
	r := follower{}
	o.FeedNow([]byte("first\r\n 50%"))
	r.follow(t, o, 100)
	o.FeedNow([]byte("\r100%\r\n" + lines(0, 4)))
	got := r.follow(t, o, 100)
	require.Equal(t, "100%\n"+logLine(0), got.Text)
	require.EqualValues(t, 1, got.FirstLine)
}

func TestAnUnknownRevisionGetsTheWholeScreen(t *testing.T) {
	o := newWatched(60, 6)
	r := follower{}
	o.FeedNow([]byte("$ make all the many things\r\n"))
	r.follow(t, o, 100)
	old := r
	for i := range maxSent {
		o.FeedNow([]byte(lines(i, i+1)))
		r.follow(t, o, 0)
	}
	for _, at := range []struct {
		name   string
		change func()
	}{
		{"too old", func() {}},
		{"another width", func() {
			old = r
			o.model.Resize(30, 6)
		}},
		{"another height", func() {
			r.follow(t, o, 0)
			old = r
			o.model.Resize(30, 8)
		}},
		{"never", func() { old.seq = 1 << 40 }},
	} {
		at.change()
		got := old.follow(t, o, 100)
		require.NotNil(t, got.Frame.Screen.Lines, at.name)
		require.Zero(t, got.Frame.Since, at.name)
		require.Empty(t, got.Text, at.name)
		require.Equal(t, got.FirstLine, got.NextLine, at.name)
	}
}

func TestRecallIsBounded(t *testing.T) {
	o := newWatched(1000, 100)
	for i := range 12 {
		o.FeedNow([]byte(strings.Repeat(fmt.Sprintf("\r\n%d%s", i, strings.Repeat("x", 900)), 100)))
		shownFrame(o)
		require.True(t, o.sent.bytes <= sentBytes || len(o.sent.screens) == 1)
	}
	small := newWatched(10, 2)
	for i := range 3 * maxSent {
		small.FeedNow([]byte(fmt.Sprintf("\r%d", i)))
		shownFrame(small)
		shownFrame(small)
	}
	require.Len(t, small.sent.screens, maxSent)
}

// anything is output of a program that does a bit of everything.
func anything(r *rand.Rand) string {
	switch r.IntN(12) {
	case 0:
		return fmt.Sprintf("\x1b[%d;%dH", 1+r.IntN(9), 1+r.IntN(20))
	case 1:
		return "\x1b[K"
	case 2:
		return "\x1b[2J"
	case 3:
		return fmt.Sprintf("\x1b[%dM\x1b[%dL", r.IntN(3), r.IntN(3))
	case 4:
		return fmt.Sprintf("\x1b[%d;%dr", 1+r.IntN(3), 4+r.IntN(6))
	case 5:
		return []string{"\x1b[?1049h", "\x1b[?1049l", "\x1b[r", "\x1b[3J", "\x1bc"}[r.IntN(5)]
	case 6:
		return "\x1b[7mbar\x1b[m"
	case 7:
		return fmt.Sprintf("\x1b[%dS\x1b[%dT", r.IntN(3), r.IntN(3))
	case 8:
		return "\x1bM"
	default:
		from := r.IntN(100)
		return lines(from, from+r.IntN(12))
	}
}

// Whatever programs do, a follower that puts the changes together has the screen. It gets exactly
// the rows of the history that it has not seen, by their numbers.
func TestFollowingRebuildsEveryScreen(t *testing.T) {
	for seed := range uint64(40) {
		dice := rand.New(rand.NewPCG(seed, 0)) //nolint:gosec // the same programs each time
		o := newWatched(10+dice.IntN(40), 9)
		r := follower{}
		for range 60 {
			for range dice.IntN(6) {
				o.FeedNow([]byte(anything(dice)))
			}
			if dice.IntN(30) == 0 {
				o.model.Resize(10+dice.IntN(40), 9)
			}
			got := r.follow(t, o, protocol.MaxHistory)
			require.Equal(t, shownFrame(o).Screen.Lines, r.screen, "seed %d", seed)
			if got.Text != "" {
				require.Equal(t, int(got.NextLine-got.FirstLine), strings.Count(got.Text, "\n")+1) //nolint:gosec // few
				require.Equal(t, got.Text, mustAnswer(t, o, &protocol.Read{Scrollback: protocol.MaxHistory, FromLine: &got.FirstLine}).Text)
			}
		}
	}
}

func TestFollowingALogMissesNothing(t *testing.T) {
	for seed := range uint64(20) {
		r := rand.New(rand.NewPCG(seed, 1)) //nolint:gosec // the same log each time
		o := newWatched(60, 2+r.IntN(10))
		who, seen, printed := follower{}, map[string]bool{}, 0
		who.follow(t, o, 0)
		for range 30 {
			n := r.IntN(30)
			o.FeedNow([]byte(lines(printed, printed+n)))
			printed += n
			got := who.follow(t, o, protocol.MaxHistory)
			told := strings.Split(got.Text, "\n")
			for _, row := range got.Frame.Changed {
				told = append(told, row.Text)
			}
			for _, row := range append(told, got.Frame.Screen.Lines...) {
				seen[row] = true
			}
		}
		for i := range printed {
			require.True(t, seen[logLine(i)], "seed %d: line %d", seed, i)
		}
	}
}

func TestLinesOfTheHistoryByNumber(t *testing.T) {
	o := newWatched(60, 4) // keeps 1,000 rows
	page := func(from uint64, n int) (*protocol.ReadResult, error) {
		r := &protocol.ReadResult{Frame: shownFrame(o)}
		return r, o.addHistory(r, &protocol.Read{FromLine: &from, Scrollback: n}, nil)
	}
	_, no := page(3, 5)
	require.EqualError(t, no, "there is no line 3: the history is empty, and its next line will be 0")
	got, no := page(0, 5)
	require.NoError(t, no)
	require.Empty(t, got.Text)

	o.FeedNow([]byte(lines(0, 103))) // a hundred rows, numbered as they are called
	got, no = page(10, 2)
	require.NoError(t, no)
	require.Equal(t, logLine(10)+"\n"+logLine(11), got.Text)
	require.EqualValues(t, 10, got.FirstLine)
	require.EqualValues(t, 12, got.NextLine)
	require.Zero(t, got.OldestLine)
	got, _ = page(98, 10)
	require.Equal(t, logLine(98)+"\n"+logLine(99), got.Text)
	got, _ = page(100, 10)
	require.Empty(t, got.Text)
	_, no = page(101, 10)
	require.EqualError(t, no, "line 101 has not left the screen yet: the history has the lines 0 to 99")

	o.FeedNow([]byte(lines(103, 2003)))
	got, _ = page(1500, 1)
	require.Equal(t, logLine(1500), got.Text, "the number of a row is its number for ever")
	require.EqualValues(t, 1000, got.OldestLine)
	_, no = page(999, 1)
	require.EqualError(t, no, "line 999 is no longer kept: the history has the lines 1000 to 1999")

	o.model.Resize(20, 4)
	_, no = page(1500, 1)
	require.ErrorContains(t, no, "line 1500 is no longer kept", "another width, other rows")
}

func TestALongHistoryComesInSeveralAnswers(t *testing.T) {
	o := newWatched(1000, 4)
	for i := range 500 {
		o.FeedNow([]byte(fmt.Sprintf("%d %s\r\n", i, strings.Repeat("x", 990))))
	}
	newest := mustAnswer(t, o, &protocol.Read{Scrollback: protocol.MaxHistory})
	require.LessOrEqual(t, len(newest.Text), protocol.MaxAnswerBytes)
	require.EqualValues(t, 497, newest.NextLine)
	require.Equal(t, int(newest.NextLine-newest.FirstLine), strings.Count(newest.Text, "\n")+1) //nolint:gosec // few
	next := uint64(0)
	for n := 0; next < 497; n++ {
		got := mustAnswer(t, o, &protocol.Read{Scrollback: protocol.MaxHistory, FromLine: &next})
		require.Equal(t, next, got.FirstLine)
		require.True(t, strings.HasPrefix(got.Text, fmt.Sprintf("%d ", next)))
		require.Greater(t, got.NextLine, next)
		next = got.NextLine
		require.Less(t, n, 5)
	}
}

// A page may begin and end anywhere, and no piece of a secret stands on it. After the program's
// end, the gateway answers with the rows and the numbers that an agent read while it ran.
func TestTheWholeHistoryOutlivesTheProgram(t *testing.T) {
	s := newStage(t, 40, 3)
	s.Observer = New(Config{
		Cols: 40, Rows: 3, Program: stagedProgram{s}, Agents: &Agents{Session: stagedSession{s}, Scrollback: 9000},
	})
	for i := range 9500 {
		hidden := ""
		if i%1000 == 7 {
			hidden = "\x1b[8mhidden\x1b[m"
		}
		s.print(fmt.Sprintf("row %d%s\r\n", i, hidden))
	}
	seen := shownFrame(s.Observer)
	alive := make(map[uint64]*protocol.ReadResult)
	for from := uint64(498); from < 9498; from += 1500 {
		alive[from] = mustAnswer(t, s.Observer, &protocol.Read{FromLine: &from, Scrollback: 1500})
	}
	past := s.NoteExit(s.now, child.Exit{})
	require.Equal(t, []uint64{498, 9498}, []uint64{past.Oldest(), past.NextLine})
	for from, r := range alive {
		got := past.Rows(from, from+1500)
		rows, hidden := got.Rows, got.Hidden
		require.Equal(t, r.Text, strings.Join(rows, "\n"))
		require.Equal(t, r.HiddenText, hidden)
		require.NotEmpty(t, hidden)
	}
	line, known := past.Unseen(seen.Seq)
	require.True(t, known)
	require.Equal(t, uint64(9498), line)
	frame, err := protocol.Encode(&protocol.SessionClose{ID: "c", SessionID: "s", Past: past})
	require.NoError(t, err)
	require.Less(t, len(frame), 1<<20)

	s = newStage(t, 40, 3)
	s.print("one\r\ntwo\r\nthree\r\nfour")
	s.ControlChanged(s.now, true)
	require.Nil(t, s.NoteExit(s.now, child.Exit{}), "the user hides it")
}

// If rows cannot be made shorter, the newest ones that fit into one message are kept.
func TestAnOversizedHistoryLosesItsOldestRows(t *testing.T) {
	s := newStage(t, 1000, 3)
	s.Observer = New(Config{
		Cols: 1000, Rows: 3, Program: stagedProgram{s}, Agents: &Agents{Session: stagedSession{s}, Scrollback: 9000, NoRedact: true},
	})
	random, row := rand.New(rand.NewPCG(1, 2)), make([]byte, 999)
	for range 2500 {
		for i := range row {
			row[i] = byte('!' + random.IntN(94))
		}
		s.print(string(row) + "\r\n")
	}
	past := s.NoteExit(s.now, child.Exit{})
	frame, err := protocol.Encode(&protocol.SessionClose{ID: "c", SessionID: "s", Past: past})
	require.NoError(t, err)
	require.Less(t, len(frame), 1<<20)
	require.Equal(t, uint64(2498), past.NextLine)
	require.Greater(t, past.Oldest(), uint64(1000))
	require.Less(t, past.Oldest(), uint64(2000))
}

// A search finds rows of the history and of the main screen, and shows no more of them than a read
// does.
func TestTheHistoryIsSearched(t *testing.T) {
	s := newStage(t, 40, 3)
	s.print("zero\r\nerror one\r\n\x1b[8merror hidden\x1b[m\r\ntwo\r\nerror; PASSWORD=hunter2hunter2x9\r\nerror three")
	find := func(m protocol.Read) *protocol.Found {
		t.Helper()
		m.Scrollback = 100
		return mustAnswer(t, s.Observer, &m).Found
	}
	lines := func(f *protocol.Found) (out []uint64) {
		for _, r := range f.Rows {
			out = append(out, r.Line)
		}
		return out
	}
	all := find(protocol.Read{Match: "error"})
	require.Equal(t, []uint64{1, 2, 4, 5}, lines(all))
	require.True(t, all.Rows[1].Hidden)
	require.False(t, all.Rows[0].Hidden)
	require.NotContains(t, all.Rows[2].Text, "hunter2")
	require.Zero(t, find(protocol.Read{Match: "hunter2"}).Count, "a search confirms no guess")
	for from, want := range map[uint64][]uint64{2: {2, 4, 5}, 3: {4, 5}, 5: {5}, 6: nil, 1 << 40: nil} {
		require.Equal(t, want, lines(find(protocol.Read{Match: "error", FromLine: &from})), from)
	}
	s.print("\x1b[?1049h\x1b[Herror of a full screen")
	require.Equal(t, []uint64{1, 2}, lines(find(protocol.Read{Match: "error"})), "it has no lines")
	s.ControlChanged(s.now, true)
	require.Nil(t, find(protocol.Read{Match: "error"}), "the user hides it")
	r := &protocol.ReadResult{}
	s.ControlChanged(s.now, false)
	require.ErrorContains(t, s.CompleteRead(s.now, &protocol.Read{Match: "("}, r), `field "match"`)
}

// A wait that states what it has seen also finds what was printed before it began.
func TestAWaitFindsScrolledText(t *testing.T) {
	s := newStage(t, 20, 3)
	s.print("a\r\nb\r\nthe error that wraps around\r\nc\r\nd\r\ne\r\nf\r\n")
	v := s.waitView()
	require.Equal(t, []string{"a", "b", "the error that wraps around", "c", "d"}, v.LinesGone(protocol.FirstSeq))
	require.Nil(t, v.LinesGone(99), "it is not known")
	seen := shownFrame(s.Observer)
	require.Empty(t, v.LinesGone(seen.Seq))
	s.print("g\r\nh\r\n\x1b[31mi\x1b[m\r\nj\r\n")
	require.Equal(t, []string{"g", "h"}, v.LinesGone(seen.Seq))
	s.ControlChanged(s.now, true)
	require.Nil(t, v.LinesGone(seen.Seq))
}

func TestNoPageOfTheHistoryHoldsAPieceOfASecretR29(t *testing.T) {
	o := newWatched(30, 3)
	key := "-----BEGIN OPENSSH PRIVATE KEY-----\r\n" + strings.Repeat(strings.Repeat("aB3/", 6)+"\r\n", 20) + "aB3/x==\r\n-----END OPENSSH PRIVATE KEY-----\r\n"
	o.FeedNow([]byte("cat id\r\n" + key + "echo " + token + "\r\n" + lines(0, 30)))
	for from := range uint64(o.model.HistoryLen()) { //nolint:gosec // few
		for _, n := range []int{1, 2, 7} {
			text := mustAnswer(t, o, &protocol.Read{FromLine: &from, Scrollback: n}).Text
			require.NotContains(t, text, "aB3/", "from %d", from)
			require.NotContains(t, text, "Ab3x", "from %d", from)
		}
	}
}

func TestHighlightsInAnswers(t *testing.T) {
	o := newWatched(60, 6)
	o.FeedNow([]byte("\x1b[7m 漢字 menu \x1b[m\r\n\x1b[44mone\x1b[m\r\n\x1b[44mtwo\x1b[m\r\n\x1b[7m" + token + "\x1b[m \x1b[7m\u200b \x1b[m"))
	require.Equal(t, []protocol.Highlight{
		{Row: 0, Col: 0, Cols: 11, Text: "漢字 menu"},
		{Row: 1, Rows: 2, Col: 0, Cols: 3, Text: "one"},
		{Row: 3, Col: 0, Cols: 40, Text: dots(40)},
	}, shownFrame(o).Highlights)
	require.Empty(t, shownFrame(newWatched(10, 2)).Highlights)
	many := newWatched(100, 3)
	many.FeedNow([]byte(strings.Repeat("\x1b[7m>\x1b[m ", 40)))
	require.Len(t, shownFrame(many).Highlights, protocol.MaxHighlights)
	long := newWatched(200, 3)
	long.FeedNow([]byte("\x1b[7m" + strings.Repeat("漢", 90)))
	require.Equal(t, strings.Repeat("漢", protocol.MaxHighlight), shownFrame(long).Highlights[0].Text)
}

func TestHistoryWithItsColours(t *testing.T) {
	s := newStage(t, 60, 3)
	s.print("\x1b[31mred\x1b[m \x1b]8;;http://example.org\x1b\\link\x1b]8;;\x1b\\\r\n\x1b[1mexport AWS_SECRET_ACCESS_KEY=wJalrXUtnFEMIK7MDENGbPxRfiCYzzzzzzzzKEYz\x1b[m\r\n漢\u0301字\r\n" + lines(0, 3))
	zero := uint64(0)
	plain := mustAnswer(t, s.Observer, &protocol.Read{FromLine: &zero, Scrollback: 10})
	got := mustAnswer(t, s.Observer, &protocol.Read{FromLine: &zero, Scrollback: 10, Attributes: true})
	rows := strings.Split(got.Text, "\n")
	require.Equal(t, "\x1b[0;31mred\x1b[0m link", rows[0])
	require.NotContains(t, got.Text, "wJalr")
	require.Contains(t, rows[1], "\x1b[0;1mexport")
	require.Contains(t, got.Text, "漢\u0301字")
	require.Equal(t, plain.Text, stripansi.Strip(got.Text), "the same rows, covered as the plain ones are")
	require.Equal(t, plain.NextLine, got.NextLine)
	m := s.rowsMessage(s.Frame(s.now))
	require.Equal(t, got.NextLine, m.Line)

	s.ControlChanged(s.now, true)
	got = mustAnswer(t, s.Observer, &protocol.Read{FromLine: &zero, Scrollback: 10, Attributes: true})
	require.Empty(t, got.Text)
	require.Zero(t, s.rowsMessage(s.Frame(s.now)).Line, "how much was printed is not told either")
	s.print("hidden\r\n" + lines(3, 9))
	s.ControlChanged(s.now, false)
	got = mustAnswer(t, s.Observer, &protocol.Read{FromLine: &zero, Scrollback: 20, Attributes: true})
	require.Contains(t, got.Text, "red")
	require.NotContains(t, got.Text, "hidden")
}
