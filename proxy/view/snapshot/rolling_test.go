package snapshot

import (
	"cmp"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"

	"terminalproxy/proxy/view/corpus"

	"github.com/stretchr/testify/require"
)

// play feeds a script: text is printed, \b \t \r
//
//	are controls, and {name n} is the method of that name.
func play(t testing.TB, r *Rolling, script string) {
	t.Helper()
	for script != "" {
		switch at := strings.IndexAny(script, "\b\t\r\n{"); {
		case at > 0:
			r.Print([]byte(script[:at]))
			script = script[at:]
		case at < 0:
			r.Print([]byte(script))
			return
		case script[0] == '{':
			op, rest, ok := strings.Cut(script[1:], "}")
			require.True(t, ok)
			act(t, r, op)
			script = rest
		default:
			r.Control(script[0])
			script = script[1:]
		}
	}
}

func act(t testing.TB, r *Rolling, op string) {
	t.Helper()
	name, arg, _ := strings.Cut(op, " ")
	n, _ := strconv.Atoi(arg)
	switch name {
	case "col":
		r.Column(n)
	case "row":
		r.Row(n)
	case "EL":
		r.Erase(n)
	case "ECH":
		r.EraseChars(n)
	case "ICH":
		r.InsertChars(n)
	case "DCH":
		r.DeleteChars(n)
	case "clear":
		r.Clear()
	default:
		require.Fail(t, "no such operation", op)
	}
}

func TestRolling(t *testing.T) {
	for _, table := range []string{"rolling", "rolling-bounded"} {
		for _, c := range corpus.Rows[struct {
			Name, Script, Want string
			Max                int
		}](t, table) {
			t.Run(c.Name, func(t *testing.T) {
				r := NewRolling(cmp.Or(c.Max, 4000))
				play(t, r, c.Script)
				require.Equal(t, c.Want, r.String())
			})
		}
	}
}

func TestRollingIsBounded(t *testing.T) {
	r := NewRolling(100)
	for range 200 {
		play(t, r, "e"+strings.Repeat("\u0301", 500)+"{ICH 9999}{col 9999}{row 9999}"+strings.Repeat("👨‍👩‍👧‍👦", 300)+"\n")
		require.LessOrEqual(t, utf8.RuneCountInString(r.String()), 100)
	}
	require.LessOrEqual(t, len(r.kept.line.cells), 100)
	require.Len(t, r.kept.ring, 512)
	require.Len(t, r.kept.marks, 128)
}

func TestRollingSince(t *testing.T) {
	for _, c := range corpus.Rows[struct{ Name, Before, After, Want string }](t, "rolling-since") {
		t.Run(c.Name, func(t *testing.T) {
			r := NewRolling(4000)
			play(t, r, c.Before)
			mark := r.Total()
			play(t, r, c.After)
			require.Equal(t, c.Want, r.TextSince(mark))
			require.Equal(t, r.String(), r.TextSince(0)+map[bool]string{true: r.String()}[r.Total() == 0])
		})
	}
}

// sink is what a terminal model feeds.
type sink interface {
	Print(run []byte)
	Control(c byte)
	Column(col int)
	Row(col int)
	Erase(mode int)
	EraseChars(n int)
	InsertChars(n int)
	DeleteChars(n int)
	Clear()
}

// feed decodes a fuzzer's bytes: below 0xf0 they are text, above they are operations with the next
// byte as a number.
func feed(r sink, data []byte, cut int) {
	var run []byte
	flush := func() {
		for len(run) > 0 {
			n := len(run)
			if cut > 0 {
				n = characters(run, cut)
			}
			r.Print(run[:n])
			run = run[n:]
		}
	}
	for i := 0; i < len(data); i++ {
		c := data[i]
		if c >= ' ' && c < 0xf5 {
			run = append(run, c)
			continue
		}
		flush()
		n := -1
		if i+1 < len(data) {
			n = int(data[i+1]) - 8
		}
		switch c {
		case 0xf5:
			r.Column(n)
		case 0xf6:
			r.Row(n)
		case 0xf7:
			r.Erase(n % 3)
		case 0xf8:
			r.EraseChars(n)
		case 0xf9:
			r.InsertChars(n)
		case 0xfa:
			r.DeleteChars(n)
		case 0xfb:
			r.Clear()
		default:
			r.Control(c)
		}
	}
	flush()
}

// characters returns the length of the first n characters of run.
func characters(run []byte, n int) int {
	size := 0
	for ; n > 0 && size < len(run); n-- {
		_, s := utf8.DecodeRune(run[size:])
		size += s
	}
	return size
}

// FuzzRolling states what holds for any program: the text is bounded and valid, does not depend on
// how it was cut into runs, and TextSince is its end.
func FuzzRolling(f *testing.F) {
	f.Add([]byte("one\r\ntwo"), uint8(4), uint8(1))
	f.Add([]byte("10%\r20%\r\n"), uint8(20), uint8(2))
	f.Add([]byte("漢字\xf5\x09X\xf9\x0a\xfa\x09"), uint8(9), uint8(1))
	f.Add([]byte("e\u0301👨‍👩‍👧‍👦🇩🇪🇫🇷\u2764\ufe0f\b"), uint8(30), uint8(1))
	f.Add([]byte("\xf6\x40ab\xf5\x0ac\xf7\x09"), uint8(255), uint8(3))
	f.Fuzz(func(t *testing.T, data []byte, maxRunes, cut uint8) {
		whole, pieces := NewRolling(int(maxRunes)), NewRolling(int(maxRunes))
		feed(whole, data, 0)
		feed(pieces, data, int(cut))
		got := whole.String()
		require.Equal(t, got, pieces.String(), "however it is cut")
		require.Equal(t, whole.Total(), pieces.Total())
		require.True(t, utf8.ValidString(got))
		require.LessOrEqual(t, utf8.RuneCountInString(got), max(int(maxRunes), 1))
		require.LessOrEqual(t, whole.kept.line.len(), whole.kept.line.limit)
		for mark := uint64(0); mark <= whole.Total(); mark += max(1, whole.Total()/7) {
			require.True(t, strings.HasSuffix(got, whole.TextSince(mark)) || whole.TextSince(mark) == "")
		}
	})
}
