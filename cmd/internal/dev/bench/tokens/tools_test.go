package tokens_test

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/stretchr/testify/require"
)

// agent is an MCP client that keeps count.
type agent struct {
	b       *testing.B
	ctx     context.Context
	bill    *bill
	session *mcp.ClientSession
	rev     int
	batches bool // it sends several steps in a call
}

var revision = regexp.MustCompile(` rev (\d+) `)

// environ is what the programs of all clients find.
func environ(more ...string) []string {
	return append(append(os.Environ(), "LANG=C.UTF-8", "LESS=", "LESSHISTFILE=-", "NANORC=", "DEBUGINFOD_URLS=", "HISTFILE="), more...)
}

// serve starts an MCP server.
func serve(b *testing.B, c *bill, cmd *exec.Cmd) *agent {
	b.Helper()
	a := &agent{b: b, ctx: context.WithoutCancel(b.Context()), bill: c}
	client := mcp.NewClient(&mcp.Implementation{Name: "bench", Version: "1"}, nil)
	var err error
	a.session, err = client.Connect(a.ctx, &mcp.CommandTransport{Command: cmd}, nil)
	require.NoError(b, err)
	b.Cleanup(func() { _ = a.session.Close() })
	return a
}

// connect is an agent with our server, whose sessions are in the directory run.
func connect(b *testing.B, c *bill, bin, run string) *agent {
	b.Helper()
	cmd := exec.CommandContext(context.WithoutCancel(b.Context()), filepath.Join(bin, "gateway"), "mcp")
	cmd.Env = environ("TERMINALPROXY_DIR="+run, "TERM=xterm-256color")
	return serve(b, c, cmd)
}

type args = map[string]any

// call calls a tool and returns what the model reads.
func (a *agent) call(tool string, with args) (string, error) {
	said, err := json.Marshal(with)
	if err != nil {
		return "", err
	}
	got, err := a.session.CallTool(a.ctx, &mcp.CallToolParams{Name: tool, Arguments: with})
	if err != nil {
		return "", err
	}
	content, ok := got.Content[0].(*mcp.TextContent)
	switch {
	case !ok:
		return "", fmt.Errorf("%s answers with a %T", tool, got.Content[0])
	case got.IsError:
		return "", fmt.Errorf("%s: %s", tool, content.Text)
	}
	a.bill.call(tool+string(said), content.Text)
	if m := revision.FindStringSubmatch(content.Text); m != nil {
		a.rev, _ = strconv.Atoi(m[1])
	}
	return content.Text, nil
}

// withTools does a task as an agent with the tools would, in a terminal of its own, step by step.
func withTools(b *testing.B, t *task, c *bill, bin string) error {
	return runOwn(b, t, connect(b, c, bin, filepath.Join(b.TempDir(), "run")))
}

// withSteps does it with several steps in a call.
func withSteps(b *testing.B, t *task, c *bill, bin string) error {
	a := connect(b, c, bin, filepath.Join(b.TempDir(), "run"))
	a.batches = true
	return runOwn(b, t, a)
}

// runOwn does a task in a terminal of the agent's own.
func runOwn(b *testing.B, t *task, a *agent) error {
	dir := t.place(b)
	run := args{"program": t.program[0], "args": t.program[1:], "cwd": dir}
	steps := t.steps
	switch {
	case t.first != "":
		run["wait_for"], run["value"] = "regex", t.first
	case t.ends():
		run["wait_for"], steps = "exit", steps[1:]
	}
	out, err := a.call("terminal_run", run)
	if err != nil || t.ends() && !strings.Contains(out, fmt.Sprintf(" exited %d", t.status)) {
		return fmt.Errorf("%s: %w", out, err)
	}
	name, _, _ := strings.Cut(out[strings.LastIndex(out[:strings.Index(out, " rev ")], "\n")+1:], " ")
	if err := a.operate(t, steps, name); err != nil {
		return err
	}
	return t.check(dir, a.bill.text.String())
}

// operate does the steps of a task, several in a call if the agent batches them.
func (a *agent) operate(t *task, steps []step, terminal string) error {
	for len(steps) > 0 {
		s, n := steps[0], 1
		if a.batches && !t.apart {
			for n < min(len(steps), maxBatch) && s.search+steps[n].search == "" {
				n++
			}
		}
		if n > 1 {
			out, err := a.batch(steps[:n])
			if err != nil || steps[n-1].exit && !strings.Contains(out, fmt.Sprintf(" exited %d", t.status)) {
				return fmt.Errorf("%s: %w", out, err)
			}
			steps = steps[n:]
			continue
		}
		steps = steps[1:]
		out, err := a.step(s, terminal)
		if err != nil || s.exit && !strings.Contains(out, fmt.Sprintf(" exited %d", t.status)) {
			return fmt.Errorf("%s: %w", out, err)
		}
	}
	for t.follow != "" && !strings.Contains(a.bill.text.String(), t.follow) {
		if _, err := a.call("terminal_wait", args{"for": "text", "value": t.follow, "since_rev": a.rev, "timeout_ms": 1000}); err != nil {
			return err
		}
	}
	return nil
}

// maxBatch is how many steps an agent sends in one call.
const maxBatch = 16

// batch sends several steps in one call.
func (a *agent) batch(steps []step) (string, error) {
	all := make([]args, 0, len(steps))
	for _, s := range steps {
		with := args{"until": "regex", "value": s.until}
		switch {
		case s.exit:
			with = args{"until": "exit"}
		case s.quiet:
			with = args{"until": "idle"}
		}
		if s.text != "" {
			with["text"] = s.text
		}
		if s.keys != nil {
			with["keys"] = s.keys
		}
		if s.enter {
			with["enter"] = true
		}
		all = append(all, with)
	}
	return a.call("terminal_send", args{"steps": all})
}

func (a *agent) step(s step, terminal string) (string, error) {
	if s.search != "" {
		with := args{"view": "history", "match": s.search}
		if terminal != "" {
			with["terminal"] = terminal
		}
		return a.call("terminal_read", with)
	}
	with := args{}
	if s.text != "" {
		with["text"] = s.text
	}
	if s.keys != nil {
		with["keys"] = s.keys
	}
	if s.enter {
		with["enter"] = true
	}
	if s.exit {
		with["wait_for"] = "exit"
	}
	return a.call("terminal_send", with)
}
