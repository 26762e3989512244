package record_test

import (
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/stretchr/testify/require"

	"terminalproxy/proxy/record"
)

var (
	codex = &record.Agent{ID: "a1", Name: "codex"}
	who   = record.Author{Agent: "codex", ID: "a1", Grant: 2, Request: "r1"}
)

// play is a session with every kind of event.
func play(r *taping) {
	r.WriteOutput([]byte("$ "))
	r.wait(1500 * time.Millisecond)
	r.UserTyped("")
	r.AddEntry(record.Entry{Kind: record.Request, Agent: codex, Level: "drive", Why: "fix it", Request: "q1"})
	r.AddEntry(record.Entry{Kind: record.Grant, Agent: codex, Level: "drive", Epoch: 2})
	r.wait(250 * time.Microsecond)
	r.AgentInput(who, []byte("ls"))
	r.WriteOutput([]byte("ls"))
	r.AgentInput(who, []byte("\r"))
	began := time.Now().UTC()
	picture := &record.Picture{Cols: 80, Rows: 24, Col: 2, Lines: []string{"$"}}
	r.AddEntry(record.Entry{
		Kind: record.Input, Agent: codex, Epoch: 2, Request: "r1", Form: "text", Bytes: []byte("ls\r"), Text: `ls\r`, Written: 3, Fate: "written",
		Began: &began, Picture: picture, Rev: 7, Program: "bash",
	})
	r.AddEntry(record.Entry{
		Kind: record.Input, Agent: codex, Epoch: 2, Request: "r2", Form: "keys", Asked: "enter", Fate: "refused", Reason: "user_typing",
		Picture: picture, Rev: 7, Program: "bash",
	})
	r.WriteOutput([]byte("\r\na \"b\" \\ \x1b[1m\x7f\tü\r\n"))
	r.RecordResize(100, 30)
	r.RecordBlackout(true, "a password is being read")
	r.WriteOutput([]byte("Password: ***"))
	r.UserTyped("")
	r.wait(3 * time.Second)
	r.screen = "PAINTED"
	r.RecordBlackout(false, "")
	r.WriteOutput([]byte("$ "))
	r.AddEntry(record.Entry{Kind: record.End, Agent: codex, Epoch: 2, Reason: "reclaimed", Dropped: 30, Unsubmitted: 4})
	r.RecordExit(3, "")
}

func TestTheAsciicast(t *testing.T) {
	r := tape(t, play)
	require.NoError(t, r.err)
	require.True(t, r.cast.closed && r.log.closed)
	got := events(t, r.cast.String())
	var codes, marks []string
	for _, e := range got {
		codes = append(codes, e.code)
		if e.code == "m" {
			marks = append(marks, e.data)
		}
	}
	require.Equal(t, "o U m m A i o i o r m m o o m x", strings.Join(codes, " "))
	require.Equal(t, []string{
		"codex asks for control (drive): fix it", "codex gets the keyboard: grant 2, level drive",
		"blackout begins: a password is being read", "blackout ends", "grant 2 of codex ends: reclaimed; dropped: 30 bytes; typed but not submitted: 4 bytes",
	}, marks)
	require.Equal(t, "$ ls\r\na \"b\" \\ \x1b[1m\x7f\tü\r\n\x18\x1bcPAINTED$ ", output(got, "o"))
	require.Equal(t, "ls\r", output(got, "i"))
	require.JSONEq(t, `{"agent":"codex","id":"a1","grant":2,"request":"r1"}`, output(got, "A"))
	require.Empty(t, output(got, "U"))
	require.Equal(t, "100x30", output(got, "r"))
	require.Equal(t, "3", output(got, "x"))
	require.InDelta(t, 1.5, got[1].at, 1e-6)
	require.InDelta(t, 1.50025, got[4].at, 1e-6)
	require.NotContains(t, r.cast.String()+r.log.String(), "***")
}

// The file holds intervals in microseconds, and the events do not come at whole ones.
func TestIntervalsDoNotDrift(t *testing.T) {
	const n = 10_000
	r := tape(t, func(r *taping) {
		for range n {
			time.Sleep(333_333 * time.Nanosecond)
			r.WriteOutput([]byte("x"))
		}
	})
	got := events(t, r.cast.String())
	require.Len(t, got, n)
	require.InDelta(t, float64(n)*333_333e-9, got[n-1].at, 2e-6)
}

// However the output is cut, the recording holds what the whole is as text.
func TestOutputIsText(t *testing.T) {
	for _, whole := range []string{
		"aäöü€😀z", "\xff\xfe", "\xc3(", "\xe2\x82", "\xe2\x82\xe2\x82\xac", "\xf0\x9f\x98\x80\xf0\x9f", "\x00\x1f\x7f\u2028", "\xc3\xc3\xa4",
		"\xed\xa0\x80", "\xf4\x90\x80\x80", strings.Repeat("\x80", 7),
	} {
		want := strings.ToValidUTF8(whole, "\ufffd")
		for a := range len(whole) + 1 {
			for b := a; b <= len(whole); b++ {
				r := tape(t, func(r *taping) {
					r.WriteOutput([]byte(whole[:a]))
					r.RecordResize(80, 24)
					r.WriteOutput([]byte(whole[a:b]))
					r.WriteOutput([]byte(whole[b:] + "|"))
				})
				got := output(events(t, r.cast.String()), "o")
				require.True(t, utf8.ValidString(got))
				require.Equal(t, squeeze(want+"|"), squeeze(got), "%q cut at %d and %d", whole, a, b)
			}
		}
	}
}

// squeeze reduces each run of replacement characters to one: their number is not promised.
func squeeze(s string) string {
	for strings.Contains(s, "\ufffd\ufffd") {
		s = strings.ReplaceAll(s, "\ufffd\ufffd", "\ufffd")
	}
	return s
}

func TestTheUsersTypingIsNotedRarelyR26(t *testing.T) {
	r := tape(t, func(r *taping) {
		for range 100 { // ten seconds
			r.UserTyped("")
			time.Sleep(100 * time.Millisecond)
		}
		r.RecordBlackout(true, "hidden")
		for range 100 {
			r.UserTyped("")
			time.Sleep(100 * time.Millisecond)
		}
	})
	all := events(t, r.cast.String())
	n := 0
	for _, e := range all {
		if e.code == "U" {
			require.Empty(t, e.data)
			n++
		}
	}
	require.Equal(t, 5, n)
	require.Len(t, of(entries(t, r.log.String()), record.User), 5)
}

// A disk that stops costs only output, in one gap that says how much.
func TestASlowDiskDelaysNothing(t *testing.T) {
	const piece = 100_000
	var written int
	r := tape(t, func(r *taping) {
		resume := r.cast.stop()
		r.screen = "PAINTED"
		for range 200 { // 20 MB
			r.WriteOutput([]byte(strings.Repeat("x", piece)))
			r.wait(time.Millisecond)
		}
		r.AddEntry(record.Entry{Kind: record.Grant, Agent: codex, Level: "drive", Epoch: 2})
		resume()
		r.wait(time.Second)
		r.WriteOutput([]byte("after"))
		require.Empty(t, r.failures)
	})
	require.NoError(t, r.err)
	require.Equal(t, 1, r.rooms)
	all := events(t, r.cast.String())
	shown := output(all, "o")
	before, after, ok := strings.Cut(shown, "\x18\x1bcPAINTED")
	require.True(t, ok)
	require.Equal(t, "after", after)
	written = len(before)
	require.Less(t, written, 6<<20, "bounded")
	gaps := of(entries(t, r.log.String()), record.Gap)
	require.Len(t, gaps, 2, "a beginning and an end")
	require.Zero(t, gaps[0].Missing)
	require.EqualValues(t, 200*piece-written, gaps[1].Missing)
	require.Contains(t, output(all, "m"), gaps[1].Sentence())
	require.Len(t, of(entries(t, r.log.String()), record.Grant), 1)
}

// The session continues, one failure is reported, and the file holds whole lines. When there is
// room again the recording continues with a repaint. The log has lost nothing.
func TestAFullDisk(t *testing.T) {
	r := tape(t, func(r *taping) {
		r.screen = "PAINTED"
		r.WriteOutput([]byte("before"))
		r.wait(time.Second)
		size := len(r.cast.String())
		r.cast.set(size + 7)
		r.log.set(len(r.log.String()) + 11)
		for n := range 10 {
			r.WriteOutput([]byte("lost"))
			r.AddEntry(record.Entry{Kind: record.Grant, Agent: codex, Level: "drive", Epoch: uint64(n + 1)})
			r.wait(time.Second)
			require.Len(t, r.cast.String(), size, "a line that was written in part is taken back")
		}
		require.Len(t, r.failures, 1)
		require.EqualError(t, r.failures[0], "no space left on device")
		r.cast.set(-1)
		r.log.set(-1)
		r.wait(5 * time.Second)
		r.WriteOutput([]byte("after"))
	})
	require.EqualError(t, r.err, "output is missing in the asciicast: no space left on device")
	all := events(t, r.cast.String())
	require.Equal(t, "before\x18\x1bcPAINTEDafter", output(all, "o"))
	require.InDelta(t, 16, all[len(all)-1].at, 0.1, "what is missing takes its time")
	log := entries(t, r.log.String())
	require.Len(t, of(log, record.Grant), 10)
	gaps := of(log, record.Gap)
	require.Len(t, gaps, 2, "a beginning and an end")
	require.EqualValues(t, 40, gaps[1].Missing)
	require.Equal(t, "no space left on device", gaps[1].Why)
	require.Empty(t, of(log, record.Lost))
}

func TestADiskThatStaysFull(t *testing.T) {
	r := tape(t, func(r *taping) {
		r.wait(time.Second)
		r.cast.set(len(r.cast.String()))
		r.log.set(len(r.log.String()))
		r.WriteOutput([]byte("lost"))
	})
	require.EqualError(t, r.err, "the audit log lacks its end: no space left on device")
	require.Len(t, r.failures, 1)
	require.Empty(t, events(t, r.cast.String()))
	require.Len(t, entries(t, r.log.String()), 1)
}

// The log also says so if the disk has room for the log alone, or the proxy is killed meanwhile.
func TestTheLogNamesARecordingsMissingEnd(t *testing.T) {
	var killed string
	r := tape(t, func(r *taping) {
		r.WriteOutput([]byte("before"))
		r.wait(time.Second)
		r.cast.set(len(r.cast.String()))
		r.WriteOutput([]byte("lost"))
		r.wait(time.Second)
		r.WriteOutput([]byte("too"))
		r.wait(time.Second)
		killed = r.log.String()
		r.RecordBlackout(true, "a password")
		r.WriteOutput([]byte("secret"))
		r.RecordExit(0, "")
	})
	require.Equal(t, "before", output(events(t, r.cast.String()), "o"))
	log := entries(t, killed)
	require.Equal(t, "output is left out from here on: no space left on device", log[len(log)-1].Sentence())
	log = entries(t, r.log.String())
	require.Equal(t, "output is missing before this, 7 bytes: no space left on device", log[len(log)-2].Sentence())
	require.Len(t, of(log, record.Gap), 2)

	r = tape(t, func(r *taping) {
		r.wait(time.Second)
		r.cast.set(len(r.cast.String()))
		r.WriteOutput([]byte("queued when it ends"))
	})
	log = entries(t, r.log.String())
	require.Equal(t, "output is missing before this, 19 bytes: no space left on device", log[len(log)-2].Sentence())

	r = tape(t, func(r *taping) { r.RecordBlackout(true, "a password"); r.WriteOutput([]byte("secret")) })
	require.Empty(t, of(entries(t, r.log.String()), record.Gap), "a blackout is none: how long a secret is stands nowhere")
}

// Memory is bounded, and the log counts what does not fit.
func TestALogThatCannotGoOnSaysSo(t *testing.T) {
	const n = 5_000
	long := strings.Repeat("why ", 1000)
	r := tape(t, func(r *taping) {
		resume := r.log.stop()
		r.AddEntry(record.Entry{Kind: record.Grant, Agent: codex, Level: "drive"})
		r.wait(time.Second) // the recorder waits for the disk, and takes nothing more
		for range n {
			r.AddEntry(record.Entry{Kind: record.Request, Agent: codex, Level: "drive", Why: long})
		}
		r.wait(time.Second)
		resume()
	})
	require.NoError(t, r.err)
	log := entries(t, r.log.String())
	lost := 0
	for _, e := range of(log, record.Lost) {
		lost += int(e.Missing)
	}
	require.Positive(t, lost)
	require.Equal(t, n, lost+len(of(log, record.Request)))
}

func TestADeadDiskDoesNotHoldTheEnd(t *testing.T) {
	tape(t, func(r *taping) {
		resume := r.cast.stop()
		r.WriteOutput([]byte("x"))
		r.wait(time.Second)
		require.ErrorIs(t, r.Close(2*time.Second), record.ErrTimeout)
		resume()
	})
}

// A kill loses what is not yet on the disk.
func TestTheRecordingIsOnTheDiskSoon(t *testing.T) {
	tape(t, func(r *taping) {
		for n := range 50 {
			r.WriteOutput([]byte{'a' + byte(n%26)})
			r.AddEntry(record.Entry{Kind: record.Grant, Agent: codex, Level: "drive", Epoch: uint64(n)})
			r.wait(25 * time.Millisecond)
			require.Len(t, output(events(t, r.cast.String()), "o"), n+1)
			require.Len(t, of(entries(t, r.log.String()), record.Grant), n+1)
		}
	})
}

// Wherever the file is cut, the whole lines before the cut are the events before it.
func TestCutAnywhereItPlaysToThere(t *testing.T) {
	cast := tape(t, play).cast.String()
	all := events(t, cast)
	header := strings.IndexByte(cast, '\n') + 1
	for cut := header; cut <= len(cast); cut++ {
		whole := cast[:strings.LastIndexByte(cast[:cut], '\n')+1]
		require.Equal(t, len(all[:lineCount(whole)-1]), len(events(t, whole)))
		var v2 strings.Builder
		require.NoError(t, record.WriteV2(&v2, strings.NewReader(cast[:cut])), "cut at %d", cut)
		require.Contains(t, v2.String(), `"width":80,"height":24`)
	}
}

func TestV2(t *testing.T) {
	var b strings.Builder
	require.NoError(t, record.WriteV2(&b, strings.NewReader(`{"version":3,"term":{"cols":9,"rows":2},"timestamp":5,"command":"vim","idle_time_limit":2.5}
# a comment

[0.1, "o", "a\u001b[1m"]
[0.2, "A", "{}"]
[0.3, "m", "here"]
[0.000001, "x", "0"]
`)))
	require.Equal(t, `{"version":2,"width":9,"height":2,"timestamp":5,"idle_time_limit":2.5,"command":"vim"}
[0.100000, "o", "a\u001b[1m"]
[0.600000, "m", "here"]
`, b.String())
	for name, bad := range map[string]string{
		"line 1: it is not the header of an asciicast v3":    `{"version":2,"width":9}`,
		"line 2: it is not an event: [INTERVAL, CODE, DATA]": "{\"version\":3}\n{}\n",
		"line 3: the event's interval is not a time":         "{\"version\":3}\n[0,\"o\",\"\"]\n[-1,\"o\",\"\"]\n",
		"line 2: the event has no code":                      "{\"version\":3}\n[0,1,\"\"]\n",
		"line 2: the event's data is not a string":           "{\"version\":3}\n[0,\"o\",1]\n",
	} {
		require.EqualError(t, record.WriteV2(new(strings.Builder), strings.NewReader(bad)), name)
	}
}
