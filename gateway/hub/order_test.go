package hub

import (
	"fmt"
	"math/rand"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"terminalproxy/protocol"
)

// allPlaces reads an order from its begin to its end.
func allPlaces(o *Order, after Place) (all []Place) {
	for {
		next := o.After(after)
		if len(next) == 0 {
			return all
		}
		all = append(all, next...)
		after = next[len(next)-1]
	}
}

// An order has the places that were inserted and not removed, in order, from any place on.
func TestOrderOfPlaces(t *testing.T) {
	var none *Order
	require.Empty(t, none.After(beforeAll))
	none.Remove(Place{})
	for seed := range int64(5) {
		r := rand.New(rand.NewSource(seed))
		o, want := &Order{}, map[Place]bool{}
		for range 5 * chunkPlaces {
			p := Place{int64(r.Intn(700)), fmt.Sprint(r.Intn(3))}
			if want[p] = r.Intn(3) > 0; want[p] {
				o.Insert(p)
			} else {
				o.Remove(p)
				delete(want, p)
			}
		}
		var sorted []Place
		for p := range want {
			sorted = append(sorted, p)
		}
		slices.SortFunc(sorted, comparePlaces)
		require.Equal(t, sorted, allPlaces(o, beforeAll))
		require.Equal(t, len(sorted), o.Len())
		for at, p := range sorted {
			require.Equal(t, sorted[at+1:], append([]Place{}, allPlaces(o, p)...), "after %v", p)
		}
		for _, p := range sorted {
			o.Remove(p)
		}
		require.Empty(t, o.After(beforeAll))
		require.Zero(t, o.Len())
	}
}

// others is a directory of sessions at other gateways.
type others struct {
	localDirectory
	order Order
}

func (o *others) FindSessions(_ string, after Place) []Place {
	return slices.Clone(o.order.After(after))
}

func (o *others) FindSession(_, id string) (info protocol.SessionInfo, there bool) {
	info.SessionID, info.State = id, protocol.StateRunning
	return info, id != "gone"
}

// readPages reads a list by pages.
func readPages(p *Peer) (read []string, pages int) {
	for after := ""; ; {
		p.Handle(&protocol.SessionsList{RequestID: "page", Paged: true, After: after})
		page := allMessages(p)[0].(*protocol.SessionsListResult)
		read, pages = append(read, ids(page.Sessions)...), pages+1
		if after = page.Next; after == "" {
			return read, pages
		}
	}
}

// A list has the sessions here and those of other gateways in one order. A session that is here is
// not there again, and a place whose session is gone is left out.
func TestListOfSessionsHereAndElsewhere(t *testing.T) {
	h, _ := crowd(t, 600)
	defer h.Close()
	elsewhere := &others{}
	h.JoinCluster(elsewhere, noRelay{})
	for i := range 900 {
		elsewhere.order.Insert(Place{int64(i / 2), fmt.Sprintf("sh-%05d", i)})
	}
	for i := range 600 {
		elsewhere.order.Insert(Place{int64(i % 7), fmt.Sprintf("vim-%05d", i)}) // they moved here
	}
	elsewhere.order.Insert(Place{50, "gone"})
	var want []Place
	for i := range 600 {
		want = append(want, Place{int64(i / 3), fmt.Sprintf("vim-%05d", i)})
	}
	for i := range 900 {
		want = append(want, Place{int64(i / 2), fmt.Sprintf("sh-%05d", i)})
	}
	slices.SortFunc(want, comparePlaces)
	var names []string
	for _, p := range want {
		names = append(names, p.SessionID)
	}
	p := h.Join(Member{Role: RoleViewer, Token: "ada"})
	p.Handle(&protocol.SessionsList{RequestID: "all"})
	require.Equal(t, names, ids(allMessages(p)[0].(*protocol.SessionsListResult).Sessions))
	paged, _ := readPages(p)
	require.Equal(t, names, paged)
}

// A session that its proxy opens anew, with another start, has its new place only.
func TestPlaceOfASessionThatStartsAnew(t *testing.T) {
	h, proxies := crowd(t, 9)
	defer h.Close()
	again := opening("vim-00000", "k")
	again.StartedAt = 100
	proxies[0].Handle(again)
	read, _ := readPages(h.Join(Member{Role: RoleViewer}))
	require.Len(t, read, 9)
	require.Equal(t, "vim-00000", read[8])
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, s := range h.sessions {
		h.forgetSession(s)
	}
	require.Empty(t, h.lists.orders)
}
