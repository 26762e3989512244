package cluster_test

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"terminalproxy/protocol"
)

// listing is what `gateway ls --json` prints.
type listing struct {
	Sessions   []protocol.SessionInfo `json:"sessions"`
	Incomplete *protocol.Incomplete   `json:"incomplete"`
}

// only is a command at one gateway and at no other.
func (s *stage) only(at int, role string, args ...string) *exec.Cmd {
	args = append(args[:len(args):len(args)], "--gateway", s.rig.Gateways[at].URL(), "--token-file", s.tokens[role])
	return s.rig.Command(s.ctx, "gateway", args...)
}

// lists is the list at a gateway.
func (s *stage) lists(at int) (list listing) {
	s.t.Helper()
	out, err := s.only(at, "viewer", "ls", "--json").Output()
	require.NoError(s.t, err)
	require.NoError(s.t, json.Unmarshal(out, &list))
	return list
}

// running counts the sessions of a list that run, and requires that all are there, or that it says why not.
func (s *stage) running(at, all int) (n int) {
	s.t.Helper()
	list := s.lists(at)
	if list.Incomplete == nil {
		require.Len(s.t, list.Sessions, all, "gateway %d lists too few without a word", at)
	}
	for _, info := range list.Sessions {
		if info.State == protocol.StateRunning {
			n++
		}
	}
	return n
}

// settles lists at gateways until all sessions run in each list.
func (s *stage) settles(all int, at ...int) {
	s.t.Helper()
	for _, i := range at {
		for end := time.Now().Add(limit); s.running(i, all) < all; time.Sleep(time.Millisecond) {
			require.True(s.t, time.Now().Before(end), "gateway %d: %+v", i, s.lists(i))
		}
	}
}

// hears reports whether a gateway hears just so many others.
func (s *stage) hears(at, others int) bool {
	text, err := s.rig.Gateways[at].Get(s.ctx, "/healthz", s.tokens["viewer"])
	return err == nil && strings.Contains(text, fmt.Sprintf(`"gateways":%d}`, others))
}

// TestListsAreNeverShortWithoutAWord: while gateways restart, are killed and stand still, and while no NATS server is there. CLIENTS=1 has it
// run.
func TestListsAreNeverShortWithoutAWord(t *testing.T) {
	if os.Getenv("CLIENTS") == "" {
		t.Skip("it needs the built programs: make cluster-soak runs it")
	}
	const all = 9
	s := newStage(t)
	for i := range all {
		s.starts(i%size, "sh")
	}
	for i := range s.rig.Gateways {
		require.Eventually(t, func() bool { return len(s.lists(i).Sessions) == all }, limit, 20*time.Millisecond)
	}
	s.settles(all, 0, 1, 2)
	for i, end := range []func(int){
		func(i int) { s.rig.Gateways[i].End() },
		func(i int) { s.rig.Gateways[i].Kill() },
	} {
		end(i)
		s.settles(all, (i+1)%size, (i+2)%size)
		require.NoError(t, s.rig.Gateways[i].Start(s.ctx))
		require.NoError(t, s.rig.WaitConnected(s.ctx))
		s.settles(all, 0, 1, 2)
	}
	for i, g := range s.rig.Gateways {
		g.Signal(syscall.SIGSTOP)
		for _, other := range []int{(i + 1) % size, (i + 2) % size} {
			require.Eventually(t, func() bool { return s.hears(other, size-2) }, limit, 20*time.Millisecond)
			s.settles(all, other)
		}
		g.Signal(syscall.SIGCONT)
		s.settles(all, i)
		require.NoError(t, s.rig.WaitConnected(s.ctx))
	}
	for _, n := range s.rig.Nodes {
		n.Kill()
	}
	for i := range s.rig.Gateways {
		require.Eventually(t, func() bool { s.running(i, all); return s.lists(i).Incomplete != nil }, limit, 20*time.Millisecond)
	}
	for _, n := range s.rig.Nodes {
		require.NoError(t, n.Start())
	}
	for i := range s.rig.Gateways {
		require.Eventually(t, func() bool { return s.running(i, all) == all && s.lists(i).Incomplete == nil }, limit, 20*time.Millisecond)
	}
}

// TestAQuestionDiesWithItsAskerElsewhere, that is killed at another gateway than the session's, and with that gateway. CLIENTS=1 has it run.
func TestAQuestionDiesWithItsAskerElsewhere(t *testing.T) {
	if os.Getenv("CLIENTS") == "" {
		t.Skip("it needs the built programs: make cluster-soak runs it")
	}
	s := newStage(t)
	id := s.shares("sh")
	asking := func() bool {
		for _, info := range s.lists(2).Sessions {
			if info.SessionID == id {
				return info.Keyboard.Asking != ""
			}
		}
		return false
	}
	for name, die := range map[string]func(*exec.Cmd){
		"the command": func(cmd *exec.Cmd) { require.NoError(t, cmd.Process.Kill()) },
		"its gateway": func(*exec.Cmd) { s.rig.Gateways[1].Kill() },
	} {
		cmd := s.only(1, "agent", "request", id, "--reason", "to try")
		require.NoError(t, cmd.Start())
		require.Eventually(t, asking, limit, 20*time.Millisecond, name)
		die(cmd)
		require.Eventually(t, func() bool { return !asking() }, limit, 20*time.Millisecond, name)
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
		if s.rig.Gateways[1].Pid() == 0 {
			require.NoError(t, s.rig.Gateways[1].Start(s.ctx))
			require.NoError(t, s.rig.WaitConnected(s.ctx))
		}
	}
}
