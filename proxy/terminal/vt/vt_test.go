package vt_test

import (
	"bytes"
	"fmt"
	"math/rand"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"terminalproxy/proxy/terminal/vt"
	"terminalproxy/proxy/view/corpus"
)

// drawn writes cuts down: "|" stands before an ESC, and a plain control sequence in "<>".
func drawn(c vt.Chunk) string {
	var b strings.Builder
	b.Write(c.Bytes[:c.PartEnd(-1)])
	for i, cut := range c.Cuts {
		all := string(c.Bytes[cut.At:c.PartEnd(i)])
		if cut.Size == 0 {
			b.WriteString("|" + all)
			continue
		}
		b.WriteString("<" + string(c.Params(cut)) + " " + string(cut.First) + string(cut.Final) + ">" + all[cut.Size:])
	}
	return strings.ReplaceAll(b.String(), "\x1b", "^")
}

func TestCut(t *testing.T) {
	for _, row := range corpus.Rows[struct{ In, Want string }](t, "cuts") {
		var c vt.Cutter
		require.Equal(t, row.Want, drawn(c.Cut([]byte(row.In))), "%q", row.In)
		more := row.In + " and some more text"
		if !strings.HasSuffix(row.In, "\x1b[") && !strings.HasSuffix(row.In, "\x1b[1") {
			require.Equal(t, row.Want+" and some more text", drawn(c.Cut([]byte(more))), "%q", more)
		}
	}
}

// A control sequence of MaxParams bytes or more does not count; one byte less, and it does.
func TestTooLong(t *testing.T) {
	for n := vt.MaxParams - 20; n < vt.MaxParams+20; n++ {
		for _, after := range []string{"", "text that follows"} {
			in := []byte("\x1b[" + strings.Repeat("1", n) + "m" + after)
			var cutter vt.Cutter
			c := cutter.Cut(in)
			require.Len(t, c.Cuts, 1)
			require.Equal(t, n < vt.MaxParams, c.Cuts[0].Size > 0, "%d parameters", n)
			require.Equal(t, n < vt.MaxParams, len(scanned(string(in))) == 1, "%d parameters", n)
			require.Equal(t, n < vt.MaxParams, len(scanned(string(in[:9]), string(in[9:]))) == 1, "%d parameters, cut", n)
		}
	}
}

func TestKeep(t *testing.T) {
	var c vt.Cutter
	for n, want := range map[int]string{0: "", 2: "ab", 3: "ab|^", 5: "ab|^]2", 6: "ab|^]2|^"} {
		chunk := c.Cut([]byte("ab\x1b]2\x1b\\\x1b[m"))
		chunk.Truncate(n)
		require.Equal(t, want, drawn(chunk))
	}
}

// written returns a sequence as text: a control after [, a command after ], and an escape.
func written(q vt.Sequence) string {
	switch q.Kind { //nolint:exhaustive // the others are escapes
	case vt.Control:
		return "[" + string(q.Text) + string(q.Final)
	case vt.Command:
		return "]" + string(q.Text)
	}
	return strings.TrimLeft(string([]byte{q.Inter, q.Final}), "\x00")
}

// scanned returns the sequences that a scanner finds in successive reads.
func scanned(reads ...string) (all []string) {
	var s vt.Scanner
	for _, r := range reads {
		all = append(all, next(&s, []byte(r))...)
	}
	return all
}

func next(s *vt.Scanner, p []byte) (all []string) {
	for len(p) > 0 {
		q, n := s.Next(p)
		if q.Kind != vt.None {
			all = append(all, written(q))
		}
		p = p[n:]
	}
	return all
}

// chunked returns the sequences of successive reads: the cuts find the plain ones and a scanner the
// rest.
func chunked(reads ...string) (all []string) {
	var cutter vt.Cutter
	var s vt.Scanner
	for _, r := range reads {
		c := cutter.Cut([]byte(r))
		all = append(all, next(&s, c.Bytes[:c.PartEnd(-1)])...)
		for i, cut := range c.Cuts {
			if cut.Size == 0 || !s.IsAtGround() {
				all = append(all, next(&s, c.Bytes[cut.At:c.PartEnd(i)])...)
				continue
			}
			all = append(all, written(vt.Sequence{Kind: vt.Control, Text: c.Params(cut), Final: cut.Final}))
		}
	}
	return all
}

func TestScanner(t *testing.T) {
	for _, c := range corpus.Rows[struct {
		Name, In, Want string
		Ends           bool // on the ground
	}](t, "scanner") {
		t.Run(c.Name, func(t *testing.T) {
			finds := func(all []string, how string) {
				t.Helper()
				require.Equal(t, c.Want, strings.Join(all, "|"), how)
			}
			finds(scanned(strings.Split(c.In, "")...), "byte by byte")
			for i := range len(c.In) + 1 {
				finds(scanned(c.In[:i], c.In[i:]), fmt.Sprint("cut at ", i))
				finds(chunked(c.In[:i], c.In[i:]), fmt.Sprint("cut at ", i))
			}
			var s vt.Scanner
			next(&s, []byte(c.In))
			require.Equal(t, c.Ends, s.IsAtGround())
		})
	}
}

// plainLen is the pattern of vt.Cut.Size.
var plainLen = regexp.MustCompile(fmt.Sprintf(`^\x1b\[[ -?]{0,%d}[@-~]`, vt.MaxParams-1))

// FuzzCuts checks that there is a cut at each ESC, plain where the pattern says so. The result
// depends neither on how the stream is cut, nor on whether the cuts or a scanner found the plain
// ones.
func FuzzCuts(f *testing.F) {
	for i, in := range []string{
		"a\x1b[1;31mred\x1b[m\x1b[?25l\x1b]8;;http://x\x1b\\\x1b(0q\x1b(B\x1b]0;t\a\x1bPq#0\x1b\\", "\x1b[1\x1b\x1b[m\x1b[\x18x\x1b]x\x1ay\x1b[2\xc3\xa8h",
		"\x1b[" + strings.Repeat("1", vt.MaxParams) + "m\x1b]" + strings.Repeat("2", vt.MaxParams+9) + "\a", "\x1b\x1b\x1b[2h\x9b2h\u009b2h\x90\x9d",
	} {
		f.Add([]byte(in), int64(i))
	}
	f.Fuzz(func(t *testing.T, in []byte, seed int64) {
		var cutter vt.Cutter
		c := cutter.Cut(in)
		at := 0
		for i, cut := range c.Cuts {
			if skipped := in[at:cut.At]; bytes.ContainsRune(skipped, 0x1b) {
				t.Fatalf("%q: no cut in %q", in, skipped)
			}
			if got := plainLen.Find(in[cut.At:]); len(got) != int(cut.Size) {
				t.Fatalf("%q: cut %d is %d long, not %d", in, i, cut.Size, len(got))
			}
			if cut.Size > 0 && (cut.First != in[cut.At+2] || cut.Final != in[cut.At+uint32(cut.Size)-1]) {
				t.Fatalf("%q: cut %d is %+v", in, i, cut)
			}
			at = int(cut.At) + max(int(cut.Size), 1)
		}
		if bytes.ContainsRune(in[at:], 0x1b) {
			t.Fatalf("%q: no cut in %q", in, in[at:])
		}
		whole, pieces := scanned(string(in)), reads(string(in), seed)
		require.Equal(t, whole, chunked(string(in)), "%q", in)
		require.Equal(t, whole, scanned(pieces...), "%q", pieces)
		require.Equal(t, whole, chunked(pieces...), "%q", pieces)
	})
}

// reads cuts b at places that seed chooses.
func reads(b string, seed int64) []string {
	r := rand.New(rand.NewSource(seed))
	var out []string
	for len(b) > 0 {
		n := min(len(b), 1+r.Intn(20))
		out, b = append(out, b[:n]), b[n:]
	}
	return out
}

func TestNothingIsAllocated(t *testing.T) {
	in := []byte(strings.Repeat("text \x1b[1;31mred\x1b[m \x1b]8;;x\x1b\\ \x1b(B", 20))
	var c vt.Cutter
	var s vt.Scanner
	c.Cut(in)
	require.Zero(t, testing.AllocsPerRun(100, func() {
		c.Cut(in)
		for p := in; len(p) > 0; {
			_, n := s.Next(p)
			p = p[n:]
		}
	}))
}
