package cluster

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"terminalproxy/gateway/hub"
	"terminalproxy/protocol"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// fakeNATS is a bus in memory, with its directory.
type fakeNATS struct {
	mu    sync.Mutex
	boxes map[string][]*fakeBox
	keys  map[string]fakeKey
	seq   uint64
	quiet bool // the directory does not answer
	made  int  // how often the directory was lost
}

type fakeKey struct {
	value    []byte
	revision uint64
}

// fakeBox is a subscription; one goroutine reads it.
type fakeBox struct {
	owner *fakeBus
	mail  chan fakeMail
}

type fakeMail struct {
	data   []byte
	answer func([]byte)
}

// fakeBus is one gateway's connection.
type fakeBus struct {
	nats *fakeNATS
	mu   sync.Mutex
	off  bool
	size int
	made int
	wake chan struct{}
	done chan struct{}
	once sync.Once
}

func newFakeNATS() *fakeNATS {
	return &fakeNATS{boxes: make(map[string][]*fakeBox), keys: make(map[string]fakeKey)}
}

func (n *fakeNATS) dial() *fakeBus {
	return &fakeBus{nats: n, size: 1 << 20, wake: make(chan struct{}, 1), done: make(chan struct{})}
}

// cut takes the connection away, or restores it.
func (b *fakeBus) cut(off bool) {
	b.mu.Lock()
	b.off = off
	b.mu.Unlock()
	signal(b.wake)
}

func (b *fakeBus) isOnline() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return !b.off
}

func (b *fakeBus) maxMessageBytes() int { return b.size }

func (b *fakeBus) close() { b.once.Do(func() { close(b.done) }) }

func (b *fakeBus) listen(subject string, take func([]byte, func([]byte))) error {
	box := &fakeBox{owner: b, mail: make(chan fakeMail, 10000)}
	b.nats.mu.Lock()
	b.nats.boxes[subject] = append(b.nats.boxes[subject], box)
	b.nats.mu.Unlock()
	go func() { // ends with close
		for {
			select {
			case <-b.done:
				return
			case m := <-box.mail:
				take(m.data, m.answer)
			}
		}
	}()
	return nil
}

// put delivers data to the listeners, and counts them.
func (b *fakeBus) put(subject string, data []byte, answer func([]byte)) (n int) {
	b.nats.mu.Lock()
	boxes := append([]*fakeBox{}, b.nats.boxes[subject]...)
	b.nats.mu.Unlock()
	for _, box := range boxes {
		select {
		case <-box.owner.done:
			continue
		default:
		}
		if box.owner != b && box.owner.isOnline() {
			n++
			box.mail <- fakeMail{append([]byte{}, data...), answer}
		}
	}
	return n
}

func (b *fakeBus) request(ctx context.Context, subject string, data []byte) ([]byte, error) {
	if !b.isOnline() {
		return nil, errOffline
	}
	got := make(chan []byte, 1)
	if b.put(subject, data, func(answer []byte) { got <- answer }) == 0 {
		return nil, errNoListener
	}
	select {
	case answer := <-got:
		return answer, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

func (b *fakeBus) publish(subject string, data []byte) error {
	if !b.isOnline() {
		return errOffline
	}
	b.put(subject, data, func([]byte) {})
	return nil
}

func (n *fakeNATS) forget() {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.keys = make(map[string]fakeKey)
	n.made++
}

func (b *fakeBus) directoryRecreated() bool {
	b.nats.mu.Lock()
	defer b.nats.mu.Unlock()
	before := b.made
	b.made = b.nats.made
	return before != b.made
}

func (b *fakeBus) reached() error {
	if !b.isOnline() || b.nats.quiet {
		return errOffline
	}
	return nil
}

func (b *fakeBus) read(key string) ([]byte, uint64, error) {
	b.nats.mu.Lock()
	defer b.nats.mu.Unlock()
	if err := b.reached(); err != nil {
		return nil, 0, err
	}
	k := b.nats.keys[key]
	if k.value == nil {
		return nil, k.revision, errNoKey
	}
	return k.value, k.revision, nil
}

func (b *fakeBus) write(key string, value []byte, revision uint64) (uint64, error) {
	b.nats.mu.Lock()
	defer b.nats.mu.Unlock()
	if err := b.reached(); err != nil {
		return 0, err
	}
	if b.nats.keys[key].revision != revision {
		return 0, errTaken
	}
	b.nats.seq++
	b.nats.keys[key] = fakeKey{value, b.nats.seq}
	return b.nats.seq, nil
}

func (b *fakeBus) removeKey(key string, revision uint64) error {
	_, err := b.write(key, nil, revision)
	return err
}

// node is one of the test's gateways.
type node struct {
	t       testing.TB
	hub     *hub.Hub
	cluster *Cluster
	bus     *fakeBus
}

// known are the tokens of the tests.
var known = map[string]hub.Member{
	"agent": {Role: hub.RoleAgent}, "viewer": {Role: hub.RoleViewer}, "owner": {Role: hub.RoleOwner}, "other": {Role: hub.RoleAgent, Namespace: "other"},
}

func (n *fakeNATS) node(t testing.TB, name string, log *slog.Logger) *node {
	if log == nil {
		log = slog.New(slog.DiscardHandler)
	}
	out := &node{t: t, hub: hub.New(log), bus: n.dial()}
	c, err := newCluster(Config{Log: log, Name: name, Address: name + ":7117", Hub: out.hub, Admit: out.admit}, out.bus, out.bus.wake)
	require.NoError(t, err)
	out.cluster = c
	return out
}

func (n *node) admit(m hub.Member) (Seat, error) {
	who, ok := known[m.Token]
	switch {
	case !ok:
		return nil, errors.New("the token is not known")
	case who.Role != m.Role || who.Namespace != m.Namespace:
		return nil, errors.New("forged member: the token has another role or namespace")
	}
	return n.hub.Join(m), nil
}

func (n *node) close() {
	n.hub.Close()
	n.cluster.Close()
}

// vanish kills the gateway without notice.
func (n *node) vanish() {
	n.bus.close()
	n.hub.Close()
	n.cluster.mesh.close()
	n.cluster.directory.close()
	n.bus.cut(true)
	n.cluster.Close()
}

// three plays on three gateways that know each other, in the test's own time.
func three(t *testing.T, play func(t *testing.T, bus *fakeNATS, a, b, c *node)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		bus := newFakeNATS()
		a, b, c := bus.node(t, "g-a", nil), bus.node(t, "g-b", nil), bus.node(t, "g-c", nil)
		defer c.close()
		defer b.close()
		defer a.close()
		time.Sleep(2 * time.Second) // of the test's time: all have been heard
		synctest.Wait()
		play(t, bus, a, b, c)
	})
}

// player is a participant whose messages a goroutine collects.
type player struct {
	*hub.Peer
	t testing.TB
}

func (n *node) joins(who string, id string) *player {
	m := known[who]
	m.ID, m.Token = id, who
	return n.enters(m)
}

func (n *node) enters(m hub.Member) *player {
	return &player{n.hub.Join(m), n.t}
}

func (n *node) proxy() *player { return n.enters(hub.Member{Role: hub.RoleProxy}) }

// next returns the next message of a kind, and skips others.
func next[T protocol.Message](p *player) T {
	p.t.Helper()
	done := make(chan struct{})
	timer := time.AfterFunc(time.Minute, func() { close(done) })
	defer timer.Stop()
	for {
		m, err := p.Next(done)
		var want T
		require.NoError(p.t, err, "waiting for %T", want)
		if got, ok := m.(T); ok {
			return got
		}
		if wrong, ok := m.(*protocol.Error); ok {
			require.Fail(p.t, wrong.Message, "waiting for %T", want)
		}
	}
}

// expectNothing checks that a participant received nothing.
func expectNothing(p *player) {
	p.t.Helper()
	synctest.Wait()
	m, err := p.Next(atOnce)
	for _, counts := m.(*protocol.Subscribed); counts; _, counts = m.(*protocol.Subscribed) {
		m, err = p.Next(atOnce)
	}
	require.ErrorIs(p.t, err, hub.ErrLeft, "%+v", m)
}

func opening(id string) *protocol.SessionOpen {
	return &protocol.SessionOpen{ID: "o1", SessionID: id, Name: "vim", Command: "vim", Args: []string{"a"}, Cols: 4, Rows: 2, ResumeKey: "secret of " + id}
}

func screen(id string, seq uint64, line string) *protocol.Snapshot {
	return &protocol.Snapshot{ID: "s", SessionID: id, Content: line, Seq: seq, Screen: &protocol.Screen{Cols: 4, Rows: 1, Lines: []string{line}}}
}
