package consent_test

import (
	"crypto/ecdh"
	"crypto/rand"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"terminalproxy/cmd/internal/e2e/world"
	"terminalproxy/gateway/access/auth"
	"terminalproxy/protocol"
	"terminalproxy/protocol/fake"

	"github.com/stretchr/testify/require"
)

// impostor is a gateway that sends whatever a test likes. It runs as the user and lacks only the
// owner's token.
type impostor struct {
	w     *world.World
	at    string // for --gateway
	conn  fake.Conn
	heard chan protocol.Message
	open  *protocol.SessionOpen
}

func newImpostor(w *world.World) *impostor {
	w.T.Helper()
	i := &impostor{w: w, heard: make(chan protocol.Message, 1024)}
	path, _ := fake.GatewayAt(w.T, func(c fake.Conn) {
		i.conn = c // before it has received anything
		for m, err := c.Next(); err == nil; m, err = c.Next() {
			i.heard <- m
		}
		close(i.heard)
	})
	i.at = "unix:" + path
	return i
}

func (i *impostor) say(m protocol.Message) {
	i.w.T.Helper()
	require.NoError(i.w.T, i.conn.Send(m))
}

// waitMessage waits for a wanted message and skips the others.
func waitMessage[T protocol.Message](i *impostor, wanted func(T) bool) T {
	i.w.T.Helper()
	timeout := time.After(world.Patience)
	for {
		select {
		case m, ok := <-i.heard:
			require.True(i.w.T, ok, "the proxy is gone")
			if got, ok := m.(T); ok && wanted(got) {
				return got
			}
		case <-timeout:
			require.FailNow(i.w.T, "the proxy does not say what is waited for")
		}
	}
}

func (i *impostor) mustRefuse(what string, m protocol.Message, code protocol.Code) {
	i.w.T.Helper()
	i.say(m)
	got := waitMessage(i, func(e *protocol.Error) bool { return e.RequestID == protocol.RequestID(m) })
	require.Equal(i.w.T, code, got.Code, "%s: %s", what, got.Message)
}

func (i *impostor) mustDo(m protocol.Message) {
	i.w.T.Helper()
	i.say(m)
	got := waitMessage(i, func(m2 protocol.Message) bool { return protocol.RequestID(m2) == protocol.RequestID(m) })
	require.IsType(i.w.T, new(protocol.Done), got)
}

func (i *impostor) keyboard() protocol.Keyboard {
	i.w.T.Helper()
	i.say(&protocol.Read{RequestID: "look", SessionID: i.open.SessionID})
	return waitMessage(i, func(r *protocol.ReadResult) bool { return r.RequestID == "look" }).Frame.Keyboard
}

// signed returns a decision with an owner's signature.
func (i *impostor) signed(token string, change func(*protocol.ControlDecide)) *protocol.ControlDecide {
	m := &protocol.ControlDecide{
		RequestID: "d", SessionID: i.open.SessionID, By: "owner", Grant: true, Level: protocol.LevelDrive,
		Epoch: i.keyboard().Epoch, At: time.Now().UnixMilli(),
	}
	change(m)
	m.SignatureB64 = auth.Sign(token, m.Signed(i.open.StartedAt))
	return m
}

// A gateway that is not the user's own one cannot ask for passwords: it could give the answer's key
// and the program's name as it likes.
func TestAFakeGatewayCannotAskForPasswords(t *testing.T) {
	w := world.New(t)
	i := newImpostor(w)
	s := w.Terminal(120, 24)
	s.RunListener("--agent --gateway " + i.at)
	i.open = waitMessage(i, func(*protocol.SessionOpen) bool { return true })
	key, err := ecdh.P256().GenerateKey(rand.Reader)
	require.NoError(t, err)
	i.mustRefuse("a question for a password", &protocol.SecretAsk{
		RequestID: "p", SessionID: i.open.SessionID, Kind: protocol.SecretHidden, Prompt: "[sudo] password: ",
		Asker: protocol.SecretAsker{Program: "sudo", Command: "sudo id"}, PublicKeyB64: key.PublicKey().Bytes(),
	}, protocol.CodeUnavailable)
	require.NotContains(t, s.Screen(), "wants your password")
}

// R53: the proxy decides. A gateway can only ask, whatever it sends and whichever user runs it.
func TestAFakeGatewayCannotGrantR53(t *testing.T) {
	w := world.New(t)
	w.MustGateway("token", "create", "owner", "--role", "owner", "--save")
	token, err := auth.ReadTokenFile(filepath.Join(w.Dir, "home", "config", "terminalproxy", "owner.token"))
	require.NoError(t, err)
	agents := strings.TrimSpace(w.MustGateway("token", "create", "an-agent", "--role", "agent"))
	store, err := os.ReadFile(filepath.Join(w.Dir, "home", "state", "terminalproxy", "tokens"))
	require.NoError(t, err)
	hash := world.Reply[struct {
		Hash string `json:"sha256"`
	}](t, strings.SplitN(string(store), "\n", 2)[0]).Hash

	i := newImpostor(w)
	s := w.Terminal(120, 24)
	s.RunListener("--agent --gateway " + i.at)
	i.open = waitMessage(i, func(*protocol.SessionOpen) bool { return true })
	id := i.open.SessionID
	types := func() {
		t.Helper()
		for epoch := range uint64(8) {
			m := &protocol.Input{RequestID: "i" + strconv.FormatUint(epoch, 10), SessionID: id, AgentID: "evil", Epoch: epoch, Data: "evil"}
			i.say(m)
			got := waitMessage(i, func(r *protocol.InputResult) bool { return r.RequestID == m.RequestID })
			require.Equal(t, protocol.StatusRefused, got.Status)
			require.Zero(t, got.WrittenBytes)
		}
	}
	types()
	i.mustRefuse("a grant of its own", &protocol.ControlDecide{RequestID: "d", SessionID: id, Grant: true, By: "owner"}, protocol.CodeForbidden)
	i.say(&protocol.ControlGrant{ID: "g", SessionID: id, AgentID: "evil", Epoch: 2, Level: protocol.LevelDrive})
	require.Contains(t, waitMessage(i, func(*protocol.Error) bool { return true }).Message, "is not for a proxy")
	ask := &protocol.ControlRequest{RequestID: "q", SessionID: id, AgentID: "evil", AgentName: "evil", Level: protocol.LevelDrive, Why: "x"}
	i.say(ask)
	s.WaitQuestion()
	good := func(*protocol.ControlDecide) {}
	late := func(m *protocol.ControlDecide) { m.At -= time.Minute.Milliseconds() }
	soon := func(m *protocol.ControlDecide) { m.At += time.Minute.Milliseconds() }
	for what, m := range map[string]*protocol.ControlDecide{
		"a stranger's signature":    i.signed("tp_stranger", good),
		"an agent's":                i.signed(agents, good),
		"made from the stored hash": i.signed(hash, good),
		"of a minute ago":           i.signed(token, late),
		"of tomorrow":               i.signed(token, soon),
		"for another session": func() *protocol.ControlDecide {
			m := i.signed(token, good)
			m.SignatureB64 = auth.Sign(token, m.Signed(i.open.StartedAt+1))
			return m
		}(),
		"changed after it was signed": func() *protocol.ControlDecide {
			m := i.signed(token, func(m *protocol.ControlDecide) { m.Level = protocol.LevelType })
			m.Level = protocol.LevelDrive
			return m
		}(),
		"to show what is hidden": {RequestID: "d", SessionID: id, Hide: protocol.HideOff, By: "owner"},
	} {
		i.mustRefuse(what, m, protocol.CodeForbidden)
	}
	i.mustRefuse("without an epoch", i.signed(token, func(m *protocol.ControlDecide) { m.Epoch = 0 }), protocol.CodeBadMessage)
	i.mustRefuse("of another epoch", i.signed(token, func(m *protocol.ControlDecide) { m.Epoch += 5 }), protocol.CodeBusy)
	types()
	require.Equal(t, "evil", i.keyboard().Asking)
	require.Equal(t, protocol.HolderUser, i.keyboard().Holder)
	require.Empty(t, w.Content("heard"))

	// A genuine owner's decision counts, and only once: after the user took the keyboard back it is
	// stale.
	word := i.signed(token, good)
	i.mustDo(word)
	require.Equal(t, protocol.HolderAgent, i.keyboard().Holder)
	i.mustRefuse("twice", word, protocol.CodeBusy)
	s.Press(`C-\`)
	waitMessage(i, func(*protocol.ControlRevoke) bool { return true })
	i.mustRefuse("again", word, protocol.CodeBusy)
	require.Equal(t, protocol.HolderUser, i.keyboard().Holder)
	types()
	require.Empty(t, w.Content("heard"))
	i.say(ask)
	s.WaitQuestion()
	i.mustDo(i.signed(token, good))
	i.say(&protocol.ControlDecide{RequestID: "d", SessionID: id, By: "x"}) // a decision that takes away needs no signature
	waitMessage(i, func(*protocol.ControlRevoke) bool { return true })
	s.QuitProgram("\x04")
}
