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
	for in, want := range map[string]string{
		"":                               "",
		"text":                           "text",
		"\x1b[m":                         "< mm>",
		"\x1b[@":                         "< @@>",
		"a\x1b[1;31mred\x1b[mb":          "a<1;31 1m>red< mm>b",
		"\x1b[?25h\x1b[5 q":              "<?25 ?h><5  5q>",
		"\x1b[@\x1b[~\x1b[\x7f\x1b[\x1f": "< @@>< ~~>|^[\x7f|^[\x1f",
		"\x1b[1":                         "|^[1",
		"\x1b[":                          "|^[",
		"x\x1b":                          "x|^",
		"\x1b\x1b[1m":                    "|^<1 1m>",
		"\x1b[1\x1b[2m":                  "|^[1<2 2m>",
		"\x1b[1\nm\x1b[1émore text":      "|^[1\nm|^[1émore text",
		"\x1b]2;t\x1b\\\x1b(B\x1b7x":     "|^]2;t|^\\|^(B|^7x",
		"a long text \x1b[12;1H" + strings.Repeat("and a longer text ", 5) + "\x1b[K": "a long text <12;1 1H>" + strings.Repeat("and a longer text ", 5) + "< KK>",
	} {
		var c vt.Cutter
		require.Equal(t, want, drawn(c.Cut([]byte(in))), "%q", in)
		more := in + " and some more text"
		if !strings.HasSuffix(in, "\x1b[") && !strings.HasSuffix(in, "\x1b[1") {
			require.Equal(t, want+" and some more text", drawn(c.Cut([]byte(more))), "%q", more)
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

// written returns a sequence as text.
func written(q vt.Sequence) string {
	return fmt.Sprintf("%d %q %q %q", q.Kind, q.Inter, q.Text, q.Final)
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
	control := func(text string, final byte) vt.Sequence {
		return vt.Sequence{Kind: vt.Control, Text: []byte(text), Final: final}
	}
	escape := func(inter, final byte) vt.Sequence {
		return vt.Sequence{Kind: vt.Escape, Inter: inter, Final: final}
	}
	command := func(text string) vt.Sequence { return vt.Sequence{Kind: vt.Command, Text: []byte(text)} }
	for _, c := range []struct {
		name, in string
		want     []vt.Sequence
		ends     bool // on the ground
	}{
		{"text", "plain \r\n\a\x18", nil, true},
		{"control sequences", "\x1b[m\x1b[?25hx\x1b[5 q", []vt.Sequence{control("", 'm'), control("?25", 'h'), control("5 ", 'q')}, true},
		{"C0 and DEL inside", "\x1b[2\n;\x7f3\aH", []vt.Sequence{control("2;3", 'H')}, true},
		{"no ASCII inside", "\x1b[2é3H", nil, true},
		{"cancelled", "\x1b[2\x183H\x1b[2\x1a3H\x1b]2;x\x18\x1bPx\x1ay", nil, true},
		{"cut off", "\x1b[2\x1b[3H", []vt.Sequence{control("3", 'H')}, true},
		{"escape", "\x1b7\x1b(B\x1b\n8\x1b\x7fc", []vt.Sequence{escape(0, '7'), escape('(', 'B'), escape(0, '8'), escape(0, 'c')}, true},
		{"two intermediates", "\x1b$(C", []vt.Sequence{escape('(', 'C')}, true},
		{"an intermediate before a bracket", "\x1b([2h", []vt.Sequence{escape('(', '[')}, true},
		{"a new ESC", "\x1b(\x1b7", []vt.Sequence{escape(0, '7')}, true},
		{"commands", "\x1b]2;title\a\x1b]8;;x\x1b\\", []vt.Sequence{command("2;title"), command("8;;x"), escape(0, '\\')}, true},
		{"a control in a command", "\x1b]2;ti\ntle\a", []vt.Sequence{command("2;title")}, true},
		{"a command of any characters", "\x1b]2;ä title, 日本 語\x7f\a", []vt.Sequence{command("2;ä title, 日本 語\x7f")}, true},
		{"a command cut off", "\x1b]2;tit\x1b[31m", []vt.Sequence{command("2;tit"), control("31", 'm')}, true},
		{"a long command", "\x1b]" + strings.Repeat("0123456789", 20) + "\a", []vt.Sequence{command(strings.Repeat("0123456789", 20)[:vt.MaxParams])}, true},
		{"strings", "\x1bPq[1m\a]0;\x1b\\\x1bX7\x1b\\\x1b^7\x1b\\\x1b_G7\x1b\\", []vt.Sequence{escape(0, '\\'), escape(0, '\\'), escape(0, '\\'), escape(0, '\\')}, true},
		{"ESC alone", "x\x1b", nil, false},
		{"an intermediate alone", "x\x1b(", nil, false},
		{"half a control sequence", "x\x1b[2", nil, false},
		{"half a command", "x\x1b]2;t", nil, false},
		{"half a string", "x\x1bPq\a", nil, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			var want []string
			for _, q := range c.want {
				want = append(want, written(q))
			}
			require.Equal(t, want, scanned(c.in))
			require.Equal(t, want, chunked(c.in))
			require.Equal(t, want, scanned(strings.Split(c.in, "")...), "byte by byte")
			for i := range len(c.in) {
				require.Equal(t, want, scanned(c.in[:i], c.in[i:]), "cut at %d", i)
				require.Equal(t, want, chunked(c.in[:i], c.in[i:]), "cut at %d", i)
			}
			var s vt.Scanner
			next(&s, []byte(c.in))
			require.Equal(t, c.ends, s.IsAtGround())
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
