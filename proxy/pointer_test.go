package proxy

import (
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"terminalproxy/protocol"
	"terminalproxy/proxy/detached/headless"
)

// clicked starts a session in a program that has set modes and shows what it reads.
func clicked(t *testing.T, setup string) (p *fakePeer, mouse func(m protocol.Input) *protocol.InputResult) {
	t.Helper()
	t.Parallel() // it waits more than it computes
	g := newFakeGateway(t)
	g.run(headless.Config{})
	p, id := g.startProgram(starting("sh", "-c", "stty raw -echo; printf '"+setup+"'; printf ready; exec cat -v"))
	p.waitForText("ready")
	n := 0
	return p, func(m protocol.Input) *protocol.InputResult {
		n++
		m.RequestID, m.SessionID, m.AgentID, m.InputKind = "a-1:i"+strconv.Itoa(n), id, "a-1", protocol.InputMouse
		p.send(&m)
		return hear(p, func(r *protocol.InputResult) bool { return r.RequestID == m.RequestID })
	}
}

func cell(row, col int) *protocol.Cell { return &protocol.Cell{Row: row, Col: col} }

func TestTheMouseIsReportedInTheModesThatAreOn(t *testing.T) {
	for _, c := range []struct {
		name, setup string
		in          protocol.Input
		at          *protocol.Cell
		heard       string
	}{
		{"on a text", `\033[?1000;1006h[ OK ]\r\n`, protocol.Input{Data: "click", On: "[ OK ]"}, cell(0, 2), "^[[<0;3;1M^[[<0;3;1m"},
		{"at a cell", `\033[?1000;1006h`, protocol.Input{Data: "ctrl-right-click", At: cell(4, 11)}, cell(4, 11), "^[[<18;12;5M^[[<18;12;5m"},
		{"one byte each", `\033[?1000h`, protocol.Input{Data: "click", At: cell(0, 79)}, cell(0, 79), "^[[M p!^[[M#p!"},
		{"a byte over 127", `\033[?1000h`, protocol.Input{Data: "click", At: cell(20, 95)}, nil, ""},
		{"pixels of our own", `\033[?1000;1016h`, protocol.Input{Data: "press", At: cell(2, 4)}, cell(2, 4), "^[[<0;37;41M"},
		{"a drag", `\033[?1002;1006h`, protocol.Input{Data: "drag", At: cell(1, 1), To: cell(3, 1)}, cell(1, 1), "^[[<0;2;2M^[[<32;2;3M^[[<32;2;4M^[[<0;2;4m"},
		{"a wheel without a place", `\033[?1000;1006h`, protocol.Input{Data: "wheel-down*2"}, cell(12, 40), "^[[<65;41;13M^[[<65;41;13M"},
		{"the wheel for cursor keys", `\033[?1049;1007h`, protocol.Input{Data: "wheel-down"}, cell(12, 40), strings.Repeat("^[[B", 5)},
		{"the wheel for application cursor keys", `\033[?1;1049;1007h`, protocol.Input{Data: "wheel-up*2"}, cell(12, 40), strings.Repeat("^[OA", 10)},
		{"a mouse mode comes before cursor keys", `\033[?1049;1007;1000;1006h`, protocol.Input{Data: "wheel-up"}, cell(12, 40), "^[[<64;41;13M"},
	} {
		t.Run(c.name, func(t *testing.T) {
			p, mouse := clicked(t, c.setup)
			got := mouse(c.in)
			if c.at == nil {
				require.Contains(t, got.Message, "the place is row 21 and column 96, counted from 1, and the screen has 24 rows and 80 columns")
				return
			}
			require.Equal(t, protocol.StatusWritten, got.Status, got.Message)
			require.Equal(t, c.at, got.At)
			p.waitForText(c.heard)
		})
	}
}

func TestAMouseThatCannotDoThat(t *testing.T) {
	for _, c := range []struct {
		name, setup string
		in          protocol.Input
		code        protocol.Code
		say         string
	}{
		{"a program without a mouse", "", protocol.Input{Data: "click", At: cell(0, 0)}, protocol.CodeBadMessage, "the program does not listen to the mouse: use keys"},
		{"it listened", `\033[?1000h\033[?1000l`, protocol.Input{Data: "click", At: cell(0, 0)}, protocol.CodeBadMessage, "the program does not listen to the mouse: use keys"},
		{"the wheel on the main screen", `\033[?1007h`, protocol.Input{Data: "wheel-up"}, protocol.CodeBadMessage, "the program does not listen to the mouse: use keys"},
		{"the wheel without its mode", `\033[?1049h`, protocol.Input{Data: "wheel-up"}, protocol.CodeBadMessage, "the program does not listen to the mouse: use keys"},
		{"a click for cursor keys", `\033[?1049;1007h`, protocol.Input{Data: "click", At: cell(0, 0)}, protocol.CodeBadMessage, "the program does not listen to the mouse: use keys"},
		{"a wheel to the side for cursor keys", `\033[?1049;1007h`, protocol.Input{Data: "wheel-left"}, protocol.CodeBadMessage, "(mode 1007): it turns up and down only, without modifiers"},
		{"a wheel with modifiers for cursor keys", `\033[?1049;1007h`, protocol.Input{Data: "ctrl-wheel-up"}, protocol.CodeBadMessage, "(mode 1007): it turns up and down only, without modifiers"},
		{"something else", `\033[?1000h`, protocol.Input{Data: "tap", At: cell(0, 0)}, protocol.CodeBadMessage, `the mouse cannot do "tap"`},
		{"no place", `\033[?1000h`, protocol.Input{Data: "click"}, protocol.CodeBadMessage, "no place for the mouse is given: give at (a row and a column) or on (a text on the screen)"},
		{"two places", `\033[?1000h`, protocol.Input{Data: "click", At: cell(0, 0), On: "ready"}, protocol.CodeBadMessage, "at and on are both given: the mouse acts in one place"},
		{"below the screen", `\033[?1000h`, protocol.Input{Data: "click", At: cell(24, 0)}, protocol.CodeBadMessage, "the place is row 25 and column 1, counted from 1, and the screen has 24 rows and 80 columns"},
		{"a drag out of the screen", `\033[?1002h`, protocol.Input{Data: "drag", At: cell(0, 0), To: cell(0, 80)}, protocol.CodeBadMessage, "the end of the drag is row 1 and column 81, counted from 1, and the screen has 24 rows and 80 columns"},
		{"a drag without an end", `\033[?1002h`, protocol.Input{Data: "drag", At: cell(0, 0)}, protocol.CodeBadMessage, "a drag needs its end: give to (a row and a column)"},
		{"an end without a drag", `\033[?1002h`, protocol.Input{Data: "press", At: cell(0, 0), To: cell(0, 1)}, protocol.CodeBadMessage, "to is the end of a drag: leave it out, or send drag"},
		{"movement without a button", `\033[?1002h`, protocol.Input{Data: "move", At: cell(0, 0)}, protocol.CodeBadMessage, "press before you move, or drag"},
		{"no such text", `\033[?1000h`, protocol.Input{Data: "click", On: "OK"}, protocol.CodeScreenChanged, `"OK" is not on the screen (capital letters count)`},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, mouse := clicked(t, c.setup)
			got := mouse(c.in)
			require.Equal(t, []any{protocol.StatusRefused, c.code, 0}, []any{got.Status, got.Reason, got.WrittenBytes})
			require.Contains(t, got.Message, c.say)
			require.Nil(t, got.At)
		})
	}
}

// While an agent holds a button, movement is a drag.
func TestAHeldButtonDrags(t *testing.T) {
	p, mouse := clicked(t, `\033[?1002;1006h`)
	require.Equal(t, protocol.StatusRefused, mouse(protocol.Input{Data: "move", At: cell(0, 1)}).Status)
	for _, c := range []struct{ data, heard string }{
		{"press", "^[[<0;2;3M"}, {"move", "^[[<32;2;3M"}, {"wheel-up", "^[[<64;2;3M"}, {"move", "^[[<32;2;3M"}, {"release", "^[[<0;2;3m"},
	} {
		require.Equal(t, protocol.StatusWritten, mouse(protocol.Input{Data: c.data, At: cell(2, 1)}).Status, c.data)
		p.waitForText(c.heard)
	}
	require.Equal(t, protocol.StatusRefused, mouse(protocol.Input{Data: "move", At: cell(2, 1)}).Status)
}

// A button pressed under another grant is no longer held.
func TestAButtonIsHeldUnderOneGrant(t *testing.T) {
	_, p, id := attachedTo(t, "sh", "-c", `stty -icanon -echo -isig min 1; printf '\033[?1002;1006h'; echo ready; exec cat -v`)
	n := 0
	does := func(data string) *protocol.InputResult {
		n++
		p.send(&protocol.Input{RequestID: "a-1:i" + strconv.Itoa(n), SessionID: id, AgentID: "a-1", InputKind: protocol.InputMouse, Data: data, At: cell(1, 1)})
		return hear[*protocol.InputResult](p, nil)
	}
	require.Equal(t, protocol.StatusWritten, does("press").Status)
	require.Equal(t, protocol.StatusWritten, does("move").Status)
	p.types(id, "\x1c")
	p.revoked(protocol.ReasonReclaimed)
	p.send(&protocol.Detach{SessionID: id, ViewerID: "v-1"})
	p.send(&protocol.ControlRequest{RequestID: "a-1:r", SessionID: id, AgentID: "a-1", AgentName: "claude", Level: protocol.LevelDrive, Why: "go on"})
	require.Equal(t, "a-1:r", hear[*protocol.ControlGrant](p, nil).RequestID)
	require.Contains(t, does("move").Message, "press before you move, or drag")
}

// A click leaves nothing on the line: an Enter that follows is shown only with the text before it.
func TestTheMouseLeavesNothingOnTheLine(t *testing.T) {
	_, p, id := attachedTo(t, "sh", "-c", `stty -icanon -echo -isig min 1; printf '\033[?1000;1006h'; echo ready; exec cat -v`)
	type typed struct {
		kind protocol.InputKind
		data string
	}
	for i, in := range []typed{{protocol.InputText, "ab"}, {protocol.InputMouse, "click"}} {
		m := &protocol.Input{RequestID: "a-1:i" + strconv.Itoa(i), SessionID: id, AgentID: "a-1", InputKind: in.kind, Data: in.data, SettleMs: 30}
		if in.kind == protocol.InputMouse {
			m.At = cell(4, 4)
		}
		p.send(m)
		require.Equal(t, protocol.StatusWritten, hear[*protocol.InputResult](p, nil).Status)
	}
	p.types(id, "\x1c")
	require.Equal(t, 2, hear[*protocol.ControlRevoke](p, nil).UnsubmittedBytes)
}
