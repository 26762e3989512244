package screen

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// TestR59ResetIsTargeted: each mode is taken back with its own sequence and nothing else, and never with RIS.
func TestR59ResetIsTargeted(t *testing.T) {
	for _, c := range []struct{ name, in, want string }{
		{"nothing is on", "text\r\n\x1b[1mbold\x1b[m", ""},
		{"synchronised output", "\x1b[?2026h", "\x1b[?2026l"},
		{"kitty flags", "\x1b[>1u\x1b[>5u", "\x1b[<2u"},
		{"kitty flags without a push", "\x1b[=1;1u", "\x1b[=0u"},
		{"kitty flags on both screens", "\x1b[>1u\x1b[?1049h\x1b[>3u", "\x1b[<1u\x1b[?1049l\x1b[<1u\x1b[?1049l"},
		{"modifyOtherKeys", "\x1b[>4;2m", "\x1b[>4;0m"},
		{"formatOtherKeys", "\x1b[>4;1f", "\x1b[>4;0f"},
		{"win32 input", "\x1b[?9001h", "\x1b[?9001l"},
		{"keyboard lock", "\x1b[2h", "\x1b[2l"},
		{"mouse", "\x1b[?1003h\x1b[?1006h", "\x1b[?1003l\x1b[?1006l"},
		{"focus, paste, colour scheme", "\x1b[?1004h\x1b[?2004h\x1b[?2031h", "\x1b[?1004l\x1b[?2004l\x1b[?2031l"},
		{"alternate scroll", "\x1b[?1007h", "\x1b[?1007l"},
		{"cursor keys and keypad", "\x1b[?1h\x1b=", "\x1b[?1l\x1b>"},
		{"eight-bit controls", "\x1b G", "\x1b F"},
		{"margins", "\x1b[2;3r\x1b[?69h\x1b[2;3s", "\x1b[r\x1b[?69l"},
		{"origin, wrap, insert", "\x1b[?6h\x1b[?7l\x1b[4h", "\x1b[?6l\x1b[?7h\x1b[4l"},
		{"rendition", "\x1b[1;31m", "\x1b[0m"},
		{"hyperlink", "\x1b]8;;http://x\x1b\\", "\x1b]8;;\x1b\\"},
		{"character sets", "\x1b(0", "\x1b(B\x1b)B\x1b*B\x1b+B\x0f"},
		{"cursor", "\x1b[5 q\x1b[?25l", "\x1b[?12l\x1b[0 q\x1b[?25h"},
		{"colours", "\x1b]4;1;#fff\x07\x1b]11;#000\x07", "\x1b]104\x1b\\\x1b]111\x1b\\"},
		{"alternate screen", "\x1b[?1049h", "\x1b[?1049l"},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := fed(10, 4, c.in)
			require.Equal(t, c.want, string(s.AppendReset(nil)))
			s.Feed(s.AppendReset(nil))
			require.Empty(t, string(s.AppendReset(nil)))
			require.Equal(t, defaultModes(), s.Modes())
		})
	}
}

// TestR62NeverAnswered: what would type a program's own words back at it.
func TestR62NeverAnswered(t *testing.T) {
	for name, in := range map[string]string{
		"title":      "\x1b]2;x\x07\x1b[21t",
		"icon":       "\x1b]1;x\x07\x1b[20t",
		"clipboard":  "\x1b]52;c;?\x07",
		"DECRQCRA":   "x\x1b[1;1;1;1;1;1*y",
		"answerback": "\x05",
	} {
		require.Empty(t, fed(10, 4, in).TakeReplies(), name)
	}
}

// TestRepliesAreBounded: a flood of queries that nobody takes the answers of.
func TestRepliesAreBounded(t *testing.T) {
	s := New(Config{Cols: 10, Rows: 4})
	for range 50_000 {
		s.Feed([]byte("\x1b[c"))
	}
	require.LessOrEqual(t, len(s.TakeReplies()), maxReplies)
	require.Nil(t, s.TakeReplies())
}
