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
	for _, c := range corpus.Rows[struct {
		Row, Col int
		Want     string
	}](t, "word") {
		require.Equal(t, c.Want, o.WordAt(mouse.Cell{Row: c.Row, Col: c.Col}), "%+v", c)
	}
}
