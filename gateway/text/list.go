package text

import (
	"cmp"
	"fmt"
	"slices"
	"sort"
	"strings"
	"time"

	"terminalproxy/protocol"
)

// maxEnded is the number of ended sessions in a list. A gateway remembers many more, and most
// readers look for a running one.
const maxEnded = 5

// SelectListed selects the sessions that a list shows, and counts those that it leaves out: first
// the running ones, the last used first and the unused in the order given, then those whose proxy
// is lost, then the newest of those that have ended.
func SelectListed(sessions []protocol.SessionInfo) (shown []protocol.SessionInfo, left int) {
	shown = slices.Clone(sessions)
	sort.SliceStable(shown, func(i, k int) bool {
		a, b := shown[i], shown[k]
		if a.State == protocol.StateExited && b.State == protocol.StateExited {
			return a.StartedAt > b.StartedAt
		}
		return cmp.Or(cmp.Compare(stateRank(a), stateRank(b)), cmp.Compare(b.UsedAt, a.UsedAt)) < 0
	})
	alive := slices.IndexFunc(shown, hasExited)
	if alive < 0 || len(shown)-alive <= maxEnded {
		return shown, 0
	}
	return shown[:alive+maxEnded], len(shown) - alive - maxEnded
}

// SelectCandidates selects the sessions that a reader may mean who gave no name, or an unknown one:
// those whose program has not ended, or else the selection of [SelectListed].
func SelectCandidates(sessions []protocol.SessionInfo) (shown []protocol.SessionInfo, left int) {
	shown, left = SelectListed(sessions)
	if end := slices.IndexFunc(shown, hasExited); end > 0 {
		return shown[:end], 0
	}
	return shown, left
}

// Find selects the sessions that a word may mean: the one with that id, those of that name, or
// those whose id or name begins with it. Running sessions win over ended ones. Without a word, Find
// selects the running ones.
func Find(sessions []protocol.SessionInfo, word string) (matches []protocol.SessionInfo) {
	hasID := func(s protocol.SessionInfo) bool { return s.SessionID == word }
	if i := slices.IndexFunc(sessions, hasID); i >= 0 {
		return sessions[i : i+1]
	}
	isRunning := func(s protocol.SessionInfo) bool { return s.State == protocol.StateRunning }
	hasName := func(s protocol.SessionInfo) bool { return s.Name == word }
	hasPrefix := func(s protocol.SessionInfo) bool {
		return strings.HasPrefix(s.SessionID, word) || strings.HasPrefix(s.Name, word)
	}
	tests := []func(protocol.SessionInfo) bool{
		func(s protocol.SessionInfo) bool { return isRunning(s) && hasName(s) },
		func(s protocol.SessionInfo) bool { return isRunning(s) && hasPrefix(s) },
		hasName, hasPrefix,
	}
	if word == "" {
		tests = []func(protocol.SessionInfo) bool{isRunning}
	}
	for _, test := range tests {
		for _, s := range sessions {
			if test(s) {
				matches = append(matches, s)
			}
		}
		if matches != nil {
			return matches
		}
	}
	return nil
}

// MoreEnded is the last line of a list that leaves out n sessions.
func MoreEnded(n int) string { return fmt.Sprintf("and %d more that have ended", n) }

// Incomplete says since when a list lacks sessions, and why; "" if the list is complete.
func Incomplete(m *protocol.Incomplete, now time.Time) string {
	if m == nil {
		return ""
	}
	return OneLine(m.Words(now))
}

func hasExited(s protocol.SessionInfo) bool { return s.State == protocol.StateExited }

func stateRank(s protocol.SessionInfo) int {
	switch s.State {
	case protocol.StateRunning:
		return 0
	case protocol.StateExited:
		return 2
	}
	return 1
}
