package observer

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"terminalproxy/proxy/terminal/mouse"
	"terminalproxy/proxy/view/corpus"
)

// A text is located by its cells, or the answer says why it has no place.
func TestTextsAreLocatedByCells(t *testing.T) {
	for _, c := range corpus.Rows[struct{ Name, Screen, Text, Want string }](t, "locate") {
		o := newWatched(80, 4)
		o.FeedNow([]byte(c.Screen))
		at, err := o.FindText(c.Text)
		got := fmt.Sprintf("%d,%d", at.Row, at.Col)
		if err != nil {
			got = err.Error()
		}
		require.Equal(t, c.Want, got, c.Name)
	}
}

// R24: what is typed into a password prompt is not a text to click on, and nothing shifts behind
// it.
func TestTheAnswerToAPasswordIsNotLocatedR24(t *testing.T) {
	o := newWatched(40, 4)
	o.FeedNow([]byte("Password: ab日 x\r\nOK"))
	o.model.VeilCells(0, 10, true)
	o.FeedNow([]byte("\x1b[1;30Hend"))
	require.NotContains(t, o.Frame(time.Now()).Screen.Lines[0], "ab")
	_, err := o.FindText("ab")
	require.Error(t, err)
	at, err := o.FindText("OK")
	require.NoError(t, err)
	require.Equal(t, mouse.Cell{Row: 1}, at)
}

func TestTheWordUnderTheMouse(t *testing.T) {
	o := newWatched(80, 4)
	o.FeedNow([]byte("│< Yes >│日本 caffe\u0301│\r\n " + token + "\r\n" + strings.Repeat("w", 60)))
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
