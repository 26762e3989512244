package tokens_test

import (
	"encoding/json"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"terminalproxy/cmd/internal/dev/binaries"
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

// client does a task, and keeps the bill.
type client struct {
	name string
	does func(b *testing.B, t *task, c *bill, bin string) error
}

// clients do the tasks one after another, each task before the next: what slows the machine down meets all of them.
//
//   - tools: an agent with our MCP server, in a terminal of its own.
//   - steps: the same, with several steps in a call.
//   - tmux: an agent that types with send-keys, then looks with capture-pane every half second until two screens are equal. It
//     pays for the looks up to the one that has what it wants.
var clients = []client{{"tools", withTools}, {"steps", withSteps}, {"tmux", withTmux}}

// BenchmarkTask does each task with each client, and then adds up what all of them did.
func BenchmarkTask(b *testing.B) {
	bin := filepath.Join(b.TempDir(), "bin")
	require.NoError(b, binaries.Build(bin, nil))
	all := make([]bill, len(clients))
	for i := range tasks {
		t := &tasks[i]
		if _, err := exec.LookPath(t.program[0]); err != nil || t.needs != "" && !installed(t.needs) {
			b.Logf("%s: its program is not installed", t.name)
			continue
		}
		for i, c := range clients {
			b.Run(t.name+"/"+c.name, func(b *testing.B) {
				var cost bill
				for b.Loop() {
					cost.once(b, t, c, bin)
				}
				cost.report(b)
				all[i].add(&cost)
			})
		}
	}
	for i, c := range clients {
		if all[i].tasks > 0 {
			b.Run("all/"+c.name, func(b *testing.B) { all[i].report(b) })
		}
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
	case who.name != "tmux":
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
	bin := filepath.Join(b.TempDir(), "bin")
	require.NoError(b, binaries.Build(bin, nil))
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
