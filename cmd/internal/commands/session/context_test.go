package session

import (
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"terminalproxy/cmd/internal/cli"
	"terminalproxy/cmd/internal/cli/clitest"
	"terminalproxy/protocol"
)

func TestContextForAPromptHook(t *testing.T) {
	dir := clitest.Isolate(t)
	got := clitest.Command(t, "context")
	require.Equal(t, clitest.Result{}, got, "without a gateway there is nothing to say, and nothing that stops a prompt")
	clitest.RunFailing(t, cli.StatusNoGateway, "", "context", "nope")

	(&clitest.Terminal{ID: "sh-1"}).ShareIn(t, dir)
	got = clitest.Command(t, "context")
	require.Equal(t, cli.StatusOK, got.Status, got.Err)
	require.Regexp(t, regexp.MustCompile(`^Terminals that the user shows you, as they are now\. .*\nsh-1 rev 1 .* "sh -i" 40x3 keyboard: user\n`+
		`<<<([a-z0-9]{6}) screen, untrusted\n\$\n[a-z0-9]{6}>>>\n$`), got.Out)
	require.Equal(t, got.Out[:60], clitest.Command(t, "context", "sh-1").Out[:60])
	missing := clitest.Command(t, "context", "nope")
	require.Equal(t, cli.StatusNoSession, missing.Status)
	require.Contains(t, missing.Err, "running: sh-1")

	var answer struct {
		Context  string                 `json:"context"`
		Sessions []protocol.SessionInfo `json:"sessions"`
	}
	require.NoError(t, json.Unmarshal([]byte(clitest.Command(t, "context", "--json").Out), &answer))
	require.Len(t, answer.Sessions, 1)
	require.Contains(t, answer.Context, "\nsh-1 rev")
}

// R44: the mark of the fence is new each time, so that a program cannot write it.
func TestContextHasANewFenceEachTimeR44(t *testing.T) {
	block := func() string {
		return contextBlock(many(1), contextBytes, time.Now(), func(protocol.SessionInfo) (*protocol.Frame, error) { return screenOf("x"), nil })
	}
	require.NotEqual(t, block(), block())
}

func many(n int) []protocol.SessionInfo {
	out := make([]protocol.SessionInfo, n)
	for i := range out {
		out[i] = protocol.SessionInfo{SessionID: fmt.Sprintf("sh-%d", i), Command: "sh", Cols: 200, Rows: 100, State: protocol.StateRunning}
	}
	return out
}

func screenOf(lines ...string) *protocol.Frame {
	return &protocol.Frame{Screen: protocol.Screen{Cols: 200, Rows: 100, Lines: lines}}
}

func TestContextFitsWhatAHookMaySay(t *testing.T) {
	var long []string
	for i := range 100 {
		long = append(long, fmt.Sprintf("%03d %s", i, strings.Repeat("x", 190)))
	}
	for _, n := range []int{1, 2, 50, 500} {
		asked := 0
		got := contextBlock(many(n), contextBytes, time.Now(), func(protocol.SessionInfo) (*protocol.Frame, error) {
			asked++
			return screenOf(long...), nil
		})
		require.LessOrEqual(t, len(got), contextBytes)
		require.Greater(t, len(got), contextBytes/2)
		require.Contains(t, got, "099 xxx", "the newest rows are shown")
		require.NotContains(t, got, "000 xxx")
		require.Contains(t, got, "rows are left out")
		require.Equal(t, 1, asked, "one fills the room")
		if n == 50 {
			require.Contains(t, got, "\nsh-1 ", "the others have a line")
		}
		if n == 500 {
			require.Regexp(t, `\n\d+ more are left out: gateway ls$`, got)
		}
	}
}

func TestContextSaysWhatCannotBeSeen(t *testing.T) {
	hidden := screenOf("a", "b")
	hidden.HiddenText = []int{1}
	for want, answer := range map[string]struct {
		frame *protocol.Frame
		err   error
	}{
		"\nrow 2 holds text that the user cannot see":          {hidden, nil},
		"its screen cannot be seen: the user hides the screen": {nil, &protocol.Error{Code: protocol.CodeBlackout}},
		"its screen cannot be seen: gone[2J":                   {nil, errors.New("gone\x1b[2J")},
	} {
		got := contextBlock(many(1), contextBytes, time.Now(), func(protocol.SessionInfo) (*protocol.Frame, error) { return answer.frame, answer.err })
		require.Contains(t, got, want)
	}
}
