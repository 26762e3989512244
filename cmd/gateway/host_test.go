package main

import (
	"context"
	"log/slog"
	"os"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"terminalproxy/gateway"
	"terminalproxy/gateway/client"
	"terminalproxy/protocol"
)

// R33: a gateway that makes up a start, repeats one or changes it starts nothing.
func TestR33TheHostStartsWhatItsOwnAgentAskedFor(t *testing.T) {
	asked := protocol.ProxyStart{RequestID: "r1", Command: "vim", Args: []string{"notes.txt"}, Cwd: "/tmp"}
	for name, c := range map[string]struct {
		change func(*protocol.ProxyStart)
		good   bool
	}{
		"as asked for":  {func(*protocol.ProxyStart) {}, true},
		"made up":       {func(m *protocol.ProxyStart) { m.RequestID = "a-1:r2" }, false},
		"other program": {func(m *protocol.ProxyStart) { m.Command = "sh" }, false},
		"more words":    {func(m *protocol.ProxyStart) { m.Args = append(m.Args, "-c") }, false},
		"other place":   {func(m *protocol.ProxyStart) { m.Cwd = "/" }, false},
		"environment":   {func(m *protocol.ProxyStart) { m.Env = []string{"LD_PRELOAD=x"} }, false},
	} {
		t.Run(name, func(t *testing.T) {
			p := &programs{asked: map[string]*protocol.ProxyStart{"r1": &asked}}
			m := asked
			m.RequestID = "a-1:r1"
			c.change(&m)
			err := p.allow(&m)
			if !c.good {
				require.ErrorContains(t, err, "nobody here asked for that program")
				return
			}
			require.NoError(t, err)
			require.Error(t, p.allow(&m), "once")
		})
	}
}

func TestProgramsAreStartedOnTheLocalGatewayOnly(t *testing.T) {
	_, err := elsewhere{at: "wss://example.org"}.Start(t.Context(), &protocol.ProxyStart{Command: "sh"})
	require.ErrorContains(t, err, "wss://example.org")
}

// BenchmarkIdlePrograms states what headless programs cost that do nothing: memory of this process (host and gateway in
// one) for each, and its CPU time for all of them.
func BenchmarkIdlePrograms(b *testing.B) {
	const n = 200
	dir := b.TempDir()
	require.NoError(b, os.Chmod(dir, 0o700))
	local := gateway.NewLocal(dir, nil)
	defer func() { _ = local.Close() }()
	ep, err := gateway.ParseEndpoint("")
	require.NoError(b, err)
	c := client.New(client.Config{Dial: local.Dial, URL: ep.URL(protocol.PathAgent), Key: "benchmark"})
	defer func() { _ = c.Close() }()
	own := newPrograms(c, ep, &share{local: local}, slog.New(slog.DiscardHandler))
	own.conf.Reaper = nil // it would be this test
	defer own.close()
	start := func() {
		id, err := own.Start(context.Background(), &protocol.ProxyStart{Command: "sh", Args: []string{"-c", "echo ready; read line"}})
		require.NoError(b, err)
		got, err := c.Wait(context.Background(), &protocol.Wait{SessionID: id, Until: protocol.Until{Text: "ready"}, TimeoutMs: 20_000})
		require.NoError(b, err)
		require.True(b, got.Met)
	}
	start()
	before := resident(b)
	for range n {
		start()
	}
	each := float64(resident(b)-before) / n / 1024
	const span = 2 * time.Second
	time.Sleep(span) // what the starts left to do
	var used time.Duration
	for b.Loop() {
		began := cpu(b)
		time.Sleep(span)
		used += cpu(b) - began
	}
	b.ReportMetric(each, "KiB/program")
	b.ReportMetric(float64(used.Microseconds())/float64(b.N)/span.Seconds(), "cpu-µs/s")
}

// resident is the memory of this process in bytes.
func resident(b *testing.B) int {
	b.Helper()
	statm, err := os.ReadFile("/proc/self/statm")
	require.NoError(b, err)
	pages, err := strconv.Atoi(strings.Fields(string(statm))[1])
	require.NoError(b, err)
	return pages * os.Getpagesize()
}

// cpu is the processor time of this process.
func cpu(b *testing.B) time.Duration {
	b.Helper()
	var used syscall.Rusage
	require.NoError(b, syscall.Getrusage(syscall.RUSAGE_SELF, &used))
	return time.Duration(used.Utime.Nano() + used.Stime.Nano())
}
