package cluster

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"terminalproxy/protocol"
)

func (n *node) bonds() uint64 {
	n.cluster.mesh.mu.Lock()
	defer n.cluster.mesh.mu.Unlock()
	return n.cluster.mesh.bonds
}

// One gateway did not hear another for a while, which heard it all the time. Whichever heartbeat
// comes first, they must not lose each other in turn for ever.
func TestALossOnOneSideIsNotMutual(t *testing.T) {
	for _, apart := range []time.Duration{0, 100 * time.Millisecond, 650 * time.Millisecond} {
		synctest.Test(t, func(t *testing.T) {
			bus := newFakeNATS()
			began, a := time.Now(), bus.node(t, "g-a", nil)
			defer a.close()
			time.Sleep(apart)
			b := bus.node(t, "g-b", nil)
			defer b.close()
			time.Sleep(5 * time.Second)
			pb := b.proxy()
			pb.Handle(opening("one"))
			agent := a.joins("agent", "a-1")
			waitForList(agent, "one")
			time.Sleep(beatEvery - time.Since(began)%beatEvery + 10*time.Millisecond) // a has just reported that it hears b
			a.cluster.mesh.dropPeer("g-b", "the test")
			time.Sleep(3 * time.Second)
			before := []uint64{a.bonds(), b.bonds()}
			time.Sleep(time.Minute)
			require.Equal(t, before, []uint64{a.bonds(), b.bonds()})
			waitForList(agent, "one")
			pb.Handle(opening("two"))
			waitForList(agent, "one", "two")
		})
	}
}

// Nothing reaches the gateway, for less time than it takes to count as lost.
func TestAGatewayAsksForWhatItMissed(t *testing.T) {
	three(t, func(_ *testing.T, _ *fakeNATS, a, b, _ *node) {
		proxy, agent := a.proxy(), b.joins("agent", "a-1")
		proxy.Handle(opening("one"))
		waitForList(agent, "one")
		b.bus.cut(true)
		proxy.Handle(opening("two"))
		time.Sleep(silentFor / 2)
		b.bus.cut(false)
		time.Sleep(5 * time.Second)
		waitForList(agent, "one", "two")
	})
}

// If no directory has told them apart, the gateway without the proxy speaks last, and loses the
// session.
func TestOfTwoGatewaysThatHaveASessionTheOneWithTheProxyRemains(t *testing.T) {
	three(t, func(_ *testing.T, bus *fakeNATS, a, b, c *node) {
		bus.quiet = true
		stale, agent := b.proxy(), a.joins("agent", "a-1")
		stale.Handle(opening("one"))
		waitForList(agent, "one")
		c.proxy().Handle(opening("one"))
		time.Sleep(time.Second)
		stale.Handle(&protocol.Resize{ID: "r", SessionID: "one", Cols: 9, Rows: 9})
		time.Sleep(time.Second)
		stale.Leave()
		time.Sleep(20 * time.Second)
		waitForList(agent, "one")
	})
}
