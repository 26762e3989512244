package screen

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"
)

// mostWork bounds the work that a byte may ask for in any sequence, as a multiple of plain text's
// work.
const mostWork = 50

// sweepParams are parameters of control sequences: none, counts, places, areas, colours and modes.
var sweepParams = []string{
	"", "0", "1", "2", "3", "4", "5", "7", "8", "12", "22", "25", "31", "47", "69", "1047", "1049", "2026", "65535", "2147483647", "1;1", "2;2", "1;2", "2;1",
	";2", "1;80", "2;79", "24;80", "1;1;24;80", "1;1;2;2", "2;2;23;79", ";;;;;2", ";;;;1", ";;;;2;2", "2;2;;;;1;1", ";;;;;1;2", "65;1;1;24;80", "65", "233",
	"65;;2", ";;;;31", ";;;;0", ";;;;4;7", "38;2;1;2;3", "1;31", "0;1;31", "1;2;3;4;5;6;7;8",
}

// sweepStates returns screens on which a byte may ask for much.
func sweepStates() map[string]string {
	colored := func(text string, n int) string {
		var b strings.Builder
		for i := range n {
			fmt.Fprintf(&b, "\x1b[38;2;%d;%d;7m%s", i/256, i%256, text)
		}
		return b.String() + "\x1b[m"
	}
	text, styles := strings.Repeat("0123456789", 192), colored("x", 80*24)
	return map[string]string{
		"text":        text,
		"history":     strings.Repeat(text, 60),
		"styles":      styles,
		"wide":        colored("漢", 80*12),
		"insert":      styles + "\x1b[4h",
		"rectangles":  styles + "\x1b[2*x\x1b[H",
		"margins":     styles + "\x1b[?69h\x1b[2;79s\x1b[2;23r\x1b[3;3H",
		"side margin": styles + "\x1b[?69h\x1b[2s\x1b[999;3H",
		"clusters":    strings.Repeat("e\u0301", 80*24) + "\x1b[?2027h",
		"flags":       strings.Repeat("🇩🇪", 80*12) + "\x1b[?2027h",
		"alternate":   "\x1b[?1049h" + styles,
		"protected":   "\x1b[1\"q" + strings.ReplaceAll(styles, "\x1b[m", "\x1b[0\"qx\x1b[1\"q"),
		"background":  styles + "\x1b[41m",
		"graphics":    styles + "\x1b(0",
		"marks":       text + "\x1b]133;A\a\x1b]133;B\a\x1b]133;C\a" + styles,
		"no wrap":     styles + "\x1b[?7l",
	}
}

// keysOf returns the keys of a table, in order. No key stands there twice.
func keysOf(table []sequence) (keys []string) {
	for _, s := range table {
		keys = append(keys, s.key)
	}
	slices.Sort(keys)
	if n := len(keys); len(slices.Compact(keys)) != n {
		panic("a key stands in a table twice")
	}
	return keys
}

// sweepUnits returns the sequences of all tables with all parameters, alone and after a character.
func sweepUnits() (units []string) {
	var sequences []string
	for _, key := range keysOf(controlSequences[:]) {
		at := 0
		if key[0] >= '<' && key[0] <= '?' && len(key) > 1 {
			at = 1
		}
		for _, p := range sweepParams {
			sequences = append(sequences, "\x1b["+key[:at]+p+key[at:])
		}
	}
	for _, key := range keysOf(escapeSequences[:]) {
		sequences = append(sequences, "\x1b"+key)
	}
	for c := range rune(0x20) {
		sequences = append(sequences, string(c))
	}
	for _, s := range sequences {
		for _, before := range []string{"", "x", "é"} {
			units = append(units, before+s)
		}
		if s[len(s)-1] == 'b' {
			units = append(units, "漢"+s, "🇩"+s, "\u1100"+s)
		}
	}
	return units
}

// counted counts a TextSink's calls: characters, and everything else as one.
type counted struct{ n int }

func (c *counted) Print(run []byte) { c.n += utf8.RuneCount(run) }
func (c *counted) Control(byte)     { c.n++ }
func (c *counted) Column(int)       { c.n++ }
func (c *counted) Row(int)          { c.n++ }
func (c *counted) Erase(int)        { c.n++ }
func (c *counted) EraseChars(int)   { c.n++ }
func (c *counted) InsertChars(int)  { c.n++ }
func (c *counted) DeleteChars(int)  { c.n++ }
func (c *counted) Clear()           { c.n++ }

// workPerByte returns how many cells a byte of a flood touches on a screen that starts fresh in
// each state. One unit prints at most as many characters as there are cells, and sends at most as
// many rows to the history as there are rows, but for the one that it begins with.
func workPerByte(tb testing.TB, state, unit string) float64 {
	var told counted
	s := New(Config{Cols: 80, Rows: 24, Scrollback: 1000, Text: &told})
	s.Feed([]byte(state + unit))
	chars, gone := told.n, s.t.hist.base+uint64(s.t.hist.length)
	s.Feed([]byte(unit))
	require.LessOrEqual(tb, told.n-chars, 80*24+8, "%q", unit)
	require.LessOrEqual(tb, s.t.hist.base+uint64(s.t.hist.length)-gone, uint64(24+1), "%q", unit)
	flood := []byte(strings.Repeat(unit, 1+4096/len(unit)))
	before := s.t.work
	s.Feed(flood)
	for y := range s.t.rows {
		s.row(y) // deferred work counts as well
	}
	return float64(s.t.work-before) / float64(len(flood))
}

// Whatever a program prints, a byte of it asks for at most mostWork times the work of plain text.
// This is a sample; BenchmarkWork has the whole.
func TestNoByteIsExpensive(t *testing.T) {
	const sample = 173
	states := sweepStates()
	text := workPerByte(t, states["text"], "0123456789")
	require.InDelta(t, 1, text, 0.5, "plain text")
	i := 0
	for _, name := range slices.Sorted(maps.Keys(states)) {
		for _, unit := range sweepUnits() {
			if i++; i%sample == 0 {
				require.LessOrEqual(t, workPerByte(t, states[name], unit), mostWork*text, "%s: %q", name, unit)
			}
		}
	}
}

// BenchmarkWork is the whole of the sweep: how many cells a byte touches at most, in all states.
func BenchmarkWork(b *testing.B) {
	units, states := sweepUnits(), sweepStates()
	for b.Loop() {
		worst := 0.0
		for name, state := range states {
			for _, unit := range units {
				work := workPerByte(b, state, unit)
				if worst = max(worst, work); work > mostWork {
					b.Errorf("%s: %q: %.0f cells a byte", name, unit, work)
				}
			}
		}
		b.ReportMetric(worst, "cells/byte")
	}
}

// No sequence needs room.
func TestTinyScreens(t *testing.T) {
	units := sweepUnits()
	for _, size := range [][2]int{{0, 0}, {1, 1}, {1, 24}, {80, 1}, {2, 2}} {
		s := New(Config{Cols: size[0], Rows: size[1], Scrollback: 5})
		for i, unit := range units {
			s.Feed([]byte("x" + unit + unit))
			if i%97 == 0 {
				s.Resize(size[0], size[1]+1)
				s.Resize(size[0], size[1])
				require.NoError(t, s.t.verify(), "%v: %q", size, unit)
			}
			s.TakeReplies()
		}
		require.NoError(t, s.t.verify(), "%v", size)
	}
}
