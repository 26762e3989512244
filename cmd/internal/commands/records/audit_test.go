package records

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"terminalproxy/cmd/internal/cli/clitest"
	"terminalproxy/proxy/record"
	"terminalproxy/proxy/terminal/screen/render"
)

// makeRecording records a small session in which two agents typed, and returns the asciicast's
// name. It begins at midnight UTC on 1 January 2000.
func makeRecording(t *testing.T) string {
	t.Helper()
	name := filepath.Join(t.TempDir(), "x.cast")
	synctest.Test(t, func(t *testing.T) {
		files, err := record.OpenFiles(name)
		require.NoError(t, err)
		r := record.New(record.Config{
			Cast: files.Cast, Log: files.Log, Header: record.Header{Cols: 40, Rows: 5},
			Session: record.Session{ID: "vim-aaaa", Command: "vim", Args: []string{"a\x1b[2J.txt"}, Cols: 40, Rows: 5, Cast: "x.cast"},
		})
		go func() { _ = r.Run() }() // ends with Close
		for i, name := range []string{"claude", "codex"} {
			who := &record.Agent{ID: "a-" + name, Name: name}
			r.AddEntry(record.Entry{Kind: record.Request, Agent: who, Level: "drive", Why: "help\x1b[31m"})
			r.AddEntry(record.Entry{Kind: record.Grant, Agent: who, Level: "drive", Epoch: uint64(2 + i)})
			began := time.Now()
			r.AgentInput(record.Author{Agent: name, ID: "a-" + name, Grant: uint64(2 + i)}, []byte("i\x1b"))
			time.Sleep(time.Minute)
			r.AddEntry(record.Entry{
				Kind: record.Input, Agent: who, Epoch: uint64(2 + i), Form: "keys", Asked: "i esc", Bytes: []byte("i\x1b"), Written: 2,
				Dropped: 1, Fate: "dropped", Reason: "no_grant", Began: &began, Program: "vim", Rev: 7,
				Picture: &record.Picture{Cols: 40, Rows: 5, Lines: []string{"what stood there", "~\u202e", "", "", ""}},
			})
			r.WriteOutput([]byte("typed by " + name + "\r\n"))
			time.Sleep(time.Minute)
		}
		r.RecordExit(0, "")
		require.NoError(t, r.Close(time.Minute))
	})
	return name
}

// audit runs gateway audit.
func audit(args ...string) (out, errs string, status int) {
	var o, e bytes.Buffer
	status = clitest.Run(context.Background(), append([]string{"audit"}, args...), io.NopCloser(strings.NewReader("")), &o, &e)
	return o.String(), e.String(), status
}

func TestAuditVerify(t *testing.T) {
	cast := makeRecording(t)
	out, _, status := audit("verify", cast)
	require.Zero(t, status, out)
	require.Contains(t, out, "x.cast.audit.jsonl: 10 entries, intact; head ")
	require.Contains(t, out, "the recording matches the log")
	require.NotContains(t, out, "note:")

	out, _, status = audit("verify", "--json", cast+record.AuditSuffix)
	require.Zero(t, status)
	var v verified
	require.NoError(t, json.Unmarshal([]byte(out), &v))
	require.Equal(t, 10, v.Entries)
	require.True(t, v.Closed)
	require.Equal(t, "same", v.Cast)
}

func TestAuditVerifyNamesTheFirstBadLine(t *testing.T) {
	cast := makeRecording(t)
	log := cast + record.AuditSuffix
	whole, err := os.ReadFile(log)
	require.NoError(t, err)
	write := func(b []byte) { require.NoError(t, os.WriteFile(log, b, 0o600)) }

	write(bytes.Replace(whole, []byte(`"claude"`), []byte(`"nobody"`), 1))
	out, errs, status := audit("verify", log)
	require.Equal(t, 1, status)
	require.Empty(t, out)
	require.Contains(t, errs, "line 2: its hash does not match: it was changed")
	out, _, status = audit("verify", "--json", log)
	require.Equal(t, 1, status)
	require.Contains(t, out, `"line": 2`)
	_, errs, status = audit("show", log)
	require.Equal(t, 1, status)
	require.Contains(t, errs, "line 2")

	write(whole[:len(whole)-20])
	out, _, status = audit("verify", "--running", log)
	require.Zero(t, status)
	require.Contains(t, out, "note: line 10 is cut off")
	require.Contains(t, out, "note: the log has no end")

	for text, want := range map[string]string{
		"":               "the log is empty",
		"no log":         "it has no whole entry, so this is no audit log",
		"root:x:0:0\n\n": "line 1: it is not an entry, so this is no audit log",
	} {
		write([]byte(text))
		for _, command := range []string{"verify", "show"} {
			_, errs, status = audit(command, log)
			require.Equal(t, 1, status)
			require.Contains(t, errs, want)
			require.Contains(t, errs, "\nhint: name the recording, or its log: FILE.audit.jsonl\n")
			require.NotContains(t, errs, "are intact")
		}
	}
	_, errs, status = audit("verify", filepath.Join(t.TempDir(), "none"))
	require.Equal(t, 2, status)
	require.Contains(t, errs, "no such file")

	write(whole)
	require.NoError(t, os.Remove(cast))
	out, _, status = audit("verify", log)
	require.Zero(t, status)
	require.Contains(t, out, "note: the recording does not exist")
	require.NoError(t, os.WriteFile(cast, []byte("another"), 0o600))
	_, errs, status = audit("verify", log)
	require.Equal(t, 1, status)
	require.Contains(t, errs, "x.cast was changed: it does not match the log")
}

// Missing entries at the end of a log are noticed, by the missing end or by a head that was kept.
func TestATruncatedLogIsNoticedR80(t *testing.T) {
	cast := makeRecording(t)
	log := cast + record.AuditSuffix
	whole, err := os.ReadFile(log)
	require.NoError(t, err)
	lines := bytes.SplitAfter(bytes.TrimSuffix(whole, []byte("\n")), []byte("\n"))
	head := func(n int) string { // of the first n lines
		var e record.Entry
		require.NoError(t, json.Unmarshal(lines[n-1], &e))
		return e.Hash
	}
	none := strings.Repeat("0", 64)
	for _, c := range []struct {
		kept   int // lines
		args   string
		status int
		says   string
	}{
		{10, "", 0, "intact"},
		{10, "--head " + head(10), 0, "the given head is in it, 0 entries before the end"},
		{10, "--head " + strings.ToUpper(head(10)), 0, "the given head is in it"},
		{10, "--head " + head(9), 1, "1 entry comes after the one with the hash"},
		{10, "--running --head " + head(7), 0, "3 entries before the end"},
		{10, "--head " + none, 1, "no entry has the hash " + none},
		{9, "", 1, "the log has no end: entries after line 9 may have been cut off (head " + head(9)},
		{9, "--head " + head(9), 1, "the log has no end"},
		{9, "--running", 0, "note: the log has no end"},
		{9, "--running --head " + head(9), 0, "0 entries before the end"},
		{8, "--running --head " + head(9), 1, "cut off before that entry; its head is " + head(8)},
		{10, "--head abc", 2, "--head: \"abc\" is not a hash"},
		{10, "--head " + none + "00", 2, "is not a hash"},
	} {
		require.NoError(t, os.WriteFile(log, bytes.Join(lines[:c.kept], nil), 0o600))
		out, errs, status := audit(append([]string{"verify", log}, strings.Fields(c.args)...)...)
		require.Equal(t, c.status, status, "%d lines, %s: %s%s", c.kept, c.args, out, errs)
		require.Contains(t, out+errs, c.says)
		if c.status == 1 && c.kept == 9 {
			require.Contains(t, errs, "hint: add --running if the session still runs")
		}
	}
}

// A log that lacks entries which the disk did not take says so, and does not call itself unbroken.
// verify counts the places at which output is missing: with a beginning and an end, with an end
// alone as in older logs, or without an end.
func TestAnIncompleteLogSaysSoR80(t *testing.T) {
	v := verified{File: "x", Entries: 3, Head: "abc", Lost: 2, Closed: true}
	said := strings.Join(v.reportLines(), "\n")
	require.Contains(t, said, "3 entries, intact except for a gap; head abc")
	require.Contains(t, said, "the disk could not store 2 entries")

	on, off := true, false
	begin, end := &record.Entry{Kind: record.Gap, On: &on}, &record.Entry{Kind: record.Gap, On: &off, Missing: 1}
	older := &record.Entry{Kind: record.Gap, Missing: 40}
	for want, gaps := range map[string][]*record.Entry{
		"1 place: 1 byte;": {begin, end}, "2 places: 80 bytes;": {older, older},
		"3 places: 41 bytes, and an unknown number at its end;": {older, begin, end, begin},
	} {
		v := verified{Cast: "same", Closed: true}
		for _, e := range gaps {
			v.addGap(e)
		}
		require.Equal(t, []string{
			"note: output is missing in the recording at " + want + " audit show says where",
			"the recording matches the log, except for the missing output",
		}, v.reportLines()[1:])
	}
}

func TestAuditShow(t *testing.T) {
	cast := makeRecording(t)
	out, _, status := audit("show", cast)
	require.Zero(t, status)
	for _, want := range []string{
		"vim-aaaa: vim a[2J.txt", "claude asks for control (drive): help[31m", "claude gets the keyboard: grant 2, level drive",
		"claude types under grant 2, keys, 2 bytes, 1 dropped (no_grant)", `typed: i\x1b`, "as: i esc",
		"on the screen before it: vim, 40x5, cursor 1,1, rev 7", "| what stood there\n", "| ~\n",
		"codex types under grant 3", "the program ended with status 0", "the log is complete",
	} {
		require.Contains(t, out, want)
	}
	require.Equal(t, 1, strings.Count(out, "what stood there"), "a screen that is the same is shown once")
	require.NotContains(t, out, "\x1b")
	require.NotContains(t, out, "\u202e")

	out, _, status = audit("show", "--agent", "codex", cast)
	require.Zero(t, status)
	require.NotContains(t, out, "claude")
	require.Contains(t, out, "what stood there")
	_, errs, status := audit("show", "--agent", "nobody", cast)
	require.Equal(t, 2, status)
	require.Contains(t, errs, `--agent "nobody": no entries; the log names claude, codex`)

	out, _, status = audit("show", "--json", cast)
	require.Zero(t, status)
	var got shown
	require.NoError(t, json.Unmarshal([]byte(out), &got))
	require.Equal(t, "vim-aaaa", got.Session.ID)
	require.True(t, got.Closed)
	typed := 0
	for _, e := range got.Entries {
		if e.Kind == record.Input {
			require.Equal(t, "what stood there", e.Picture.Lines[0])
			require.Equal(t, "i\x1b", string(e.Bytes))
			typed++
		}
	}
	require.Equal(t, 2, typed)
}

func TestAuditShowBetweenTimes(t *testing.T) {
	cast := makeRecording(t)
	for _, tt := range []struct {
		from, to      string
		claude, codex bool // typed then
	}{
		{"", "", true, true},
		{"", "30s", true, false},    // the input had begun
		{"30s", "59s", true, false}, // and was under way
		{"59s", "61s", true, false},
		{"2m", "", false, true},
		{"2000-01-01T00:02:00Z", "", false, true},
		{"10m", "", false, false},
		{"", "2000-01-01T00:01:30Z", true, false},
	} {
		args := []string{"show", cast}
		if tt.from != "" {
			args = append(args, "--from", tt.from)
		}
		if tt.to != "" {
			args = append(args, "--to", tt.to)
		}
		out, errs, status := audit(args...)
		require.Zero(t, status, errs)
		require.Equal(t, tt.claude, strings.Contains(out, "claude types"), "%q", args)
		require.Equal(t, tt.codex, strings.Contains(out, "codex types"), "%q", args)
		require.Equal(t, tt.from == "10m", strings.Contains(out, "no entries in that time"), "%q", args)
	}
	for _, args := range [][]string{{"--from", "noon"}, {"--to", "-5s"}, {"--from", "2m", "--to", "1m"}, {"--from", "25:00"}} {
		_, _, status := audit(append([]string{"show", cast}, args...)...)
		require.Equal(t, 2, status, args)
	}
	_, _, status := audit()
	require.Equal(t, 2, status)
}

func TestParseMoment(t *testing.T) {
	begin := time.Date(2026, 11, 21, 23, 50, 0, 0, time.UTC)
	for text, want := range map[string]time.Time{
		"23:55":                time.Date(2026, 11, 21, 23, 55, 0, 0, time.UTC),
		"23:40:30":             time.Date(2026, 11, 21, 23, 40, 30, 0, time.UTC),
		"00:10":                time.Date(2026, 11, 22, 0, 10, 0, 0, time.UTC),
		"2026-11-22":           time.Date(2026, 11, 22, 0, 0, 0, 0, time.UTC),
		"2026-11-22 01:02":     time.Date(2026, 11, 22, 1, 2, 0, 0, time.UTC),
		"2026-11-22T01:02:03":  time.Date(2026, 11, 22, 1, 2, 3, 0, time.UTC),
		"1h":                   begin.Add(time.Hour),
		"2026-11-22T01:02:03Z": time.Date(2026, 11, 22, 1, 2, 3, 0, time.UTC),
	} {
		got, ok := parseMoment(text, begin)
		require.True(t, ok, text)
		require.True(t, want.Equal(got), "%s: %s", text, got)
	}
}

// A file that a crash cut off plays up to the cut.
func TestARecordingCutAnywhereRenders(t *testing.T) {
	cast, err := os.ReadFile(makeRecording(t))
	require.NoError(t, err)
	for cut := bytes.IndexByte(cast, '\n') + 1; cut <= len(cast); cut++ {
		out, _, err := render.Cast(cast[:cut])
		require.NoError(t, err, "cut at %d", cut)
		want := 0
		for _, name := range []string{"claude", "codex"} {
			if at := bytes.Index(cast, []byte("typed by "+name)); cut >= at+len("typed by ")+len(name)+len(`\r\n"]`) {
				want++
			}
		}
		require.Equal(t, want, bytes.Count(out, []byte("typed by ")), "cut at %d", cut)
	}
}
