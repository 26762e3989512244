package hub

import (
	"testing"

	"github.com/stretchr/testify/require"

	"terminalproxy/protocol"
)

// The proxy hears of the first follower of a stream and of the last one, and sends the stream again
// after it reconnected.
func TestAProxySendsWhatIsFollowed(t *testing.T) {
	subscribed := func(on bool) protocol.Message {
		return &protocol.Subscribed{SessionID: "c-1", On: on, Deltas: true}
	}
	for name, c := range map[string]struct{ follow, begin, end protocol.Message }{
		"snapshots":    {&protocol.SessionsSubscribe{RequestID: "f", SessionID: "c-1"}, subscribed(true), subscribed(false)},
		"rows":         {&protocol.View{RequestID: "f", SessionID: "c-1"}, &protocol.View{SessionID: "c-1"}, &protocol.Unview{SessionID: "c-1"}},
		"output":       {&protocol.Watch{SessionID: "c-1"}, &protocol.Watch{SessionID: "c-1"}, &protocol.Unwatch{SessionID: "c-1"}},
		"conversation": {&protocol.ChatSubscribe{RequestID: "f", SessionID: "c-1"}, &protocol.ChatSubscribe{SessionID: "c-1"}, &protocol.ChatUnsubscribe{SessionID: "c-1"}},
	} {
		t.Run(name, func(t *testing.T) {
			h := New(nil)
			defer h.Close()
			open := chatting("secret")
			var proxy *Peer
			heard := func() (all []protocol.Message) {
				for _, m := range everyMessage(proxy) {
					if _, ok := m.(*protocol.ChatSubscribe); ok {
						m = protocol.WithRequestID(m, "")
					}
					all = append(all, m)
				}
				return all
			}
			reconnect := func() {
				if proxy != nil {
					proxy.Leave()
				}
				proxy = h.Join(Member{Role: RoleProxy})
				proxy.Handle(open)
			}
			follow := func() *Peer {
				p := h.Join(Member{Role: RoleViewer, Local: true})
				p.Handle(c.follow)
				return p
			}
			reconnect()
			require.Equal(t, []protocol.Message{subscribed(false)}, heard())
			first := follow()
			require.Equal(t, []protocol.Message{c.begin}, heard())
			second := follow()
			if name == "output" { // a new watcher needs a repaint
				require.Equal(t, []protocol.Message{c.begin}, heard())
			}
			first.Leave()
			require.Empty(t, heard())
			reconnect()
			require.Contains(t, heard(), c.begin)
			second.Leave()
			require.Equal(t, []protocol.Message{c.end}, heard())
			third := follow()
			require.Equal(t, []protocol.Message{c.begin}, heard())
			proxy.Leave()
			third.Leave()
			reconnect()
			require.Equal(t, []protocol.Message{subscribed(false)}, heard())
		})
	}
}
