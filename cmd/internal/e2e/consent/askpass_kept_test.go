package consent_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"terminalproxy/cmd/internal/e2e/world"

	"github.com/stretchr/testify/require"
)

// connected are the first lines of an agent: a shell that starts its `gateway mcp`, and goes on when
// that has answered, so that the gateway knows it.
const connected = `coproc MCP { exec gateway mcp; }
ask() { printf '%s\n' "$1" >&"${MCP[1]}"; }
ask '{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"robot","version":"1"}}}'
read -r line <&"${MCP[0]}"
ask '{"jsonrpc":"2.0","method":"notifications/initialized"}'
ask '{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"terminal_list","arguments":{}}}'
read -r line <&"${MCP[0]}"
`

// answerKept answers a question for 15 minutes.
func (a *tool) answerKept(words, text string) {
	a.T.Helper()
	a.desk.See("the line for the answer to "+words, func(screen string) bool {
		if strings.Contains(screen, "Tab: for 15 min") {
			return true
		}
		if asks(screen, words) {
			a.desk.Press("C-g")
		}
		return false
	})
	a.desk.Press("Tab")
	a.desk.Wait("kept 15 min:")
	a.desk.Typed(text)
	a.desk.Press("Enter")
	a.desk.WaitGone("Enter sends")
}

// The user gives sudo's password for a while: later sudos of that agent get it without a question,
// while a sign says so. Another target is asked for. A wrong password and Ctrl+\\ end it, and so does
// the agent's end.
func TestSudoIsAnsweredForAWhile_Root(t *testing.T) {
	s := newSudoer(t)
	const sign = "sudo password kept"
	run := s.start(connected + `
sudo -k id -u; sudo -k id -u
sudo -k -u nobody id -un
sudo -k id -u; sudo -k id -u
read -r line < go
`)
	require.Zero(t, s.as("mkfifo", "go").Wait().Status)
	s.answerKept("“an agent” wants your password for sudo: “sudo -k id -u”", "a wrong one")
	s.answerKept("again, the last answer was wrong: “an agent” wants", s.canary) // the second sudo asks nothing
	s.waitQuestion("wants your password for sudo: “sudo -k -u nobody id -un”")
	s.Until(func() bool { return strings.Count(run.Out.String(), "0\n") == 2 }, run.Err.String)
	s.press("wants your password for sudo: “sudo -k -u nobody id -un”", "C-\\") // and no answer is kept
	s.answerKept("“an agent” wants your password for sudo: “sudo -k id -u”", s.canary)
	s.Until(func() bool { return strings.Count(run.Out.String(), "0\n") == 4 }, run.Err.String)
	s.desk.Wait(sign)
	searchProcesses(t, s.World, s.canary)
	fifo, err := os.OpenFile(filepath.Join(s.dir, "go"), os.O_RDWR, 0)
	require.NoError(t, err)
	defer fifo.Close()
	_, err = fifo.WriteString("\n")
	require.NoError(t, err)
	got := run.Wait()
	require.Equal(t, "0\n0\n0\n0\n", got.Out, got.Err)
	require.NotContains(t, got.Err, s.canary)
	s.desk.Wait("the password for sudo is no longer kept: “an agent” has ended")
	s.desk.WaitGone(sign)
	s.proxyForgets()

	s.desk.Press("C-d")
	s.waitRecorded()
	require.Equal(t, []string{"keep", "keep", "kept", "refuse", "keep", "kept"}, s.fates())
	require.Greater(t, searchFiles(t, s.dir, s.canary), 3)
}

// proxyForgets waits until the proxy's memory holds no part of the password that would be of use. The
// goroutine that reads the keyboard may still have it in hand.
func (s *sudoer) proxyForgets() {
	s.T.Helper()
	for _, process := range s.Processes() {
		number, line, _ := strings.Cut(process, " ")
		if !strings.HasPrefix(line, "proxy ") {
			continue
		}
		pid, err := strconv.Atoi(number)
		require.NoError(s.T, err)
		s.Until(func() bool {
			holds, err := memoryHolds(pid, s.canary[1:]) // the next key overwrites the first of its letters
			return err == nil && !holds
		}, func() string { return "the proxy's memory holds the password" })
		return
	}
	require.Fail(s.T, "no proxy runs")
}

// fates returns what the log says became of the questions.
func (s *sudoer) fates() (all []string) {
	s.T.Helper()
	data, err := os.ReadFile(filepath.Join(s.dir, "rec.cast.audit.jsonl"))
	require.NoError(s.T, err)
	for line := range strings.Lines(string(data)) {
		var e world.AuditEntry
		require.NoError(s.T, json.Unmarshal([]byte(line), &e))
		if e.Kind == "secret" {
			all = append(all, e.Fate)
		}
	}
	return all
}
