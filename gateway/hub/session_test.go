package hub

import (
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"terminalproxy/protocol"
)

// R57: an id carries no authority.
func TestSecondConnectionNeverEvictsTheFirstR57(t *testing.T) {
	for name, key := range map[string]string{"no key": "", "wrong key": "guess"} {
		t.Run(name, func(t *testing.T) {
			h, proxy, agent := scene()
			thief := h.Join(Member{Role: RoleProxy})
			thief.Handle(opening("vim-1", key))
			mustFail(t, thief, "o1", protocol.CodeForbidden)
			thief.Handle(full("vim-1", 9, "evil"))
			mustFail(t, thief, "", protocol.CodeNoSession)
			proxy.Handle(full("vim-1", 1, "good"))
			agent.Handle(&protocol.SessionsSubscribe{RequestID: "s", SessionID: "vim-1"})
			all := allMessages(agent)
			require.Equal(t, []string{"done", "terminal.snapshot"}, kinds(all))
			require.Equal(t, "good", all[1].(*protocol.Snapshot).Content)
			thief.Leave()
			agent.Handle(&protocol.Read{RequestID: "r", SessionID: "vim-1"})
			onlyMessage[*protocol.Read](t, proxy)
		})
	}
	t.Run("session without a key", func(t *testing.T) {
		h := New(nil)
		h.Join(Member{Role: RoleProxy}).Handle(opening("x", ""))
		thief := h.Join(Member{Role: RoleProxy})
		thief.Handle(opening("x", ""))
		mustFail(t, thief, "o1", protocol.CodeForbidden)
	})
}

func TestTheRightKeyTakesOver(t *testing.T) {
	h, proxy, agent := scene()
	agent.Handle(&protocol.Read{RequestID: "r", SessionID: "vim-1"})
	next := h.Join(Member{Role: RoleProxy})
	next.Handle(opening("vim-1", "secret"))
	require.Equal(t, "a-1:r", onlyMessage[*protocol.Read](t, next).RequestID, "it is asked what the old connection was asked")
	proxy.Leave()
	require.Empty(t, allMessages(agent))
	agent.Handle(&protocol.Read{RequestID: "r2", SessionID: "vim-1"})
	onlyMessage[*protocol.Read](t, next)
}

func TestLostSessionComesBackOrIsForgotten(t *testing.T) {
	inScene(t, func(t *testing.T, h *Hub, proxy, agent *Peer) {
		proxy.Handle(full("vim-1", 1, "one"))
		agent.Handle(&protocol.SessionsSubscribe{RequestID: "s", SessionID: "vim-1"})
		proxy.Handle(&protocol.ControlGrant{ID: "g", SessionID: "vim-1", AgentID: "a-1", Epoch: 3, Level: protocol.LevelDrive})
		allMessages(agent)
		proxy.Leave()
		require.Equal(t, protocol.ReasonLink, onlyMessage[*protocol.ControlRevoke](t, agent).Reason, "no grant outlives the link")
		agent.Handle(&protocol.SessionsList{RequestID: "l"})
		list := onlyMessage[*protocol.SessionsListResult](t, agent).Sessions
		require.Equal(t, protocol.StateLost, list[0].State)
		require.Equal(t, protocol.HolderUser, list[0].Keyboard.Holder)

		time.Sleep(4 * time.Second)
		proxy = h.Join(Member{Role: RoleProxy})
		proxy.Handle(opening("vim-1", "secret"))
		time.Sleep(time.Hour)
		synctest.Wait()
		proxy.Handle(full("vim-1", 2, "two"))
		require.Equal(t, "two", onlyMessage[*protocol.Snapshot](t, agent).Content, "a subscription lives on")

		proxy.Leave()
		time.Sleep(5*time.Second + time.Millisecond)
		synctest.Wait()
		mustFail(t, agent, "s", protocol.CodeUnavailable)
		agent.Handle(&protocol.SessionsList{RequestID: "l"})
		require.Empty(t, onlyMessage[*protocol.SessionsListResult](t, agent).Sessions)
	})
}

func TestEndedSessionIsATombstone(t *testing.T) {
	inScene(t, func(t *testing.T, _ *Hub, proxy, agent *Peer) {
		agent.Handle(&protocol.SessionsSubscribe{RequestID: "s", SessionID: "vim-1", EveryMs: 1000})
		agent.Handle(&protocol.Wait{RequestID: "w", SessionID: "vim-1", Until: protocol.Until{Exit: true}})
		proxy.Handle(full("vim-1", 1, "first", ""))
		proxy.Handle(full("vim-1", 2, "last", ""))
		proxy.Handle(&protocol.SessionClose{ID: "c", SessionID: "vim-1", ExitCode: 3})
		all := allMessages(agent)
		require.Equal(t, []string{"done", "terminal.wait.result", "terminal.snapshot", "terminal.session.close"}, kinds(all), "nothing is held back over the end")
		require.True(t, all[1].(*protocol.WaitResult).Met, "the end that was waited for came")
		require.Equal(t, 3, *all[1].(*protocol.WaitResult).ExitCode)
		require.Equal(t, uint64(2), all[2].(*protocol.Snapshot).Seq)
		proxy.Leave()

		agent.Handle(&protocol.Read{RequestID: "r", SessionID: "vim-1", Text: true})
		r := onlyMessage[*protocol.ReadResult](t, agent)
		require.Equal(t, []string{"last", ""}, r.Frame.Screen.Lines)
		require.Equal(t, protocol.StateExited, r.Frame.Activity.State)
		require.Equal(t, "last\n", r.Text)
		_, err := protocol.Encode(r)
		require.NoError(t, err)
		for _, c := range []struct {
			until protocol.Until
			met   bool
		}{{protocol.Until{Exit: true}, true}, {protocol.Until{Text: "more"}, false}} {
			agent.Handle(&protocol.Wait{RequestID: "w2", SessionID: "vim-1", Until: c.until})
			w := onlyMessage[*protocol.WaitResult](t, agent)
			require.Equal(t, c.met, w.Met)
			require.Equal(t, 3, *w.ExitCode)
			require.Equal(t, []string{"last", ""}, w.Frame.Screen.Lines)
		}
		agent.Handle(&protocol.Input{RequestID: "i", SessionID: "vim-1", Data: "x"})
		require.Contains(t, mustFail(t, agent, "i", protocol.CodeExited).Message, "status 3")
		agent.Handle(&protocol.SessionsSubscribe{RequestID: "s2", SessionID: "vim-1"})
		require.Equal(t, []string{"done", "terminal.snapshot", "terminal.session.close"}, kinds(allMessages(agent)))

		time.Sleep(tombstoneFor + time.Millisecond)
		synctest.Wait()
		agent.Handle(&protocol.Read{RequestID: "r", SessionID: "vim-1"})
		mustFail(t, agent, "r", protocol.CodeNoSession)
	})
}

func TestTheLastRowsOfATombstone(t *testing.T) {
	inScene(t, func(t *testing.T, _ *Hub, proxy, agent *Peer) {
		proxy.Handle(full("vim-1", 1, "one", "two", "three", "four"))
		proxy.Handle(&protocol.SessionClose{ID: "c", SessionID: "vim-1"})
		for lines, want := range map[int]string{1: "four", 3: "two\nthree\nfour", 4: "one\ntwo\nthree\nfour", 2000: "one\ntwo\nthree\nfour"} {
			agent.Handle(&protocol.Read{RequestID: "r", SessionID: "vim-1", Scrollback: lines, FromLine: new(uint64(7))})
			require.Equal(t, want, onlyMessage[*protocol.ReadResult](t, agent).Text, lines)
		}
	})
}

func TestTombstonesAreBounded(t *testing.T) {
	h := New(nil)
	defer h.Close()
	proxy, agent := h.Join(Member{Role: RoleProxy}), h.Join(Member{Role: RoleAgent})
	for i := range maxTombstones + 3 {
		id := fmt.Sprintf("s-%03d", i)
		proxy.Handle(opening(id, "k"))
		proxy.Handle(&protocol.SessionClose{ID: "c", SessionID: id})
	}
	agent.Handle(&protocol.SessionsList{RequestID: "l"})
	list := onlyMessage[*protocol.SessionsListResult](t, agent).Sessions
	require.Len(t, list, maxTombstones)
	require.Equal(t, "s-003", list[0].SessionID, "the oldest go first")
}

func TestSessionsAreBounded(t *testing.T) {
	h := New(nil)
	var proxy *Peer
	for i := range maxSessions {
		if i%maxPerProxy == 0 {
			proxy = h.Join(Member{Role: RoleProxy})
		}
		proxy.Handle(opening(fmt.Sprint(i), ""))
	}
	require.Empty(t, allMessages(proxy))
	proxy = h.Join(Member{Role: RoleProxy})
	proxy.Handle(opening("more", ""))
	require.Contains(t, mustFail(t, proxy, "o1", protocol.CodeBusy).Message, "this gateway already has 1024 sessions")

	h = New(nil)
	h.LimitSessions(1)
	proxy = h.Join(Member{Role: RoleProxy})
	proxy.Handle(opening("one", ""))
	require.Empty(t, allMessages(proxy))
	proxy.Handle(opening("two", ""))
	require.Contains(t, mustFail(t, proxy, "o1", protocol.CodeBusy).Message, "this gateway already has 1 sessions")
}

// R80: one connection cannot fill the gateway.
func TestSessionsOfOneConnectionAreBoundedR80(t *testing.T) {
	h := New(nil)
	proxy, other := h.Join(Member{Role: RoleProxy}), h.Join(Member{Role: RoleProxy})
	for i := range maxPerProxy {
		proxy.Handle(opening(fmt.Sprint(i), "key"))
	}
	other.Handle(opening("other", "key"))
	require.Empty(t, allMessages(proxy))
	proxy.Handle(opening("more", ""))
	require.Contains(t, mustFail(t, proxy, "o1", protocol.CodeBusy).Message, "64 sessions")
	proxy.Handle(opening("other", "key"))
	mustFail(t, proxy, "o1", protocol.CodeBusy)
	proxy.Handle(opening("7", "key"))
	require.Empty(t, allMessages(proxy), "what it has it may open anew")
	require.Empty(t, allMessages(other), "and others have room")
	proxy.Handle(&protocol.SessionClose{ID: "c", SessionID: "7"})
	proxy.Handle(opening("more", ""))
	require.Empty(t, allMessages(proxy), "an ended session counts no more")
}

// A difference from an unknown revision is dropped, and so is what builds on it; the proxy is told
// once. TestEverySubscriberHasTheNewestSnapshot has differences that fit.
func TestDifferenceFromAnUnknownRevisionIsDropped(t *testing.T) {
	_, proxy, agent := scene()
	delta := func(since, seq uint64) *protocol.Snapshot {
		return &protocol.Snapshot{ID: "s", SessionID: "vim-1", Seq: seq, Since: since, Changed: []protocol.Row{{Row: 0, Text: "?"}}, Screen: &protocol.Screen{Cols: 4, Rows: 2}}
	}
	proxy.Handle(full("vim-1", 3, "a", "b"))
	agent.Handle(&protocol.SessionsSubscribe{RequestID: "s", SessionID: "vim-1"})
	require.Equal(t, []string{"done", "terminal.snapshot"}, kinds(allMessages(agent)))
	proxy.Handle(delta(7, 8))
	require.Equal(t, "since", onlyMessage[*protocol.Error](t, proxy).Field)
	proxy.Handle(delta(3, 9))
	require.Empty(t, allMessages(proxy))
	require.Empty(t, allMessages(agent))
	proxy.Handle(full("vim-1", 10, "x", "y"))
	require.Equal(t, uint64(10), onlyMessage[*protocol.Snapshot](t, agent).Seq)
	proxy.Handle(opening("vim-1", "secret"))
	proxy.Handle(delta(10, 11))
	require.Empty(t, allMessages(agent), "after an open, all rows are needed: the connection may be another")
}
