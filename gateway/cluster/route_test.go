package cluster

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"terminalproxy/protocol"
)

// leavingFinder finds each session, but its participant leaves meanwhile.
type leavingFinder struct {
	finder
	leave func()
}

func (f leavingFinder) seekSession(sessionKey, bool) (at string, here bool) {
	f.leave()
	time.Sleep(time.Second) // of the test's time
	return "g-b", false
}

func TestARouteWhoseParticipantLeftIsForgotten(t *testing.T) {
	three(t, func(t *testing.T, _ *fakeNATS, a, b, _ *node) {
		proxy, agent := b.proxy(), a.joins("agent", "a-1")
		proxy.Handle(opening("one"))
		waitForList(agent, "one")
		a.cluster.relay.directory = leavingFinder{a.cluster.directory, agent.Leave}
		lists := len(a.cluster.mesh.receivers)
		agent.Handle(&protocol.Read{RequestID: "r", SessionID: "one"})
		time.Sleep(5 * time.Second)
		synctest.Wait()
		require.Zero(t, a.cluster.relay.countRoutes())
		require.Len(t, a.cluster.mesh.receivers, lists)
	})
}
