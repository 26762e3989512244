package modes_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"terminalproxy/proxy/terminal/modes"
	"terminalproxy/proxy/terminal/vt"
	"terminalproxy/proxy/view/corpus"
)

// everything has more modes than any one killed program leaves on.
const everything = "\x1b[?2026h\x1b[?9001h\x1b[2h\x1b[4h\x1b[20h\x1b[?9h\x1b[?1000h\x1b[?1002h\x1b[?1003h\x1b[?1005h\x1b[?1006h" +
	"\x1b[?1015h\x1b[?1016h\x1b[?1004h\x1b[?2004h\x1b[?2027h\x1b[?2031h\x1b[?2048h\x1b[?1007h\x1b[?1h\x1b=\x1b[?5h\x1b[?8l" +
	"\x1b[?45h\x1b[?67h\x1b[>1u\x1b[?1049h\x1b[>7u\x1b[>4;2m\x1b[>4;1f\x1b[2;5r\x1b[?69h\x1b[3;9s\x1b[?6h\x1b[?7l\x1b[5 q" +
	"\x1b(0\x1b[1;31m\x1b]8;;http://x\x1b\\\x1b]4;1;#fff\x07\x1b]11;#000\x1b\\\x1b]12;red\x07\x1b[?25l\x1b G"

func follow(cuts ...string) *modes.Modes {
	m := &modes.Modes{}
	for _, c := range cuts {
		m.FollowBytes([]byte(c))
	}
	return m
}

// followChunks is follow for chunks that are cut already.
func followChunks(reads ...string) *modes.Modes {
	m := &modes.Modes{}
	var c vt.Cutter
	for _, r := range reads {
		m.FollowChunk(c.Cut([]byte(r)))
	}
	return m
}

// Each mode is reset with its own sequence alone, and never with RIS.
func TestResetIsTargetedR59(t *testing.T) {
	for _, c := range corpus.Rows[struct{ Name, In, Want string }](t, "reset") {
		t.Run(c.Name, func(t *testing.T) {
			m := follow(c.In)
			require.Equal(t, c.Want, string(m.AppendReset(nil)))
			m.FollowBytes(m.AppendReset(nil))
			require.Empty(t, string(m.AppendReset(nil)))
			require.Equal(t, c.Want, string(followChunks(c.In).AppendReset(nil)), "a chunk")
			for cut := range len(c.In) {
				require.Equal(t, c.Want, string(follow(c.In[:cut], c.In[cut:]).AppendReset(nil)), "cut at %d", cut)
				require.Equal(t, c.Want, string(followChunks(c.In[:cut], c.In[cut:]).AppendReset(nil)), "chunks cut at %d", cut)
			}
		})
	}
}

// Modes reset for a suspension are set again, and can be reset again.
func TestSetAfterResetR61(t *testing.T) {
	m := follow(everything)
	before := string(m.AppendReset(nil))
	again := &modes.Modes{}
	again.FollowBytes(m.AppendSet(nil))
	after := string(again.AppendReset(nil))
	for _, drawn := range []string{"\x1b[?2026l", "\x1b]8;;\x1b\\\x1b(B\x1b)B\x0f\x1b[0m", "\x1b]104\x1b\\\x1b]111\x1b\\\x1b]112\x1b\\"} {
		require.Contains(t, before, drawn)
		before = strings.ReplaceAll(before, drawn, "")
	}
	require.Equal(t, before, after)
	require.Empty(t, new(modes.Modes).AppendSet(nil))
}

func TestChanged(t *testing.T) {
	m := follow("text\x1b[2J")
	require.False(t, m.CheckChanged())
	m.FollowBytes([]byte("\x1b[?25l"))
	require.True(t, m.CheckChanged())
	require.False(t, m.CheckChanged())
	m.FollowBytes([]byte("\x1b[?25l"))
	require.False(t, m.CheckChanged())
	m.FollowBytes([]byte("\x1b[?25h"))
	require.True(t, m.CheckChanged())
	m.FollowBytes([]byte("\x1b[?104"))
	require.False(t, m.CheckChanged())
	m.FollowBytes([]byte("9h"))
	require.True(t, m.CheckChanged())
	require.True(t, m.Alt())
}

// While a chunk is being written, it is unknown how much of it the terminal has.
func TestJoinTakesBackBothR59(t *testing.T) {
	whole := string(follow(everything).AppendReset(nil))
	for _, pair := range [][2]string{{"", everything}, {everything, ""}, {everything, everything}} {
		m := follow(pair[0])
		m.MergeChanges(follow(pair[1]))
		require.Equal(t, whole, string(m.AppendReset(nil)))
	}
	m := follow("\x1b[?25l\x1b[>1u")
	m.MergeChanges(follow("\x1b[?1h\x1b[>1u\x1b[>1u\x1b[?20"))
	require.Equal(t, "\x18\x1b[<2u\x1b[?1l\x1b[?25h", string(m.AppendReset(nil)))
}

func TestScanDoesNotAllocate(t *testing.T) {
	m := &modes.Modes{}
	in, dst := []byte(everything), make([]byte, 0, 4096)
	var c vt.Cutter
	chunk := c.Cut(in)
	require.Zero(t, testing.AllocsPerRun(100, func() {
		m.FollowBytes(in)
		m.FollowChunk(chunk)
		dst = m.AppendReset(dst[:0])
		dst = m.AppendSet(dst[:0])
	}))
}

// On the main screen the program continues where the shell has left the cursor, but setting margins
// homes the cursor.
func TestMarginsKeepTheCursorR73(t *testing.T) {
	for sent, want := range map[string]string{
		"\x1b[2;3r":            "\x1b7\x1b[2;3r\x1b8",
		"\x1b[?1049h\x1b[2;3r": "\x1b[?1049h\x1b[2;3r",
		"\x1b[2;3r\x1b[?2004h": "\x1b[?2004h\x1b7\x1b[2;3r\x1b8",
		"\x1b[2;3r\x1b[r":      "",
	} {
		var m modes.Modes
		m.FollowBytes([]byte(sent))
		require.Equal(t, want, string(m.AppendSet(nil)), "%q", sent)
	}
}

// Around a picture, a fresh terminal gets the program's modes, so that the reset resets all of
// them.
func TestAroundAPicture(t *testing.T) {
	var m modes.Modes
	m.FollowBytes([]byte("\x1b[22;0t\x1b[>1u\x1b[?1049h\x1b[>5u\x1b[?2048h"))
	around := string(m.AppendAround(nil, []byte("\x1b[?1049hpicture\x1b[=5u")))
	require.Equal(t, "\x1b[22;0t\x1b[>1u\x1b[?1049hpicture\x1b[=5u\x1b[=0u\x1b[>5u\x1b[?2048h", around)
	var there modes.Modes
	there.FollowBytes([]byte(around))
	require.Equal(t, string(m.AppendReset(nil)), string(there.AppendReset(nil)))
	require.Equal(t, "picture", string(new(modes.Modes).AppendAround(nil, []byte("picture"))))
}
