package typist_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"terminalproxy/gateway/typist"
	"terminalproxy/protocol"
)

var words = typist.MouseWords{On: "--click", At: "--click-at", Act: "--mouse", To: "--drag-to"}

func TestPoint(t *testing.T) {
	for _, c := range []struct {
		on, at, act, to string
		want            *typist.Mouse
	}{
		{},
		{on: "OK", want: &typist.Mouse{Act: "click", On: "OK"}},
		{at: "5,12", want: &typist.Mouse{Act: "click", At: &protocol.Cell{Row: 4, Col: 11}}},
		{at: " 5 , 12 ", act: "right-click", want: &typist.Mouse{Act: "right-click", At: &protocol.Cell{Row: 4, Col: 11}}},
		{act: "wheel-up", want: &typist.Mouse{Act: "wheel-up"}},
		{act: "Shift-Wheel-Down*3", want: &typist.Mouse{Act: "Shift-Wheel-Down*3"}},
		{on: "OK", to: "7,1", want: &typist.Mouse{Act: "drag", On: "OK", To: &protocol.Cell{Row: 6}}},
		{at: "1,1", act: "ctrl-drag", to: "1000,1000", want: &typist.Mouse{Act: "ctrl-drag", At: &protocol.Cell{}, To: &protocol.Cell{Row: 999, Col: 999}}},
	} {
		got, err := typist.Point(words, c.on, c.at, c.act, c.to)
		require.NoError(t, err)
		require.Equal(t, c.want, got)
	}
}

func TestPointSaysWhatToWrite(t *testing.T) {
	for _, c := range []struct{ on, at, act, to, say string }{
		{"OK", "5,12", "", "", "--click and --click-at exclude each other: the mouse acts in one place"},
		{"", "", "click", "", "it is not said where to click: give --click (a text on the screen) or --click-at (row,column from 1)"},
		{"", "", "", "5,12", "it is not said where to drag: give --click (a text on the screen) or --click-at (row,column from 1)"},
		{"OK", "", "drag", "", "a drag needs its end: give --drag-to (row,column from 1)"},
		{"OK", "", "move", "5,12", "--drag-to is where a drag ends: leave it out, or write drag for --mouse"},
		{"", "5", "", "", `--click-at is "5": write the row and the column, both from 1, like 5,12`},
		{"", "5,0", "", "", `--click-at is "5,0": write the row and the column, both from 1, like 5,12`},
		{"", "-1,4", "", "", `--click-at is "-1,4": write the row and the column, both from 1, like 5,12`},
		{"", "1001,4", "", "", `--click-at is "1001,4": write the row and the column, both from 1, like 5,12`},
		{"", "5,1", "", "5;1", `--drag-to is "5;1": write the row and the column, both from 1, like 5,12`},
		{strings.Repeat("x", 1025), "", "", "", "--click is 1025 bytes long, at most 1024 can be looked for"},
	} {
		_, err := typist.Point(words, c.on, c.at, c.act, c.to)
		require.EqualError(t, err, c.say)
	}
}

// The receipt says where a text was found.
func TestTheReceiptSaysWhereTheMouseWas(t *testing.T) {
	for _, c := range []struct {
		mouse typist.Mouse
		at    *protocol.Cell
		want  string
	}{
		{typist.Mouse{Act: "click", On: "OK"}, &protocol.Cell{Row: 4, Col: 11}, `click on "OK" at 5,12`},
		{typist.Mouse{Act: "click", On: "OK"}, nil, `click on "OK"`},
		{typist.Mouse{Act: "click", At: &protocol.Cell{Row: 4, Col: 11}}, nil, "click at 5,12"},
		{typist.Mouse{Act: "wheel-down*3"}, &protocol.Cell{Row: 12, Col: 40}, "wheel-down*3 at 13,41"},
		{typist.Mouse{Act: "drag", At: &protocol.Cell{}, To: &protocol.Cell{Row: 1, Col: 2}}, nil, "drag from 1,1 to 2,3"},
		{typist.Mouse{Act: "drag", On: "OK", To: &protocol.Cell{Row: 1, Col: 2}}, nil, `drag on "OK" to 2,3`},
	} {
		k := &keyboard{answer: func(int, *protocol.Input) (*protocol.InputResult, error) {
			return &protocol.InputResult{Status: protocol.StatusWritten, At: c.at}, nil
		}}
		typed, err := typist.Type(t.Context(), k, typist.Text{Mouse: &c.mouse, Deadline: soon()})
		require.NoError(t, err)
		require.Equal(t, c.want, typed.Parts[0].What)
		require.Equal(t, []any{c.mouse.On, c.mouse.At, c.mouse.To}, []any{k.inputs[0].On, k.inputs[0].At, k.inputs[0].To})
	}
}
