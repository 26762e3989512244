package hub

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"terminalproxy/protocol"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// now is a done channel that makes Next return at once when there is nothing.
var now = func() chan struct{} { c := make(chan struct{}); close(c); return c }()

// got is everything that waits for p.
func got(p *Peer) []protocol.Message {
	var out []protocol.Message
	for {
		m, err := p.out.take()
		if m == nil || err != nil {
			return out
		}
		out = append(out, m)
	}
}

// one is the only message that waits for p.
func one[T protocol.Message](t *testing.T, p *Peer) T {
	t.Helper()
	all := got(p)
	require.Len(t, all, 1, "%v", kinds(all))
	m, ok := all[0].(T)
	require.True(t, ok, "got %s %+v", protocol.KindOf(all[0]), all[0])
	return m
}

func kinds(all []protocol.Message) []string {
	var out []string
	for _, m := range all {
		out = append(out, protocol.KindOf(m))
	}
	return out
}

func fails(t *testing.T, p *Peer, id string, code protocol.Code) protocol.Error {
	t.Helper()
	e := one[*protocol.Error](t, p)
	require.Equal(t, id, e.RequestID)
	require.Equal(t, code, e.Code, e.Message)
	return *e
}

func opening(id, key string) *protocol.SessionOpen {
	return &protocol.SessionOpen{ID: "o1", SessionID: id, Name: "vim", Command: "vim", Args: []string{"a"}, Cols: 4, Rows: 2, ResumeKey: key}
}

func full(id string, seq uint64, lines ...string) *protocol.Snapshot {
	return &protocol.Snapshot{ID: "s", SessionID: id, Content: strings.Join(lines, "\n"), Seq: seq, Screen: &protocol.Screen{Cols: 4, Rows: len(lines), Lines: lines}}
}

// scene is a hub with a proxy that has opened session "vim-1", and an agent.
func scene() (h *Hub, proxy, agent *Peer) {
	h = New(nil)
	proxy = h.Join(Member{Role: RoleProxy})
	proxy.Handle(opening("vim-1", "secret"))
	return h, proxy, h.Join(Member{Role: RoleAgent, ID: "a-1", Name: "claude"})
}

func TestRequestGoesToTheOwnerAndItsAnswerBack(t *testing.T) {
	_, proxy, agent := scene()
	agent.Handle(&protocol.Input{RequestID: "r1", SessionID: "vim-1", Data: "x", AgentID: "somebody-else"})
	in := one[*protocol.Input](t, proxy)
	require.Equal(t, "a-1:r1", in.RequestID)
	require.Equal(t, "a-1", in.AgentID, "what the client wrote is ignored")
	proxy.Handle(&protocol.InputResult{ID: "i", RequestID: in.RequestID, SessionID: "vim-1", Status: protocol.StatusWritten})
	require.Equal(t, "r1", one[*protocol.InputResult](t, agent).RequestID)

	proxy.Handle(&protocol.InputResult{ID: "i", RequestID: in.RequestID, SessionID: "vim-1", Status: protocol.StatusWritten})
	require.Empty(t, got(agent), "answered once")

	agent.Handle(&protocol.Input{RequestID: "r1", SessionID: "vim-1", Data: "x"})
	require.Equal(t, in.RequestID, one[*protocol.Input](t, proxy).RequestID, "a repeated id reaches the proxy as the same")
}

// TestPartsAreForProxiesThatTakeThem: an older one would find no data in them.
func TestPartsAreForProxiesThatTakeThem(t *testing.T) {
	_, proxy, agent := scene()
	m := &protocol.Input{RequestID: "r1", SessionID: "vim-1", Parts: []protocol.InputPart{{Data: "x"}, {Data: "y"}}}
	agent.Handle(m)
	require.Empty(t, got(proxy))
	require.Contains(t, one[*protocol.Error](t, agent).Message, "send one input after another")
	now := opening("vim-1", "secret")
	now.Parts = true
	proxy.Handle(now)
	agent.Handle(m)
	require.Equal(t, m.Parts, one[*protocol.Input](t, proxy).Parts)
	agent.Handle(&protocol.SessionsList{RequestID: "r2"})
	require.True(t, one[*protocol.SessionsListResult](t, agent).Sessions[0].Parts)
}

// TestKeysAreForProxiesThatTakeThem, once, and come from owners, or by whoever sits at this machine.
func TestKeysAreForProxiesThatTakeThem(t *testing.T) {
	h, proxy, _ := scene()
	m := &protocol.Keys{RequestID: "r1", SessionID: "vim-1", KeyNo: 1, InputKind: protocol.InputText, Data: "x", SignatureB64: []byte("s")}
	page := h.Join(Member{Role: RoleViewer, Local: true})
	page.Handle(m)
	require.Contains(t, fails(t, page, "r1", protocol.CodeBadMessage).Message, "takes no keys of pages")
	require.Empty(t, got(proxy))
	now := opening("vim-1", "secret")
	now.Keys = true
	proxy.Handle(now)
	for member, allowed := range map[Member]bool{
		{Role: RoleViewer, Local: true}: true, {Role: RoleViewer}: false, {Role: RoleOwner}: true, {Role: RoleAgent, Local: true}: false,
	} {
		p := h.Join(member)
		p.Handle(m)
		if !allowed {
			fails(t, p, "r1", protocol.CodeForbidden)
			require.Empty(t, got(proxy))
			continue
		}
		in := one[*protocol.Keys](t, proxy)
		require.Equal(t, m.SignatureB64, in.SignatureB64)
		proxy.Handle(&protocol.Done{RequestID: in.RequestID})
		require.Equal(t, "r1", one[*protocol.Done](t, p).RequestID)
	}
	page.Handle(m)
	one[*protocol.Keys](t, proxy)
	proxy.Leave()
	require.Contains(t, fails(t, page, "r1", protocol.CodeUnavailable).Message, "look before you repeat it", "they are not sent twice")
}

func TestErrorAndDoneOfAProxyFindTheirRequest(t *testing.T) {
	_, proxy, agent := scene()
	agent.Handle(&protocol.ControlRelease{RequestID: "r1", SessionID: "vim-1", Gone: true})
	release := one[*protocol.ControlRelease](t, proxy)
	require.False(t, release.Gone, "only a gateway says that an agent is gone")
	proxy.Handle(&protocol.Done{RequestID: release.RequestID})
	require.Equal(t, "r1", one[*protocol.Done](t, agent).RequestID)
	agent.Handle(&protocol.Read{RequestID: "r2", SessionID: "vim-1"})
	proxy.Handle(&protocol.Error{RequestID: one[*protocol.Read](t, proxy).RequestID, Code: protocol.CodeBlackout, Message: "hidden"})
	fails(t, agent, "r2", protocol.CodeBlackout)
}

func TestLongRequestIDsStayUniqueAndLegal(t *testing.T) {
	long := strings.Repeat("x", protocol.MaxID)
	a, b := wireID("a-1", long), wireID("a-1", long[1:]+"y")
	require.True(t, protocol.ValidID(a) && protocol.ValidID(b))
	require.NotEqual(t, a, b)
	require.Equal(t, a, wireID("a-1", long))
	_, proxy, agent := scene()
	agent.Handle(&protocol.Read{RequestID: long, SessionID: "vim-1"})
	proxy.Handle(&protocol.Done{RequestID: one[*protocol.Read](t, proxy).RequestID})
	require.Equal(t, long, one[*protocol.Done](t, agent).RequestID)
}

func TestRepeatedOpenRequestIsOneRequest(t *testing.T) {
	h, proxy, agent := scene()
	again := h.Join(Member{Role: RoleAgent, ID: "a-1"})
	read := &protocol.Read{RequestID: "r1", SessionID: "vim-1"}
	agent.Handle(read)
	again.Handle(read)
	in := one[*protocol.Read](t, proxy)
	again.Handle(&protocol.Read{RequestID: "r1", SessionID: "vim-1", Text: true})
	require.Equal(t, "requestId", fails(t, again, "r1", protocol.CodeBadMessage).Field)
	agent.Leave()
	proxy.Handle(&protocol.Done{RequestID: in.RequestID})
	one[*protocol.Done](t, again)
}

// A wait ends for the proxy when nobody waits for it any more: taken back, or its agents gone. Nothing else is taken back.
func TestWaitsAreTakenBack(t *testing.T) {
	h, proxy, agent := scene()
	again := h.Join(Member{Role: RoleAgent, ID: "a-1"})
	wait := &protocol.Wait{RequestID: "w", SessionID: "vim-1", Until: protocol.Until{Exit: true}}
	agent.Handle(wait)
	again.Handle(wait)
	asked := one[*protocol.Wait](t, proxy)
	agent.Handle(&protocol.Cancel{RequestID: "w", SessionID: "vim-1"})
	require.Empty(t, got(proxy), "the other one still waits")
	again.Leave()
	require.Equal(t, &protocol.Cancel{RequestID: asked.RequestID, SessionID: "vim-1"}, one[*protocol.Cancel](t, proxy))
	proxy.Handle(&protocol.WaitResult{ID: "r", RequestID: asked.RequestID, SessionID: "vim-1"})
	require.Empty(t, got(agent))

	stranger := h.Join(Member{Role: RoleAgent, ID: "a-2"})
	agent.Handle(wait)
	one[*protocol.Wait](t, proxy)
	stranger.Handle(&protocol.Cancel{RequestID: "w", SessionID: "vim-1"})
	require.NotEqual(t, asked.RequestID, one[*protocol.Cancel](t, proxy).RequestID, "another agent's wait is not its own")

	agent.Handle(&protocol.Input{RequestID: "i", SessionID: "vim-1", Data: "x"})
	one[*protocol.Input](t, proxy)
	agent.Handle(&protocol.Cancel{RequestID: "i", SessionID: "vim-1"})
	require.Empty(t, got(proxy), "what may have been typed is not taken back")
	agent.Handle(&protocol.Cancel{RequestID: "answered", SessionID: "vim-1"})
	one[*protocol.Cancel](t, proxy) // it may have been a request for control whose answer nobody heard

	agent.Handle(&protocol.ControlRequest{RequestID: "c", SessionID: "vim-1", Level: protocol.LevelDrive, Why: "fix it"})
	request := one[*protocol.ControlRequest](t, proxy)
	agent.Handle(&protocol.Cancel{RequestID: "c", SessionID: "vim-1"})
	require.Equal(t, &protocol.Cancel{RequestID: request.RequestID, SessionID: "vim-1"}, one[*protocol.Cancel](t, proxy), "its answer is not heard")
}

func TestNoSuchSessionListsThoseThatExist(t *testing.T) {
	h, _, agent := scene()
	agent.Handle(&protocol.Read{RequestID: "r1", SessionID: "nope"})
	require.Contains(t, fails(t, agent, "r1", protocol.CodeNoSession).Message, "vim-1")
	empty := New(nil).Join(Member{Role: RoleAgent})
	empty.Handle(&protocol.SessionsSubscribe{RequestID: "r2", SessionID: "nope"})
	require.Contains(t, fails(t, empty, "r2", protocol.CodeNoSession).Message, "proxy --agent")
	agent.Handle(&protocol.Input{RequestID: "r3", Data: "x"})
	require.Equal(t, "sessionId", fails(t, agent, "r3", protocol.CodeBadMessage).Field)
	h.Close()
}

func TestManyRequestsAtOnceAreBounded(t *testing.T) {
	_, proxy, agent := scene()
	for i := range maxOpen {
		agent.Handle(&protocol.Read{RequestID: fmt.Sprint(i), SessionID: "vim-1"})
	}
	require.Len(t, got(proxy), maxOpen)
	require.Empty(t, got(agent))
	agent.Handle(&protocol.Read{RequestID: "more", SessionID: "vim-1"})
	fails(t, agent, "more", protocol.CodeBusy)
}

func TestProxyThatDoesNotAnswerTimesOut(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h, proxy, agent := scene()
		defer h.Close()
		agent.Handle(&protocol.Wait{RequestID: "w", SessionID: "vim-1", Until: protocol.Until{Exit: true}, TimeoutMs: 2000})
		agent.Handle(&protocol.ControlRequest{RequestID: "c", SessionID: "vim-1", Level: protocol.LevelDrive, Why: "please"})
		sent := got(proxy)
		time.Sleep(12*time.Second - time.Millisecond)
		synctest.Wait()
		require.Empty(t, got(agent))
		time.Sleep(2 * time.Millisecond)
		synctest.Wait()
		fails(t, agent, "w", protocol.CodeTimeout)
		time.Sleep(time.Hour)
		require.Empty(t, got(agent), "a person may take as long as it takes")
		proxy.Handle(&protocol.ControlGrant{ID: "g", SessionID: "vim-1", RequestID: protocol.RequestID(sent[1]), AgentID: "a-1", Epoch: 3})
		require.Equal(t, "c", one[*protocol.ControlGrant](t, agent).RequestID)
	})
}

func TestControlReachesRequesterNamedAgentAndSubscribersOnce(t *testing.T) {
	h, proxy, agent := scene()
	watcher := h.Join(Member{Role: RoleViewer})
	bystander := h.Join(Member{Role: RoleAgent, ID: "a-2"})
	for _, p := range []*Peer{watcher, agent} {
		p.Handle(&protocol.SessionsSubscribe{RequestID: "s", SessionID: "vim-1"})
		one[*protocol.Done](t, p)
	}
	agent.Handle(&protocol.ControlRequest{RequestID: "c", SessionID: "vim-1", Level: protocol.LevelDrive, Why: "please", AgentName: "me"})
	asked := one[*protocol.ControlRequest](t, proxy)
	require.Equal(t, []string{"a-1", "me"}, []string{asked.AgentID, asked.AgentName})
	grant := &protocol.ControlGrant{ID: "g", SessionID: "vim-1", RequestID: asked.RequestID, AgentID: "a-1", AgentName: "me", Level: protocol.LevelDrive, Epoch: 3}
	proxy.Handle(grant)
	require.Equal(t, "c", one[*protocol.ControlGrant](t, agent).RequestID)
	require.Empty(t, one[*protocol.ControlGrant](t, watcher).RequestID)
	require.Empty(t, got(bystander))
	require.Equal(t, "a-1:c", grant.RequestID, "a message on its way is not changed")

	// Later, the revoke carries the request's id: the agent finds its own in it.
	proxy.Handle(&protocol.ControlRevoke{ID: "v", SessionID: "vim-1", RequestID: asked.RequestID, AgentID: "a-1", Epoch: 4, Reason: protocol.ReasonReclaimed})
	require.Equal(t, "c", one[*protocol.ControlRevoke](t, agent).RequestID)
	one[*protocol.ControlRevoke](t, watcher)
	proxy.Handle(&protocol.Note{SessionID: "vim-1", From: "user", Text: "hello"})
	require.Equal(t, "hello", one[*protocol.Note](t, agent).Text)
	one[*protocol.Note](t, watcher)
	require.Empty(t, got(bystander))
}

// What ends for one agent leaves another's control as it is: its own request, and a refusal of any.
func TestARevokeIsOfOneAgent(t *testing.T) {
	revoke := func(agent string, why protocol.Reason) *protocol.ControlRevoke {
		return &protocol.ControlRevoke{ID: "v", SessionID: "vim-1", AgentID: agent, Epoch: 4, Reason: why}
	}
	for name, c := range map[string]struct {
		revoke *protocol.ControlRevoke
		holder string
	}{
		"its own":              {revoke("a-1", protocol.ReasonReclaimed), protocol.HolderUser},
		"everybody's":          {revoke("", protocol.ReasonExited), protocol.HolderUser},
		"another's request":    {revoke("a-2", protocol.ReasonReleased), protocol.HolderAgent},
		"another's refusal":    {revoke("a-2", protocol.ReasonRefused), protocol.HolderAgent},
		"a refusal of its own": {revoke("a-1", protocol.ReasonRefused), protocol.HolderAgent},
	} {
		t.Run(name, func(t *testing.T) {
			_, proxy, agent := scene()
			proxy.Handle(&protocol.ControlGrant{ID: "g", SessionID: "vim-1", AgentID: "a-1", AgentName: "claude", Level: protocol.LevelDrive, Epoch: 3})
			proxy.Handle(c.revoke)
			got(agent)
			agent.Handle(&protocol.SessionsList{RequestID: "l"})
			require.Equal(t, c.holder, one[*protocol.SessionsListResult](t, agent).Sessions[0].Keyboard.Holder)
		})
	}
}

func TestTokenNameStandsForTheAgentsOwn(t *testing.T) {
	h, proxy, _ := scene()
	agent := h.Join(Member{Role: RoleAgent, Name: "laptop", Named: true})
	agent.Handle(&protocol.ControlRequest{RequestID: "c", SessionID: "vim-1", Level: protocol.LevelDrive, Why: "x", AgentName: "the user"})
	require.Equal(t, "laptop", one[*protocol.ControlRequest](t, proxy).AgentName)
	agent.Handle(&protocol.Note{RequestID: "n", SessionID: "vim-1", From: "user", AgentName: "the user", Text: "x"})
	note := one[*protocol.Note](t, proxy)
	require.Equal(t, []string{"agent", "laptop"}, []string{note.From, note.AgentName})
}

func TestAgentGoneGivesControlBack(t *testing.T) {
	h, proxy, agent := scene()
	lister := h.Join(Member{Role: RoleAgent})
	lasting := h.Join(Member{Role: RoleAgent, ID: "a-9", Lasting: true})
	for _, p := range []*Peer{agent, lasting} {
		p.Handle(&protocol.ControlRequest{RequestID: "c", SessionID: "vim-1", Level: protocol.LevelDrive, Why: "please"})
	}
	lister.Handle(&protocol.SessionsList{RequestID: "l"})
	require.Len(t, got(proxy), 2)
	lister.Leave()
	lasting.Leave()
	one[*protocol.Cancel](t, proxy) // who only listed was never there, and a lasting agent stays: it hears the answer later
	agent.Leave()
	agent.Leave()
	sent := got(proxy)
	require.Len(t, sent, 2)
	gone := sent[1].(*protocol.ControlRelease)
	require.True(t, gone.Gone)
	require.Equal(t, "a-1", gone.AgentID)
	_, err := protocol.Encode(gone)
	require.NoError(t, err)
}

// R57: an id carries no authority.
func TestR57SecondConnectionNeverEvictsTheFirst(t *testing.T) {
	for name, key := range map[string]string{"no key": "", "wrong key": "guess"} {
		t.Run(name, func(t *testing.T) {
			h, proxy, agent := scene()
			thief := h.Join(Member{Role: RoleProxy})
			thief.Handle(opening("vim-1", key))
			fails(t, thief, "o1", protocol.CodeForbidden)
			thief.Handle(full("vim-1", 9, "evil"))
			fails(t, thief, "", protocol.CodeNoSession)
			proxy.Handle(full("vim-1", 1, "good"))
			agent.Handle(&protocol.SessionsSubscribe{RequestID: "s", SessionID: "vim-1"})
			all := got(agent)
			require.Equal(t, []string{"done", "terminal.snapshot"}, kinds(all))
			require.Equal(t, "good", all[1].(*protocol.Snapshot).Content)
			thief.Leave()
			agent.Handle(&protocol.Read{RequestID: "r", SessionID: "vim-1"})
			one[*protocol.Read](t, proxy)
		})
	}
	t.Run("session without a key", func(t *testing.T) {
		h := New(nil)
		h.Join(Member{Role: RoleProxy}).Handle(opening("x", ""))
		thief := h.Join(Member{Role: RoleProxy})
		thief.Handle(opening("x", ""))
		fails(t, thief, "o1", protocol.CodeForbidden)
	})
}

func TestTheRightKeyTakesOver(t *testing.T) {
	h, proxy, agent := scene()
	agent.Handle(&protocol.Read{RequestID: "r", SessionID: "vim-1"})
	next := h.Join(Member{Role: RoleProxy})
	next.Handle(opening("vim-1", "secret"))
	require.Equal(t, "a-1:r", one[*protocol.Read](t, next).RequestID, "it is asked what the old connection was asked")
	proxy.Leave()
	require.Empty(t, got(agent))
	agent.Handle(&protocol.Read{RequestID: "r2", SessionID: "vim-1"})
	one[*protocol.Read](t, next)
}

func TestLostSessionComesBackOrIsForgotten(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h, proxy, agent := scene()
		defer h.Close()
		proxy.Handle(full("vim-1", 1, "one"))
		agent.Handle(&protocol.SessionsSubscribe{RequestID: "s", SessionID: "vim-1"})
		proxy.Handle(&protocol.ControlGrant{ID: "g", SessionID: "vim-1", AgentID: "a-1", Epoch: 3, Level: protocol.LevelDrive})
		got(agent)
		proxy.Leave()
		require.Equal(t, protocol.ReasonLink, one[*protocol.ControlRevoke](t, agent).Reason, "no grant outlives the link")
		agent.Handle(&protocol.SessionsList{RequestID: "l"})
		list := one[*protocol.SessionsListResult](t, agent).Sessions
		require.Equal(t, protocol.StateLost, list[0].State)
		require.Equal(t, protocol.HolderUser, list[0].Keyboard.Holder)

		time.Sleep(4 * time.Second)
		proxy = h.Join(Member{Role: RoleProxy})
		proxy.Handle(opening("vim-1", "secret"))
		time.Sleep(time.Hour)
		synctest.Wait()
		proxy.Handle(full("vim-1", 2, "two"))
		require.Equal(t, "two", one[*protocol.Snapshot](t, agent).Content, "a subscription lives on")

		proxy.Leave()
		time.Sleep(5*time.Second + time.Millisecond)
		synctest.Wait()
		fails(t, agent, "s", protocol.CodeUnavailable)
		agent.Handle(&protocol.SessionsList{RequestID: "l"})
		require.Empty(t, one[*protocol.SessionsListResult](t, agent).Sessions)
	})
}

func TestEndedSessionIsATombstone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h, proxy, agent := scene()
		defer h.Close()
		agent.Handle(&protocol.SessionsSubscribe{RequestID: "s", SessionID: "vim-1", EveryMs: 1000})
		agent.Handle(&protocol.Wait{RequestID: "w", SessionID: "vim-1", Until: protocol.Until{Exit: true}})
		proxy.Handle(full("vim-1", 1, "first", ""))
		proxy.Handle(full("vim-1", 2, "last", ""))
		proxy.Handle(&protocol.SessionClose{ID: "c", SessionID: "vim-1", ExitCode: 3})
		all := got(agent)
		require.Equal(t, []string{"done", "terminal.wait.result", "terminal.snapshot", "terminal.session.close"}, kinds(all), "nothing is held back over the end")
		require.True(t, all[1].(*protocol.WaitResult).Met, "the end that was waited for came")
		require.Equal(t, 3, *all[1].(*protocol.WaitResult).ExitCode)
		require.Equal(t, uint64(2), all[2].(*protocol.Snapshot).Seq)
		proxy.Leave()

		agent.Handle(&protocol.Read{RequestID: "r", SessionID: "vim-1", Text: true})
		r := one[*protocol.ReadResult](t, agent)
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
			w := one[*protocol.WaitResult](t, agent)
			require.Equal(t, c.met, w.Met)
			require.Equal(t, 3, *w.ExitCode)
			require.Equal(t, []string{"last", ""}, w.Frame.Screen.Lines)
		}
		agent.Handle(&protocol.Input{RequestID: "i", SessionID: "vim-1", Data: "x"})
		require.Contains(t, fails(t, agent, "i", protocol.CodeExited).Message, "status 3")
		agent.Handle(&protocol.SessionsSubscribe{RequestID: "s2", SessionID: "vim-1"})
		require.Equal(t, []string{"done", "terminal.snapshot", "terminal.session.close"}, kinds(got(agent)))

		time.Sleep(tombstoneFor + time.Millisecond)
		synctest.Wait()
		agent.Handle(&protocol.Read{RequestID: "r", SessionID: "vim-1"})
		fails(t, agent, "r", protocol.CodeNoSession)
	})
}

func TestTheLastRowsOfATombstone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h, proxy, agent := scene()
		defer h.Close()
		proxy.Handle(full("vim-1", 1, "one", "two", "three", "four"))
		proxy.Handle(&protocol.SessionClose{ID: "c", SessionID: "vim-1"})
		for lines, want := range map[int]string{1: "four", 3: "two\nthree\nfour", 4: "one\ntwo\nthree\nfour", 2000: "one\ntwo\nthree\nfour"} {
			agent.Handle(&protocol.Read{RequestID: "r", SessionID: "vim-1", Scrollback: lines, FromLine: new(uint64(7))})
			require.Equal(t, want, one[*protocol.ReadResult](t, agent).Text, lines)
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
	list := one[*protocol.SessionsListResult](t, agent).Sessions
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
	require.Empty(t, got(proxy))
	proxy = h.Join(Member{Role: RoleProxy})
	proxy.Handle(opening("more", ""))
	require.Contains(t, fails(t, proxy, "o1", protocol.CodeBusy).Message, "this gateway")
}

// R80: one connection cannot fill the gateway.
func TestR80SessionsOfOneConnectionAreBounded(t *testing.T) {
	h := New(nil)
	proxy, other := h.Join(Member{Role: RoleProxy}), h.Join(Member{Role: RoleProxy})
	for i := range maxPerProxy {
		proxy.Handle(opening(fmt.Sprint(i), "key"))
	}
	other.Handle(opening("other", "key"))
	require.Empty(t, got(proxy))
	proxy.Handle(opening("more", ""))
	require.Contains(t, fails(t, proxy, "o1", protocol.CodeBusy).Message, "64 sessions")
	proxy.Handle(opening("other", "key"))
	fails(t, proxy, "o1", protocol.CodeBusy)
	proxy.Handle(opening("7", "key"))
	require.Empty(t, got(proxy), "what it has it may open anew")
	require.Empty(t, got(other), "and others have room")
	proxy.Handle(&protocol.SessionClose{ID: "c", SessionID: "7"})
	proxy.Handle(opening("more", ""))
	require.Empty(t, got(proxy), "an ended session counts no more")
}

func TestDifferencesArePatchedIntoTheNewest(t *testing.T) {
	_, proxy, agent := scene()
	delta := func(since, seq uint64, rows ...protocol.Row) *protocol.Snapshot {
		return &protocol.Snapshot{ID: "s", SessionID: "vim-1", Seq: seq, Since: since, Changed: rows, Screen: &protocol.Screen{Cols: 4, Rows: 2}}
	}
	first := full("vim-1", 1, "a", "b")
	proxy.Handle(first)
	agent.Handle(&protocol.SessionsSubscribe{RequestID: "s", SessionID: "vim-1"})
	require.Equal(t, []string{"done", "terminal.snapshot"}, kinds(got(agent)))
	proxy.Handle(delta(1, 2, protocol.Row{Row: 1, Text: "B"}))
	m := one[*protocol.Snapshot](t, agent)
	require.Equal(t, []string{"a", "B"}, m.Screen.Lines)
	require.Zero(t, m.Since)
	require.Empty(t, m.Changed)
	require.Equal(t, []string{"a", "b"}, first.Screen.Lines, "a message on its way is not changed")
	proxy.Handle(delta(2, 3))
	require.Equal(t, []string{"a", "B"}, one[*protocol.Snapshot](t, agent).Screen.Lines, "only the cursor moved")

	// A difference to something else is dropped, and so is what builds on it; the proxy hears of it once.
	proxy.Handle(delta(7, 8, protocol.Row{Row: 0, Text: "?"}))
	require.Equal(t, "since", one[*protocol.Error](t, proxy).Field)
	proxy.Handle(delta(3, 9, protocol.Row{Row: 0, Text: "?"}))
	require.Empty(t, got(proxy))
	require.Empty(t, got(agent))
	proxy.Handle(full("vim-1", 10, "x", "y"))
	require.Equal(t, uint64(10), one[*protocol.Snapshot](t, agent).Seq)

	// After an open, all rows are wanted: the connection may be another.
	proxy.Handle(opening("vim-1", "secret"))
	proxy.Handle(delta(10, 11))
	require.Empty(t, got(agent))
}

func TestSubscriptionKeepsItsRhythm(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h, proxy, agent := scene()
		defer h.Close()
		agent.Handle(&protocol.SessionsSubscribe{RequestID: "s", SessionID: "vim-1", EveryMs: 100})
		one[*protocol.Done](t, agent)
		var seen []protocol.Message
		for i := range 100 { // 1 s at one a 10 ms
			proxy.Handle(full("vim-1", uint64(i+1), "x", ""))
			time.Sleep(10 * time.Millisecond)
			synctest.Wait()
			seen = append(seen, got(agent)...)
		}
		require.Len(t, seen, 11, "at 0, 100, ... 1000 ms")
		require.Equal(t, uint64(100), seen[10].(*protocol.Snapshot).Seq, "the last one is not lost")
		agent.Leave()
		proxy.Handle(full("vim-1", 101, "x", ""))
	})
}

func TestSlowParticipantSkipsSnapshotsInOrder(t *testing.T) {
	o := newOutbox(new(counters))
	for i := range 10_000 {
		o.put(full("a", uint64(i), "x"))
		o.put(full("b", uint64(i), "x"))
	}
	o.put(&protocol.ControlGrant{ID: "g", SessionID: "a"})
	o.put(full("a", 10_000, "x"))
	o.put(&protocol.SessionClose{ID: "c", SessionID: "a"})
	p := &Peer{out: o}
	all := got(p)
	require.Equal(t, []string{"terminal.snapshot", "terminal.control.grant", "terminal.snapshot", "terminal.session.close"}, kinds(all))
	require.Equal(t, "b", protocol.SessionID(all[0]))
	require.Equal(t, uint64(10_000), all[2].(*protocol.Snapshot).Seq)
}

func TestOverflowCutsTheParticipantAlone(t *testing.T) {
	h, proxy, agent := scene()
	other := h.Join(Member{Role: RoleViewer})
	for _, p := range []*Peer{agent, other} {
		p.Handle(&protocol.SessionsSubscribe{RequestID: "s", SessionID: "vim-1"})
	}
	got(other)
	for range maxQueue + 1 {
		proxy.Handle(&protocol.Blackout{ID: "b", SessionID: "vim-1", Why: "user"})
		require.Len(t, got(other), 1)
	}
	_, err := agent.Next(now)
	require.ErrorIs(t, err, ErrSlow)
	require.Empty(t, got(agent), "what it did not fetch is not kept")
}

func TestNextGivesWhatIsLeftAndThenTheReason(t *testing.T) {
	h, proxy, agent := scene()
	viewer := h.Join(Member{Role: RoleViewer})
	_, err := viewer.Next(now)
	require.ErrorIs(t, err, ErrLeft)
	viewer.Handle(&protocol.Input{RequestID: "r", SessionID: "vim-1", Data: "x"})
	m, err := viewer.Next(now)
	require.NoError(t, err)
	require.Equal(t, protocol.CodeForbidden, m.(*protocol.Error).Code)
	_, err = viewer.Next(now)
	require.ErrorIs(t, err, ErrForbidden)
	revoked := errors.New("revoked")
	agent.Handle(&protocol.SessionsList{RequestID: "l"})
	agent.Cut(revoked)
	_, err = agent.Next(now)
	require.ErrorIs(t, err, revoked)
	h.Close()
	_, err = proxy.Next(now)
	require.ErrorIs(t, err, ErrClosed)
	_, err = h.Join(Member{Role: RoleAgent}).Next(now)
	require.ErrorIs(t, err, ErrClosed)
	proxy.Leave()
}
