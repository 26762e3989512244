// Package chattest helps the tests of drivers. The test's own binary plays a coding agent by a
// script. The test talks to it through the driver, and waits for one record after the other.
package chattest

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"terminalproxy/proxy/chat"
)

// patience bounds the wait for a record.
const patience = 30 * time.Second

// Environment variables: asAgent holds the script that the test binary plays, heard the file for
// the agent's input.
const (
	asAgent = "CHAT_TEST_SCRIPT"
	heard   = "CHAT_TEST_HEARD"
)

// Main is a TestMain. As an agent it plays the script of [Start]. In the lines that it prints, it
// replaces word with the last match of id in its input.
func Main(m *testing.M, word string, id *regexp.Regexp) {
	if script := os.Getenv(asAgent); script != "" {
		playScript(script, word, id)
		return
	}
	goleak.VerifyTestMain(m)
}

// playScript runs the lines of a script: "> line" prints the line, "< words" waits for a line with
// these words, "! words" prints to standard error, and "exit", "kill" and "close" end the agent or
// close its input. After the script it waits for the end of its input.
func playScript(script, word string, id *regexp.Regexp) {
	log, err := os.OpenFile(os.Getenv(heard), os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		panic(err)
	}
	in := bufio.NewReader(os.Stdin)
	readLine := func() (string, bool) {
		line, err := in.ReadString('\n')
		_, _ = log.WriteString(line)
		return line, err == nil
	}
	fmt.Fprintln(log, os.Args[1:])
	last := ""
	for line := range strings.Lines(script) {
		verb, words, _ := strings.Cut(strings.TrimSpace(line), " ")
		switch verb {
		case ">":
			fmt.Println(strings.ReplaceAll(words, word, last))
		case "!":
			fmt.Fprintln(os.Stderr, words)
		case "<":
			got, more := readLine()
			for more && !strings.Contains(got, words) {
				got, more = readLine()
			}
			if m := id.FindStringSubmatch(got); m != nil {
				last = m[1]
			}
		case "exit":
			os.Exit(3)
		case "kill":
			_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
		case "close":
			_ = os.Stdin.Close()
			time.Sleep(time.Hour) // the driver kills the agent
		}
	}
	for more := true; more; {
		_, more = readLine()
	}
}

// Conversation is a conversation through a driver.
type Conversation struct {
	*chat.Session
	T    *testing.T
	log  string
	seen uint64 // number of the last record that the test checked
}

// Start starts a conversation with an agent that plays a script. drive makes the driver for the
// agent's program.
func Start(
	t *testing.T, name, script string, drive func(program string) chat.Driver,
) *Conversation {
	t.Helper()
	self, err := os.Executable()
	require.NoError(t, err)
	c := &Conversation{T: t, log: filepath.Join(t.TempDir(), "heard")}
	t.Setenv(asAgent, script)
	t.Setenv(heard, c.log)
	t.Setenv("GORACE", "atexit_sleep_ms=0")
	c.Session = chat.New(name, drive(self))
	require.NoError(t, c.Start())
	t.Cleanup(func() { _ = c.Close() })
	return c
}

// Next waits for the next record that wanted accepts.
func (c *Conversation) Next(name string, wanted func(chat.Record) bool) chat.Record {
	c.T.Helper()
	ctx, cancel := context.WithTimeout(c.T.Context(), patience)
	defer cancel()
	for {
		got, _, err := c.Records(ctx, c.seen)
		require.NoError(c.T, err, name)
		require.NotEmpty(c.T, got, "the session ended without %s", name)
		for _, r := range got {
			c.seen = r.Number
			if wanted(r) {
				return r
			}
		}
	}
}

// WaitForState waits for a state.
func (c *Conversation) WaitForState(state chat.State) chat.Record {
	c.T.Helper()
	return c.Next(state, func(r chat.Record) bool { return r.State == state })
}

// Turn waits for the end of a turn.
func (c *Conversation) Turn() chat.Turn {
	c.T.Helper()
	return *c.Next("a turn", func(r chat.Record) bool { return r.Turn != nil }).Turn
}

// WaitForItem waits for an item of this kind whose text contains words.
func (c *Conversation) WaitForItem(kind chat.Kind, words string) *chat.Item {
	c.T.Helper()
	return c.Next(kind+" "+words, func(r chat.Record) bool {
		return r.Item != nil && r.Item.Kind == kind && strings.Contains(r.Item.Text, words)
	}).Item
}

// WaitForNotice waits for a notice.
func (c *Conversation) WaitForNotice(words string) {
	c.T.Helper()
	c.WaitForItem(chat.Notice, words)
}

// CloseAndReadInput closes the conversation and returns the agent's whole input, after a line with
// its arguments.
func (c *Conversation) CloseAndReadInput() string {
	c.T.Helper()
	require.NoError(c.T, c.Close())
	b, err := os.ReadFile(c.log)
	require.NoError(c.T, err)
	return string(b)
}

// MeasureKept returns how many bytes of memory do leaves allocated while alive is reachable.
func MeasureKept(do func(), alive any) int {
	heap := func() int {
		runtime.GC()
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return int(m.HeapAlloc)
	}
	before := heap()
	do()
	after := heap()
	runtime.KeepAlive(alive)
	return after - before
}
