package gateways_test

import (
	"crypto/ed25519"
	"errors"
	"fmt"
	"net"
	"os"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"terminalproxy/cmd/internal/e2e/world"
	"terminalproxy/protocol"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"
)

// hasty is an agent that types as fast as it can.
type hasty struct {
	o       *world.Overheard
	before  protocol.SessionInfo // as it asked
	epoch   uint64
	typed   atomic.Int64 // bytes, as the receipts say
	running sync.WaitGroup
}

// startHasty lets an agent ask, an owner's page grant it the keyboard, and the agent type until the
// keyboard is taken back.
func (p *webPage) startHasty(w *world.World, id string) *hasty {
	w.T.Helper()
	a := &hasty{o: w.Overhear(id)}
	granted := make(chan *protocol.ControlGrant, 1)
	go func() { // ends with the answer
		g, _, _ := a.o.C.Request(w.Ctx, &protocol.ControlRequest{SessionID: id, AgentName: "codex", Level: protocol.LevelDrive, Why: "type", Seconds: 600})
		granted <- g
	}()
	w.Until(func() bool { return p.session().Keyboard.Asking != "" }, func() string { return "nobody asks" })
	a.before = p.session()
	require.IsType(w.T, &protocol.Done{}, p.signedGrant(p.key))
	g := <-granted
	require.NotNil(w.T, g)
	a.epoch = g.Epoch
	for range 8 {
		a.running.Go(func() {
			for {
				got, err := a.o.C.Input(w.Ctx, &protocol.Input{SessionID: id, Data: "0123456789", Epoch: a.epoch})
				if got != nil {
					a.typed.Add(int64(got.WrittenBytes))
				}
				if err != nil || got.Status != protocol.StatusWritten {
					return
				}
			}
		})
	}
	return a
}

// While an agent types as fast as it can, an owner's page takes the keyboard back. The program gets
// no byte beyond the receipts (unread bytes are discarded). This holds even if the page's own
// connection is full of rows that it does not read.
func TestAPageTakesBackFromAnAgentThatTypes(t *testing.T) {
	t.Parallel()
	for _, stuffed := range []bool{false, true} {
		t.Run("stuffed="+strconv.FormatBool(stuffed), func(t *testing.T) {
			w := world.New(t)
			s, o := w.Terminal(100, 24), w.Terminal(100, 30)
			s.RunListener("--agent")
			id := w.Session()
			_, link := o.OpenPage("--role owner")
			p := visit(w, link)
			o.Wait(p.words)
			o.Typed("y\n")
			if stuffed {
				p.dialer.Control = receiveLittle
			}
			p.connect()
			a := p.startHasty(w, id)
			w.WaitHeard("heard", ".{500}")
			takeBack := &protocol.ControlDecide{RequestID: "back", SessionID: id, By: "x"}
			if stuffed {
				p.fillConnection() // last: the gateway drops a page that reads nothing for 5 s
				p.send(takeBack)
			} else {
				require.IsType(t, &protocol.Done{}, p.request(takeBack))
			}
			a.running.Wait()
			w.WaitKeyboard(id, "user")
			w.Until(func() bool { return strings.Contains(a.o.All(), protocol.KindOf(&protocol.ControlRevoke{})) }, a.o.All)
			require.Contains(t, a.o.All(), `"reason":"reclaimed"`, "the page did not take the keyboard back before the grant's end")
			if !stuffed {
				again := &protocol.ControlDecide{SessionID: id, By: "x", Grant: true, Seconds: 60, Epoch: a.before.Keyboard.Epoch, At: time.Now().UnixMilli()}
				again.SignatureB64 = ed25519.Sign(p.key, again.Signed(a.before.StartedAt))
				p.checkRefused(protocol.CodeBusy, p.request(again)) // the signature for the old question grants nothing again
			}
			o.Press("C-c")
			require.Zero(t, o.Status())
			s.Press("C-d") // behind all that the program could still read
			require.Zero(t, s.Status())
			require.LessOrEqual(t, len(w.Content("heard"))-1, int(a.typed.Load()), "more than the agent was told of")
		})
	}
}

// fillConnection makes the gateway send lists that the page does not read, until the connection to
// the page is full. Lists come at once; rows come at the pace of the screen, and on a busy machine the
// gateway dropped the page before they had filled the connection.
func (p *webPage) fillConnection() {
	p.w.T.Helper()
	conn, ok := p.ws.NetConn().(*net.TCPConn)
	require.True(p.w.T, ok)
	asked := 0
	p.w.Until(func() bool {
		for range 10 {
			asked++
			p.send(&protocol.SessionsList{RequestID: "fill-" + strconv.Itoa(asked)})
		}
		return unsent(p.w, conn.RemoteAddr(), conn.LocalAddr()) > 4096 // more than its buffer takes
	}, func() string { return "all that was sent has arrived" })
}

// receiveLittle gives a connection a small receive buffer before it is opened: a window that shrinks
// later makes Linux drop the other end's acknowledgements (tcp_sequence), and the page could send
// nothing.
func receiveLittle(_, _ string, raw syscall.RawConn) error {
	var set error
	err := raw.Control(func(fd uintptr) {
		set = unix.SetsockoptInt(int(fd), unix.SOL_SOCKET, unix.SO_RCVBUF, 2048)
	})
	return errors.Join(err, set)
}

// unsent returns how many bytes wait in the kernel at one end of a connection because the other end
// takes no more.
func unsent(w *world.World, from, to net.Addr) (bytes uint64) {
	w.T.Helper()
	table, err := os.ReadFile("/proc/net/tcp")
	if errors.Is(err, os.ErrNotExist) {
		w.T.Skip("the kernel does not tell what waits in sockets")
	}
	require.NoError(w.T, err)
	for line := range strings.Lines(string(table)) {
		if f := strings.Fields(line); len(f) > 4 && strings.HasSuffix(f[1], port(from)) && strings.HasSuffix(f[2], port(to)) {
			waiting, _, _ := strings.Cut(f[4], ":")
			bytes, err = strconv.ParseUint(waiting, 16, 64)
			require.NoError(w.T, err)
		}
	}
	return bytes
}

// port returns an address's port, as the kernel writes it.
func port(a net.Addr) string {
	at, _ := a.(*net.TCPAddr)
	return fmt.Sprintf(":%04X", at.Port)
}
