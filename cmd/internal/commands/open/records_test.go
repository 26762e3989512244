package open

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"terminalproxy/protocol"
	"terminalproxy/proxy/record"
)

// castOf registers a recording, and returns its id.
func castOf(t *testing.T, dir, session, text string) (id, file string) {
	t.Helper()
	file = filepath.Join(t.TempDir(), "s.cast")
	begin := time.Unix(1767225600, 5)
	said, err := json.Marshal(text)
	require.NoError(t, err)
	cast := fmt.Sprintf("{\"version\":3,\"term\":{\"cols\":80,\"rows\":24},\"timestamp\":%d}\n[1.0, \"o\", %s]\n", begin.Unix(), said)
	require.NoError(t, os.WriteFile(file, []byte(cast), 0o600))
	before := record.Recordings(dir)
	require.NoError(t, record.RegisterRecording(dir, record.Known{File: file, Begin: begin, Session: record.Session{ID: session, Command: "/bin/psql", Args: []string{"--password", "hunter2hunter2"}}}))
	for _, k := range record.Recordings(dir) {
		if len(before) == 0 || k.ID != before[0].ID && k.Session.ID == session {
			id = k.ID
		}
	}
	require.NotEmpty(t, id)
	return id, file
}

func libraryOf(dir, session string, sessions ...protocol.SessionInfo) *library {
	return &library{
		dir: dir, session: session, leave: func() {},
		sessions: func(context.Context) ([]protocol.SessionInfo, error) { return sessions, nil },
	}
}

func TestRecordingsOfAPage(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "records")
	mine, _ := castOf(t, dir, "psql-1", "mine")
	other, file := castOf(t, dir, "vim-2", "other")
	l := libraryOf(dir, "", protocol.SessionInfo{SessionID: "psql-1", State: protocol.StateRunning})
	defer l.Close()
	list, ok := l.Answer(t.Context(), &protocol.RecordsList{RequestID: "1"}).(*protocol.RecordsListResult)
	require.True(t, ok)
	require.Len(t, list.Records, 2)
	for _, r := range list.Records {
		require.Equal(t, r.RecordID == mine, r.Running)
		require.NotContains(t, fmt.Sprint(r), "hunter2", "arguments are masked as those of sessions are")
		require.NotContains(t, fmt.Sprint(r), file, "where it lies is nobody's business")
	}
	r, ok := l.Answer(t.Context(), &protocol.RecordsRead{RequestID: "2", RecordID: mine, FromMs: 1000}).(*protocol.RecordsReadResult)
	require.True(t, ok)
	require.Equal(t, "mine", r.Frames[0].Rows.Lines[0])
	r, ok = l.Answer(t.Context(), &protocol.RecordsRead{RequestID: "3", RecordID: other, FromMs: protocol.MaxRecordMs}).(*protocol.RecordsReadResult)
	require.True(t, ok)
	require.Equal(t, "other", r.Frames[0].Rows.Lines[0], "beyond the end is the end")
	r, ok = l.Answer(t.Context(), &protocol.RecordsRead{RequestID: "4", RecordID: other, Marks: true}).(*protocol.RecordsReadResult)
	require.True(t, ok)
	require.EqualValues(t, 1000, r.LengthMs)
}

// A page cannot read another user's recordings, deleted or replaced ones, or hidden output.
func TestWhichRecordingsAPageDoesNotGet(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "records")
	id, file := castOf(t, dir, "psql-1", "mine")
	refusedAs := func(l *library, id string, code protocol.Code) {
		t.Helper()
		no, ok := l.Answer(t.Context(), &protocol.RecordsRead{RequestID: "1", RecordID: id}).(*protocol.Error)
		require.True(t, ok, id)
		require.Equal(t, code, no.Code)
		require.Equal(t, "1", no.RequestID)
		require.NotContains(t, no.Message, file)
	}
	l := libraryOf(dir, "")
	defer l.Close()
	outside := filepath.Join(filepath.Dir(dir), "r-aaaaaaaaaaaaaaaa.json")
	note, err := os.ReadFile(filepath.Join(dir, id+".json"))
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(outside, note, 0o600))
	for _, bad := range []string{"r-0000000000000000", "../r-aaaaaaaaaaaaaaaa", "..", "", "r-", id + "/", id + "\x00", strings.ToUpper(id), file, "/etc/passwd"} {
		refusedAs(l, bad, protocol.CodeBadMessage)
	}
	require.NotNil(t, libraryOf(dir, "psql-1").Answer(t.Context(), &protocol.RecordsRead{RequestID: "1", RecordID: id}).(*protocol.RecordsReadResult))
	refusedAs(libraryOf(dir, "vim-2"), id, protocol.CodeBadMessage)
	require.Empty(t, libraryOf(dir, "vim-2").Answer(t.Context(), &protocol.RecordsList{RequestID: "1"}).(*protocol.RecordsListResult).Records)

	dark := protocol.SessionInfo{SessionID: "psql-1", State: protocol.StateRunning, Blackout: &protocol.Hidden{Why: protocol.BlackoutUser}}
	refusedAs(libraryOf(dir, "", dark), id, protocol.CodeBlackout)
	away := libraryOf(dir, "")
	away.sessions = func(context.Context) ([]protocol.SessionInfo, error) { return nil, errors.New("away") }
	refusedAs(away, id, protocol.CodeUnavailable)

	other, _ := castOf(t, dir, "psql-2", "other")
	elsewhere := filepath.Join(filepath.Dir(file), "elsewhere.cast")
	require.NoError(t, os.Rename(file, elsewhere))
	refusedAs(libraryOf(dir, ""), id, protocol.CodeBadMessage)
	require.NoError(t, os.Symlink(elsewhere, file))
	refusedAs(libraryOf(dir, ""), id, protocol.CodeBadMessage)
	require.NoError(t, os.Remove(file))
	require.NoError(t, os.WriteFile(file, []byte(`{"version":3,"term":{"cols":80,"rows":24},"timestamp":1}`+"\n"), 0o600))
	refusedAs(libraryOf(dir, ""), id, protocol.CodeBadMessage)
	list := libraryOf(dir, "").Answer(t.Context(), &protocol.RecordsList{RequestID: "1"}).(*protocol.RecordsListResult)
	require.Len(t, list.Records, 1)
	require.Equal(t, other, list.Records[0].RecordID)
}
