package tokens_test

import (
	"encoding/json"
	"errors"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"terminalproxy/gateway/text"
)

// bill is what tasks cost the model.
type bill struct {
	tasks, done, calls, written, read, tokens int
	text                                      strings.Builder // all that was read of the last task
}

func (c *bill) call(said, answer string) {
	c.calls++
	c.written += len(said)
	c.read += len(answer)
	c.tokens += text.Tokens(answer)
	c.text.WriteString(answer + "\n")
}

func (c *bill) add(d *bill) {
	c.tasks, c.done, c.calls = c.tasks+d.tasks, c.done+d.done, c.calls+d.calls
	c.written, c.read, c.tokens = c.written+d.written, c.read+d.read, c.tokens+d.tokens
}

func (c *bill) report(b *testing.B) {
	b.ReportMetric(float64(c.done), "done")
	b.ReportMetric(float64(c.calls), "calls")
	b.ReportMetric(float64(c.written), "written-B")
	b.ReportMetric(float64(c.read), "read-B")
	b.ReportMetric(float64(c.tokens), "read-tokens")
	b.ReportMetric(0, "ns/op") // the tasks wait for programs: time says nothing
}

// bills are those of one client, by task.
type bills map[string]*bill

func (c bills) sum() *bill {
	var all bill
	for _, one := range c {
		all.add(one)
	}
	return &all
}

// beside reports c as a part of what another client cost, in the tasks that the other one did.
func (c bills) beside(b *testing.B, name string, other bills) {
	var ours, theirs bill
	for task, cost := range other {
		if cost.done > 0 && c[task] != nil {
			ours.add(c[task])
			theirs.add(cost)
		}
	}
	if theirs.done > 0 {
		b.ReportMetric(float64(ours.calls)/float64(theirs.calls), "calls/"+name)
		b.ReportMetric(float64(ours.read)/float64(theirs.read), "read/"+name)
	}
}

// errSkip is of a client that is not on this machine.
var errSkip = errors.New("not on this machine")

// client does a task, and keeps the bill.
type client struct {
	name string
	does func(b *testing.B, t *task, c *bill, bin string) error
}

// clients do the tasks one after another, each task before the next: what slows the machine down meets all of them.
//
//   - tools: an agent with our MCP server, in a terminal of its own.
//   - steps: the same, with several steps in a call.
//   - shared: the same in a terminal of the user's, where the agent asks for the keyboard.
//   - tmux: an agent that types with send-keys, then looks with capture-pane every half second until two screens are equal. It
//     pays for the looks up to the one that has what it wants.
//   - terminalcp: an agent with that MCP server, which looks every half second until it sees what it wants.
var clients = []client{{"tools", withTools}, {"steps", withSteps}, {"shared", withShared}, {"tmux", withTmux}, {"terminalcp", withPeer}}

// BenchmarkTask does each task with each client, and then adds up what all of them did. The ratios are of calls and of bytes
// read.
func BenchmarkTask(b *testing.B) {
	bin := b.TempDir()
	for _, command := range []string{"gateway", "proxy"} {
		out, err := exec.CommandContext(b.Context(), "go", "build", "-o", bin, "terminalproxy/cmd/"+command).CombinedOutput()
		require.NoError(b, err, string(out))
	}
	all := make(map[string]bills)
	for _, c := range clients {
		all[c.name] = make(bills)
	}
	for i := range tasks {
		t := &tasks[i]
		if _, err := exec.LookPath(t.program[0]); err != nil || t.needs != "" && !installed(t.needs) {
			b.Logf("%s: its program is not installed", t.name)
			continue
		}
		for _, c := range clients {
			b.Run(t.name+"/"+c.name, func(b *testing.B) {
				var cost bill
				for b.Loop() {
					cost.once(b, t, c, bin)
				}
				cost.report(b)
				all[c.name][t.name] = &cost
			})
		}
	}
	for _, c := range clients {
		if len(all[c.name]) == 0 {
			continue
		}
		b.Run("all/"+c.name, func(b *testing.B) {
			all[c.name].sum().report(b)
			for _, other := range []string{"tmux", "terminalcp"} {
				if other != c.name {
					all[c.name].beside(b, other, all[other])
				}
			}
		})
	}
}

// once has a client do a task and keeps what it cost, the first time: whatever -benchtime says, the bill stays the same.
func (c *bill) once(b *testing.B, t *task, who client, bin string) {
	b.Helper()
	if c.tasks > 0 {
		return
	}
	c.tasks++
	err := who.does(b, t, c, bin)
	switch {
	case err == nil:
		c.done++
	case errors.Is(err, errSkip):
		b.Skip(err)
	case who.name != "tmux" && who.name != "terminalcp":
		require.NoError(b, err, c.text.String())
	default:
		b.Logf("%s: %v", who.name, err)
	}
}

func installed(program string) bool {
	_, err := exec.LookPath(program)
	return err == nil
}

// BenchmarkTools is what the descriptions of the tools cost, once in a conversation.
func BenchmarkTools(b *testing.B) {
	bin := b.TempDir()
	out, err := exec.CommandContext(b.Context(), "go", "build", "-o", bin, "terminalproxy/cmd/gateway").CombinedOutput()
	require.NoError(b, err, string(out))
	a := connect(b, &bill{}, bin, filepath.Join(b.TempDir(), "run"))
	for b.Loop() {
		got, err := a.session.ListTools(a.ctx, nil)
		require.NoError(b, err)
		out, err := json.Marshal(got.Tools)
		require.NoError(b, err)
		b.ReportMetric(float64(len(out)), "read-B/op")
		b.ReportMetric(float64(text.Tokens(string(out))), "read-tokens/op")
	}
}

// Times of the clients that poll.
const (
	pollEvery = 500 * time.Millisecond
	patience  = 60 * time.Second
)
