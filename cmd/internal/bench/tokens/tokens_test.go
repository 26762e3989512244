package tokens_test

import (
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/stretchr/testify/require"

	"terminalproxy/gateway/text"
)

// bill is what a task cost the model.
type bill struct {
	calls, written, read, tokens int
	text                         strings.Builder // all that was read
}

func (c *bill) call(said, answer string) {
	c.calls++
	c.written += len(said)
	c.read += len(answer)
	c.tokens += text.Tokens(answer)
	c.text.WriteString(answer + "\n")
}

func (c *bill) report(b *testing.B) {
	n := float64(b.N)
	b.ReportMetric(float64(c.calls)/n, "calls/op")
	b.ReportMetric(float64(c.written)/n, "written-B/op")
	b.ReportMetric(float64(c.read)/n, "read-B/op")
	b.ReportMetric(float64(c.tokens)/n, "read-tokens/op")
	b.ReportMetric(0, "ns/op") // the tasks wait for programs: time says nothing
}

// BenchmarkTask does each task with the tools, and then twice with tmux: by a model that itself looks again and again until the
// screen is still, and by one whose tool does that and shows it the last screen only. The ratios are what those cost in bytes
// and in calls beside the tools.
func BenchmarkTask(b *testing.B) {
	bin := b.TempDir()
	out, err := exec.CommandContext(b.Context(), "go", "build", "-o", bin, "terminalproxy/cmd/gateway").CombinedOutput()
	require.NoError(b, err, string(out))
	for i := range tasks {
		t := &tasks[i]
		b.Run(t.name, func(b *testing.B) {
			if _, err := exec.LookPath(t.program[0]); err != nil {
				b.Skipf("%s is not installed", t.program[0])
			}
			var ours, calls float64
			b.Run("tools", func(b *testing.B) {
				var c bill
				for b.Loop() {
					withTools(b, t, &c, bin)
				}
				c.report(b)
				ours, calls = float64(c.read+c.written)/float64(b.N), float64(c.calls)/float64(b.N)
			})
			for _, looks := range []bool{true, false} {
				b.Run(map[bool]string{true: "polling", false: "settled"}[looks], func(b *testing.B) {
					if _, err := exec.LookPath("tmux"); err != nil {
						b.Skip("tmux is not installed")
					}
					var c bill
					for b.Loop() {
						withTmux(b, t, &c, looks)
					}
					c.report(b)
					b.ReportMetric(float64(c.read+c.written)/float64(b.N)/ours, "x-bytes")
					b.ReportMetric(float64(c.calls)/float64(b.N)/calls, "x-calls")
				})
			}
		})
	}
}

// BenchmarkTools is what the descriptions of the tools cost, once in a conversation.
func BenchmarkTools(b *testing.B) {
	bin := b.TempDir()
	out, err := exec.CommandContext(b.Context(), "go", "build", "-o", bin, "terminalproxy/cmd/gateway").CombinedOutput()
	require.NoError(b, err, string(out))
	a := connect(b, &bill{}, bin)
	for b.Loop() {
		got, err := a.session.ListTools(a.ctx, nil)
		require.NoError(b, err)
		out, err := json.Marshal(got.Tools)
		require.NoError(b, err)
		b.ReportMetric(float64(len(out)), "read-B/op")
		b.ReportMetric(float64(text.Tokens(string(out))), "read-tokens/op")
	}
}

// agent is an MCP client that keeps count.
type agent struct {
	b       *testing.B
	ctx     context.Context
	bill    *bill
	session *mcp.ClientSession
	rev     int
}

var revision = regexp.MustCompile(` rev (\d+) `)

func connect(b *testing.B, c *bill, bin string) *agent {
	b.Helper()
	run := filepath.Join(b.TempDir(), "run")
	ctx := context.WithoutCancel(b.Context())
	cmd := exec.CommandContext(ctx, filepath.Join(bin, "gateway"), "mcp")
	cmd.Env = append(os.Environ(), "TERMINALPROXY_DIR="+run, "TERM=xterm-256color", "LANG=C.UTF-8", "LESS=", "LESSHISTFILE=-")
	a := &agent{b: b, ctx: ctx, bill: c}
	client := mcp.NewClient(&mcp.Implementation{Name: "bench", Version: "1"}, nil)
	var err error
	a.session, err = client.Connect(ctx, &mcp.CommandTransport{Command: cmd}, nil)
	require.NoError(b, err)
	b.Cleanup(func() { _ = a.session.Close() })
	return a
}

type args = map[string]any

// call calls a tool and returns what the model reads.
func (a *agent) call(tool string, with args) string {
	a.b.Helper()
	said, err := json.Marshal(with)
	require.NoError(a.b, err)
	got, err := a.session.CallTool(a.ctx, &mcp.CallToolParams{Name: tool, Arguments: with})
	require.NoError(a.b, err)
	content, ok := got.Content[0].(*mcp.TextContent)
	require.True(a.b, ok)
	require.False(a.b, got.IsError, content.Text)
	a.bill.call(tool+string(said), content.Text)
	if m := revision.FindStringSubmatch(content.Text); m != nil {
		a.rev, _ = strconv.Atoi(m[1])
	}
	return content.Text
}

// withTools does a task as an agent with the tools would.
func withTools(b *testing.B, t *task, c *bill, bin string) {
	dir, a, from := t.place(b), connect(b, c, bin), c.text.Len()
	run := args{"program": t.program[0], "args": t.program[1:], "cwd": dir}
	if t.first != "" {
		run["wait_for"], run["value"] = "regex", t.first
	}
	a.call("terminal_run", run)
	for _, s := range t.steps {
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
		out := a.call("terminal_send", with)
		require.False(b, s.exit && !strings.Contains(out, "exit status 0"), out)
	}
	for t.follow != "" && !strings.Contains(c.text.String()[from:], t.follow) {
		a.call("terminal_wait", args{"for": "text", "value": t.follow, "since_rev": a.rev, "timeout_ms": 1000})
	}
	t.check(b, dir, c.text.String()[from:])
	require.NoError(b, a.session.Close())
}

// Times of the client that polls.
const (
	pollEvery = 500 * time.Millisecond
	patience  = 60 * time.Second
)

// tmuxKeys are the keys' names there.
var tmuxKeys = map[string]string{"esc": "Escape", "space": "Space", "down": "Down", "enter": "Enter"}

// pane is a program in tmux, and a client that keeps count.
type pane struct {
	b    *testing.B
	dir  string
	bill *bill
	// looks says that every look is a call of the model's; otherwise a tool looks, and shows the last screen.
	looks bool
}

func (p *pane) tmux(args ...string) string {
	p.b.Helper()
	cmd := exec.CommandContext(p.b.Context(), "tmux", append([]string{"-S", filepath.Join(p.dir, "tmux"), "-f", filepath.Join(p.dir, "conf")}, args...)...)
	cmd.Env = append(os.Environ(), "LANG=C.UTF-8", "LESS=", "LESSHISTFILE=-")
	out, err := cmd.CombinedOutput()
	require.NoError(p.b, err, string(out))
	return string(out)
}

// screen is the screen as tmux shows it, without what the tools leave out as well: blanks and empty rows at the end.
func (p *pane) screen() string {
	return strings.TrimRight(p.tmux("capture-pane", "-p"), "\n")
}

func (p *pane) exited() bool {
	return strings.TrimSpace(p.tmux("display-message", "-p", "#{pane_dead}")) == "1"
}

// settle looks every half second until the screen is still and shows what it is looked at for. said is what was typed in the
// same call, if a tool does the looking.
func (p *pane) settle(said, until string, exit bool) {
	p.b.Helper()
	wanted, before, began := regexp.MustCompile("(?m)"+until), "", time.Now()
	if p.looks && said != "" {
		p.bill.call(said, "")
	}
	for {
		time.Sleep(pollEvery)
		now := p.screen()
		if p.looks {
			p.bill.call("capture", now)
		}
		if now == before && (exit && p.exited() || !exit && wanted.MatchString(now)) {
			if !p.looks {
				p.bill.call(said, now)
			}
			return
		}
		before = now
		require.Less(p.b, time.Since(began), patience, now)
	}
}

// withTmux does a task by typing and looking at the whole screen.
func withTmux(b *testing.B, t *task, c *bill, looks bool) {
	dir, from := t.place(b), c.text.Len()
	p := &pane{b: b, dir: b.TempDir(), bill: c, looks: looks}
	conf := "set -g status off\nset -g remain-on-exit on\nset -g default-terminal tmux-256color\n"
	require.NoError(b, os.WriteFile(filepath.Join(p.dir, "conf"), []byte(conf), 0o600))
	p.tmux(append([]string{"new-session", "-d", "-x", "80", "-y", "24", "-c", dir}, t.program...)...)
	defer p.tmux("kill-server")
	said := strings.Join(t.program, " ")
	for t.follow != "" && !strings.Contains(c.text.String()[from:], t.follow) {
		time.Sleep(pollEvery)
		p.bill.call(said, p.screen())
		said = "capture"
	}
	if t.follow == "" {
		p.settle(said, t.first, false)
	}
	for _, s := range t.steps {
		if s.text != "" {
			p.tmux("send-keys", "-l", "--", s.text)
		}
		keys := s.keys
		if s.enter {
			keys = append(keys[:len(keys):len(keys)], "enter")
		}
		for _, key := range keys {
			p.tmux("send-keys", tmuxKeys[key])
		}
		p.settle("send "+s.text+strings.Join(keys, " "), s.until, s.exit)
	}
	t.check(b, dir, c.text.String()[from:])
}
