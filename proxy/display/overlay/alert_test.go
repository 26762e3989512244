package overlay

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"terminalproxy/protocol"
	"terminalproxy/proxy/consent/control"
	"terminalproxy/proxy/consent/question"
)

// A notification goes to the terminal once, between the program's sequences, and not for a question
// that is already answered.
func TestAnAlertIsWrittenOnceAndNeverIntoASequence(t *testing.T) {
	const control9 = "\x1b]9;claude asks in vim-k3f9\x1b\\"
	asked := asks(question.Keyboard, control.State{Phase: control.Asked, Agent: claude, Level: protocol.LevelDrive})
	for _, c := range []struct {
		name     string
		before   string // printed
		question uint64
		then     control.State
		want     int
	}{
		{"at rest", "$ ", 7, asked, 1},
		{"within a sequence", "$ \x1b]2;a tit", 7, asked, 0},
		{"within a character", "$ \xe4\xb8", 7, asked, 0},
		{"another question", "$ ", 6, asked, 0},
		{"answered", "$ ", 7, control.State{Phase: control.Granted}, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			d := newDesk(t, 80, 24)
			d.pass(c.before, false)
			d.s.ShowState(asked)
			d.s.ShowAlert(c.question, []byte(control9))
			d.s.ShowState(c.then)
			show, ok := d.p.Paint(false)
			require.Equal(t, c.want, strings.Count(string(show), control9), "%q", show)
			again, _ := d.p.Paint(false)
			require.NotContains(t, string(again), control9)
			if !ok { // it comes when the sequence has ended
				rest := "le\a"
				if c.name == "within a character" {
					rest = "\x96"
				}
				_, after, ok := d.p.DrawAround([]byte(rest), false)
				require.True(t, ok)
				require.Equal(t, 1, strings.Count(string(after), control9), "%q", after)
			}
		})
	}
}

// A sequence that a terminal does not show as text changes nothing on the screen: the line is drawn
// and erased as without it.
func TestAnAlertLeavesTheScreenAlone(t *testing.T) {
	d := newDesk(t, 80, 24)
	d.pass("$ vim\r\n", false)
	d.s.ShowState(asks(question.Keyboard, control.State{Phase: control.Asked, Agent: claude, Level: protocol.LevelDrive}))
	d.s.ShowAlert(7, []byte("\x1b]777;notify;proxy;claude asks in vim-k3f9\x1b\\"))
	d.paint()
	d.s.ShowState(control.State{})
	d.paint()
	d.checkSame("after the answer")
}
