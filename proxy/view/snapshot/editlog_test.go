package snapshot

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/clipperhouse/displaywidth"
	"github.com/clipperhouse/uax29/v2/graphemes"
	"github.com/stretchr/testify/require"
)

// atOnce is the rolling text in its simplest form: everything is played to the record as it comes,
// and nothing is dropped.
type atOnce struct{ record }

func (a *atOnce) Print(run []byte)  { a.printRun(run) }
func (a *atOnce) Control(c byte)    { a.playControl(c) }
func (a *atOnce) Column(col int)    { a.line.moveTo(col) }
func (a *atOnce) Row(col int)       { a.leaveRow(col) }
func (a *atOnce) Erase(mode int)    { a.line.eraseLine(mode) }
func (a *atOnce) EraseChars(n int)  { a.line.eraseChars(n) }
func (a *atOnce) InsertChars(n int) { a.line.insertChars(n) }
func (a *atOnce) DeleteChars(n int) { a.line.deleteChars(n) }
func (a *atOnce) Clear()            { a.leaveRow(a.line.col) }

// FuzzRollingAtOnce compares the log, small enough to be shortened often, with the record that is
// played at once: the text and what is new since each mark are always the same.
func FuzzRollingAtOnce(f *testing.F) {
	f.Add([]byte("one\r\ntwo\r\nthree\r\nfour\r\nfive\r\nsix\r\nseven\r\neight\r\n"), uint8(4), uint8(1))
	f.Add([]byte("\xf6\x09a\xf6\x10b\xf6\x29c\xf6\x09d\xf6\x0ae\xf6\x0bf\xf7\x08g"), uint8(3), uint8(2))
	f.Add([]byte("漢字\r\n仮名\r\n한국\r\nпривет\r\ne\u0301👨‍👩‍👧‍👦\r\n端末\b\bX\r\n画面\r\n"), uint8(5), uint8(0))
	f.Add([]byte(strings.Repeat("\u0600", 20)+"ддд\r\n한\xe6\r\n\xbc\xa2\xe6\r\nok   \r\n"), uint8(2), uint8(7))
	f.Fuzz(func(t *testing.T, data []byte, maxRunes, often uint8) {
		n := int(max(maxRunes, 1))
		logged := newRolling(n, 16+8*n, 8+n)
		eager := &atOnce{newRecord(n)}
		var totals []uint64
		for round := 0; len(data) > 0; round++ {
			size := min(1+int(often), len(data))
			feed(logged, data[:size], 0)
			feed(eager, data[:size], 0)
			data = data[size:]
			if round%3 == 1 {
				require.Equal(t, eager.printed, logged.Total())
				totals = append(totals, eager.printed)
			}
			if round%5 == 4 {
				require.Equal(t, eager.textFrom(0, true), logged.String())
			}
		}
		require.Equal(t, eager.textFrom(0, true), logged.String())
		for _, total := range append(totals, 0, eager.printed) {
			require.Equal(t, eager.textSince(total), logged.TextSince(total), total)
		}
	})
}

func TestRollingFloodAtOnce(t *testing.T) {
	text := strings.Join([]string{
		"plain text, and more of it\r\n", "端末の画面、漢字とかな\r\n", "Привет, мир\r\n", "한국어 문장\r\n",
		"👨‍👩‍👧‍👦🇩🇪 e\u0301\r\n", "10%\r20%\r\n", "bare\nfeed\n", "  \r\n", "a\tb\b\bc\r\n",
	}, "")
	for _, runes := range []int{1, 7, 100, 4000} {
		logged, eager := NewRolling(runes), &atOnce{newRecord(runes)}
		mark := uint64(0)
		for i := range 3000 {
			feed(logged, []byte(text), 0)
			feed(eager, []byte(text), 0)
			if i%700 == 699 {
				require.Equal(t, eager.textFrom(0, true), logged.String())
				require.Equal(t, eager.textSince(mark), logged.TextSince(mark))
				mark = logged.Total()
			}
		}
	}
}

// TestLetters asks the libraries that decide in the end about every character that a log's count is
// sure of.
func TestLetters(t *testing.T) {
	for c := rune(0x80); c <= utf8.MaxRune; c++ {
		text := []byte(string(c))
		size, sure := letterSize(text, true)
		if !sure || !utf8.ValidRune(c) {
			continue
		}
		require.Equal(t, len(text), size, "%U", c)
		require.Positive(t, displaywidth.Rune(c), "%U", c)
		if c < 0x300 || aloneCJK(c) {
			continue // join is not asked
		}
		for _, before := range []string{"a", "漢", "д", "한"} {
			clusters := graphemes.FromString(before + string(c))
			require.True(t, clusters.Next())
			require.Equal(t, before, clusters.Value(), "%U", c)
		}
	}
}

func TestRollingAllocatesNothingInAnyFlood(t *testing.T) {
	for _, text := range []string{"漢字かな端末", "кириллица", "x", strings.Repeat("0123456789", 8)} {
		r := NewRolling(4000)
		run := []byte(text)
		flood := func() {
			for i := range 5000 {
				r.Print(run)
				if i%8 == 0 {
					r.Control('\r')
					r.Control('\n')
				}
				r.Row(i % 40)
			}
		}
		flood()
		require.Zero(t, testing.AllocsPerRun(5, flood), text)
	}
}
