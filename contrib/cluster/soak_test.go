package cluster_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"terminalproxy/contrib/cluster/rig"
	"terminalproxy/gateway/client"
	"terminalproxy/protocol"
)

// The size of the test, but for the rounds.
const (
	size      = 3                // NATS servers, and gateways
	people    = 6                // sessions, each with an agent
	stillness = 2 * time.Second  // of a proxy
	apart     = 5 * time.Second  // of servers: longer than gateways wait for each other
	limit     = 30 * time.Second // until everything is as before
)

// TestSoak has agents type into sessions of other gateways, and in each round kills, stops or cuts off a part: a gateway, a NATS server,
// its routes, a proxy. Sessions keep their ids, a grant ends with the proxy's connection, nothing is typed twice, nothing is claimed that was
// not typed, and whoever sends something has an answer. How soon sessions can be read elsewhere is printed. CLIENTS=1 has it run,
// CLUSTER_SOAK is how many rounds, and CLUSTER_BIN where nats-server, gateway and proxy are.
func TestSoak(t *testing.T) {
	if os.Getenv("CLIENTS") == "" {
		t.Skip("it takes minutes: make cluster-soak runs it")
	}
	rounds := 20
	if n := os.Getenv("CLUSTER_SOAK"); n != "" {
		var err error
		rounds, err = strconv.Atoi(n)
		require.NoError(t, err)
	}
	s := newSoak(t)
	over := make(chan struct{})
	var working sync.WaitGroup
	for _, p := range s.all {
		working.Go(func() { p.types(over) })
	}
	working.Go(func() { s.gives(over) })
	for i := range rounds {
		s.round(i)
	}
	close(over)
	working.Wait()
	for _, p := range s.all {
		p.compare()
	}
	s.figures(rounds)
}

// soak is a cluster with people at work.
type soak struct {
	t      *testing.T
	ctx    context.Context //nolint:containedctx // the test's
	rig    *rig.Rig
	tokens map[string]string // files, by role
	all    []*person

	took    map[string][]time.Duration // until a session could be read elsewhere, by fault
	settled map[string][]time.Duration // until everything was as before
	ended   int                        // grants that ended with a connection
}

func newSoak(t *testing.T) *soak {
	t.Helper()
	bin := os.Getenv("CLUSTER_BIN")
	if bin == "" {
		bin = filepath.Join("..", "..", "bin")
	}
	bin, err := filepath.Abs(bin)
	require.NoError(t, err)
	dir, err := os.MkdirTemp("", "soak") //nolint:usetesting // that one is too long for sockets
	require.NoError(t, err)
	s := &soak{t: t, ctx: t.Context(), tokens: make(map[string]string), took: make(map[string][]time.Duration), settled: make(map[string][]time.Duration)}
	s.rig, err = rig.Start(s.ctx, dir, bin, size)
	require.NoError(t, err)
	t.Cleanup(func() {
		s.rig.Close()
		if t.Failed() {
			t.Log("the logs are in", dir)
		} else {
			_ = os.RemoveAll(dir)
		}
	})
	for _, role := range []string{"proxy", "agent", "viewer", "owner"} {
		s.tokens[role], err = s.rig.CreateToken(s.ctx, role, role)
		require.NoError(t, err)
	}
	for i := range people {
		p := &person{s: s, number: i}
		s.all = append(s.all, p)
		p.begins()
		p.agent = s.client(s.rig.URLs(i+1), "agent", protocol.PathAgent, fmt.Sprintf("agent%d", i))
	}
	return s
}

// client is somebody at gateways, until the test's end.
func (s *soak) client(urls, role, path, name string) *client.Client {
	s.t.Helper()
	c, err := rig.NewClient(urls, s.tokens[role], path, name, strings.Repeat(name+"-", 8))
	require.NoError(s.t, err)
	s.t.Cleanup(func() { _ = c.Close() })
	return c
}

// gives lets every agent that asks.
func (s *soak) gives(over <-chan struct{}) {
	owner := s.client(s.rig.URLs(2), "owner", protocol.PathView, "owner")
	for {
		select {
		case <-over:
			return
		case <-time.After(50 * time.Millisecond):
		}
		ctx, stop := context.WithTimeout(s.ctx, 5*time.Second)
		list, _ := owner.Sessions(ctx)
		for _, one := range list {
			if one.Keyboard.Asking != "" {
				// What was answered meanwhile, or is on its way elsewhere, is asked again.
				_ = owner.Decide(ctx, &protocol.ControlDecide{SessionID: one.SessionID, Grant: true, Level: protocol.LevelDrive, By: "owner"})
			}
		}
		stop()
	}
}

// fault is what happens to a part, and how that ends.
type fault struct {
	name   string
	begin  func(victim int)
	end    func(victim int)
	people bool // the victim is a proxy, and not a gateway or a server
	// lasts is how long the fault lasts where nobody can read meanwhile what stands still or is cut off: then the time counts from its end.
	lasts time.Duration
}

func (s *soak) faults() []fault {
	r := s.rig
	again := func(err error) { require.NoError(s.t, err) }
	return []fault{
		{name: "gateway killed", begin: func(i int) { r.Gateways[i].Kill() }, end: func(i int) { again(r.Gateways[i].Start(s.ctx)) }},
		{name: "gateway stopped", begin: func(i int) { r.Gateways[i].Signal(syscall.SIGSTOP) }, end: func(i int) { r.Gateways[i].Signal(syscall.SIGCONT) }},
		{name: "NATS server killed", begin: func(i int) { r.Nodes[i].Kill() }, end: func(i int) { again(r.Nodes[i].Start()) }},
		{name: "NATS server stopped", begin: func(i int) { r.Nodes[i].Signal(syscall.SIGSTOP) }, end: func(i int) { r.Nodes[i].Signal(syscall.SIGCONT) }},
		{name: "routes cut", begin: func(i int) { r.SetCut(i, true) }, end: func(i int) { r.SetCut(i, false) }, lasts: apart},
		{name: "proxy killed", people: true, begin: func(i int) { s.all[i].dies() }, end: func(i int) { s.all[i].begins() }, lasts: stillness},
		{name: "proxy stopped", people: true, begin: func(i int) { s.all[i].terminal.Signal(syscall.SIGSTOP) }, end: func(i int) { s.all[i].terminal.Signal(syscall.SIGCONT) }, lasts: stillness},
	}
}

// round is one fault, with what has to hold after it.
func (s *soak) round(number int) {
	all := s.faults()
	f := all[number%len(all)]
	victim := rand.IntN(size)
	if f.people {
		victim = rand.IntN(people)
	}
	before := s.grants()
	from := time.Now()
	f.begin(victim)
	readers := s.others(f, victim)
	if f.lasts > 0 {
		time.Sleep(f.lasts) // the fault: nothing is expected of the time
		f.end(victim)
		from = time.Now()
	}
	for _, p := range s.all {
		s.took[f.name] = append(s.took[f.name], s.read(p, readers[p.number%len(readers)], from))
	}
	if f.lasts == 0 {
		f.end(victim)
	}
	healed := time.Now()
	require.NoError(s.t, s.rig.WaitConnected(s.ctx), "after %s", f.name)
	s.listed(f.name)
	s.settled[f.name] = append(s.settled[f.name], time.Since(healed))
	s.keptNothing(before)
	s.t.Logf("round %d: %s %d: read elsewhere within %v", number+1, f.name, victim, slices.Max(s.took[f.name][len(s.took[f.name])-people:]).Round(time.Millisecond))
}

// others are the gateways at which a fault shall not be noticed.
func (s *soak) others(f fault, victim int) (at []int) {
	for i := range size {
		if f.people || i != victim {
			at = append(at, i)
		}
	}
	return at
}

// read reads a session at a gateway, and gives the time since from until that went well.
func (s *soak) read(p *person, at int, from time.Time) time.Duration {
	s.t.Helper()
	c, err := rig.NewClient(s.rig.Gateways[at].URL(), s.tokens["viewer"], protocol.PathView, "", "")
	require.NoError(s.t, err)
	defer func() { _ = c.Close() }()
	for {
		ctx, stop := context.WithTimeout(s.ctx, 5*time.Second)
		_, err := c.Read(ctx, &protocol.Read{SessionID: p.id})
		stop()
		if err == nil {
			return time.Since(from)
		}
		require.Less(s.t, time.Since(from), limit, "session %s cannot be read at gateway %s: %v", p.id, s.rig.Gateways[at].Name, err)
		time.Sleep(5 * time.Millisecond)
	}
}

// listed waits until every gateway lists all sessions with their ids.
func (s *soak) listed(after string) {
	s.t.Helper()
	var want []string
	for _, p := range s.all {
		want = append(want, p.id)
	}
	slices.Sort(want)
	for _, g := range s.rig.Gateways {
		c, err := rig.NewClient(g.URL(), s.tokens["viewer"], protocol.PathView, "", "")
		require.NoError(s.t, err)
		var got []string
		require.Eventually(s.t, func() bool {
			ctx, stop := context.WithTimeout(s.ctx, 5*time.Second)
			defer stop()
			list, err := c.Sessions(ctx)
			got = nil
			for _, one := range list {
				if one.State == protocol.StateRunning {
					got = append(got, one.SessionID)
				}
			}
			slices.Sort(got)
			return err == nil && slices.Equal(want, got)
		}, limit, 20*time.Millisecond, "after %s gateway %s lists %v, and not %v", after, g.Name, &got, want)
		require.NoError(s.t, c.Close())
	}
}

// held is a grant before a fault.
type held struct {
	p     *person
	id    string
	epoch uint64
	lost  int // connections that the proxy had lost
}

func (s *soak) grants() (all []held) {
	for _, p := range s.all {
		if epoch := p.granted(); epoch != 0 {
			all = append(all, held{p, p.id, epoch, p.losses()})
		}
	}
	return all
}

// keptNothing tries to type under the grants whose proxies have lost their connections meanwhile.
func (s *soak) keptNothing(before []held) {
	s.t.Helper()
	for _, h := range before {
		if h.p.id != h.id || h.p.losses() == h.lost {
			continue
		}
		ctx, stop := context.WithTimeout(s.ctx, limit)
		r, err := h.p.agent.Input(ctx, &protocol.Input{SessionID: h.id, Epoch: h.epoch, Data: "STALE"})
		stop()
		if err == nil {
			require.Equal(s.t, protocol.StatusRefused, r.Status, "a grant outlived its connection")
		}
		s.ended++
	}
}

func (s *soak) figures(rounds int) {
	var written, refused, unknown int
	for _, p := range s.all {
		for _, w := range p.words {
			switch {
			case w.receipt == nil:
				unknown++
			case w.receipt.Status == protocol.StatusWritten:
				written++
			default:
				refused++
			}
		}
	}
	s.t.Logf("soak: %d rounds, %d sessions: %d inputs (%d written, %d refused, %d of which the fate is not known and said so), none twice, none claimed and not typed; %d grants ended with their connections",
		rounds, people, written+refused+unknown, written, refused, unknown, s.ended)
	for _, f := range s.faults() {
		if took := s.took[f.name]; len(took) > 0 {
			s.t.Logf("%-20s %3d times: readable elsewhere after %6v (median), %6v (longest); all as before %6v (longest) after its end",
				f.name, len(s.settled[f.name]), middle(took), slices.Max(took).Round(time.Millisecond), slices.Max(s.settled[f.name]).Round(time.Millisecond))
		}
	}
}

func middle(all []time.Duration) time.Duration {
	all = slices.Clone(all)
	slices.Sort(all)
	return all[len(all)/2].Round(time.Millisecond)
}
