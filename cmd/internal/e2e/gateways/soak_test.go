package gateways_test

import (
	"bufio"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"terminalproxy/cmd/internal/e2e/world"
	"terminalproxy/gateway/client"
	"terminalproxy/gateway/endpoint"
	"terminalproxy/gateway/userdirs"
	"terminalproxy/protocol"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// killEvery is the interval at which the serving process is killed.
const killEvery = 2 * time.Second

// TestSoak_Client kills the process that serves the local gateway every two seconds, while agents type
// into sessions and wait. It compares the receipts with what the programs have read: no byte is
// typed twice, no unread byte is claimed, and each wait has an answer. SOAK sets the numbers of
// sessions, agents and kills: "100,30,30".
func TestSoak_Client(t *testing.T) {
	world.Clients(t)
	if runtime.GOOS != "linux" {
		t.Skip("nobody says which process serves a socket")
	}
	sessions, agents, kills := 100, 30, 30
	if scale := os.Getenv("SOAK"); scale != "" {
		_, err := fmt.Sscanf(scale, "%d,%d,%d", &sessions, &agents, &kills)
		require.NoError(t, err, "SOAK is three numbers with commas between")
	}
	s := &soak{w: world.NewSolo(t), agents: make([]*soakAgent, agents)}
	t.Cleanup(s.close)                   // before the world checks what is left
	t.Setenv(userdirs.EnvDir, s.w.Run()) // the agents are clients in this process
	s.open(sessions)
	s.metrics = s.w.Caller() // one connection, since each would count
	before, over := s.costs(), make(chan struct{})
	var working sync.WaitGroup
	for _, a := range s.agents {
		working.Go(func() { a.work(over) })
		working.Go(func() { a.waitForTheEnd() })
	}
	for range kills {
		time.Sleep(killEvery) // the load: no time is expected of anything
		s.kill()
	}
	close(over)
	s.replacing.Wait()
	for _, a := range s.agents {
		working.Go(a.last)
	}
	working.Wait()
	s.compare()
	after := before
	// Both sides give up a cut connection after 45 s of silence.
	s.w.UntilWithin(3*world.Patience, func() bool { after = s.costs(); return after.within(before) }, func() string { return fmt.Sprintf("before: %+v, now: %+v", before, after) })
	s.figures(kills, before, after)
}

type soak struct {
	w         *world.World
	agents    []*soakAgent
	metrics   *world.Caller
	replacing sync.WaitGroup
	number    atomic.Int64 // of sessions and words

	mu  sync.Mutex
	all []*soakSession // also those that were killed

	typed, refused, partly, unknown, unread, met, long atomic.Int64
}

// soakSession is a program with its host, a separate process, which may come to serve the gateway.
type soakSession struct {
	cmd    *exec.Cmd
	id     string
	ledger string // what the program has read
	agent  *soakAgent
	killed atomic.Bool

	mu    sync.Mutex
	words []soakWord
}

// open starts the agents' sessions, and connects the agents.
func (s *soak) open(sessions int) {
	for i := range s.agents {
		s.agents[i] = &soakAgent{s: s, name: fmt.Sprintf("agent%d", i)}
	}
	s.begin(s.agents[0]) // makes everyone's secret
	var starting sync.WaitGroup
	slots := make(chan struct{}, 8)
	for i := 1; i < sessions; i++ {
		slots <- struct{}{}
		starting.Go(func() { s.begin(s.agents[i%len(s.agents)]); <-slots })
	}
	starting.Wait()
	secret := strings.TrimSpace(s.w.Content("home/state/terminalproxy/agent.key"))
	ep, err := endpoint.Parse("")
	require.NoError(s.w.T, err)
	for _, a := range s.agents {
		sum := sha256.Sum256([]byte(secret + "\n" + a.name))
		a.Client = client.New(client.Config{Dial: ep.DialContext, URL: ep.URL(protocol.PathAgent), Name: a.name, Key: hex.EncodeToString(sum[:])})
		s.w.T.Cleanup(func() { _ = a.Close() })
		listed := 0
		s.w.Until(func() bool {
			list, err := a.Sessions(s.w.Ctx)
			listed = len(list)
			return err == nil && listed == sessions
		}, func() string { return fmt.Sprintf("%d sessions of %d", listed, sessions) })
	}
}

// begin starts a session for an agent. Any goroutine may call it.
func (s *soak) begin(a *soakAgent) {
	b := &soakSession{agent: a, ledger: fmt.Sprintf("ledger%d", s.number.Add(1))}
	b.cmd = s.w.Command("gateway", "run", "--as", a.name, "--", "ledger", b.ledger)
	out, err := b.cmd.StdoutPipe()
	if !assert.NoError(s.w.T, err) || !assert.NoError(s.w.T, b.cmd.Start()) {
		return
	}
	s.mu.Lock()
	s.all = append(s.all, b)
	s.mu.Unlock()
	line, err := bufio.NewReader(out).ReadString('\n')
	if b.killed.Load() {
		return // it came to serve before it had printed its name
	}
	assert.NoError(s.w.T, err)
	b.id = strings.TrimSpace(line)
	a.mu.Lock()
	defer a.mu.Unlock()
	a.mine = append(a.mine, b)
}

// server returns the process that serves the gateway, as the kernel reports it.
func (s *soak) server() (pid int) {
	conn, err := net.Dial("unix", filepath.Join(s.w.Run(), "gateway.sock"))
	if err != nil {
		return 0
	}
	defer conn.Close()
	raw, err := conn.(*net.UnixConn).SyscallConn()
	require.NoError(s.w.T, err)
	require.NoError(s.w.T, raw.Control(func(fd uintptr) {
		pid = world.ProcessBehind(int(fd))
	}))
	return pid
}

// kill kills the serving process, and replaces the session that ends with it.
func (s *soak) kill() {
	var victim *soakSession
	s.w.Until(func() bool {
		pid := s.server()
		s.mu.Lock()
		defer s.mu.Unlock()
		at := slices.IndexFunc(s.all, func(b *soakSession) bool { return b.cmd.Process.Pid == pid && !b.killed.Load() })
		if at >= 0 {
			victim = s.all[at]
		}
		return at >= 0
	}, func() string { return "nobody serves" })
	victim.killed.Store(true)
	require.NoError(s.w.T, victim.cmd.Process.Kill())
	a := victim.agent
	a.mu.Lock()
	a.mine = slices.DeleteFunc(a.mine, func(b *soakSession) bool { return b == victim })
	a.mu.Unlock()
	s.replacing.Go(func() {
		_ = victim.cmd.Wait()
		s.begin(a)
	})
}

// compare checks the receipts against what the programs have read.
func (s *soak) compare() {
	for _, b := range s.all {
		name := "session " + b.id
		if b.killed.Load() {
			name += ", killed"
		}
		least, most := 0, 0 // bytes that the program reads
		for _, word := range b.words {
			least += word.least()
			most += word.most()
		}
		log := ""
		s.w.Until(func() bool { log = s.w.Content(b.ledger); return len(log) >= least || b.killed.Load() },
			func() string {
				return fmt.Sprintf("%s: %d bytes are claimed, of which the program has read %d", name, least, len(log))
			})
		require.LessOrEqual(s.w.T, len(log), most, name)
		for _, word := range b.words {
			text, enter := strings.Count(log, word.text), strings.Count(log, word.text+"\r")+strings.Count(log, word.text+"\n") // before it was raw
			require.LessOrEqual(s.w.T, text, 1, "%s: typed twice: %s", name, word.text)
			switch {
			case word.receipt == nil:
			case word.part(0) == 0:
				require.Zero(s.w.T, text, "%s: not claimed, and read: %s", name, word.text)
			case b.killed.Load():
				s.unread.Add(int64(1 - text))
			case word.part(0) == len(word.text):
				require.Equal(s.w.T, 1, text, "%s: claimed, and not read: %s", name, word.text)
				require.Equal(s.w.T, word.part(1), enter, "%s: Enter after %s", name, word.text)
			}
		}
	}
}

// costs counts what the serving process has open. It did not serve at first, so its files are from
// both times.
type costs struct{ goroutines, files int }

func (s *soak) costs() (c costs) {
	metrics := s.metrics.Do("GET", "/metrics", "", 200)
	value := func(name string) (n int) {
		_, rest, found := strings.Cut(metrics, "\n"+name+" ")
		require.True(s.w.T, found, "%s is not in\n%s", name, metrics)
		_, err := fmt.Sscan(rest, &n)
		require.NoError(s.w.T, err)
		return n
	}
	return costs{value("go_goroutines"), value("process_open_fds")}
}

// within reports whether nothing has grown by more than normal fluctuation.
func (c costs) within(before costs) bool {
	const some = 10
	return c.goroutines <= before.goroutines+some && c.files <= before.files+some
}

func (s *soak) figures(kills int, before, after costs) {
	receipts := s.typed.Load() + s.refused.Load() + s.partly.Load() + s.unknown.Load()
	say := fmt.Sprintf("soak: %d sessions, %d agents, %d times the serving process killed: %d inputs (%d typed, %d refused, %d in part, %d not known), "+
		"none twice, none claimed and not read (%d in what was killed); %d waits met, %d of them over the whole time; goroutines %d to %d, files %d to %d",
		len(s.all)-kills, len(s.agents), kills, receipts, s.typed.Load(), s.refused.Load(), s.partly.Load(), s.unknown.Load(), s.unread.Load(),
		s.met.Load(), s.long.Load(), before.goroutines, after.goroutines, before.files, after.files)
	s.w.T.Log(say)
	if file := os.Getenv("SOAK_FIGURES"); file != "" {
		require.NoError(s.w.T, os.WriteFile(file, []byte(say+"\n"), 0o600))
	}
}

// close ends everything that runs.
func (s *soak) close() {
	for _, b := range s.all {
		if !b.killed.Load() {
			_ = b.cmd.Process.Signal(syscall.SIGTERM) // a failed test may have left a dead one
		}
	}
	for _, b := range s.all {
		if !b.killed.Load() {
			_ = b.cmd.Wait()
		}
	}
}
