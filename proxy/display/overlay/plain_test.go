package overlay

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"terminalproxy/protocol"
	"terminalproxy/proxy/consent/control"
	"terminalproxy/proxy/consent/question"
)

// plainDesk is a terminal without sequences, and all that it got.
type plainDesk struct {
	*desk
	got   strings.Builder
	shown []uint64
}

func newPlainDesk(t *testing.T, cols, rows int) *plainDesk {
	t.Helper()
	d := &plainDesk{desk: newDesk(t, cols, rows)}
	d.s.conf.Title = false
	d.p = NewPainter(PainterConfig{Loop: d.loop, Status: d.s, Plain: true, Shown: func(q uint64) { d.shown = append(d.shown, q) }})
	return d
}

// paint and pass do what the copier does. They return what the terminal got.
func (d *plainDesk) paint() string {
	show, ok := d.p.Paint(false)
	require.True(d.t, ok)
	return d.write(string(show))
}

func (d *plainDesk) pass(chunk string, flood bool) string {
	switch {
	case !d.p.IsUp():
		d.m.Feed([]byte(chunk))
		return d.write(chunk)
	case flood:
		out := string(d.p.RemoveTexts(false)) + chunk
		d.m.Feed([]byte(chunk))
		return d.write(out)
	}
	before, after, ok := d.p.DrawAround([]byte(chunk), false)
	require.True(d.t, ok)
	return d.write(string(before) + chunk + string(after))
}

func (d *plainDesk) write(text string) string {
	require.NotContains(d.t, text, "\x1b")
	require.NotContains(d.t, strings.ReplaceAll(text, "\r\n", ""), "\n", "%q", text)
	d.got.WriteString(text)
	return text
}

var (
	claude     = control.Agent{ID: "a", Name: "claude"}
	claudeAsks = asks(question.Keyboard, control.State{Phase: control.Asked, Agent: claude, Level: protocol.LevelDrive, Reason: "to test", For: time.Hour})
)

const (
	askedPlainly = "\r\n“claude” asks to drive for 1 h: “to test”       Ctrl+G allows · " + `Ctrl+\` + " refuses"
)

// A terminal without sequences gets each text once, on rows of its own, and no sequence.
func TestAPlainTerminalGetsPlainLines(t *testing.T) {
	d := newPlainDesk(t, 80, 24)
	require.Empty(t, d.paint())
	d.pass("$ ", false)
	d.s.ShowState(claudeAsks)
	require.Equal(t, "\a"+askedPlainly, d.paint())
	require.Equal(t, []uint64{7}, d.shown)
	require.Empty(t, d.paint(), "once")
	require.Equal(t, "\r\nls\r\n", d.pass("ls\r\n", false))
	require.Equal(t, "a b c\r\n$ ", d.pass("a b c\r\n$ ", false))
	granted := claudeAsks
	granted.Phase, granted.Question, granted.Until = control.Granted, question.Shown{}, d.now.Add(time.Hour)
	d.s.ShowState(granted)
	require.Equal(t, "\r\nclaude drives 1 h 0 min · "+`Ctrl+\`, d.paint())
	require.Equal(t, "\r\n", d.paint())
	for range 3 {
		granted.Paused = !granted.Paused
		d.s.ShowState(granted)
		require.Empty(t, d.paint(), "the sign is printed once")
	}
	d.s.ShowState(control.State{})
	require.Equal(t, "\r\nno agent has the keyboard", d.paint())
	require.Equal(t, "\r\n$ ", d.pass("$ ", false))
	require.Empty(t, d.paint())
}

// A question whose keys count is printed again after a screen of output, also in a flood. A remark
// is not.
func TestAPlainQuestionStaysInSight(t *testing.T) {
	for name, tt := range map[string]struct {
		show  func(s *Status)
		text  string
		again bool
	}{
		"question": {func(s *Status) { s.ShowState(claudeAsks) }, askedPlainly, true},
		"remark":   {func(s *Status) { s.ShowRemark("the gateway is back", time.Hour) }, "\r\nthe gateway is back", false},
	} {
		t.Run(name, func(t *testing.T) {
			d := newPlainDesk(t, 80, 5)
			tt.show(d.s)
			require.Contains(t, d.paint(), tt.text)
			for range 4 {
				require.NotContains(t, d.pass("x\r\n", false), tt.text)
			}
			require.Equal(t, tt.again, strings.Contains(d.pass("x\r\n", false), tt.text))
			require.NotContains(t, d.pass("x\r\n", false), tt.text)
			require.Equal(t, "x", strings.TrimPrefix(d.pass("x", true), "\r\n"))
			require.Equal(t, tt.again, strings.Contains(d.paint(), tt.text))
			require.Empty(t, d.paint())
			require.Contains(t, []string{"", "\r\n"}, string(d.p.RemoveAtExit()))
		})
	}
}

// The line that the user types is rewritten where it stands.
func TestAnAnswerIsTypedOnOnePlainRow(t *testing.T) {
	d := newPlainDesk(t, 60, 5)
	st := asks(question.Message, control.State{Agent: claude})
	st.Question.Typing = true
	d.s.ShowState(st)
	require.Equal(t, "\r\nto claude: ▏ Enter sends · Esc closes", squeeze(d.paint()))
	for _, text := range []string{"h", "hi", "h"} {
		st.Question.Typed = text
		d.s.ShowState(st)
		require.Equal(t, "\rto claude: "+text+"▏ Enter sends · Esc closes", squeeze(d.paint()))
	}
	require.Equal(t, "\r\nout\r\n", d.pass("out\r\n", false))
	st.Question.Typed = "hey"
	d.s.ShowState(st)
	require.Equal(t, "\r\nto claude: hey▏ Enter sends · Esc closes", squeeze(d.paint()))
	d.s.ShowState(control.State{})
	require.Equal(t, "\r\n", d.paint())
	require.Nil(t, d.p.RemoveAtExit())
}

// squeeze makes one blank of several, and removes those at the end.
func squeeze(text string) string {
	for strings.Contains(text, "  ") {
		text = strings.ReplaceAll(text, "  ", " ")
	}
	return strings.TrimRight(text, " ")
}
