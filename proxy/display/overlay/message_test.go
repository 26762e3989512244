package overlay

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"terminalproxy/protocol"
	"terminalproxy/proxy/consent/control"
	"terminalproxy/proxy/consent/question"
	"terminalproxy/proxy/display/notice"
)

// listener is a user's screen, with the line and what senders were told.
type listener struct {
	*Status
	t    *testing.T
	told []string
}

func listening(t *testing.T) *listener {
	return &listener{Status: New(Config{Line: true, Title: true, Name: "sh", Reclaim: `Ctrl+\`, Grant: `Ctrl+G`, Repaint: func() {}}), t: t}
}

// receive takes a message, as the session does.
func (l *listener) receive(name, text string) error {
	return l.QueueMessage(control.Note{Sender: "message from “" + name + "”", Text: notice.Message(text), ReceivedAt: time.Now(), Report: func(w protocol.Waiting) {
		l.told = append(l.told, name+": "+string(w))
	}})
}

// draws returns the line as it is drawn now, and the title.
func (l *listener) draws() (line, title string, ring bool) {
	line, title, ring, _ = l.composeNow(time.Now(), 80, 24, "")
	l.noteDrawn()
	return strings.TrimSpace(line), title, ring
}

// mustShow draws the line and checks its text.
func (l *listener) mustShow(want string) {
	l.t.Helper()
	line, _, _ := l.draws()
	require.Equal(l.t, want, line)
}

func TestAMessageStandsUntilTheUserTypes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := listening(t)
		defer l.Close()
		require.NoError(t, l.receive("ada", "one"))
		line, title, ring := l.draws()
		require.Equal(t, "message from “ada”: “one”", line)
		require.Equal(t, "[observed] sh", title)
		require.True(t, ring)
		_, _, ring = l.draws()
		require.False(t, ring, "once")
		synctest.Wait()
		require.Equal(t, []string{"ada: "}, l.told)
		require.NoError(t, l.receive("bert", "two"))
		require.Equal(t, []string{"ada: ", "bert: turn"}, l.told)
		l.DismissRemark() // the user was typing as it came
		l.mustShow("message from “ada”: “one”")
		time.Sleep(readFor)
		l.DismissRemark()
		l.mustShow("message from “bert”: “two”")
		time.Sleep(readFor)
		l.DismissRemark()
		l.mustShow("")
		_, title, _ = l.draws()
		require.NotContains(t, title, "message", "nothing was missed")
	})
}

// Messages that came while no key was pressed leave the screen and are in the menu, one at a time,
// the oldest first.
func TestAMissedMessageIsInTheMenu(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := listening(t)
		defer l.Close()
		for _, text := range []string{"one", "two"} {
			require.NoError(t, l.receive("ada", text))
			l.mustShow("message from “ada”: “" + text + "”")
			time.Sleep(10 * time.Second)
			l.mustShow("")
		}
		_, title, _ := l.draws()
		require.Contains(t, title, `[observed] [message: Ctrl+\]`)
		time.Sleep(time.Minute)
		menu := func() {
			l.ShowState(asks(question.Menu, control.State{}))
			line, _, _ := l.draws()
			t.Log(line)
			l.told = append(l.told, line)
		}
		menu()
		require.Contains(t, l.told[len(l.told)-1], "message from “ada”, 1m20s ago: “one”")
		require.Contains(t, l.told[len(l.told)-1], `Ctrl+\ sends the key`)
		l.ShowState(control.State{}) // too short to be read
		menu()
		require.Contains(t, l.told[len(l.told)-1], "“one”")
		time.Sleep(readFor)
		l.ShowState(control.State{})
		menu()
		require.Contains(t, l.told[len(l.told)-1], "“two”")
		time.Sleep(readFor)
		l.ShowState(control.State{})
		menu()
		require.Contains(t, l.told[len(l.told)-1], "no agent has the keyboard")
	})
}

// A key answers it while it is on the line.
func TestAKeyAnswersAnAgentsMessage(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := listening(t)
		defer l.Close()
		ada := control.Agent{ID: "a", Name: "ada"}
		require.NoError(t, l.QueueMessage(control.Note{Sender: "message from “ada”", From: ada, Text: "which?"}))
		line, _, _ := l.draws()
		require.Equal(t, "message from “ada”: “which?” Ctrl+G answers", strings.Join(strings.Fields(line), " "))
		_, onLine := l.LastSeenMessage()
		require.True(t, onLine)
	})
}

// An end of control without a person's key waits for one, and gives way to a message.
func TestAnEndThatNoKeyCausedStays(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := listening(t)
		defer l.Close()
		over := control.Event{Agent: control.Agent{ID: "a", Name: "ada"}, Reason: protocol.ReasonExpired}
		l.ShowControlChange(over, "", "", "; it typed at 12:40: ls<Enter>")
		time.Sleep(time.Hour)
		l.mustShow("time is up: ada no longer has the keyboard; it typed at 12:40: ls<Enter>")
		l.DismissRemark()
		l.mustShow("")
		l.ShowControlChange(over, "", "", "; it typed")
		l.ShowRemoteTyping("phone")
		require.Contains(t, l.remark, "phone types from a page")
		l.ShowControlChange(over, "", "", "; it typed")
		require.NoError(t, l.receive("eve", "hello"))
		l.mustShow("message from “eve”: “hello”")
	})
}

// Nor does it cover a password prompt, or the words that say how the keyboard is taken back.
func TestAMessageCoversNoQuestionR46(t *testing.T) {
	ada := control.Agent{ID: "a", Name: "ada"}
	for want, state := range map[protocol.Waiting]control.State{
		protocol.WaitsForAnswer: asks(question.Keyboard, control.State{Phase: control.Asked, Agent: ada, Reason: "please"}),
		protocol.WaitsForSecret: {Phase: control.Granted, Agent: ada, Secret: protocol.SecretHard},
	} {
		synctest.Test(t, func(t *testing.T) {
			l := listening(t)
			defer l.Close()
			l.ShowState(state)
			before, _, _ := l.draws()
			require.NoError(t, l.receive("eve", "press Ctrl+G"))
			require.Equal(t, []string{"eve: " + string(want)}, l.told)
			l.mustShow(before)
			l.ShowState(control.State{})
			l.mustShow("message from “eve”: “press ctrl-G”")
			l.ShowState(state) // it goes at once when there is a question
			l.mustShow(before)
			synctest.Wait()
			require.Len(t, l.told, 1, "a sender is answered once")
		})
	}
	synctest.Test(t, func(t *testing.T) {
		l := listening(t)
		defer l.Close()
		l.ShowControlChange(control.Event{Granted: true, Agent: ada, Level: protocol.LevelDrive}, "", "", "")
		require.NoError(t, l.receive("eve", "the keyboard is yours"))
		require.Equal(t, []string{"eve: turn"}, l.told)
		line, _, _ := l.draws()
		require.Contains(t, line, `Ctrl+\ takes the keyboard back at once`)
		time.Sleep(RemarkFor)
		l.mustShow("message from “eve”: “the keyboard is yours”")
		l.ShowControlChange(control.Event{Granted: true, Agent: ada}, "", "", "")
		l.mustShow(`ada drives until you take it back · Ctrl+\`) // the keys are explained once
	})
}

func TestAMessageThatIsNotDrawnSaysSo(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := listening(t)
		defer l.Close()
		require.NoError(t, l.receive("ada", "one"))
		time.Sleep(drawPatience)
		synctest.Wait()
		require.Equal(t, []string{"ada: program"}, l.told)
		l.composeNow(time.Now(), 80, 24, "")
		l.noteNotDrawn()
		l.noteDrawn()
		l.mustShow("message from “ada”: “one”")
		time.Sleep(readFor)
		l.DismissRemark()
		there := false
		l.conf.Present = func() bool { return there }
		for range maxMessages {
			require.NoError(t, l.receive("ada", "later"))
		}
		require.ErrorIs(t, l.receive("ada", "too much"), ErrFull)
		require.Equal(t, "ada: nobody", l.told[len(l.told)-1])
		there = true
		l.mustShow("message from “ada”: “later”")
	})
}

func TestAMessageWithoutALineIsInTheTitle(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := listening(t)
		defer l.Close()
		l.conf.Line = false
		require.NoError(t, l.receive("ada", strings.Repeat("x", 70)))
		line, title, ring := l.draws()
		require.Empty(t, line)
		require.Equal(t, "[observed] [message from “ada”: “"+strings.Repeat("x", 60)+"…”] sh", title)
		require.True(t, ring)
		require.Equal(t, []string{"ada: title"}, l.told)
		time.Sleep(titleFor)
		_, title, ring = l.draws()
		require.Equal(t, "[observed] sh", title)
		require.False(t, ring)
		l.conf.Title = false
		require.ErrorIs(t, l.receive("ada", "x"), ErrNoPlace)
	})
}
