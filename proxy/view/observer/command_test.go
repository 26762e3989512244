package observer

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"terminalproxy/protocol"
)

// shellPrompt is a prompt with its marks; ran is a command line with its output and its end, up to
// the next prompt.
const shellPrompt = "\x1b]133;A\a$ \x1b]133;B\a"

func ran(line, output string, status int) string {
	return line + "\r\n\x1b]133;C\a" + output + fmt.Sprintf("\x1b]133;D;%d\a", status) + shellPrompt
}

// asksAbout reads the report of a command.
func (s *stage) asksAbout(nth int, more ...func(*protocol.Read)) (*protocol.ReadResult, error) {
	m, r := &protocol.Read{RequestID: "7", Command: nth, Scrollback: 1000}, &protocol.ReadResult{}
	for _, do := range more {
		do(m)
	}
	err := s.CompleteRead(s.now, m, r)
	return r, err
}

func (s *stage) about(t *testing.T, nth int, more ...func(*protocol.Read)) *protocol.ReadResult {
	t.Helper()
	r, err := s.asksAbout(nth, more...)
	require.NoError(t, err)
	require.NotNil(t, r.Command)
	return r
}

func TestReadingACommand(t *testing.T) {
	s := newStage(t, 40, 6)
	_, err := s.asksAbout(1)
	require.ErrorContains(t, err, "bash has sent no shell marks (OSC 133), which tell commands apart")
	s.print("\x1b]7;file:///src/app\a" + shellPrompt)
	_, err = s.asksAbout(1)
	require.EqualError(t, err, "no command has run yet, by the shell's marks")

	s.print(ran("make", lines(0, 20)+"error", 2), ran("echo $?", "2\r\n", 0))
	r := s.about(t, 2)
	c := r.Command
	require.Equal(t, "make", c.Line)
	require.Equal(t, "/src/app", c.Cwd)
	require.Equal(t, 2, *c.ExitCode)
	require.False(t, c.Running || c.Lost || c.Alt || c.Erased || c.Overflow)
	require.Equal(t, strings.ReplaceAll(lines(0, 20), "\r", "")+"error", r.Text)
	require.Equal(t, []uint64{c.FirstLine, c.NextLine}, []uint64{r.FirstLine, r.NextLine})
	require.Equal(t, "2", s.about(t, 1).Text)
	_, err = s.asksAbout(3)
	require.EqualError(t, err, "the shell's marks know of the last 2 commands only")

	page := s.about(t, 2, func(m *protocol.Read) { m.Scrollback = 3 })
	require.Equal(t, []uint64{c.NextLine - 3, c.NextLine}, []uint64{page.FirstLine, page.NextLine})
	require.True(t, strings.HasSuffix(page.Text, logLine(19)+"\nerror"))
	from := c.FirstLine + 4
	page = s.about(t, 2, func(m *protocol.Read) { m.FromLine, m.Scrollback = &from, 2 })
	require.Equal(t, logLine(4)+"\n"+logLine(5), page.Text)
	past := mustAnswer(t, s.Observer, &protocol.Read{FromLine: &from, Scrollback: 2})
	require.Equal(t, past.Text, page.Text, "the numbers are those of the history")
	found := s.about(t, 2, func(m *protocol.Read) { m.Match, m.Context = "number 1[02]|^[$2]", 1 }).Found
	require.Equal(t, 2, found.Count, "nothing of another command")
	require.Len(t, found.Rows, 5)
	require.Equal(t, c.FirstLine+9, found.Rows[0].Line)
	for _, bad := range []uint64{c.FirstLine - 1, c.NextLine + 1} {
		_, err = s.asksAbout(2, func(m *protocol.Read) { m.FromLine = &bad })
		require.ErrorContains(t, err, "is not in the output of that command")
	}

	s.print("sleep 9\r\n\x1b]133;C\a")
	c = s.about(t, 1).Command
	require.True(t, c.Running)
	require.Nil(t, c.ExitCode)
	s.print("one\r\ntw\r\n\r\n")
	require.Equal(t, "one\ntw\n", s.about(t, 1).Text)
	s.gone = true
	require.True(t, s.about(t, 1).Command.Lost)
}

func TestReadingACommandWhoseRowsAreGone(t *testing.T) {
	s := newStage(t, 40, 6)
	s.print(shellPrompt, ran("flood", lines(0, 1500), 0))
	r := s.about(t, 1)
	require.True(t, r.Command.Overflow)
	require.Equal(t, s.model.HistoryNumber(), r.Command.FirstLine)
	require.Contains(t, r.Text, logLine(1499))
	s.print("\x1b[H\x1b[2J\x1b[3J" + shellPrompt)
	r = s.about(t, 1)
	require.True(t, r.Command.Erased)
	require.Empty(t, r.Text)
	_, err := s.asksAbout(1, func(m *protocol.Read) { m.FromLine = new(uint64) })
	require.ErrorContains(t, err, "of which no rows are kept")

	s.print("more\r\n\x1b]133;C\aa\r\nb\r\n\x1b[?1049h\x1b[2Jother")
	r = s.about(t, 1)
	require.True(t, r.Command.Alt && r.Command.Behind)
	require.Empty(t, r.Text)
	s.print("\x1b[?1049l\x1b]133;D\a" + shellPrompt + ran("vim", "\x1b[?1049htext\x1b[?1049l", 0))
	r = s.about(t, 2)
	require.Equal(t, "a\nb", r.Text)
	require.Nil(t, r.Command.ExitCode)
	s.print("vi\r\n\x1b]133;C\a\x1b[?1049h")
	require.False(t, s.about(t, 1).Command.Behind)
	require.True(t, s.about(t, 3).Command.Behind)
	require.Empty(t, s.about(t, 3).Text)
}

// What agents may not see of the screen and its history, they do not see of a command.
func TestACommandIsRedacted(t *testing.T) {
	const token = "ghp_0123456789abcdefghijklmnopqrstuvwx12"
	s := newStage(t, 60, 6)
	said := func() string {
		var all strings.Builder
		for nth := 1; nth <= 3; nth++ {
			r, err := s.asksAbout(nth)
			if err != nil {
				fmt.Fprintln(&all, err)
				continue
			}
			f := s.about(t, nth, func(m *protocol.Read) { m.Match = "." }).Found
			fmt.Fprintln(&all, r.Text, *r.Command, f.Rows)
		}
		return all.String()
	}
	s.print("\x1b]7;file:///x/"+token+"\a"+shellPrompt, ran("export GITHUB_TOKEN="+token, "it is "+token+"\r\n", 0))
	s.print("x\r\n\x1b]133;C;cmdline_url=curl%20-H%20" + token + "\a" + "it is " + token[:20] + "\r\n" + lines(0, 9) + "\x1b]133;A;aid=1\a\x1b]133;C\a")
	require.Contains(t, said(), "•")
	require.NotContains(t, said(), token)
	require.NotContains(t, said(), token[4:20])

	s = newStage(t, 60, 6)
	s.print(shellPrompt, "login\r\n\x1b]133;C\a")
	s.line = noEcho
	s.print("Password: ")
	s.line = raw
	s.typeKey("hunter2")
	s.line = cooked
	s.print("\r\nwelcome\r\n\x1b]133;D;0\a" + shellPrompt)
	require.Contains(t, said(), "welcome")
	require.NotContains(t, said(), "hunter")

	s.hide(s.now, true)
	s.print("\x1b]7;file:///hidden\a" + ran("hidden-1", "hidden-2\r\n", 0))
	r, err := s.asksAbout(1)
	require.NoError(t, err)
	require.Nil(t, r.Command)
	require.True(t, r.Frame.Blackout.ByUser())
	s.hide(s.now, false)
	s.print("\r\n")
	_, err = s.asksAbout(1)
	require.EqualError(t, err, "that command began while the user hid the screen: nothing of it is shown")
	s.print(lines(0, 9), ran("ls", "", 0))
	require.NotContains(t, said(), "hidden-")
	require.NotContains(t, said(), "/hidden")
}

func (s *stage) hide(now time.Time, on bool) { s.ControlChanged(now, on) }

// A claim that a program prints within a command is named as such, and does not outlive the
// command.
func TestAClaimWithinACommand(t *testing.T) {
	const aid = ";aid=4711.9"
	s := newStage(t, 60, 10)
	s.print("\x1b]133;A" + aid + "\a$ \x1b]133;B" + aid + "\acat evil\r\n\x1b]133;C" + aid + "\a")
	s.front = 1
	s.print("\x1b]133;D;0\a" + shellPrompt + ran("make install", "done\r\n", 0))
	r := s.about(t, 1)
	require.Equal(t, "make install", r.Command.Line)
	require.Equal(t, "cat evil", r.Command.Within)
	s.gone = true
	require.Empty(t, s.about(t, 1).Command.Within, "a shell that has ended runs no command")
	require.True(t, s.about(t, 2).Command.Lost)
	require.False(t, s.about(t, 1).Command.Lost)
	s.gone = false
	s.print("\x1b]133;D;1" + aid + "\a")
	r = s.about(t, 1)
	require.Equal(t, "cat evil", r.Command.Line)
	require.Equal(t, 1, *r.Command.ExitCode)
	require.Empty(t, r.Command.Within)
	_, err := s.asksAbout(2)
	require.EqualError(t, err, "the shell's marks know of one command only")
	s.front = 0
	s.print("\x1b]133;A" + aid + "\a\x1b]133;B" + aid + "\aexec bash\r\n\x1b]133;C" + aid + "\a" + shellPrompt + ran("ls", "", 0))
	require.Empty(t, s.about(t, 1).Command.Within, "another shell in the place of the first")
	s.print("\x1b]7;file://elsewhere/etc\a\x1b]133;A" + aid + "\a\x1b]133;B" + aid + "\ax\r\n\x1b]133;C" + aid + "\a")
	require.Equal(t, "elsewhere:/etc", s.about(t, 1).Command.Cwd)
}
