package play

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/acarl005/stripansi"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"
	"terminalproxy/cmd/internal/tui/fullscreen"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func event(gap float64, code, data string) string {
	b, _ := json.Marshal(data)
	return fmt.Sprintf("[%.6f, %q, %s]\n", gap, code, b)
}

// recording has a user's input after a second, and an agent's after 11 and 21.
var recording = `{"version":3,"term":{"cols":100,"rows":4}}` + "\n" +
	event(1, "U", "") + event(0, "o", "one") +
	event(10, "A", `{"agent":"claude\u001b]2;x\u0007","id":"a","grant":1}`) + event(0, "i", "ls\r") + event(0, "o", " two") +
	event(10, "i", "pwd\r") + event(0, "o", " three") + event(1, "x", "0")

// player is a model on the test's goroutine: commands run at once, and time passes when the test says so.
type player struct{ *model }

func start(t *testing.T, cast string) *player {
	t.Helper()
	m, err := newModel(t.Context(), Config{File: strings.NewReader(cast), Speed: 1, Idle: 2 * time.Second})
	require.NoError(t, err)
	p := &player{m}
	p.send(fullscreen.Resize{Cols: 100, Rows: 5})
	p.do(m.Init())
	return p
}

func (p *player) send(msg fullscreen.Msg) {
	cmd := p.Update(msg)
	p.do(cmd)
}

// do runs a seek, and leaves the ticks to the test.
func (p *player) do(cmd fullscreen.Cmd) {
	if cmd == nil || !p.seeking {
		return
	}
	p.send(cmd())
}

// passes lets ticks come until so many have, or none is waited for.
func (p *player) passes(ticks int) {
	for ; ticks > 0 && p.playing; ticks-- {
		p.send(tick(p.turn))
	}
}

func (p *player) lines() []string {
	return strings.Split(stripansi.Strip(strings.Join(p.View().Rows, "\n")), "\n")
}

func (p *player) press(keys ...string) {
	for _, k := range keys {
		p.do(p.handleKey(k))
	}
}

func TestItPlays(t *testing.T) {
	p := start(t, recording)
	require.Len(t, p.lines(), 5)
	require.Contains(t, p.lines()[4], "▶ 0:00/0:22 ")
	require.Contains(t, p.lines()[4], "space [ ]")
	p.passes(4)
	require.Equal(t, "one", p.lines()[0])
	require.Contains(t, p.lines()[4], "you typed")
	p.passes(8)
	require.Contains(t, p.lines()[4], "0:03")
	require.Equal(t, "one", p.lines()[0])
	p.passes(1)
	require.Equal(t, "one two", p.lines()[0], "the pause of ten seconds took two")
	require.Contains(t, p.lines()[4], "claude]2;x: ls⏎", "and a name is no sequence")
	p.passes(100)
	require.Equal(t, "one two three", p.lines()[0])
	require.Contains(t, p.lines()[4], "■ 0:22/0:22")
	require.Contains(t, p.lines()[4], "exit 0")
	p.press("space")
	require.True(t, p.playing)
	require.Empty(t, strings.TrimSpace(p.lines()[0]), "from the beginning")
	p.passes(5)
	require.Equal(t, "one", p.lines()[0])
}

func TestItGoesWhereItIsTold(t *testing.T) {
	p := start(t, recording)
	p.press("]")
	require.Equal(t, 11*time.Second, p.now)
	p.press("]")
	require.Equal(t, 21*time.Second, p.now)
	p.press("[", "[", "[")
	require.Equal(t, 11*time.Second, p.now, "there is none before it")
	p.press("space", "right")
	require.Equal(t, 16*time.Second, p.now)
	require.False(t, p.playing)
	require.Contains(t, p.lines()[4], "‖ 0:16")
	p.press("left", "left")
	require.Equal(t, 6*time.Second, p.now)
	require.Equal(t, "one", p.lines()[0])
	p.press("end")
	require.Equal(t, "one two three", p.lines()[0])
	p.press("home", "+", "+", "-")
	require.Equal(t, "  ", p.lines()[0]+"  ")
	require.Contains(t, p.lines()[4], " 2x ")
	for range 20 {
		p.press("-")
	}
	require.Contains(t, p.lines()[4], " 0.0625x ")
	p.press("h")
	require.NotContains(t, strings.Join(p.lines(), "\n"), "0:00")
}

// TestKeysWhileItSeeks: one seek runs at a time, and keys that come meanwhile add up.
func TestKeysWhileItSeeks(t *testing.T) {
	p := start(t, recording)
	p.handleKey("space")
	first := p.handleKey("right")
	require.NotNil(t, first)
	require.Nil(t, p.handleKey("right"))
	require.Nil(t, p.handleKey("right"))
	p.send(first())
	require.Equal(t, 10*time.Second, p.now, "5 s from where the seek that waits goes")
	stale := p.turn
	p.handleKey("space")
	p.send(tick(stale))
	require.Equal(t, 10*time.Second, p.now, "a tick of before a key means nothing")
}

func TestASmallTerminalShowsThePartWithTheCursor(t *testing.T) {
	p := start(t, `{"version":2,"width":60,"height":4}`+"\n"+event(0.1, "o", strings.Repeat("a", 30)+"\r\n\r\n\r\nlast row, and far to the right"))
	p.press("end")
	p.send(fullscreen.Resize{Cols: 20, Rows: 3})
	lines := p.lines()
	require.Len(t, lines, 3)
	require.Equal(t, " the right", lines[1])
	require.Contains(t, lines[2], "■ 0:00/0:00 part of…")
	cursor := p.View().Cursor
	require.Equal(t, 1, cursor.Row)
	p.send(fullscreen.Resize{Cols: 1, Rows: 1})
	require.Len(t, p.lines(), 1)
	p.send(fullscreen.Resize{})
	require.Empty(t, p.View().Rows)
}

func TestWhatIsNoRecordingIsRefused(t *testing.T) {
	for want, cast := range map[string]string{
		"it is not an asciicast v2 or v3": "root:x:0:0:\n",
		"line 3 is not an event":          strings.SplitAfter(recording, "\n")[0] + event(1, "o", "x") + "[x\n",
	} {
		_, err := newModel(t.Context(), Config{File: strings.NewReader(cast)})
		require.ErrorContains(t, err, want)
	}
	p := start(t, recording)
	cmd := p.Update(sought{err: fmt.Errorf("the disk")})
	require.IsType(t, fullscreen.Leaving{}, cmd())
	require.ErrorContains(t, p.failed, "the disk")
}
