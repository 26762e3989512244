package text

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"terminalproxy/protocol"
)

// maxEnded is how many sessions whose program has ended a list names. Who looks at a list wants to type or to read, and a
// gateway remembers many more.
const maxEnded = 5

// Listed is what a list of sessions shows, and how many more it leaves out: those that run, the one first that the user used last
// and those in the order given that nobody used, then those whose proxy is lost, then the newest of those that have ended.
func Listed(sessions []protocol.SessionInfo) (shown []protocol.SessionInfo, left int) {
	shown = slices.Clone(sessions)
	slices.SortStableFunc(shown, func(a, b protocol.SessionInfo) int {
		if a.State == protocol.StateExited && b.State == protocol.StateExited {
			return cmp.Compare(b.StartedAt, a.StartedAt)
		}
		return cmp.Or(cmp.Compare(rank(a), rank(b)), cmp.Compare(b.UsedAt, a.UsedAt))
	})
	alive := slices.IndexFunc(shown, func(s protocol.SessionInfo) bool { return s.State == protocol.StateExited })
	if alive < 0 || len(shown)-alive <= maxEnded {
		return shown, 0
	}
	return shown[:alive+maxEnded], len(shown) - alive - maxEnded
}

// Candidates is which sessions somebody can mean who named none, or one that is not there: those whose program has not ended,
// and where it ended in all of them, what [Listed] says.
func Candidates(sessions []protocol.SessionInfo) (shown []protocol.SessionInfo, left int) {
	shown, left = Listed(sessions)
	if end := slices.IndexFunc(shown, func(s protocol.SessionInfo) bool { return s.State == protocol.StateExited }); end > 0 {
		return shown[:end], 0
	}
	return shown, left
}

// Find is which sessions somebody may mean: the one with that id, those of that name, or those whose id or name begins so. A
// session that runs is meant before one that has ended; without a word, those that run are.
func Find(sessions []protocol.SessionInfo, word string) (fits []protocol.SessionInfo) {
	if i := slices.IndexFunc(sessions, func(s protocol.SessionInfo) bool { return s.SessionID == word }); i >= 0 {
		return sessions[i : i+1]
	}
	runs := func(s protocol.SessionInfo) bool { return s.State == protocol.StateRunning }
	named := func(s protocol.SessionInfo) bool { return s.Name == word }
	begins := func(s protocol.SessionInfo) bool {
		return strings.HasPrefix(s.SessionID, word) || strings.HasPrefix(s.Name, word)
	}
	ways := []func(protocol.SessionInfo) bool{
		func(s protocol.SessionInfo) bool { return runs(s) && named(s) },
		func(s protocol.SessionInfo) bool { return runs(s) && begins(s) },
		named, begins,
	}
	if word == "" {
		ways = []func(protocol.SessionInfo) bool{runs}
	}
	for _, meant := range ways {
		for _, s := range sessions {
			if meant(s) {
				fits = append(fits, s)
			}
		}
		if fits != nil {
			return fits
		}
	}
	return nil
}

// MoreEnded is the last line of a list that leaves out n sessions.
func MoreEnded(n int) string { return fmt.Sprintf("and %d more that have ended", n) }

// Incomplete says since when a list lacks sessions, and why; "" for nil.
func Incomplete(m *protocol.Incomplete, now time.Time) string {
	if m == nil {
		return ""
	}
	return OneLine(m.Words(now))
}

func rank(s protocol.SessionInfo) int {
	switch s.State {
	case protocol.StateRunning:
		return 0
	case protocol.StateExited:
		return 2
	}
	return 1
}
