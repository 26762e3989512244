package hub

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"terminalproxy/protocol"
)

// rowsOf is a screen as a proxy sends it: long rows, so that a difference is shorter.
func rowsOf(seq uint64, lines ...string) *protocol.Rows {
	for i, line := range lines {
		lines[i] = line + strings.Repeat("x", 50)
	}
	return &protocol.Rows{
		SessionID: "vim-1", Seq: seq, Rev: seq, Cols: 80, Rows: len(lines), Lines: lines,
		State: &protocol.ViewState{Title: "notes", Keyboard: protocol.Keyboard{Holder: protocol.HolderUser}},
	}
}

// showing is a hub whose proxy sends rows, and n viewers that look.
func showing(n int) (h *Hub, proxy *Peer, viewers []*Peer) {
	h = New(nil)
	proxy = h.Join(Member{Role: RoleProxy})
	m := opening("vim-1", "secret")
	proxy.Handle(m)
	for i := range n {
		p := h.Join(Member{Role: RoleViewer, ID: fmt.Sprint("v-", i)})
		p.Handle(&protocol.View{RequestID: "w", SessionID: "vim-1"})
		viewers = append(viewers, p)
	}
	return h, proxy, viewers
}

// A viewer has one unacknowledged message, then the newest screen and none in between. Another
// viewer that is stuck does not slow it.
func TestAViewerGetsTheNewestScreenWhenItIsReady(t *testing.T) {
	_, proxy, viewers := showing(2)
	quick, stuck := viewers[0], viewers[1]
	proxy.Handle(rowsOf(1, "a", "b"))
	first := allMessages(quick)[1].(*protocol.Rows)
	shown, ok := first.Complete(nil)
	require.True(t, ok)
	require.Len(t, allMessages(stuck), 2, "done, and the screen")
	for seq := uint64(2); seq < 100; seq++ {
		proxy.Handle(rowsOf(seq, "a", fmt.Sprint(seq)))
	}
	require.Empty(t, allMessages(quick))
	quick.Handle(&protocol.Ack{SessionID: "vim-1", Seq: 7})
	require.Empty(t, allMessages(quick), "that is not what it has")
	quick.Handle(&protocol.Ack{SessionID: "vim-1", Seq: 1})
	part := onlyMessage[*protocol.Rows](t, quick)
	require.EqualValues(t, 1, part.Since)
	require.EqualValues(t, 99, part.Seq)
	require.Len(t, part.Changed, 1)
	require.Nil(t, part.State, "it is as before")
	shown, ok = part.Complete(shown)
	require.True(t, ok)
	require.Equal(t, rowsOf(99, "a", "99").Lines, shown.Lines)
	require.Empty(t, allMessages(stuck))
}

// Viewers with the same screen get one message, whose frame is made once.
func TestViewersOfOneScreenShareTheFrame(t *testing.T) {
	_, proxy, viewers := showing(3)
	proxy.Handle(rowsOf(1, "a", "b"))
	for _, v := range viewers[:2] {
		_ = allMessages(v)
		v.Handle(&protocol.Ack{SessionID: "vim-1", Seq: 1})
	}
	proxy.Handle(rowsOf(2, "a", "c"))
	one1, one2 := onlyMessage[*protocol.Rows](t, viewers[0]), onlyMessage[*protocol.Rows](t, viewers[1])
	require.Same(t, one1, one2)
	frame, err := protocol.Encode(one1)
	require.NoError(t, err)
	again, err := protocol.Encode(one2)
	require.NoError(t, err)
	require.Same(t, &frame[0], &again[0])
	require.Less(t, len(frame), 250)
}

func TestAViewersRhythm(t *testing.T) {
	h, proxy, _ := showing(0)
	slow := h.Join(Member{Role: RoleViewer, ID: "v"})
	slow.Handle(&protocol.View{RequestID: "w", SessionID: "vim-1", EveryMs: time.Hour.Milliseconds()})
	proxy.Handle(rowsOf(1, "a", "b"))
	require.Len(t, allMessages(slow), 2)
	slow.Handle(&protocol.Ack{SessionID: "vim-1", Seq: 1})
	proxy.Handle(rowsOf(2, "a", "c"))
	require.Empty(t, allMessages(slow))
	proxy.Handle(&protocol.SessionClose{ID: "c", SessionID: "vim-1", ExitCode: 3})
	require.Equal(t, []string{"terminal.rows", "terminal.session.close"}, kinds(allMessages(slow)), "what it lacks comes before the end")
}

// A stuck viewer receives the end as well.
func TestTheEndNeedsNoAcknowledgement(t *testing.T) {
	_, proxy, viewers := showing(1)
	proxy.Handle(rowsOf(1, "a", "b"))
	_ = allMessages(viewers[0])
	proxy.Handle(rowsOf(2, "a", "c"))
	proxy.Handle(&protocol.SessionClose{ID: "c", SessionID: "vim-1", ExitCode: 3})
	require.Equal(t, []string{"terminal.rows", "terminal.session.close"}, kinds(allMessages(viewers[0])))
	late := viewers[0].hub.Join(Member{Role: RoleViewer, ID: "late"})
	late.Handle(&protocol.View{RequestID: "w", SessionID: "vim-1"})
	require.Equal(t, []string{"done", "terminal.rows", "terminal.session.close"}, kinds(allMessages(late)))
}

// A proxy that reconnects is asked again, begins with all rows, and its viewers get what differs
// from what they have.
func TestViewersSurviveTheLinkOfTheirProxy(t *testing.T) {
	h, proxy, viewers := showing(1)
	proxy.Handle(rowsOf(1, "a", "b"))
	_ = allMessages(viewers[0])
	proxy.Leave()
	viewers[0].Handle(&protocol.Ack{SessionID: "vim-1", Seq: 1})
	back := h.Join(Member{Role: RoleProxy})
	m := opening("vim-1", "secret")
	back.Handle(m)
	require.Contains(t, kinds(allMessages(back)), "terminal.view")
	back.Handle(rowsOf(5, "a", "c"))
	require.EqualValues(t, 1, onlyMessage[*protocol.Rows](t, viewers[0]).Since)
	h.Close()
}

// Once the user hides the screen, it is shown to no viewer as it was before.
func TestAHiddenScreenIsNotShownFromBefore(t *testing.T) {
	h, proxy, viewers := showing(1)
	proxy.Handle(rowsOf(1, "secret", "b"))
	_ = allMessages(viewers[0])
	proxy.Handle(rowsOf(2, "secret", "c"))
	proxy.Handle(&protocol.Blackout{ID: "b", SessionID: "vim-1", On: true, Why: protocol.BlackoutUser})
	viewers[0].Handle(&protocol.Ack{SessionID: "vim-1", Seq: 1})
	late := h.Join(Member{Role: RoleViewer, ID: "late"})
	late.Handle(&protocol.View{RequestID: "w", SessionID: "vim-1"})
	for _, p := range []*Peer{viewers[0], late} {
		require.NotContains(t, kinds(allMessages(p)), "terminal.rows")
	}
}

func TestRowsThatFollowNothing(t *testing.T) {
	_, proxy, viewers := showing(1)
	_ = allMessages(proxy)
	m := rowsOf(9, "a", "b")
	m.Since, m.Lines, m.State = 8, nil, nil
	proxy.Handle(m)
	require.Equal(t, "since", onlyMessage[*protocol.Error](t, proxy).Field)
	require.Equal(t, []string{"done"}, kinds(allMessages(viewers[0])))
}

// The list says where a person looks; a person who begins to look is not a change of it.
func TestTheListShowsWhereAPersonLooks(t *testing.T) {
	h, _, viewers := showing(1)
	viewed := func() bool { return h.lists.sessionsOf(listKey{localOnly: true})[0].Viewed }
	require.True(t, viewed())
	require.False(t, stableInfo(h.lists.sessionsOf(listKey{localOnly: true})[0]).Viewed)
	viewers[0].Handle(&protocol.Unview{SessionID: "vim-1"})
	require.False(t, viewed())
	agent := h.Join(Member{Role: RoleAgent, ID: "a-1"})
	agent.Handle(&protocol.View{RequestID: "w", SessionID: "vim-1"})
	require.False(t, viewed(), "an agent is no person")
}

// A proxy that would tell its user of a question learns whether a person looks, whatever agents do.
func TestAProxyHearsWhetherAPersonLooks(t *testing.T) {
	h, proxy, _ := showing(0)
	_ = allMessages(proxy)
	look := &protocol.View{RequestID: "w", SessionID: "vim-1"}
	told := func(agents bool) {
		t.Helper()
		require.Equal(t, &protocol.View{SessionID: "vim-1", Agents: agents}, onlyMessage[*protocol.View](t, proxy))
	}
	agent, person := h.Join(Member{Role: RoleAgent, ID: "a-1"}), h.Join(Member{Role: RoleViewer, ID: "v-1"})
	agent.Handle(look)
	told(true)
	person.Handle(look)
	told(false)
	second := h.Join(Member{Role: RoleViewer, ID: "v-2"})
	second.Handle(look)
	h.Join(Member{Role: RoleAgent, ID: "a-2"}).Handle(look)
	agent.Leave()
	require.Empty(t, allMessages(proxy), "which is no news")
	person.Leave()
	require.Empty(t, allMessages(proxy), "another one looks")
	second.Leave()
	told(true)
}
