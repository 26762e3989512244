// Package joined tests gateways of a cluster with a real NATS server in the same process.
package joined

import (
	"context"
	"fmt"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nkeys"

	"terminalproxy/gateway"
	"terminalproxy/gateway/access/auth"
	"terminalproxy/gateway/access/rights"
	"terminalproxy/gateway/cluster"
	"terminalproxy/gateway/hub"
	"terminalproxy/protocol"
)

// soon bounds the wait for what happens in far less.
const soon = 2 * time.Minute

// natsServer is a NATS server in this process.
type natsServer struct {
	t       *testing.T
	options server.Options
	running *server.Server
}

// startNATS starts a server that knows one user, by its key.
func startNATS(t *testing.T, public string) *natsServer {
	t.Helper()
	n := &natsServer{t: t, options: server.Options{
		Host: "127.0.0.1", Port: -1, JetStream: true, StoreDir: t.TempDir(), NoSigs: true, NoLog: true, MaxPayload: 4096,
		Nkeys: []*server.NkeyUser{{Nkey: public}},
	}}
	n.start()
	t.Cleanup(n.stop)
	return n
}

func (n *natsServer) start() {
	n.t.Helper()
	options := n.options
	running, err := server.NewServer(&options)
	if err != nil {
		n.t.Fatal(err)
	}
	running.Start()
	if !running.ReadyForConnections(soon) {
		n.t.Fatal("the NATS server does not start")
	}
	n.running, n.options.Port = running, running.Addr().(*net.TCPAddr).Port
}

func (n *natsServer) stop() {
	n.running.Shutdown()
	n.running.WaitForShutdown()
}

func (n *natsServer) url() string { return fmt.Sprintf("nats://127.0.0.1:%d", n.options.Port) }

// key makes a user's key: the file of its seed, and its public half.
func key(t *testing.T) (file, public string) {
	t.Helper()
	pair, err := nkeys.CreateUser()
	if err != nil {
		t.Fatal(err)
	}
	seed, err := pair.Seed()
	if err != nil {
		t.Fatal(err)
	}
	if public, err = pair.PublicKey(); err != nil {
		t.Fatal(err)
	}
	file = filepath.Join(t.TempDir(), "user.nk")
	if err := os.WriteFile(file, append(seed, '\n'), 0o600); err != nil {
		t.Fatal(err)
	}
	return file, public
}

// town is some gateways that share a file of tokens.
type town struct {
	t      *testing.T
	nats   *natsServer
	seed   string
	tokens *auth.Store
}

func newTown(t *testing.T) *town {
	t.Helper()
	seed, public := key(t)
	dir := filepath.Join(t.TempDir(), "state")
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	tokens, err := auth.OpenStore(filepath.Join(dir, "tokens"), nil)
	if err != nil {
		t.Fatal(err)
	}
	return &town{t, startNATS(t, public), seed, tokens}
}

// who is the identity of a new token.
func (w *town) who(name string, role auth.Role, namespace string) auth.Identity {
	w.t.Helper()
	token, err := w.tokens.Create(auth.Token{Name: name, Role: role, Namespace: namespace})
	if err != nil {
		w.t.Fatal(err)
	}
	who, err := w.tokens.Verify(token)
	if err != nil {
		w.t.Fatal(err)
	}
	return who
}

// gate is one gateway.
type gate struct {
	t       *testing.T
	server  *gateway.Server
	cluster *cluster.Cluster
	close   func()
}

// gateway starts one, which ends with the test at the latest.
func (w *town) gateway(name string) *gate {
	w.t.Helper()
	g := &gate{t: w.t, server: gateway.New(gateway.Config{Tokens: w.tokens})}
	var err error
	g.cluster, err = cluster.Join(cluster.Config{
		Log: slog.New(slog.DiscardHandler), Servers: []string{w.nats.url()}, Credentials: w.seed, Name: name, Hub: g.server.Switchboard(),
		Admit: func(m hub.Member) (cluster.Seat, error) { return g.server.Admit(m) },
	})
	if err != nil {
		w.t.Fatal(err)
	}
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		w.t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	served := make(chan error, 1)
	go func() { served <- g.server.ServeTCP(ctx, ln, nil) }() // it watches the tokens, and ends with ctx
	g.close = sync.OnceFunc(func() {
		cancel()
		if err := <-served; err != nil {
			w.t.Error(err)
		}
		g.cluster.Close()
	})
	w.t.Cleanup(g.close)
	return g
}

// three are three gateways that hear each other.
func (w *town) three() (a, b, c *gate) {
	w.t.Helper()
	a, b, c = w.gateway("g-a"), w.gateway("g-b"), w.gateway("g-c")
	for _, g := range []*gate{a, b, c} {
		g.hears(true, 2)
	}
	return a, b, c
}

// hears waits until the gateway hears so many others, or that the cluster is not reached.
func (g *gate) hears(online bool, others int) {
	g.t.Helper()
	for end := time.Now().Add(soon); ; time.Sleep(10 * time.Millisecond) {
		on, n := g.cluster.ConnectionState()
		if on == online && n == others {
			return
		}
		if time.Now().After(end) {
			g.t.Fatalf("connected %t, %d gateways; wanted %t, %d", on, n, online, others)
		}
	}
}

// seat is a participant.
type seat struct {
	gateway.PageSeat
	t *testing.T
}

func (g *gate) joins(who auth.Identity) seat {
	return seat{g.server.JoinPage(who, rights.Set{Who: "a test", Can: rights.OfRole(who.Role, false)}), g.t}
}

func (g *gate) proxy() seat {
	return seat{g.server.Switchboard().Join(hub.Member{Role: hub.RoleProxy}), g.t}
}

// next is the next message of a kind. Other messages are passed over, but errors.
func next[M protocol.Message](s seat) M {
	s.t.Helper()
	m, err := find[M](s)
	if err != nil {
		s.t.Fatalf("waiting for %T: %v", m, err)
	}
	return m
}

func find[M protocol.Message](s seat) (found M, err error) {
	done := make(chan struct{})
	timer := time.AfterFunc(soon, func() { close(done) })
	defer timer.Stop()
	for {
		m, err := s.Next(done)
		if err != nil {
			return found, err
		}
		if found, ok := m.(M); ok {
			return found, nil
		}
		if refused, ok := m.(*protocol.Error); ok {
			return found, refused
		}
	}
}

// sees waits until the list has just these sessions.
func (s seat) sees(ids ...string) {
	s.t.Helper()
	for end := time.Now().Add(soon); ; time.Sleep(20 * time.Millisecond) {
		s.Handle(&protocol.SessionsList{RequestID: "list"})
		var got []string
		for _, info := range next[*protocol.SessionsListResult](s).Sessions {
			if info.State == protocol.StateRunning {
				got = append(got, info.SessionID)
			}
		}
		if strings.Join(got, " ") == strings.Join(ids, " ") {
			return
		}
		if time.Now().After(end) {
			s.t.Fatalf("the list has %v, not %v", got, ids)
		}
	}
}

func opening(id string, started int64) *protocol.SessionOpen {
	return &protocol.SessionOpen{ID: "o", SessionID: id, Name: "sh", Command: "sh", Cols: 4, Rows: 1, StartedAt: started, ResumeKey: "secret of " + id}
}

func frame(line string) *protocol.Frame {
	return &protocol.Frame{Screen: protocol.Screen{Cols: 4, Rows: 1, Lines: []string{line}}}
}

func TestProxyAgentAndOwnerAtThreeGateways(t *testing.T) {
	w := newTown(t)
	a, b, c := w.three()
	proxy, agent, owner := a.proxy(), b.joins(w.who("agent", auth.RoleAgent, "")), c.joins(w.who("owner", auth.RoleOwner, ""))
	proxy.Handle(opening("one", 1))
	agent.sees("one")
	owner.sees("one")
	b.joins(w.who("stranger", auth.RoleAgent, "elsewhere")).sees()

	agent.Handle(&protocol.ControlRequest{RequestID: "ask", SessionID: "one", Level: protocol.LevelDrive, Why: "to help"})
	asked := next[*protocol.ControlRequest](proxy)
	owner.Handle(&protocol.ControlDecide{RequestID: "yes", SessionID: "one", Grant: true, By: "ada"})
	decided := next[*protocol.ControlDecide](proxy)
	if decided.By != "owner" {
		t.Errorf("the proxy hears of %q", decided.By)
	}
	proxy.Handle(&protocol.Done{RequestID: decided.RequestID})
	proxy.Handle(&protocol.ControlGrant{ID: "g", RequestID: asked.RequestID, SessionID: "one", AgentID: asked.AgentID, Level: protocol.LevelDrive, Epoch: 3})
	if got := next[*protocol.ControlGrant](agent); got.Epoch != 3 || got.RequestID != "ask" {
		t.Errorf("granted %+v", got)
	}
	agent.Handle(&protocol.Input{RequestID: "type", SessionID: "one", Epoch: 3, Data: "ls"})
	typed := next[*protocol.Input](proxy)
	proxy.Handle(&protocol.InputResult{ID: "r", RequestID: typed.RequestID, SessionID: "one", Status: protocol.StatusWritten})
	if got := next[*protocol.InputResult](agent); got.RequestID != "type" || typed.Epoch != 3 {
		t.Errorf("typed %+v, receipt %+v", typed, got)
	}
	agent.Handle(&protocol.Read{RequestID: "all", SessionID: "one", Text: true})
	long := strings.Repeat("0123456789", 5000) // larger than a message of the server's
	proxy.Handle(&protocol.ReadResult{ID: "x", RequestID: next[*protocol.Read](proxy).RequestID, SessionID: "one", Text: long, Frame: frame("x")})
	if next[*protocol.ReadResult](agent).Text != long {
		t.Error("a long answer came back otherwise")
	}
}

func TestARevokedTokenIsRevokedEverywhere(t *testing.T) {
	w := newTown(t)
	a, b, _ := w.three()
	proxy, agent := a.proxy(), b.joins(w.who("agent", auth.RoleAgent, ""))
	proxy.Handle(opening("one", 1))
	agent.Handle(&protocol.ControlRequest{RequestID: "ask", SessionID: "one", Level: protocol.LevelDrive, Why: "to help"})
	next[*protocol.ControlRequest](proxy)
	if err := w.tokens.Revoke("agent"); err != nil {
		t.Fatal(err)
	}
	end := time.After(soon)
	for err := error(nil); err == nil || !strings.Contains(err.Error(), "revoked"); { // the other gateway may refuse the token first
		select {
		case <-end:
			t.Fatalf("the agent hears %v", err)
		default:
			_, err = agent.Next(nil)
		}
	}
	agent.Leave()
	for !next[*protocol.ControlRelease](proxy).Gone { // its question may have gone before it
		continue
	}
}

func TestWithoutNATSEachGoesOnAlone(t *testing.T) {
	w := newTown(t)
	a, b, _ := w.three()
	pa, pb := a.proxy(), b.proxy()
	pa.Handle(opening("one", 1))
	pb.Handle(opening("two", 2))
	agent := a.joins(w.who("agent", auth.RoleAgent, ""))
	agent.sees("one", "two")
	w.nats.stop()
	a.hears(false, 0)
	agent.sees("one")
	agent.Handle(&protocol.Read{RequestID: "r", SessionID: "one"})
	next[*protocol.Read](pa)
	pa.Handle(opening("three", 3))
	w.nats.start()
	agent.sees("one", "two", "three")
	b.joins(w.who("viewer", auth.RoleViewer, "")).sees("one", "two", "three")
}

func TestWrongCredentialsAreAnErrorAtOnce(t *testing.T) {
	w := newTown(t)
	stranger, _ := key(t)
	empty := filepath.Join(t.TempDir(), "empty")
	if err := os.WriteFile(empty, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct{ file, say string }{
		"another's key": {stranger, "does not know this gateway's key U"},
		"no key":        {"", "it requires credentials"},
		"no such file":  {empty + ".none", "no such file"},
		"an empty file": {empty, "is empty"},
	} {
		joined, err := cluster.Join(cluster.Config{
			Log: slog.New(slog.DiscardHandler), Servers: []string{w.nats.url()}, Credentials: c.file, Hub: hub.New(nil),
		})
		if err == nil {
			joined.Close()
			t.Errorf("%s: joined", name)
			continue
		}
		if !strings.Contains(strings.ToLower(err.Error()), strings.ToLower(c.say)) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
