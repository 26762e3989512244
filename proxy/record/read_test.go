package record_test

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"terminalproxy/proxy/record"
	"terminalproxy/proxy/view/corpus"
)

func read(log string) (*record.Log, int, error) {
	n := 0
	got, err := record.Read(strings.NewReader(log), func(*record.Entry) error { n++; return nil })
	return got, n, err
}

func TestTheLogSaysWhatWasTypedAndWhatWasOnTheScreen(t *testing.T) {
	r := tape(t, play)
	all := entries(t, r.log.String())
	var kinds []string
	for i, e := range all {
		kinds = append(kinds, string(e.Kind))
		require.EqualValues(t, i+1, e.N)
		require.False(t, e.Time.IsZero())
	}
	require.Equal(t, "open user request grant screen input input blackout blackout end exit close", strings.Join(kinds, " "),
		"a screen stands there once while it is the same")
	require.Equal(t, record.Format, all[0].Session.Format)
	in := of(all, record.Input)
	require.Equal(t, "ls\r", string(in[0].Bytes))
	require.Equal(t, []string{"$"}, in[0].Picture.Lines)
	require.Equal(t, in[0].Picture, in[1].Picture)
	require.Equal(t, "codex types under grant 2, text, 3 bytes", in[0].Sentence())
	require.Equal(t, "codex tries to type under grant 2, keys: refused: user_typing", in[1].Sentence())
	require.EqualValues(t, 1_500_250, in[0].At)

	log, n, err := read(r.log.String())
	require.NoError(t, err)
	require.Equal(t, len(all), n)
	require.True(t, log.Closed())
	require.False(t, log.Cut)
	require.Equal(t, all[len(all)-1].Hash, log.Head)
	require.EqualValues(t, len(r.cast.String()), log.Last.Cast.Bytes)
}

// TestADamagedLogNamesItsFirstBadLine changes, removes, doubles, swaps and moves each line.
func TestADamagedLogNamesItsFirstBadLine(t *testing.T) {
	lines := strings.SplitAfter(strings.TrimSuffix(tape(t, play).log.String(), "\n"), "\n")
	lines[len(lines)-1] += "\n"
	n := len(lines)
	damaged := func(i int, with ...string) string {
		return strings.Join(lines[:i], "") + strings.Join(with, "") + strings.Join(lines[i+1:], "")
	}
	check := func(log string, line int, why string) {
		t.Helper()
		_, good, err := read(log)
		bad, ok := errors.AsType[*record.DamageError](err)
		require.True(t, ok, "%v\n%s", err, log)
		require.Equal(t, line, bad.Line, bad.Why)
		require.Contains(t, bad.Why, why)
		require.Equal(t, line-1, good, "what is before it is read")
	}
	for i := range n {
		line := lines[i]
		check(damaged(i, strings.Replace(line, `:"20`, `:"19`, 1)), i+1, "its hash does not match")
		check(damaged(i, strings.Replace(line, `"kind"`, ` "kind"`, 1)), i+1, "its hash does not match")
		check(damaged(i, "garbage\n"), i+1, map[bool]string{true: "so this is no audit log", false: "it is not an entry: "}[i == 0])
		check(damaged(i, "\n"), i+1, "it is not an entry")
		check(damaged(i, line[:len(line)-3]+"\n"), i+1, "it is not an entry")
		check(damaged(i, line[:len(line)-2]+" }\n"), i+1, "it does not end with its hash")
		check(damaged(i, line, line), i+2, "")
		if i+1 < n {
			check(damaged(i), i+1, "")
			check(strings.Join(lines[:i], "")+lines[i+1]+line+strings.Join(lines[min(i+2, n):], ""), i+1, "")
		}
	}
	other := strings.SplitAfter(tape(t, func(r *taping) { r.UserTyped(""); play(r) }).log.String(), "\n")
	check(damaged(3, other[3]), 4, "it does not follow the entry before it")
	check(strings.Join(lines, "")+lines[0], n+1, "")
}

func TestACutLogIsNotADamagedOne(t *testing.T) {
	log := tape(t, play).log.String()
	for cut := 0; cut < len(log); cut++ {
		if next := strings.IndexByte(log[cut:], '\n'); next > 3 && cut > 0 && log[cut-1] != '\n' {
			cut += next / 2 // the middle of a line is like its other parts
		}
		whole := strings.Count(log[:cut], "\n")
		got, n, err := read(log[:cut])
		require.NoError(t, err, "cut at %d", cut)
		complete := cut+1 < len(log) && log[cut] == '\n' || cut == len(log)-1 // only the newline is missing
		if complete && cut > 0 {
			whole++
		}
		require.Equal(t, whole, n, "cut at %d", cut)
		require.Equal(t, cut > 0 && log[cut-1] != '\n' && !complete, got.Cut, "cut at %d", cut)
		require.Equal(t, cut == len(log)-1, got.Closed())
	}
}

func TestSentences(t *testing.T) {
	for _, c := range corpus.Rows[struct{ Want, Entry string }](t, "sentences") {
		var e record.Entry
		require.NoError(t, json.Unmarshal([]byte(c.Entry), &e))
		require.Equal(t, c.Want, e.Sentence())
	}
}

// FuzzRead checks that nothing panics, and that the recorder wrote whatever is read without an
// error.
func FuzzRead(f *testing.F) {
	f.Add([]byte(""))
	f.Add([]byte("{}\n"))
	f.Add([]byte(`{"n":1,"time":"2026-11-21T07:00:00Z","at":0,"kind":"open","prev":"` + strings.Repeat("0", 64) + `","hash":"` + strings.Repeat("0", 64) + "\"}\n"))
	f.Fuzz(func(t *testing.T, log []byte) {
		var read []string
		got, err := record.Read(strings.NewReader(string(log)), func(e *record.Entry) error {
			read = append(read, e.Sentence())
			return nil
		})
		if got.Lines != len(read) {
			t.Fatalf("%d lines and %d entries", got.Lines, len(read))
		}
		if bad, ok := errors.AsType[*record.DamageError](err); ok && bad.Line != got.Lines+1 {
			t.Fatalf("%v after %d good lines", err, got.Lines)
		}
	})
}

// FuzzEvents checks that an asciicast of any pieces is lines of JSON, and that WriteV2 reads them.
func FuzzEvents(f *testing.F) {
	f.Add([]byte("a\xe2\x82\xac\x1b[m"), byte(2))
	f.Fuzz(func(t *testing.T, p []byte, cut byte) {
		r := tape(t, func(r *taping) {
			for len(p) > 0 {
				n := min(len(p), 1+int(cut))
				r.WriteOutput(p[:n])
				r.AgentInput(who, p[:n])
				p = p[n:]
			}
		})
		events(t, r.cast.String())
		require.NoError(t, record.WriteV2(new(strings.Builder), strings.NewReader(r.cast.String())))
	})
}
