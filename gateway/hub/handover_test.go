package hub

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"terminalproxy/protocol"
)

func TestEndedSessionsAreHandedOn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h, next := New(nil), New(nil)
		defer next.Close()
		proxy := h.Join(Member{Role: RoleProxy})
		end(proxy, "sh-1", "a-1", &protocol.Past{Text: "row", NextLine: 1})
		other := h.Join(Member{Role: RoleProxy, Namespace: "elsewhere"})
		end(other, "sh-2", "", nil)
		other.Leave()
		time.Sleep(tombstoneFor / 2)
		all := h.EndedSessions()
		require.Len(t, all, 1, "another namespace's stay where they are")
		proxy.Leave()
		require.Empty(t, h.EndedSessions(), "nobody is there to take over")
		h.Close()

		heir := next.Join(Member{Role: RoleProxy})
		for _, m := range all[0] {
			_, err := protocol.Encode(m)
			require.NoError(t, err)
			heir.Handle(m)
		}
		heir.Leave()
		agent := next.Join(Member{Role: RoleAgent, ID: "a-1"})
		agent.Handle(&protocol.Read{RequestID: "r", SessionID: "sh-1", Scrollback: 10})
		r := onlyMessage[*protocol.ReadResult](t, agent)
		require.Equal(t, []string{"row", "shown"}, []string{r.Text, r.Frame.Screen.Lines[0]})
		time.Sleep(tombstoneFor/2 + time.Second)
		synctest.Wait()
		agent.Handle(&protocol.Close{RequestID: "c", SessionID: "sh-1"})
		mustFail(t, agent, "c", protocol.CodeNoSession) // its half hour is over
	})
}

func TestNoProgramEndsInTheFuture(t *testing.T) {
	now := time.Now()
	require.False(t, endedAt(&protocol.SessionClose{EndedAt: now.Add(time.Hour).UnixMilli()}).After(time.Now()))
	require.Equal(t, now.Add(-time.Hour).UnixMilli(), endedAt(&protocol.SessionClose{EndedAt: now.Add(-time.Hour).UnixMilli()}).UnixMilli())
	require.False(t, endedAt(&protocol.SessionClose{}).Before(now))
}
