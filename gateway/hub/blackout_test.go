package hub

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"terminalproxy/protocol"
)

func TestAHiddenScreenIsForgottenAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h, proxy, agent := scene()
		before := full("vim-1", 7, "old", "rows")
		before.Screen.Title = "what I do"
		before.Foreground, before.Directory, before.UsedAt = "make", "/src", 5000
		proxy.Handle(before)
		proxy.Handle(&protocol.Blackout{ID: "b", SessionID: "vim-1", On: true, Why: protocol.BlackoutUser})
		time.Sleep(12 * time.Second)
		agent.Handle(&protocol.SessionsSubscribe{RequestID: "s", SessionID: "vim-1"})
		all := allMessages(agent)
		require.Len(t, all, 2)
		shown, ok := all[1].(*protocol.Snapshot)
		require.True(t, ok)
		require.Equal(t, &protocol.Hidden{Why: protocol.BlackoutUser, SinceMs: 12_000}, shown.Blackout)
		require.Equal(t, []string{"", ""}, shown.Screen.Lines)
		require.Empty(t, shown.Content)
		require.Empty(t, shown.Screen.Title+shown.Foreground+shown.Directory)
		require.Equal(t, "old", before.Screen.Lines[0], "it may be on its way to others")
		info := h.lists.sessionsOf(listKey{localOnly: true})[0]
		require.Empty(t, info.Title+info.Foreground+info.Directory)
		require.Equal(t, int64(12_000), info.Blackout.SinceMs)

		proxy.Handle(&protocol.Blackout{ID: "b", SessionID: "vim-1", Why: protocol.BlackoutUser})
		require.IsType(t, &protocol.Blackout{}, allMessages(agent)[0], "subscribers hear of it")
		require.Nil(t, h.lists.sessionsOf(listKey{localOnly: true})[0].Blackout)
	})
}

func TestThePromptsEndDoesNotShowAHiddenScreen(t *testing.T) {
	h, proxy, agent := scene()
	proxy.Handle(&protocol.Blackout{ID: "b", SessionID: "vim-1", On: true, Why: protocol.BlackoutPassword, Secret: protocol.SecretHard})
	require.Equal(t, protocol.SecretHard, h.lists.sessionsOf(listKey{localOnly: true})[0].Blackout.Secret)
	proxy.Handle(&protocol.Blackout{ID: "b", SessionID: "vim-1", On: true, Why: protocol.BlackoutUser})
	proxy.Handle(&protocol.Blackout{ID: "b", SessionID: "vim-1", Why: protocol.BlackoutPassword})
	require.True(t, h.lists.sessionsOf(listKey{localOnly: true})[0].Blackout.ByUser())

	hidden := full("vim-1", 8, "", "")
	hidden.Blackout = &protocol.Hidden{Why: protocol.BlackoutUser}
	proxy.Handle(hidden)
	proxy.Handle(&protocol.SessionClose{ID: "c", SessionID: "vim-1"})
	agent.Handle(&protocol.Read{RequestID: "r", SessionID: "vim-1"})
	require.True(t, onlyMessage[*protocol.ReadResult](t, agent).Frame.Blackout.ByUser(), "also after the end")
}
