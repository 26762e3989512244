package local

import (
	"log/slog"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"terminalproxy/gateway/hub"
	"terminalproxy/protocol"
	"terminalproxy/protocol/fake"
)

// memoryDir makes a directory whose files are in memory.
func memoryDir(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("/dev/shm", "tp") //nolint:usetesting // in memory
	if err != nil || !inMemory(dir) {
		t.Skip("no tmpfs at /dev/shm")
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	return dir
}

// ends begins and ends sessions at a switchboard.
func ends(h *hub.Hub, ids ...string) {
	p := h.Join(hub.Member{Role: hub.RoleProxy})
	defer p.Leave()
	for _, id := range ids {
		p.Handle(fake.Opening(id))
		p.Handle(fake.Snapshot(id, 1, "shown"))
		p.Handle(&protocol.SessionClose{ID: "c", SessionID: id, ExitCode: 3, Past: &protocol.Past{Text: "row", NextLine: 1}})
	}
}

func TestEndedSessionsAreKeptForTheNextServer(t *testing.T) {
	dir, log := memoryDir(t), slog.New(slog.DiscardHandler)
	first, next := hub.New(log), hub.New(log)
	k := newKeeper(dir, first, log)
	ends(first, "vim-1", "..", "hidden-1")
	viewer := first.Join(hub.Member{Role: hub.RoleViewer, Local: true})
	viewer.Handle(&protocol.ControlDecide{RequestID: "h", SessionID: "hidden-1", Hide: protocol.HideOn})
	k.close()
	first.Close() // as if killed
	info, err := os.Stat(filepath.Join(dir, keptDir, sessionFileName("vim-1")))
	require.NoError(t, err)
	require.Equal(t, os.FileMode(0o600), info.Mode())
	for name, content := range map[string]string{"half": `{"type":"done","requestId":"r"}`, "x.new": "{", sessionFileName("empty"): ""} {
		require.NoError(t, os.WriteFile(filepath.Join(dir, keptDir, name), []byte(content), 0o600))
	}

	k = newKeeper(dir, next, log)
	ids, _ := next.EndedIDs()
	require.ElementsMatch(t, []string{"vim-1", ".."}, ids, "what the user hides is not kept")
	end := next.EndedSession("vim-1")[2].(*protocol.SessionClose)
	require.Equal(t, 3, end.ExitCode)
	require.Equal(t, "row", end.Past.Text)
	entries, err := os.ReadDir(filepath.Join(dir, keptDir))
	require.NoError(t, err)
	require.Len(t, entries, 2, "what is no session is removed")

	viewer = next.Join(hub.Member{Role: hub.RoleOwner})
	for _, id := range ids {
		viewer.Handle(&protocol.Close{RequestID: id, SessionID: id})
	}
	k.close()
	require.False(t, HasKeptSessions(dir), "what is closed is not kept")
	require.NoDirExists(t, filepath.Join(dir, keptDir))

	require.Nil(t, newKeeper(t.TempDir()+"/none", next, log), "a directory that is none keeps nothing")
}
