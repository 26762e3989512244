package requests

import (
	"encoding/json"
	"errors"
	"testing"

	"github.com/stretchr/testify/require"

	"terminalproxy/protocol"
	"terminalproxy/proxy/consent/control"
	"terminalproxy/proxy/view/corpus"
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

// The mouse is reported in the modes that the program has set, and refused with a reason otherwise.
func TestTheMouseIsReportedInTheModesThatAreOn(t *testing.T) {
	for _, c := range corpus.Rows[struct{ Setup, Input, Want string }](t, "mouse") {
		var m protocol.Input
		require.NoError(t, json.Unmarshal([]byte(c.Input), &m))
		got, err := clicker(c.Setup).send(m)
		if err == nil {
			require.Equal(t, c.Want, got, "%+v", c)
			continue
		}
		no, ok := errors.AsType[*refusal](err)
		require.True(t, ok)
		require.Contains(t, no.message, c.Want)
		require.Equal(t, m.On == "OK", no.code == protocol.CodeScreenChanged, no.message)
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
		got, err := e.send(protocol.Input{Data: c.act, At: &protocol.Cell{Row: 2, Col: 1}})
		require.Equal(t, c.want == "", err != nil, c.act)
		require.Equal(t, c.want, got)
	}
	e.Control = published{state: control.State{Phase: control.Granted, Epoch: 4}}
	_, err := e.send(protocol.Input{Data: "move", At: &protocol.Cell{Row: 2, Col: 1}})
	require.Error(t, err, "it was held under another grant")
}
