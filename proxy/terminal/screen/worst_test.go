package screen

import (
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"
)

// worst are the sequences that ask for the most work with the fewest bytes.
var worst = []struct{ name, before, flood string }{
	{"text, to compare with", "", "0123456789"},
	{"REP", "x", "x\x1b[65535b"},
	{"REP narrow", "─", "─\x1b[65535b"},
	{"REP wide", "漢", "漢\x1b[65535b"},
	{"ICH", "\x1b[1;1H", "\x1b[@"},
	{"DCH", "\x1b[1;1H", "\x1b[P"},
	{"IL in side margins", "\x1b[?69h\x1b[2;999s\x1b[1;2H", "\x1b[L"},
	{"DL in side margins", "\x1b[?69h\x1b[2;999s\x1b[1;2H", "\x1b[M"},
	{"scroll in side margins", "\x1b[?69h\x1b[2;999s\x1b[999;2H", "\n"},
	{"DECIC", "\x1b[1;1H", "\x1b['}"},
	{"DECDC", "\x1b[1;1H", "\x1b['~"},
	{"SL", "", "\x1b[ @"},
	{"SR", "", "\x1b[ A"},
	{"DECALN", "", "\x1b#8"},
	{"ED", "\x1b[41m", "\x1b[2J"},
	{"DECSED", "\x1b[1\"q", "\x1b[?2J"},
	{"DECFRA", "", "\x1b[65$x"},
	{"DECCRA", "", "\x1b[$v"},
	{"DECCRA down", "", "\x1b[;;;;;2$v"},
	{"DECCARA", "", "\x1b[$r\x1b[;;;;1$r"},
	{"DECRARA", "", "\x1b[$t"},
	{"DECSERA", "\x1b[1\"q", "\x1b[${"},
	{"alternate screen", "", "\x1b[?1049h\x1b[?1049l"},
	{"cursor report", "", "\x1b[6n"},
	{"CBT and CHT", "", "\x1b[999I\x1b[999Z"},
	{"SU", "", "\x1b[999S"},
	{"RI", "\x1b[H", "\x1bM"},
	{"titles", "", "\x1b]0;t\a\x1b[22t"},
	{"RIS", "", "\x1bc"},
	{"SD", "", "\x1b[65535T"},
	{"IL", "\x1b[H", "\x1b[65535L"},
	{"DL", "\x1b[H", "\x1b[65535M"},
	{"CUU and CUD", "", "\x1b[65535A\x1b[65535B"},
}

// BenchmarkWorst feeds 8 KB of each to a screen that is full of text.
func BenchmarkWorst(b *testing.B) {
	for _, size := range [][2]int{{80, 24}, {200, 60}, {1000, 1000}} {
		for _, c := range worst {
			b.Run(fmt.Sprintf("%dx%d/%s", size[0], size[1], c.name), func(b *testing.B) {
				s := New(Config{Cols: size[0], Rows: size[1], Scrollback: 10_000})
				fill := []byte("\x1b[0m" + strings.Repeat("0123456789", size[0]*size[1]/10+1) + c.before)
				flood := []byte(strings.Repeat(c.flood, 8192/len(c.flood)))
				for b.Loop() {
					b.StopTimer()
					s.Feed(fill)
					b.StartTimer()
					s.Feed(flood)
				}
			})
		}
	}
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

// Whatever number a sequence has, it prints at most as many characters as there are cells, and
// sends at most as many rows to the history as there are rows.
func TestNoSequenceIsWorthMoreThanTheScreen(t *testing.T) {
	const pieces = 2 // of a flood's unit, at most
	for _, size := range [][2]int{{10, 5}, {200, 60}} {
		cols, rows := size[0], size[1]
		for _, c := range worst {
			var told counted
			s := New(Config{Cols: cols, Rows: rows, Scrollback: 10, Text: &told})
			s.Feed([]byte(strings.Repeat("0123456789", cols*rows/10) + c.before + c.flood)) // the second time its tables have their size
			before, left := told.n, s.t.hist.base+uint64(s.t.hist.length)
			s.Feed([]byte(c.flood))
			require.LessOrEqual(t, told.n-before, pieces*cols*rows, "%s: characters", c.name)
			require.LessOrEqual(t, s.t.hist.base+uint64(s.t.hist.length)-left, uint64(pieces*rows), "%s: rows", c.name)
			require.NoError(t, s.t.verify(), c.name)
		}
	}
}
