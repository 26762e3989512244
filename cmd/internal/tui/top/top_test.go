package top

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/acarl005/stripansi"
	"github.com/clipperhouse/displaywidth"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"
	"terminalproxy/cmd/internal/tui/fullscreen"

	"terminalproxy/protocol"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// person sits before a model on the test's goroutine; decided is what went out.
type person struct {
	*model
	t       *testing.T
	decided []string
	fails   error
}

func sit(t *testing.T, cols, rows int, sessions ...protocol.SessionInfo) *person {
	t.Helper()
	p := &person{t: t}
	record := func(noun string) func(context.Context, protocol.SessionInfo) error {
		return func(_ context.Context, s protocol.SessionInfo) error {
			p.decided = append(p.decided, fmt.Sprintf("%s %s %d %s", noun, s.SessionID, s.Keyboard.Epoch, s.Keyboard.Asking))
			return p.fails
		}
	}
	p.model = newModel(t.Context(), Config{Give: record("give"), Take: record("take")})
	p.now = func() time.Time { return time.UnixMilli(0) }
	p.send(fullscreen.Resize{Cols: cols, Rows: rows})
	p.send(&protocol.SessionsChanged{Full: true, Sessions: sessions})
	return p
}

func (p *person) send(msg fullscreen.Msg) fullscreen.Cmd {
	cmd := p.Update(msg)
	return cmd
}

// press presses keys, and carries out what they decide.
func (p *person) press(keys ...string) {
	p.t.Helper()
	for _, k := range keys {
		cmd := p.handleKey(k)
		if cmd == nil {
			continue
		}
		if msg, ok := cmd().(done); ok {
			p.send(msg)
		}
	}
}

func (p *person) lines() []string {
	p.t.Helper()
	lines := slices.Clone(p.View().Rows)
	require.LessOrEqual(p.t, len(lines), p.rows)
	for i, l := range lines {
		lines[i] = stripansi.Strip(l)
		require.LessOrEqual(p.t, displaywidth.String(lines[i]), p.cols)
	}
	return lines
}

// under is the row under the cursor, and how far down it stands.
func (p *person) under() (line string, at int) {
	for i, l := range p.lines() {
		if strings.HasPrefix(l, "▶") {
			return l, i
		}
	}
	return "", -1
}

func session(id string) protocol.SessionInfo {
	return protocol.SessionInfo{
		SessionID: id, Command: "/usr/bin/bash", State: protocol.StateRunning, LastLine: "last of " + id, Keyboard: protocol.Keyboard{Holder: protocol.HolderUser, Epoch: 3},
	}
}

func asking(id, reason string) protocol.SessionInfo {
	s := session(id)
	s.Keyboard.Asking, s.Keyboard.AskingReason, s.Keyboard.AskingLevel = "codex", reason, protocol.LevelDrive
	return s
}

func driven(id string) protocol.SessionInfo {
	s := session(id)
	s.Keyboard = protocol.Keyboard{Holder: protocol.HolderAgent, AgentName: "codex", Level: protocol.LevelDrive, Epoch: 4, ExpiresAt: 60_000}
	return s
}

func TestSessionsAreShown(t *testing.T) {
	lost := session("lost")
	lost.State = protocol.StateLost
	ended := session("ended")
	ended.State = protocol.StateExited
	p := sit(t, 80, 24, session("one"), asking("two", "fix it"), driven("three"), lost, ended)
	screen := strings.Join(p.lines(), "\n")
	for _, want := range []string{"4 sessions, 1 question, agents type in 1", "▶ one ", "last of one", "codex asks", "“fix it”", "codex (drive", "lost", "Enter answer"} {
		require.Contains(t, screen, want)
	}
	require.NotContains(t, screen, "ended")
	require.Nil(t, p.send(&protocol.SessionsChanged{Sessions: []protocol.SessionInfo{}}), "one tick waits already")
	require.NotNil(t, p.send(tick{}), "and then the next")
	require.Nil(t, sit(t, 80, 24, session("one")).send(tick{}), "without a grant no time passes")
}

// TestGivingTakesThreeKeys: Enter, y and Enter; no one key, pressed as often as one likes, gives anything.
func TestGivingTakesThreeKeys(t *testing.T) {
	for _, key := range []string{"enter", "y", "space", "n", "j"} {
		p := sit(t, 80, 24, asking("one", "fix it"))
		p.press(key, key, key, key, key)
		require.Empty(t, p.decided, key)
	}
	p := sit(t, 80, 24, asking("one", "fix it"))
	p.press("enter")
	require.Contains(t, strings.Join(p.lines(), "\n"), `one "bash": give every key to codex, for 10m or the user's limit? [y/N] _`)
	p.press("y", "a", "enter")
	require.Empty(t, p.decided, "another key takes the y back")
	p.press("enter", "y")
	require.Contains(t, strings.Join(p.lines(), "\n"), "[y/N] y")
	p.press("enter")
	require.Equal(t, []string{"give one 3 codex"}, p.decided)
	require.Contains(t, strings.Join(p.lines(), "\n"), "codex has the keyboard of one")
	p.fails = errors.New("gateway: no\x1b[2J token")
	p.press("enter", "y", "enter")
	require.Contains(t, strings.Join(p.lines(), "\n"), "gateway: no[2J token")
}

// TestAQuestionIsWholeOnANarrowScreen: so are the reason and the keys, and no reason is so long that it takes the question's place.
func TestAQuestionIsWholeOnANarrowScreen(t *testing.T) {
	const reason = "restart the server and look at its log, since it did not come up"
	whole := func(p *person) string { return strings.Join(strings.Fields(strings.Join(p.lines(), " ")), " ") }
	p := sit(t, 40, 10, asking("one", reason))
	require.Contains(t, whole(p), "x take back or refuse q leave")
	p.press("enter")
	require.Contains(t, whole(p), `one "bash": give every key to codex, for 10m or the user's limit? [y/N] _ codex says: “`+reason+"”")
	require.Contains(t, whole(p), "y, then Enter, gives the keyboard Enter alone or n does not x refuses")
	p = sit(t, 40, 10, asking("one", strings.Repeat("so that all is well ", 20)))
	p.press("enter")
	require.Contains(t, whole(p), "give every key to codex")
	require.Contains(t, whole(p), "…")
}

// TestAQuestionThatChangesIsClosed: what was read is what is answered.
func TestAQuestionThatChangesIsClosed(t *testing.T) {
	for name, s := range map[string]protocol.SessionInfo{
		"another reason": asking("one", "drop the table"), "another agent": driven("one"), "answered elsewhere": session("one"),
	} {
		p := sit(t, 80, 24, asking("one", "fix it"))
		p.press("enter", "y")
		p.send(&protocol.SessionsChanged{Sessions: []protocol.SessionInfo{s}})
		require.Contains(t, strings.Join(p.lines(), "\n"), "the question has changed", name)
		p.press("enter")
		require.Empty(t, p.decided, name)
	}
	p := sit(t, 80, 24, asking("one", "fix it"))
	p.press("enter", "y")
	p.send(&protocol.SessionsChanged{Gone: []string{"one"}})
	p.press("enter", "y", "enter")
	require.Empty(t, p.decided, "the session has ended")
}

// TestNothingMovesUnderAFinger: sessions that come and go leave the cursor where it is.
func TestNothingMovesUnderAFinger(t *testing.T) {
	p := sit(t, 80, 24, session("one"), session("two"), driven("three"))
	p.press("down", "down")
	line, _ := p.under()
	require.Contains(t, line, "three")
	p.send(&protocol.SessionsChanged{Sessions: []protocol.SessionInfo{asking("four", "now")}, Gone: []string{"one"}})
	line, _ = p.under()
	require.Contains(t, line, "three")
	p.send(&protocol.SessionsChanged{Gone: []string{"three"}})
	line, _ = p.under()
	require.Contains(t, line, "three", "also when it has ended")
	require.Contains(t, line, "ended")
	p.press("x", "enter")
	require.Empty(t, p.decided)
	p.press("n")
	line, _ = p.under()
	require.Contains(t, line, "four")
	require.NotContains(t, strings.Join(p.lines(), "\n"), "three")
	p.send(&protocol.SessionsChanged{Full: true, Sessions: []protocol.SessionInfo{session("two"), session("five")}})
	line, _ = p.under()
	require.Contains(t, line, "four", "a gateway that knows others")
	p.press("up")
	line, _ = p.under()
	require.Contains(t, line, "two")
	p.send(&protocol.SessionsChanged{Gone: []string{"five", "two"}})
	require.Contains(t, p.lines()[0], "0 sessions")
	require.Contains(t, p.lines()[2], "ended")
	p.press("down")
	require.Contains(t, p.lines()[2], "no sessions")
	p.send(&protocol.SessionsChanged{Sessions: []protocol.SessionInfo{session("six")}})
	line, _ = p.under()
	require.Contains(t, line, "six")
}

func TestTakingBackIsOneKey(t *testing.T) {
	p := sit(t, 80, 24, driven("one"), asking("two", "x"), session("three"))
	p.press("enter")
	require.Contains(t, strings.Join(p.lines(), "\n"), "codex has the keyboard: x takes it back")
	p.press("x", "down", "enter", "x", "down", "x")
	require.Equal(t, []string{"take one 4 ", "take two 3 codex"}, p.decided)
	require.Contains(t, strings.Join(p.lines(), "\n"), "no agent has the keyboard of three")
}

func TestManySessionsOnASmallTerminal(t *testing.T) {
	var all []protocol.SessionInfo
	for i := range 200 {
		all = append(all, session(fmt.Sprintf("s-%03d", i)))
	}
	all[150] = asking("s-150", "日本\x1b]2;x\a\u202e"+strings.Repeat("long ", 50))
	p := sit(t, 80, 24, all...)
	require.Len(t, p.lines(), 24)
	p.press("n")
	line, at := p.under()
	require.Contains(t, line, "s-150")
	require.Contains(t, line, "“日本]2;x")
	p.press("up", "down")
	again, where := p.under()
	require.Equal(t, line, again)
	require.Equal(t, at, where, "the list moves no further than needed")
	for _, keys := range [][]string{{"end"}, {"pgup"}, {"pgdown"}, {"home"}} {
		p.press(keys...)
		_, at := p.under()
		require.Positive(t, at)
	}
	for rows := 1; rows < 24; rows++ {
		for _, cols := range []int{1, 20, 80} {
			p.send(fullscreen.Resize{Cols: cols, Rows: rows})
			p.lines()
		}
	}
}

func TestTheEndOfTheGateway(t *testing.T) {
	p := sit(t, 80, 24)
	require.Contains(t, strings.Join(p.lines(), "\n"), "proxy --agent PROGRAM")
	p.press("down", "enter", "x", "n")
	require.IsType(t, fullscreen.Leaving{}, p.send(gone{})())
	require.True(t, p.gone)
	require.IsType(t, fullscreen.Leaving{}, p.handleKey("q")())
}
