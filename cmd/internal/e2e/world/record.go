package world

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// CastEvents reads a recording, and returns its events without their times.
func (a *account) CastEvents(name string) (events [][2]string) {
	a.T.Helper()
	content := a.Content(name)
	require.True(a.T, strings.HasSuffix(content, "\n"), "it ends with a whole line")
	lines := strings.Split(strings.TrimSuffix(content, "\n"), "\n")
	require.Contains(a.T, lines[0], `"version":3`)
	for _, line := range lines[1:] {
		var parts []any
		require.NoError(a.T, json.Unmarshal([]byte(line), &parts), line)
		require.Len(a.T, parts, 3)
		events = append(events, [2]string{parts[1].(string), parts[2].(string)})
	}
	return events
}

// AuditEntry has those fields of an audit log's entry that the tests need.
type AuditEntry struct {
	Kind    string `json:"kind"`
	Agent   *struct{ Name string }
	Epoch   uint64
	Bytes   string
	Written int
	Dropped int
	Reason  string
	Program string
	Fate    string
	By      string
	Picture *struct{ Lines []string }
}

// Audited checks an audit log and returns its entries.
func (w *World) Audited(name string, more ...string) []AuditEntry {
	w.T.Helper()
	w.MustGateway("audit", "verify", name)
	got := Reply[struct{ Entries []AuditEntry }](w.T, w.MustGateway(append([]string{"audit", "show", "--json", name}, more...)...))
	return got.Entries
}

// Between returns the events between the marker that begins with begin and the one that begins with
// end.
func Between(t *testing.T, events [][2]string, begin, end string) [][2]string {
	t.Helper()
	from := -1
	for i, e := range events {
		switch {
		case e[0] == "m" && from < 0 && strings.HasPrefix(e[1], begin):
			from = i
		case e[0] == "m" && from >= 0 && strings.HasPrefix(e[1], end):
			return events[from+1 : i]
		}
	}
	require.FailNow(t, "not in the recording", "%s ... %s: %v", begin, end, events)
	return nil
}
