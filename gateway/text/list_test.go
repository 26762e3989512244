package text

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"terminalproxy/protocol"
)

func TestAListShowsWhatRunsAndTheNewestOfWhatEnded(t *testing.T) {
	var all []protocol.SessionInfo
	for i := range 7 {
		all = append(all, protocol.SessionInfo{SessionID: fmt.Sprint("e", i), State: protocol.StateExited, StartedAt: int64(i)})
	}
	all = append(all, protocol.SessionInfo{SessionID: "l", State: protocol.StateLost, StartedAt: 7},
		protocol.SessionInfo{SessionID: "r1", State: protocol.StateRunning, StartedAt: 8}, protocol.SessionInfo{SessionID: "r2", State: protocol.StateRunning, StartedAt: 9})
	ids := func(some []protocol.SessionInfo, left int) string {
		out := ""
		for _, s := range some {
			out += s.SessionID + " "
		}
		return out + fmt.Sprint(left)
	}
	require.Equal(t, "r1 r2 l e6 e5 e4 e3 e2 2", ids(SelectListed(all)))
	require.Equal(t, "r1 r2 l 0", ids(SelectCandidates(all)), "an error names what runs")
	require.Equal(t, "e6 e5 e4 e3 e2 2", ids(SelectCandidates(all[:7])), "or what there is, if nothing does")
	require.Equal(t, "e4 e3 e2 e1 e0 0", ids(SelectListed(all[:5])))
	require.Equal(t, "r1 r2 0", ids(SelectListed(all[8:])))
	require.Equal(t, "0", ids(SelectListed(nil)))
	used := []protocol.SessionInfo{{SessionID: "a"}, {SessionID: "b", UsedAt: 1}, {SessionID: "c"}, {SessionID: "d", UsedAt: 2}}
	for i := range used {
		used[i].State = protocol.StateRunning
	}
	require.Equal(t, "d b a c 0", ids(SelectListed(used)), "the one first that the user used last")
	require.Equal(t, "e0", all[0].SessionID, "what was given stays as it is")
}

func TestFind(t *testing.T) {
	session := func(id, name, state string) protocol.SessionInfo {
		return protocol.SessionInfo{SessionID: id, Name: name, State: state}
	}
	sessions := []protocol.SessionInfo{
		session("vim-1", "notes", protocol.StateRunning), session("vim-2", "vim", protocol.StateRunning),
		session("vi", "vi", protocol.StateExited), session("make-3", "build", protocol.StateExited),
	}
	for word, want := range map[string][]string{
		"":      {"vim-1", "vim-2"},
		"vi":    {"vi"}, // an id, though it has ended
		"vim":   {"vim-2"},
		"vim-":  {"vim-1", "vim-2"},
		"no":    {"vim-1"},
		"build": {"make-3"},
		"ma":    {"make-3"},
		"less":  nil,
	} {
		var got []string
		for _, s := range Find(sessions, word) {
			got = append(got, s.SessionID)
		}
		require.Equal(t, want, got, word)
	}
}
