package hub

import (
	"fmt"
	"math/rand"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"

	"terminalproxy/protocol"
)

// wishes are the ways to subscribe: with all, with changes, and with rows that moved.
var wishes = []protocol.SessionsSubscribe{{}, {Changes: true}, {Changes: true, Moves: true}}

// everyWish adds to wishes what else a subscriber to brief snapshots may ask for.
var everyWish = append(wishes[:len(wishes):len(wishes)], protocol.SessionsSubscribe{Changes: true, Brief: true})

// TestARevisionIsEncodedOnce counts the frames made of a revision: one for each way to subscribe,
// however many subscribe, and one more for a subscriber that has another revision than the others.
func TestARevisionIsEncodedOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		_, proxy, _ := scene()
		var subs []*Peer
		for i := range 300 {
			p := proxy.hub.Join(Member{Role: RoleViewer, ID: fmt.Sprint("v-", i)})
			wish := wishes[i%len(wishes)]
			wish.RequestID, wish.SessionID = "s", "vim-1"
			p.Handle(&wish)
			allMessages(p)
			subs = append(subs, p)
		}
		encoded := func(from []*Peer) int {
			made := make(map[*byte]bool)
			for _, p := range from {
				frame, err := protocol.Encode(onlyMessage[*protocol.Snapshot](t, p))
				require.NoError(t, err)
				made[&frame[0]] = true
			}
			return len(made)
		}
		for seq := range uint64(3) {
			proxy.Handle(full("vim-1", seq+1, "a line that stays", fmt.Sprint("line ", seq)))
			require.Equal(t, len(wishes), encoded(subs))
		}
		late, others := subs[:len(wishes)], subs[len(wishes):]
		proxy.Handle(full("vim-1", 4, "a line that stays", "four"))
		require.Equal(t, len(wishes), encoded(others))
		proxy.Handle(full("vim-1", 5, "a line that stays", "five"))
		require.Equal(t, len(wishes), encoded(others))
		require.Equal(t, len(wishes), encoded(late), "all rows are said to everybody in the same way, the changes to these alone")
		for _, p := range subs {
			p.Leave()
		}
	})
}

// Subscribers fetch now and then while the screen is hidden and shown again. One that fetched
// everything has the newest rows.
func TestEverySubscriberHasTheNewestRows(t *testing.T) {
	for seed := range int64(50) {
		r := rand.New(rand.NewSource(seed))
		_, proxy, _ := scene()
		peers, have := make([]*Peer, 12), make([]*protocol.Snapshot, 12)
		fetch := func(i int) {
			for _, m := range allMessages(peers[i]) {
				if next, ok := m.(*protocol.Snapshot); ok {
					if have[i], ok = next.Complete(have[i]); !ok {
						require.Fail(t, "a difference to something else", "seed %d", seed)
					}
				}
			}
		}
		for i := range peers {
			peers[i] = proxy.hub.Join(Member{Role: RoleViewer, ID: fmt.Sprint("v-", i)})
			wish := everyWish[i%len(everyWish)]
			wish.RequestID, wish.SessionID = "s", "vim-1"
			peers[i].Handle(&wish)
		}
		var rows []string
		for seq := range uint64(40) {
			if r.Intn(8) == 0 {
				proxy.Handle(&protocol.Blackout{ID: "b", SessionID: "vim-1", On: true, Why: protocol.BlackoutUser})
				again := everyWish[r.Intn(len(everyWish))]
				again.RequestID, again.SessionID = "again", "vim-1"
				i := r.Intn(len(peers))
				fetch(i)
				have[i] = nil
				peers[i].Handle(&again)
				proxy.Handle(&protocol.Blackout{ID: "b", SessionID: "vim-1", Why: protocol.BlackoutUser})
			}
			rows = []string{"a line that stays where it is", fmt.Sprint("one of few lines ", r.Intn(4)), fmt.Sprint("one of few lines ", r.Intn(4))}
			fetchSome := func() {
				for i := range peers {
					if r.Intn(3) == 0 {
						fetch(i)
					}
				}
			}
			proxy.Handle(full("vim-1", seq+1, rows...))
			fetchSome()
			settled := full("vim-1", seq+1, rows...)
			settled.Settled = true
			proxy.Handle(settled)
			fetchSome()
		}
		for i := range peers {
			fetch(i)
			require.Equal(t, rows, have[i].Screen.Lines, "seed %d, subscriber %d", seed, i)
		}
	}
}
