package observer

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"terminalproxy/proxy/mouse"
)

func TestTextsAreLocatedByCells(t *testing.T) {
	for _, c := range []struct {
		name, screen, text string
		row, col           int
	}{
		{"a word", "one two\r\n  three", "three", 1, 4},
		{"one cell", "a b c", "b", 0, 2},
		{"the middle of an even number", "< OK >", "OK", 0, 2},
		{"with blanks in it", "x  < No  >", "< No  >", 0, 6},
		{"behind wide characters", "日本語 OK", "OK", 0, 7},
		{"wide characters", "x 日本語", "日本語", 0, 4},
		{"behind an accent of its own", "caffe\u0301 OK", "OK", 0, 6},
		{"with an accent of its own", "x caffe\u0301", "caffe\u0301", 0, 4},
		{"behind a family, as one cluster", "\x1b[?2027h👨\u200d👩\u200d👧 OK", "OK", 0, 3},
		{"behind a family, as its members", "👨\u200d👩\u200d👧 OK", "OK", 0, 7},
		{"behind characters that nobody sees", "O\u200b\u2060K\u00ad go", "go", 0, 4}, // a soft hyphen takes a cell
		{"around a character that nobody sees", "a O\u200bK", "OK", 0, 2},
		{"moved there by the cursor", "\x1b[3;70HOK", "OK", 2, 69},
		{"at the right edge", "\x1b[3;78HEND", "END", 2, 78},
		{"behind a secret", "t " + token + " OK", "OK", 0, 43},
		{"composed, where the program wrote it in two parts", "x caffe\u0301 OK", "caff\u00e9 OK", 0, 5},
		{"in two parts, where the program wrote it composed", "x caff\u00e9", "caffe\u0301", 0, 4},
		{"behind what is composed otherwise", "e\u0301e\u0301 OK", "OK", 0, 3},
		{"with a space that does not break", "x Save\u00a0as", "Save as", 0, 5},
		{"with a wide space", "日本\u3000語 OK", "本 語 OK", 0, 6},
		{"with other spaces in what is asked for", "Save as", "Save\u202fas", 0, 3},
		{"in capital letters", "ok Ok OK", "OK", 0, 6},
		{"between frames", "│ OK │", "OK", 0, 2},
		{"on the other screen", "OK\x1b[?1049h\x1b[2;2HOK", "OK", 1, 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			o := watched(80, 4)
			o.Digest([]byte(c.screen))
			at, err := o.Locate(c.text)
			require.NoError(t, err)
			require.Equal(t, mouse.Cell{Row: c.row, Col: c.col}, at)
		})
	}
}

func TestTextsThatAreNoPlace(t *testing.T) {
	for _, c := range []struct{ name, screen, text, say string }{
		{"nowhere", "one", "two", `"two" does not stand on the screen (capital letters count)`},
		{"an empty screen", "", "x", `"x" does not stand on the screen (capital letters count)`},
		{"longer than any row", "x", strings.Repeat("x", 1024), `"` + strings.Repeat("x", maxQuoted) + `…" does not stand on the screen (capital letters count)`},
		{"half a character", "caffe\u0301", "caffe", `"caffe" does not stand on the screen (capital letters count)`},
		{"an accent alone", "caffe\u0301", "\u0301", "\"\u0301\" does not stand on the screen (capital letters count)"},
		{"twice in a row", "OK OK", "OK", `"OK" stands 2 times on the screen, at 1,1 and 1,4: name more of the text around it, or the row and column`},
		{"in three rows", "OK\r\n OK\r\nBOOK", "OK", `"OK" stands 3 times on the screen, at 1,1, 2,2 and 3,3: name more of the text around it, or the row and column`},
		{"over itself", "aaa", "aa", `"aa" stands 2 times on the screen, at 1,1 and 1,2: name more of the text around it, or the row and column`},
		{"everywhere", "xxxxxxxxxxxx", "x", `"x" stands 12 times on the screen, at 1,1, 1,2, 1,3, 1,4, 1,5, 1,6, 1,7, 1,8 and 4 more: name more of the text around it, or the row and column`},
		{"without an end", strings.Repeat("x", 300), "x", `"x" stands more than 99 times on the screen, at 1,1, 1,2, 1,3, 1,4, 1,5, 1,6, 1,7, 1,8 and elsewhere: name more of the text around it, or the row and column`},
		{"over the edge", "\x1b[2;78HCancel", "Cancel", `"Cancel" begins in row 2 and goes on in row 3: name a part of it that stands in one row, or its row and column`},
		{"over an edge that the program made", "\x1b[2;78HCan\x1b[3;1Hcel", "Cancel", `"Cancel" begins in row 2 and goes on in row 3: name a part of it that stands in one row, or its row and column`},
		{"a secret", "t " + token, token, `"` + token + `" does not stand on the screen (capital letters count)`},
		{"on the other screen", "OK\x1b[?1049h", "OK", `"OK" does not stand on the screen (capital letters count)`},
		{"in history", "OK\r\n\r\n\r\n\r\n", "OK", `"OK" does not stand on the screen (capital letters count)`},
	} {
		t.Run(c.name, func(t *testing.T) {
			o := watched(80, 4)
			o.Digest([]byte(c.screen))
			_, err := o.Locate(c.text)
			require.EqualError(t, err, c.say)
		})
	}
}

// R24: what is typed into a prompt for a password is no text to click on, and nothing shifts behind it.
func TestR24TheAnswerToAPasswordIsNotLocated(t *testing.T) {
	o := watched(40, 4)
	o.Digest([]byte("Password: ab日 x\r\nOK"))
	o.model.VeilCells(0, 10, true)
	o.Digest([]byte("\x1b[1;30Hend"))
	require.NotContains(t, o.Frame(time.Now()).Screen.Lines[0], "ab")
	_, err := o.Locate("ab")
	require.Error(t, err)
	at, err := o.Locate("OK")
	require.NoError(t, err)
	require.Equal(t, mouse.Cell{Row: 1}, at)
}

func TestTheWordUnderTheMouse(t *testing.T) {
	o := watched(80, 4)
	o.Digest([]byte("│< Yes >│日本 caffe\u0301│\r\n " + token + "\r\n" + strings.Repeat("w", 60)))
	for _, c := range []struct {
		row, col int
		want     string
	}{
		{0, 0, ""},
		{0, 1, "<"},
		{0, 2, ""},
		{0, 3, "Yes"},
		{0, 5, "Yes"},
		{0, 6, ""},
		{0, 7, ">"},
		{0, 8, ""},
		{0, 9, "日本"},
		{0, 10, "日本"},
		{0, 12, "日本"},
		{0, 13, ""},
		{0, 14, "caffe\u0301"},
		{0, 18, "caffe\u0301"},
		{0, 19, ""},
		{0, 60, ""},
		{1, 5, dots(maxWord) + "…"},
		{2, 30, strings.Repeat("w", maxWord) + "…"},
		{3, 0, ""},
	} {
		require.Equal(t, c.want, o.WordAt(mouse.Cell{Row: c.row, Col: c.col}), "%d,%d", c.row, c.col)
	}
}
