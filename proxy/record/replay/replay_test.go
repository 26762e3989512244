package replay_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"runtime"
	"strings"
	"testing"

	"github.com/acarl005/stripansi"
	"github.com/stretchr/testify/require"

	"terminalproxy/protocol"
	"terminalproxy/proxy/record/replay"
)

// header is the first line of recordings here: 40x4.
const header = `{"version":3,"term":{"cols":40,"rows":4},"timestamp":1767225600,"command":"bash"}` + "\n"

func event(gap float64, code, data string) string {
	b, _ := json.Marshal(data)
	return fmt.Sprintf("[%.6f, %q, %s]\n", gap, code, b)
}

// screens returns what an answer shows, by time: the frames put together.
func screens(t *testing.T, r *protocol.RecordsReadResult) (all []string) {
	t.Helper()
	var last *protocol.Rows
	for i, f := range r.Frames {
		full, ok := f.Rows.Complete(last)
		require.True(t, ok, "frame %d follows the one before", i)
		last = full
		all = append(all, fmt.Sprintf("%d %s", f.AtMs, strings.TrimRight(stripansi.Strip(strings.Join(full.Lines, "|")), "|")))
	}
	return all
}

func read(t *testing.T, p *replay.Player, from, every int64) *protocol.RecordsReadResult {
	t.Helper()
	r := &protocol.RecordsReadResult{RequestID: "1", RecordID: "r-1"}
	require.NoError(t, replay.Unhurried(p).Read(t.Context(), &protocol.RecordsRead{FromMs: from, EveryMs: every}, r))
	return r
}

func TestARecordingIsPlayed(t *testing.T) {
	p := replay.New(strings.NewReader(header+event(1, "o", "one")+event(0.010, "o", " two")+event(0.5, "m", "a mark")+
		event(0.5, "o", "\r\n\x1b[31mred\x1b[m")+event(1, "r", "20x3")+event(0, "o", "\x1b[?5h")+event(1, "x", "0")), nil)
	r := read(t, p, 0, 0)
	require.Equal(t, []string{"0 ", "1010 one two", "2010 one two|red", "3010 one two|red"}, screens(t, r))
	require.True(t, r.End)
	require.Equal(t, "\x1b[0;31mred\x1b[0m", r.Frames[2].Rows.Changed[0].Text)
	require.True(t, r.Frames[3].Rows.State.Reverse)
	require.Equal(t, 20, r.Frames[3].Rows.Cols)

	require.Equal(t, []string{"1500 one two", "2010 one two|red", "3010 one two|red"}, screens(t, read(t, p, 1500, 0)), "back again, and in the middle")
	require.Equal(t, []string{"1200 one two", "3010 one two|red"}, screens(t, read(t, p, 1200, 2000)))
	r = read(t, p, 1<<40, 0)
	require.Equal(t, []string{"4010 one two|red"}, screens(t, r), "beyond the end is the end")
	require.True(t, r.End)
	require.EqualValues(t, 4010, r.NextMs)
}

// In v2 times count from the beginning, and one that goes back is ignored.
func TestTheOlderFormatIsPlayed(t *testing.T) {
	p := replay.New(strings.NewReader(`{"version":2,"width":20,"height":2}`+"\n"+event(1, "o", "one")+event(2, "o", " two")+event(1.5, "o", " three")), nil)
	require.Equal(t, []string{"0 ", "1000 one", "2000 one two three"}, screens(t, read(t, p, 0, 0)))
}

func TestARecordingOfASessionThatRuns(t *testing.T) {
	file := &growing{}
	file.WriteString(header + event(1, "o", "one") + `[0.5, "o", "tw`)
	p := replay.New(file, nil)
	r := read(t, p, 0, 0)
	require.Equal(t, []string{"0 ", "1000 one"}, screens(t, r), "a line that is being written is none yet")
	file.WriteString(`o"]` + "\n" + event(1, "o", "three"))
	require.Equal(t, []string{"1000 one", "1500 onetwo", "2500 onetwothree"}, screens(t, read(t, p, r.NextMs, 0)))
}

// growing is a file that is written while it is read.
type growing struct{ bytes.Buffer }

func (g *growing) ReadAt(p []byte, at int64) (int, error) {
	return bytes.NewReader(g.Bytes()).ReadAt(p, at)
}

// A long recording comes in pieces, each from where the last one ended.
func TestAnAnswerIsBounded(t *testing.T) {
	var b strings.Builder
	b.WriteString(header)
	for i := range 5000 {
		b.WriteString(event(0.1, "o", fmt.Sprintf("\x1b[2J\x1b[H%d %s", i, strings.Repeat("\x1b[31mab\x1b[32mcd", 12))))
	}
	p := replay.New(strings.NewReader(b.String()), nil)
	from, pieces, last := int64(0), 0, ""
	for {
		r := read(t, p, from, 0)
		all := screens(t, r)
		if pieces++; last != "" {
			require.Equal(t, last, all[0], "a piece begins with the screen that the last one ended with")
		}
		last = all[len(all)-1]
		encoded, err := protocol.Encode(r)
		require.NoError(t, err)
		require.LessOrEqual(t, len(encoded), 64<<10)
		if from = r.NextMs; r.End {
			break
		}
		require.Less(t, pieces, 1000)
	}
	require.Greater(t, pieces, 5)
	require.Contains(t, last, "500000 4999 abcd")
}

// endless is a recording of a given number of bytes, which are made as they are read.
type endless struct {
	size  int64
	block []byte // whole events, after the header
	read  int64
}

func (e *endless) ReadAt(p []byte, at int64) (n int, err error) {
	for n < len(p) && at < e.size {
		var k int
		if at < int64(len(header)) {
			k = copy(p[n:], header[at:])
		} else {
			k = copy(p[n:], e.block[(at-int64(len(header)))%int64(len(e.block)):])
		}
		n, at, e.read = n+k, at+int64(k), e.read+int64(k)
	}
	if n < len(p) {
		return n, io.EOF
	}
	return n, nil
}

// The recording is read piece by piece; more than twice the memory limit is enough to see that.
func TestALargeRecordingIsNotHeld(t *testing.T) {
	e := &endless{size: 20 << 20, block: []byte(event(0.001, "o", strings.Repeat("0123456789abcdef", 2048)+"\r\n"))}
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	p := replay.New(e, nil)
	r := read(t, p, 0, 0)
	require.True(t, r.End)
	require.GreaterOrEqual(t, e.read, e.size)
	m := &protocol.RecordsReadResult{}
	require.NoError(t, replay.ReadMarks(t.Context(), e, nil, m))
	require.InDelta(t, 639, m.LengthMs, 10)
	runtime.GC()
	runtime.ReadMemStats(&after)
	require.Less(t, int64(after.HeapAlloc)-int64(before.HeapAlloc), int64(8<<20))
	runtime.KeepAlive(p)

	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	require.ErrorIs(t, p.Read(ctx, &protocol.RecordsRead{FromMs: 3000}, r), context.Canceled, "who left is not waited for")
	require.NotEmpty(t, screens(t, read(t, p, 0, 0)), "and the player plays on")
}

func TestWhatIsNoRecording(t *testing.T) {
	for _, file := range []string{"", "\n", "x", `{"version":1,"width":80,"height":24}` + "\n", `{"version":3}`} {
		require.Error(t, replay.New(strings.NewReader(file), nil).Read(t.Context(), &protocol.RecordsRead{}, new(protocol.RecordsReadResult)), "%q", file)
	}
	for _, line := range []string{`[`, `{}`, `[-1, "o", "x"]`, `[1e300, "o", "x"]`, `["o"]`, `[1, o]`, `[1, "m", "x"`} {
		p := replay.New(strings.NewReader(header+strings.Replace(line, `"m"`, `"o"`, 1)+"\n"), nil)
		require.Error(t, p.Read(t.Context(), &protocol.RecordsRead{FromMs: 1}, new(protocol.RecordsReadResult)), line)
		require.Error(t, replay.ReadMarks(t.Context(), strings.NewReader(header+line+"\n"), nil, new(protocol.RecordsReadResult)), line)
	}
}

// A recording has everything that the program printed, a page only what it could see live.
func TestSecretsStayCovered(t *testing.T) {
	secret := "gh" + "p_" + strings.Repeat("Ab3x", 9)
	p := replay.New(strings.NewReader(header+event(1, "o", "export GITHUB_TOKEN="+secret+" \r\n\x1b]2;"+secret+"\a\u202eevil\u200b\x1b]8;;http://x\x1b\\link\x1b]8;;\x1b\\")+
		event(1, "A", `{"agent":"cl\u202eaude","id":"a","grant":1}`)+event(0, "i", secret+"\r")+event(5, "o", "\r\n\r\n\r\n\r\n")), nil)
	r := read(t, p, 0, 0)
	m := &protocol.RecordsReadResult{}
	all, err := json.Marshal(r)
	require.NoError(t, err)
	require.NoError(t, replay.ReadMarks(t.Context(), strings.NewReader(header+event(1, "A", `{"agent":"cl\u202eaude"}`)+event(0, "i", "login "+secret+"\r")), nil, m))
	marks, err := json.Marshal(m)
	require.NoError(t, err)
	for _, bad := range []string{secret, "Ab3xAb3x", "\u202e", "\u200b", "http://x", `\u001b]`} {
		require.NotContains(t, string(all)+string(marks), bad)
	}
	require.Contains(t, string(all), "GITHUB_TOKEN=")
	require.Equal(t, "claude", m.Marks[0].Name)
}

func TestWhatIsMarked(t *testing.T) {
	r := &protocol.RecordsReadResult{}
	require.NoError(t, replay.ReadMarks(t.Context(), strings.NewReader(header+event(1, "o", "x")+event(1, "m", "claude gets the keyboard")+
		event(0, "A", `{"agent":"claude"}`)+event(0, "i", "make")+event(0.1, "i", " test\r")+event(2, "U", "")+event(0.5, "U", "ada")+
		event(3, "A", `{"agent":"codex"}`)+event(0, "i", "\x03")+event(1, "x", "2")), nil, r))
	require.Equal(t, []protocol.Mark{
		{AtMs: 2000, Kind: protocol.MarkEvent, Text: "claude gets the keyboard"},
		{AtMs: 2000, Kind: protocol.MarkInput, Name: "claude", Text: "make test⏎"},
		{AtMs: 4100, Kind: protocol.MarkUser},
		{AtMs: 4600, Kind: protocol.MarkUser, Name: "ada"},
		{AtMs: 7600, Kind: protocol.MarkInput, Name: "codex", Text: "^C"},
		{AtMs: 8600, Kind: protocol.MarkExit, Text: "2"},
	}, r.Marks)
	require.EqualValues(t, 8600, r.LengthMs)

	var b strings.Builder
	b.WriteString(header)
	for i := range 20_000 {
		b.WriteString(event(2, []string{"U", "i"}[i%2], strings.Repeat("y", 100)))
	}
	r = &protocol.RecordsReadResult{RequestID: "1", RecordID: "r-1"}
	require.NoError(t, replay.ReadMarks(t.Context(), strings.NewReader(b.String()), nil, r))
	encoded, err := protocol.Encode(r)
	require.NoError(t, err)
	require.LessOrEqual(t, len(encoded), 64<<10)
}
