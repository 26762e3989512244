package copier_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"terminalproxy/proxy/display/copier"
	"terminalproxy/proxy/terminal/screen"
)

// vocabulary are pieces of programs' output; one byte of a fuzzed input chooses one.
var vocabulary = []string{
	"text", "\r\n", "é", "\t", "\a", "\x1b", "[", "?", ";", "h", "l", "\x18", "\x1b\\", "0", "1", "7", "25", "49",
	"\x1b[?1h", "\x1b[?1l", "\x1b[?5h", "\x1b[?6h", "\x1b[?6l", "\x1b[?7l", "\x1b[?7h", "\x1b[?8l", "\x1b[?9h", "\x1b[?12h", "\x1b[?25l",
	"\x1b[?25h", "\x1b[?45h", "\x1b[?47h", "\x1b[?47l", "\x1b[?66h", "\x1b[?67h", "\x1b[?69h", "\x1b[?69l", "\x1b[?1000h", "\x1b[?1002h",
	"\x1b[?1003h", "\x1b[?1003l", "\x1b[?1005h", "\x1b[?1006h", "\x1b[?1006l", "\x1b[?1015h", "\x1b[?1016h", "\x1b[?1004h",
	"\x1b[?1007h", "\x1b[?1047h", "\x1b[?1047l", "\x1b[?1048h", "\x1b[?1048l", "\x1b[?1049h", "\x1b[?1049l", "\x1b[?2004h",
	"\x1b[?2026h", "\x1b[?2026l", "\x1b[?2027h", "\x1b[?2031h", "\x1b[?9001h", "\x1b[?1;25;7l", "\x1b[?1s", "\x1b[?1r",
	"\x1b[2h", "\x1b[4h", "\x1b[4l", "\x1b[12l", "\x1b[12h", "\x1b[20h", "\x1b[2;4;20l", "\x1b=", "\x1b>",
	"\x1b[>1u", "\x1b[>31u", "\x1b[<u", "\x1b[<2u", "\x1b[<99u", "\x1b[=5u", "\x1b[=2;2u", "\x1b[=2;3u",
	"\x1b[>4;2m", "\x1b[>4;0m", "\x1b[>4m", "\x1b[>m", "\x1b[>4n", "\x1b[>4;1f", "\x1b[>4;0f",
	"\x1b[2;3r", "\x1b[r", "\x1b[2;5s", "\x1b[s", "\x1b[u", "\x1b[5 q", "\x1b[2 q", "\x1b[0 q", "\x1b[!p", "\x1bc",
	"\x1b[m", "\x1b[0m", "\x1b[31m", "\x1b[1;4m", "\x1b7", "\x1b8", "\x1b(0", "\x1b(B", "\x1b)0", "\x1b)B", "\x1b*0", "\x1b+0", "\x1bn", "\x1b F", "\x1b G",
	"\x1b]8;;http://x\x1b\\", "\x1b]8;;\x1b\\", "\x1b]4;1;#fff\x07", "\x1b]104\x07", "\x1b]11;#000\x07", "\x1b]111\x07",
	"\x1b]2;title\x07", "\x1bP$qm\x1b\\", "\x1b_x", "\x1b[H", "\x1b[2J",
}

// FuzzExitSequenceLeavesNothing checks that the exit sequence restores every mode of a terminal,
// according to our terminal model, whatever a program printed and wherever it was cut off. The
// model does not use package modes.
func FuzzExitSequenceLeavesNothing(f *testing.F) {
	all := make([]byte, len(vocabulary))
	for i := range all {
		all[i] = byte(i)
		f.Add([]byte{byte(i)})
	}
	f.Add(all)
	f.Fuzz(func(t *testing.T, choice []byte) {
		r := newRig(t, nil)
		for _, c := range choice {
			r.output = append(r.output, vocabulary[int(c)%len(vocabulary)])
		}
		r.ended = true
		r.c.Run()
		user := screen.New(screen.Config{Cols: 20, Rows: 6})
		user.Feed([]byte(r.seen))
		require.Equal(t, user.Alt(), r.c.Alt())
		user.Feed(r.c.ExitSequence())
		fresh := screen.New(screen.Config{Cols: 20, Rows: 6})
		require.Equal(t, fresh.Modes(), user.Modes())
		require.False(t, user.Alt())
		require.Equal(t, settings(fresh), settings(user))
	})
}

// settings returns a terminal's answers about pen, margins, cursor and colours, and the sequence
// that restores its pen.
func settings(s *screen.Screen) string {
	s.TakeReplies()
	s.Feed([]byte("\x1b[H\x1bP$qm\x1b\\\x1bP$qr\x1b\\\x1bP$qs\x1b\\\x1bP$q q\x1b\\\x1b]4;1;?\x07\x1b]11;?\x07\x1b[4$p\x1b[?6$p"))
	return string(s.AppendPen(s.TakeReplies()))
}

// guarded has a watchdog from the start.
func guarded(t *testing.T, change func(*rig, *copier.Config), do func(t *testing.T, r *rig)) {
	t.Helper()
	runCopier(t, change, func(t *testing.T, r *rig) {
		require.True(t, r.c.SetWatchdog(r))
		do(t, r)
	})
}

// The watchdog has the exit sequences of before and after the chunk before the terminal has any of
// it, under a remark too.
func TestAsAChunkIsWrittenR59(t *testing.T) {
	for want, change := range map[string]func(*rig, *copier.Config){"": nil, "[exit remark]": shown("remark")} {
		guarded(t, change, func(_ *testing.T, r *rig) {
			r.print("\x1b[?1h")
			during := ""
			r.writing = func() { during = r.exit }
			r.print("\x1b[?1l\x1b[?25l")
			r.equal(want+"\x1b[?1l\x1b[?25h", during)
			r.equal(want+"\x1b[?25h", r.watchdog())
		})
	}
}

// Another program may write on and on.
func TestParkCatchesUpWithinBounds(t *testing.T) {
	f := &flood{chunk: make([]byte, 4096), left: 1 << 20}
	c := copier.New(copier.Config{Program: f, Screen: f, Poll: f, Model: f})
	go c.Run() // ends with AbandonOutput
	resume, ok := c.PauseCopying()
	require.True(t, ok)
	require.Positive(t, f.left)
	c.AbandonOutput()
	resume(false)
	<-c.Done()
}
