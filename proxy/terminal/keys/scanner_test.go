package keys

import (
	"bufio"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	"terminalproxy/proxy/view/corpus"

	"github.com/stretchr/testify/require"
)

const defaultName = `ctrl-\`

func reclaimKey(t testing.TB, name string) CtrlKey {
	t.Helper()
	c, err := ParseReclaimKey(name)
	require.NoError(t, err)
	return c
}

// seen is a unit that outlives its callback.
type seen struct {
	kind Kind
	text string
}

func (u seen) String() string { return fmt.Sprintf("%s %q", u.kind, u.text) }

// scanAll feeds the reads, ends the wait, and joins neighbours of one kind without a boundary of
// their own (text, and the pieces of a long string or paste).
func scanAll(s *Scanner, reads ...[]byte) []seen {
	var got []seen
	emit := func(u Unit) { got = append(got, seen{u.Kind, string(u.Bytes)}) }
	for _, p := range reads {
		s.Scan(p, emit)
	}
	s.Flush(emit)
	return merge(got)
}

func merge(units []seen) []seen {
	var out []seen
	for _, u := range units {
		joins := u.kind == Key || u.kind == Paste || u.kind == Reply
		if n := len(out); joins && n > 0 && out[n-1].kind == u.kind {
			out[n-1].text += u.text
			continue
		}
		out = append(out, u)
	}
	return out
}

func counts(units []seen, kinds ...Kind) []int {
	n := make([]int, len(kinds))
	for _, u := range units {
		for i, k := range kinds {
			if u.kind == k {
				n[i]++
			}
		}
	}
	return n
}

// vector is a row of the normative table: what a sequence is for the default reclaim key.
type vector struct {
	name, in string
	want     Kind
}

func vectors(t testing.TB) (all []vector) {
	t.Helper()
	for _, row := range corpus.Rows[struct{ Name, In, Kind string }](t, "vectors") {
		kind := slices.Index(kindNames[:], row.Kind)
		require.GreaterOrEqual(t, kind, 0, row.Kind)
		all = append(all, vector{row.Name, row.In, Kind(kind)})
	}
	return all
}

// The table at every split point, one byte per read, and with text before and after.
func TestVectorsR1R2(t *testing.T) {
	for _, v := range vectors(t) {
		t.Run(v.name, func(t *testing.T) {
			c := Bindings{}
			want := []seen{{v.want, v.in}}
			require.Equal(t, want, scanAll(NewScanner(c), []byte(v.in)))
			for i := 1; i < len(v.in); i++ {
				require.Equal(t, want, scanAll(NewScanner(c), []byte(v.in[:i]), []byte(v.in[i:])), "split at %d", i)
			}
			require.Equal(t, want, scanAll(NewScanner(c), single(v.in)...))

			around := merge([]seen{{Key, "ab"}, {v.want, v.in}, {Key, "cd"}})
			whole := "ab" + v.in + "cd"
			require.Equal(t, around, scanAll(NewScanner(c), []byte(whole)))
			require.Equal(t, around, scanAll(NewScanner(c), single(whole)...))
			for i := 1; i < len(whole); i++ {
				require.Equal(t, around, scanAll(NewScanner(c), []byte(whole[:i]), []byte(whole[i:])), "split at %d", i)
			}
		})
	}
}

func single(s string) [][]byte {
	reads := make([][]byte, len(s))
	for i := range len(s) {
		reads[i] = []byte{s[i]}
	}
	return reads
}

// The reclaim byte counts in every state of the scanner. The open bytes leave before it, and the
// scanner is in ground after it.
func TestByteInEveryStateR1(t *testing.T) {
	for _, open := range []string{
		"", "\x1b", "\x1b[", "\x1b[92;5", "\x1b[?", "\x9b27;", "\x1bO", "\x1b]", "\x1b]52;c;aGVs",
		"\x1bP1$r", "\x1b_G", "\x1b]11;\x1b", "\xd0", "\xf0\x9f\x98", "\x1b\xc3",
		"\x1b[M!", "\x1b[[", "\x1b[" + strings.Repeat("1;", 50),
	} {
		for _, x10 := range []bool{false, true} {
			s := NewScanner(Bindings{})
			s.SetX10Mouse(x10)
			want := []seen{{Reclaim, "\x1c"}, {Key, "[92;5u"}}
			if open != "" {
				want = append([]seen{{Key, open}}, want...)
			}
			require.Equal(t, want, scanAll(s, single(open+"\x1c[92;5u")...), "%q", open)
		}
	}
}

// The key counts in a paste in every encoding. Everything else in it is Paste, and a Ctrl+G in it
// confirms nothing.
func TestPasteR4(t *testing.T) {
	in := "\x1b[200~ab\x07\x1b[A\x1b]1;\x07\x1cde\x1b[92;5u\x9b27;5;92~\x1b[103;5ug\x1b[200~\x1b\x1b[201~x\x07"
	want := []seen{
		{PasteStart, "\x1b[200~"},
		{Paste, "ab\x07\x1b[A\x1b]1;\x07"},
		{Reclaim, "\x1c"},
		{Paste, "de"},
		{Reclaim, "\x1b[92;5u"},
		{Reclaim, "\x9b27;5;92~"},
		{Paste, "\x1b[103;5ug\x1b[200~\x1b"},
		{PasteEnd, "\x1b[201~"},
		{Key, "x"},
		{Confirm, "\x07"},
	}
	require.Equal(t, want, scanAll(NewScanner(Bindings{}), []byte(in)))
	require.Equal(t, want, scanAll(NewScanner(Bindings{}), single(in)...))
	for i := range in {
		require.Equal(t, want, scanAll(NewScanner(Bindings{}), []byte(in[:i]), []byte(in[i:])), "split at %d", i)
	}
}

func TestPasteState(t *testing.T) {
	s := NewScanner(Bindings{})
	require.False(t, s.IsInPaste())
	scanAll(s, []byte("\x1b[200~abc\x1b"))
	require.True(t, s.IsInPaste(), "a flush keeps the paste open")
	require.Equal(t, []seen{{Paste, "x"}}, scanAll(s, []byte("x")))
	s.EndPaste()
	require.False(t, s.IsInPaste())
	require.Equal(t, []seen{{Key, "x"}, {PasteEnd, "\x1b[201~"}}, scanAll(s, []byte("x\x1b[201~")))
}

// TestCorpusR2 runs the recorded key presses of real terminals. Rows without a verdict of their own
// follow the table: each of their reclaims is listed here.
func TestCorpusR2(t *testing.T) {
	follows := map[string][]int{ // presses, releases
		"\x1c":                           {1, 0},
		"\x1b\x1c":                       {1, 0},
		"\x1b[52;5u":                     {1, 0},
		"\x1b[52;5u\x1b[52;5:3u":         {1, 1},
		"\x1b[92;6u":                     {1, 0},
		"\x1b[92:124;6u":                 {1, 0},
		"\x1b[92:124;6u\x1b[92:124;6:3u": {1, 1},
		"\x1b[27;6;124~":                 {1, 0},
		"\x1b[27;5;52~":                  {1, 0},
		"\x1b[124;6u":                    {1, 0},
		"\x1b[57442;5u\x1b[52;5u\x1b[52;5:3u\x1b[57442;1:3u":                                     {1, 1},
		"\x1b[57442;5u\x1b[57441;6u\x1b[92:124;6u\x1b[92:124;6:3u\x1b[57441;5:3u\x1b[57442;1:3u": {1, 1},
	}
	f, err := os.Open("testdata/reclaim.tsv")
	require.NoError(t, err)
	defer func() { require.NoError(t, f.Close()) }()
	rows := 0
	for lines := bufio.NewScanner(f); lines.Scan(); {
		if strings.HasPrefix(lines.Text(), "#") {
			continue
		}
		fields := strings.Split(lines.Text(), "\t")
		require.Len(t, fields, 6, lines.Text())
		in, err := strconv.Unquote(`"` + strings.ReplaceAll(strings.ReplaceAll(fields[4], `"`, `\"`), "ESC", `\x1b`) + `"`)
		require.NoError(t, err, lines.Text())
		rows++
		want := []int{0, 0}
		switch fields[5] {
		case "reclaim":
			want = []int{1, strings.Count(in, ";5:3u")}
		case "-":
			if w, ok := follows[in]; ok {
				want = w
			}
		}
		got := scanAll(NewScanner(Bindings{}), []byte(in))
		require.Equal(t, want, counts(got, Reclaim, Release), "%s: %v", lines.Text(), got)
		require.Equal(t, got, scanAll(NewScanner(Bindings{}), single(in)...), lines.Text())
	}
	require.Equal(t, 720, rows)
}

// Alt with a key that opens strings, and text after it, are keys at once, not the start of an
// answer that never ends (R7).
func TestAltKeysDoNotOpenStringsR7(t *testing.T) {
	for _, in := range []string{"\x1b]hello", "\x1bPhello", "\x1b_hello", "\x1bXhello", "\x1b^hello"} {
		s := NewScanner(Bindings{})
		var got []seen
		s.Scan([]byte(in), func(u Unit) { got = append(got, seen{u.Kind, string(u.Bytes)}) })
		require.Equal(t, []seen{{Key, in[:2]}, {Key, "hello"}}, got)
		require.Nil(t, s.HeldBytes())
	}
}

func TestStringsAreBounded(t *testing.T) {
	long := "\x1b]52;c;" + strings.Repeat("QUJD", 5000) + "\x07"
	for _, reads := range [][][]byte{{[]byte(long)}, single(long)} {
		s := NewScanner(Bindings{})
		var got []seen
		for _, p := range reads {
			s.Scan(p, func(u Unit) {
				require.LessOrEqual(t, len(u.Bytes), MaxHeld)
				got = append(got, seen{u.Kind, string(u.Bytes)})
			})
		}
		require.Nil(t, s.HeldBytes())
		require.Equal(t, []seen{{Reply, long}}, merge(got))
	}

	s := NewScanner(Bindings{})
	s.Scan([]byte(long[:len(long)-1]), func(Unit) {})
	require.NotEmpty(t, s.HeldBytes(), "an open string always runs the caller's clock")
	held := string(s.HeldBytes())
	require.Equal(t, []seen{{Key, held}}, scanAll(s))
	require.Equal(t, []seen{{Key, "\x07"}, {Confirm, "\x07"}}, scanAll(s, []byte("\x07\x07")),
		"the BEL of a string that was given up is no Ctrl+G")
}

func TestX10Mouse(t *testing.T) {
	s := NewScanner(Bindings{})
	s.SetX10Mouse(true)
	in := "\x1b[M !!\x1b[MC!!\x1b[M`\xff!\x9bM !!a"
	want := []seen{{Mouse, "\x1b[M !!"}, {Motion, "\x1b[MC!!"}, {Mouse, "\x1b[M`\xff!"}, {Mouse, "\x9bM !!"}, {Key, "a"}}
	require.Equal(t, want, scanAll(s, []byte(in)))
	require.Equal(t, want, scanAll(s, single(in)...))
	require.Equal(t, []seen{{Key, "\x1b[M !"}, {Reclaim, "\x1b[92;5u"}}, scanAll(s, []byte("\x1b[M !\x1b[92;5u")))
	require.Equal(t, []seen{{Key, "\x1b[M\r"}}, scanAll(s, []byte("\x1b[M\r")))
	s.SetX10Mouse(false)
	require.Equal(t, []seen{{Key, "\x1b[M !!"}}, scanAll(s, []byte("\x1b[M !!")))
}

func TestExpectCPR(t *testing.T) {
	s := NewScanner(Bindings{})
	s.ExpectCPR(2)
	in := "\x1b[1;5R\x1b[A\x1b[24;80R\x1b[1;5R"
	want := []seen{{Reply, "\x1b[1;5R"}, {Key, "\x1b[A"}, {Reply, "\x1b[24;80R"}, {Key, "\x1b[1;5R"}}
	require.Equal(t, want, scanAll(s, []byte(in)))
	s.ExpectCPR(1)
	s.ExpectCPR(-5)
	require.Equal(t, []seen{{Key, "\x1b[1;5R"}}, scanAll(s, []byte("\x1b[1;5R")), "taken back")
	s.ExpectCPR(1)
	require.Equal(t, []seen{{Reply, "\x1b[1;5R"}}, scanAll(s, []byte("\x1b[1;5R")), "never below none")
}

func TestOtherReclaimKeysR2(t *testing.T) {
	tests := []struct {
		key           string
		reclaims, not []string
	}{
		{"ctrl-]", []string{"\x1d", "\x1b[93;5u", "\x1b[93;133u", "\x1b[125;6u", "\x1b[53;5u", "\x1b[27;5;93~", "\x1b[43::93;5u", "\x1b[221;27;29;1;8;1_"}, []string{"\x1c", "\x1b[92;5u", "\x1b[93;7u", "\x1b[27;5;92~"}},
		{"ctrl-x", []string{"\x18", "\x1b[120;5u", "\x1b[88;6u", "\x1b[27;5;120~", "\x1b[27;6;88~", "\x1b[1095::120;5u", "\x1b[88;45;24;1;8;1_"}, []string{"\x1c", "x", "X", "\x1b[120;3u"}},
		{"ctrl-^", []string{"\x1e", "\x1b[54;5u", "\x1b[54;6u", "\x1b[54:94;6u", "\x1b[27;6;94~"}, []string{"\x1c", "^", "\x1b[54;2u"}},
		{"ctrl-_", []string{"\x1f", "\x1b[45;6u", "\x1b[47;5u", "\x1b[27;6;95~"}, []string{"\x1c", "\x1b[45;5u"}},
		{"ctrl-y", []string{"\x19", "\x1b]11;\x19", "\x1b[121;5u"}, []string{"\x1c"}},
	}
	for _, tt := range tests {
		for _, in := range tt.reclaims {
			require.Equal(t, []int{1}, counts(scanAll(NewScanner(Bindings{Reclaim: reclaimKey(t, tt.key)}), single(in)...), Reclaim), "%s %q", tt.key, in)
		}
		for _, in := range tt.not {
			require.Equal(t, []int{0}, counts(scanAll(NewScanner(Bindings{Reclaim: reclaimKey(t, tt.key)}), single(in)...), Reclaim), "%s %q", tt.key, in)
		}
	}
}

func TestScanDoesNotAllocate(t *testing.T) {
	s := NewScanner(Bindings{})
	in := []byte("hello \x1b[92;5u\x1b[A\x1b]11;rgb:00/00/00\x07\xc3\xa9\x1c\x1b")
	n := 0
	emit := func(u Unit) { n += len(u.Bytes) }
	require.Zero(t, testing.AllocsPerRun(100, func() { s.Scan(in, emit) }))
	require.NotZero(t, n)
}

// People release Ctrl first. The program never saw the key go down, so it does not see it go up.
// The next press of the same key without Ctrl, and its release, are the program's.
func TestTheKeyGoesUpWithoutItsModifierR5(t *testing.T) {
	for _, c := range []struct{ down, up, plain, plainUp string }{
		{"\x1b[92;5u", "\x1b[92;1:3u", "\x1b[92;1u", "\x1b[92;1:3u"},
		{"\x1b[92;133u", "\x1b[92;129:3u", "\x1b[92;129u", "\x1b[92;129:3u"},
		{"\x1b[35::92;5u", "\x1b[35::92;1:3u", "\x1b[35::92;1u", "\x1b[35::92;1:3u"},
		{"\x1b[220;43;28;1;8;1_", "\x1b[220;43;92;0;0;1_", "\x1b[220;43;92;1;0;1_", "\x1b[220;43;92;0;0;1_"},
	} {
		s := NewScanner(Bindings{Reclaim: reclaimKey(t, defaultName)})
		require.Equal(t, []seen{{Reclaim, c.down}, {Release, c.up}, {Key, c.plain}, {Idle, c.plainUp}},
			scanAll(s, []byte(c.down+c.up+c.plain+c.plainUp)))
		s = NewScanner(Bindings{Reclaim: reclaimKey(t, defaultName)})
		require.Equal(t, []seen{{Reclaim, c.down}, {Key, c.plain}, {Idle, c.plainUp}}, scanAll(s, []byte(c.down+c.plain+c.plainUp)))
		s = NewScanner(Bindings{Reclaim: reclaimKey(t, defaultName)})
		require.Equal(t, []seen{{Idle, c.up}}, scanAll(s, []byte(c.up)), "of a key that went down before we looked")
	}
}
