package observer

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

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
func mustAnswer(t testing.TB, o *Observer, m *protocol.Read) *protocol.ReadResult {
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
func (r *follower) follow(t testing.TB, o *Observer, most int) *protocol.ReadResult {
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
