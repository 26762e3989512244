package screen

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// marked is a screen on which shells print marks, and its clock.
type marked struct {
	*Screen
	t   *testing.T
	now time.Time
}

func newMarked(t *testing.T, cols, rows, scrollback int) *marked {
	m := &marked{t: t, now: time.Unix(1000, 0)}
	m.Screen = New(Config{Cols: cols, Rows: rows, Scrollback: scrollback, Now: func() time.Time { return m.now }})
	return m
}

func (m *marked) prints(format string, args ...any) {
	m.Feed([]byte(strings.ReplaceAll(fmt.Sprintf(format, args...), "\n", "\r\n")))
}

// mark is OSC 133.
func mark(text string) string { return "\x1b]133;" + text + "\a" }

// prompt is a prompt of a shell; aid are the options of its marks.
func prompt(aid string) string { return mark("A"+aid) + "$ " + mark("B"+aid) }

// runs prints a command with its output and its end, up to the next prompt.
func (m *marked) runs(line, output, aid string, status int) {
	m.prints("%s", line+"\n"+mark("C"+aid))
	m.now = m.now.Add(time.Second)
	m.prints("%s", output+mark(fmt.Sprintf("D;%d%s", status, aid))+prompt(aid))
}

// last returns the nth command from the end.
func (m *marked) last(n int) *Command {
	m.t.Helper()
	all := m.Commands()
	require.GreaterOrEqual(m.t, len(all), n)
	return all[len(all)-n]
}

// text returns the text between two places.
func (m *marked) text(from, to Place) string {
	var b strings.Builder
	for line := from.Line; line <= to.Line; line++ {
		row, i := "", int(line)-int(m.HistoryNumber())
		if i < m.HistoryLen() {
			row = m.HistoryText(i)
		} else {
			row = m.RowText(i - m.HistoryLen())
		}
		if line == to.Line {
			row = row[:min(to.Col, len(row))]
		}
		if line == from.Line {
			row = row[min(from.Col, len(row)):]
		}
		b.WriteString(row + "\n")
	}
	return strings.TrimRight(b.String(), "\n")
}

func (m *marked) output(n int) string { c := m.last(n); return m.text(c.Begin, c.End) }

func TestMarksTellOfCommands(t *testing.T) {
	for name, aid := range map[string]string{"plain": "", "named": ";aid=7.1"} {
		t.Run(name, func(t *testing.T) {
			m := newMarked(t, 20, 6, 100)
			m.prints("%s", "\x1b]7;file://box/home/ada%20b\a"+prompt(aid))
			require.Empty(t, m.Commands())
			m.runs("echo one", "one\n", aid, 0)
			m.runs("printf two", "two", aid, 3)
			m.runs("seq 9", "1\n2\n3\n4\n5\n6\n7\n8\n9\n", aid, 0)
			m.prints("%s", mark("D;0"+aid)+prompt(aid)) // Enter on an empty line
			require.Len(t, m.Commands(), 3)
			require.Equal(t, "one", m.output(3))
			require.Equal(t, "two", m.output(2), "without the prompt behind it")
			require.Equal(t, "1\n2\n3\n4\n5\n6\n7\n8\n9", m.output(1))
			c := m.last(2)
			require.Equal(t, "printf two", c.Line)
			require.Equal(t, [2]string{"box", "/home/ada b"}, [2]string{c.Host, c.Cwd})
			require.True(t, c.HasExit)
			require.Equal(t, 3, c.Exit)
			require.Equal(t, time.Second, c.Ended.Sub(c.Began))

			for _, cols := range []int{7, 40, 5, 20} {
				m.Resize(cols, 4)
				require.Equal(t, "two", m.output(2), cols)
				require.Equal(t, "1\n2\n3\n4\n5\n6\n7\n8\n9", m.output(1), cols)
			}
		})
	}
}

func TestMarksNameTheCommandLine(t *testing.T) {
	m := newMarked(t, 40, 6, 0)
	m.prints("%s", prompt("")+"x\n"+mark("C;cmdline_url=make%20a%3bb%0Ac"))
	require.Equal(t, "make a;b\nc", m.last(1).Line)
	require.True(t, m.last(1).Ended.IsZero())
	m.prints("%s", mark("D;err=1")+"\x1b]633;P;Cwd=/a\\x3bb\\\\c\a\x1b]633;A\a> \x1b]633;B\ax\n\x1b]633;E;ls \\x3b a;nonce\a\x1b]633;C\a")
	require.Equal(t, "ls ; a", m.last(1).Line)
	require.Equal(t, `/a;b\c`, m.last(1).Cwd)
	require.False(t, m.last(2).HasExit)
	m.prints("%s", "\x1b]633;D;1\a"+prompt("")+"y"+mark("C"))
	require.Equal(t, "y", m.last(1).Line, "a line is for one command")
	long := mark("C;cmdline_url=x" + strings.Repeat("é", maxCommandLine/2))
	m.prints("%s", long)
	require.Len(t, m.Commands(), 3, "the same command again")
	m.prints("%s", "out\n"+long)
	require.Len(t, m.last(1).Line, maxCommandLine-1+len("…"))
}

// A program's output can neither end the command of a shell that names itself, nor stay as commands
// beside it.
func TestMarksWithinACommand(t *testing.T) {
	m := newMarked(t, 40, 10, 100)
	const aid = ";aid=outer"
	m.prints("%s", prompt(aid)+"ssh host\n"+mark("C;cmdline_url=ssh"+aid)+prompt(""))
	m.runs("rm -rf /", "gone\n", "", 0)
	require.Equal(t, 1, m.last(1).Depth)
	require.Equal(t, 0, m.last(2).Depth)
	require.True(t, m.last(2).Ended.IsZero())
	m.prints("%s", mark("D;0")+mark("D;0;aid=guess")+prompt(";aid=guess"))
	require.True(t, m.last(2).Ended.IsZero())
	m.prints("%s", mark("D;1"+aid)+prompt(aid))
	require.Len(t, m.Commands(), 1)
	require.Equal(t, 1, m.last(1).Exit)
	require.Contains(t, m.output(1), "gone")

	for i := range 3 * maxCommands { // a shell within keeps the command that it runs in
		if i == 0 {
			m.prints("%s", "ssh host\n"+mark("C"+aid)+prompt(""))
		}
		m.runs("x", "y\n", "", 0)
	}
	require.Len(t, m.Commands(), maxCommands)
	m.prints("%s", mark("D;4"+aid))
	require.Equal(t, 4, m.last(1).Exit)
	m.prints("%s", strings.Repeat(mark("A;aid=1")+mark("C;aid=1")+"x"+mark("A;aid=2")+mark("C;aid=2")+"x", 100))
	for i := range 100 {
		m.prints("%s", mark(fmt.Sprintf("A;aid=n%d", i))+mark(fmt.Sprintf("C;aid=n%d", i))+"x")
	}
	require.Len(t, m.t2().shells, maxShells)
	require.Equal(t, "n99", m.t2().shells[maxShells-1].aid)
	require.Equal(t, "1", m.t2().shells[0].aid, "those that began first stay")
	require.LessOrEqual(t, len(m.Commands()), maxCommands)
}

func (m *marked) t2() *terminal { return &m.Screen.t }

// Two snippets in one shell report one command.
func TestMarksTwice(t *testing.T) {
	const aid = ";aid=7"
	m := newMarked(t, 40, 10, 100)
	for range 2 {
		m.prints("%s", mark("D;2")+mark("D;2"+aid)+mark("A")+mark("A"+aid)+"$ "+mark("B"+aid)+mark("B")+"ls\n"+mark("C")+mark("C"+aid))
		m.prints("out\n")
	}
	m.prints("%s", mark("D;2")+mark("D;2"+aid))
	require.Len(t, m.Commands(), 2)
	require.Equal(t, "out", m.output(1))
	require.Equal(t, 2, m.last(1).Exit)
	require.Equal(t, "ls", m.last(1).Line)
}

// Without a name, the command line is the text on the screen as it begins to run.
func TestTheCommandLineOnTheScreen(t *testing.T) {
	m := newMarked(t, 10, 3, 100)
	m.prints("%s", prompt("")+"for i in 1 2 3; do\n> echo $i\n> é中\n> done\n"+mark("C"))
	require.Equal(t, "for i in 1 2 3; do\n> echo $i\n> é中\n> done", m.last(1).Line)
	m.prints("%s", mark("D")+mark("A")+mark("B")+strings.Repeat("x", 2*maxCommandLine)+"\n"+mark("C"))
	require.Empty(t, m.last(1).Line, "its beginning is not kept")
}

func TestCommandsAndAnErasedScreen(t *testing.T) {
	m := newMarked(t, 20, 5, 100)
	m.prints("%s", prompt(""))
	m.runs("seq 3", "1\n2\n3\n", "", 0)
	m.runs("clear", "\x1b[H\x1b[2J\x1b[3J", "", 0)
	for n := 1; n <= 2; n++ {
		require.Empty(t, m.output(n))
		require.True(t, m.last(n).Erased)
	}
	require.Equal(t, "clear", m.last(1).Line)
	m.runs("echo a", "a\n", "", 0)
	require.Equal(t, "a", m.output(1))
	require.False(t, m.last(1).Erased)
	m.runs("build", "old\n\x1b[H\x1b[2Jnew\n", "", 0)
	require.Equal(t, "new", m.output(1))
	require.True(t, m.last(1).Erased)
	m.runs("seq 8", "1\n2\n3\n4\n5\n6\n7\n8\n", "", 0)
	m.prints("%s", "\x1b[H\x1b[2J"+prompt("")) // Ctrl-L
	require.Equal(t, "1\n2\n3\n4", m.output(1), "what has left the screen")
	require.True(t, m.last(1).Erased)

	m.runs("up", "\x1b[Hx", "", 0)
	require.True(t, m.last(1).Erased)
	m.runs("down", "a\n\x1bc", "", 0)
	require.Empty(t, m.output(1))
	m.runs("insert", "a\nb\n\x1b[H\x1b[Lc\x1b[4H", "", 0)
	require.True(t, m.last(1).Erased)
}

func TestCommandsOnTheOtherScreen(t *testing.T) {
	m := newMarked(t, 20, 5, 100)
	m.prints("%s", prompt(""))
	m.runs("vim", "a\n\x1b[?1049h\x1b[H\x1b[2Jtext\n\n\n\n\n\x1b[?1049lb\n", "", 0)
	require.True(t, m.last(1).Alt)
	require.False(t, m.last(1).Erased)
	require.Equal(t, "a\nb", m.output(1))
	m.runs("ls", "c\n", "", 0)
	require.False(t, m.last(1).Alt)
}

// Marks do not reveal what stands on the screen while the user hides it.
func TestCommandsOnAHiddenScreen(t *testing.T) {
	m := newMarked(t, 20, 5, 100)
	m.prints("%s", prompt("")+"\x1b]7;file:///before\a")
	m.Veil(false, true)
	m.prints("%s", "\x1b]7;file:///secret\a"+"ls\n"+mark("C;cmdline_url=secret"))
	c := m.last(1)
	require.True(t, c.Hidden)
	require.Empty(t, c.Line+c.Cwd)
	m.Veil(true, false)
	m.prints("%s", mark("D;0")+prompt("")+mark("C;cmdline_url=secret"))
	require.Empty(t, m.last(1).Line)
	require.False(t, m.last(1).Hidden)
	m.Veil(false, false)
	m.prints("%s", mark("D;0")+prompt("")+"pw ")
	m.Veil(true, false)
	m.prints("hunter2")
	m.Veil(false, false)
	m.prints("%s", " x"+mark("C"))
	require.Equal(t, "pw         x", m.last(1).Line)
}

func TestCommandsMoveWithTheRows(t *testing.T) {
	m := newMarked(t, 20, 6, 100)
	m.prints("%s", prompt(""))
	m.runs("seq 2", "1\n2\n", "", 0)
	for _, by := range []int{2, -3, 1} {
		m.ShiftRows(by)
		require.Equal(t, "1\n2", m.output(1), by)
	}
	m = newMarked(t, 20, 6, 2) // the history is short
	m.prints("%s", prompt(""))
	m.runs("seq 20", strings.Repeat("x\n", 20), "", 0)
	require.Less(t, m.last(1).Begin.Line, m.HistoryNumber())
	m.Resize(10, 6)
	require.Less(t, m.last(1).Begin.Line, m.HistoryNumber())
	require.Equal(t, m.HistoryNumber()+uint64(m.HistoryLen()+m.Cursor().Row), m.last(1).End.Line)
}
