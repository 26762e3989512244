package requests

import (
	"errors"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"terminalproxy/protocol"
	"terminalproxy/proxy/consent/control"
	"terminalproxy/proxy/view/observer"
)

// clicker is an encoder for a screen of 80x24, whose agent drives under a grant.
func clicker(setup string) *encoder {
	o := observer.New(observer.Config{Cols: 80, Rows: 24})
	o.Model().Feed([]byte(setup))
	granted := control.State{Phase: control.Granted, Level: protocol.LevelDrive, Epoch: 3}
	return &encoder{Config: &Config{
		Observer: o, Terminal: sizelessTerminal{}, Control: published{state: granted},
		Program: foreground{name: "sh"},
	}}
}

// send returns the reports of an act, or its refusal. The program reads the reports.
func (e *encoder) send(m protocol.Input) (reports string, err error) {
	m.InputKind = protocol.InputMouse
	in := &delivery{steps: splitSteps(&m), epoch: 3}
	pieces, err := e.encodeSteps(in, 0, e.Observer.Model().Modes())
	for _, p := range pieces {
		reports += string(p.Bytes)
	}
	e.recordLanding(in, &protocol.InputResult{WrittenBytes: len(reports)})
	return reports, err
}

func cell(row, col int) *protocol.Cell { return &protocol.Cell{Row: row, Col: col} }

// The mouse is reported in the modes that the program has set, and refused with a reason otherwise.
func TestTheMouseIsReportedInTheModesThatAreOn(t *testing.T) {
	const (
		deaf  = "the program does not listen to the mouse: use keys"
		wheel = "(mode 1007): it turns up and down only, without modifiers"
	)
	for _, c := range []struct {
		print string
		in    protocol.Input
		want  string // the reports, or what the refusal says
	}{
		{"\x1b[?1000;1006h[ OK ]", protocol.Input{Data: "click", On: "[ OK ]"}, "\x1b[<0;3;1M\x1b[<0;3;1m"},
		{"\x1b[?1000;1006h", protocol.Input{Data: "ctrl-right-click", At: cell(4, 11)}, "\x1b[<18;12;5M\x1b[<18;12;5m"},
		{"\x1b[?1000h", protocol.Input{Data: "click", At: cell(0, 79)}, "\x1b[M p!\x1b[M#p!"},
		{"\x1b[?1000;1016h", protocol.Input{Data: "press", At: cell(2, 4)}, "does not say how large its cells are"},
		{"\x1b[?1002;1006h", protocol.Input{Data: "drag", At: cell(1, 1), To: cell(3, 1)}, "\x1b[<0;2;2M\x1b[<32;2;3M\x1b[<32;2;4M\x1b[<0;2;4m"},
		{"\x1b[?1000;1006h", protocol.Input{Data: "wheel-down*2"}, "\x1b[<65;41;13M\x1b[<65;41;13M"},
		{"\x1b[?1049;1007h", protocol.Input{Data: "wheel-down"}, strings.Repeat("\x1b[B", 5)},
		{"\x1b[?1;1049;1007h", protocol.Input{Data: "wheel-up*2"}, strings.Repeat("\x1bOA", 10)},
		{"\x1b[?1049;1007;1000;1006h", protocol.Input{Data: "wheel-up"}, "\x1b[<64;41;13M"},

		{"", protocol.Input{Data: "click", At: cell(0, 0)}, deaf},
		{"\x1b[?1000h\x1b[?1000l", protocol.Input{Data: "click", At: cell(0, 0)}, deaf},
		{"\x1b[?1007h", protocol.Input{Data: "wheel-up"}, deaf},
		{"\x1b[?1049h", protocol.Input{Data: "wheel-up"}, deaf},
		{"\x1b[?1049;1007h", protocol.Input{Data: "click", At: cell(0, 0)}, deaf},
		{"\x1b[?1049;1007h", protocol.Input{Data: "wheel-left"}, wheel},
		{"\x1b[?1049;1007h", protocol.Input{Data: "ctrl-wheel-up"}, wheel},
		{"\x1b[?1000h", protocol.Input{Data: "tap", At: cell(0, 0)}, `the mouse cannot do "tap"`},
		{"\x1b[?1000h", protocol.Input{Data: "click"}, "no place for the mouse is given"},
		{"\x1b[?1000h", protocol.Input{Data: "click", At: cell(0, 0), On: "x"}, "at and on are both given"},
		{"\x1b[?1000h", protocol.Input{Data: "click", At: cell(24, 0)}, "the place is row 25 and column 1, counted from 1, and the screen has 24 rows"},
		{"\x1b[?1002h", protocol.Input{Data: "drag", At: cell(0, 0), To: cell(0, 80)}, "the end of the drag is row 1 and column 81"},
		{"\x1b[?1002h", protocol.Input{Data: "drag", At: cell(0, 0)}, "a drag needs its end"},
		{"\x1b[?1002h", protocol.Input{Data: "press", At: cell(0, 0), To: cell(0, 1)}, "to is the end of a drag"},
		{"\x1b[?1002h", protocol.Input{Data: "move", At: cell(0, 0)}, "press before you move, or drag"},
		{"\x1b[?1000h", protocol.Input{Data: "click", On: "OK"}, `"OK" is not on the screen`},
	} {
		got, err := clicker(c.print).send(c.in)
		if err == nil {
			require.Equal(t, c.want, got, "%q %+v", c.print, c.in)
			continue
		}
		no, ok := errors.AsType[*refusal](err)
		require.True(t, ok)
		require.Contains(t, no.message, c.want)
		require.Equal(t, c.in.On == "OK", no.code == protocol.CodeScreenChanged, no.message)
	}
}

// While an agent holds a button under its grant, movement is a drag.
func TestAHeldButtonDrags(t *testing.T) {
	e := clicker("\x1b[?1002;1006h")
	for _, c := range []struct{ act, want string }{
		{"move", ""},
		{"press", "\x1b[<0;2;3M"},
		{"move", "\x1b[<32;2;3M"},
		{"wheel-up", "\x1b[<64;2;3M"},
		{"move", "\x1b[<32;2;3M"},
		{"release", "\x1b[<0;2;3m"},
		{"move", ""},
		{"press", "\x1b[<0;2;3M"},
	} {
		got, err := e.send(protocol.Input{Data: c.act, At: cell(2, 1)})
		require.Equal(t, c.want == "", err != nil, c.act)
		require.Equal(t, c.want, got)
	}
	e.Control = published{state: control.State{Phase: control.Granted, Epoch: 4}}
	_, err := e.send(protocol.Input{Data: "move", At: cell(2, 1)})
	require.Error(t, err, "it was held under another grant")
}
