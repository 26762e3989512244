package filter_test

import (
	"bytes"
	"math/rand"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"terminalproxy/proxy/terminal/filter"
	"terminalproxy/proxy/terminal/vt"
	"terminalproxy/proxy/view/corpus"
)

// through filters successive reads, and the end, and returns the result. It checks that the cuts
// are the same as those of the result cut alone.
func through(t *testing.T, driven bool, reads ...string) string {
	t.Helper()
	var f filter.Filter
	var cutter vt.Cutter
	var out []byte
	for _, r := range reads {
		c := f.FilterOutput([]byte(r), driven)
		if alone := cutter.Cut(c.Bytes); !slices.Equal(alone.Cuts, c.Cuts) {
			t.Fatalf("driven %v: %q of %q passes with cuts %v, not %v", driven, c.Bytes, r, c.Cuts, alone.Cuts)
		}
		out = append(out, c.Bytes...)
	}
	return string(append(out, f.Flush()...))
}

// everyCut checks that the result does not depend on where reads end.
func everyCut(t *testing.T, driven bool, in, want string) {
	t.Helper()
	require.Equal(t, want, through(t, driven, in), "whole")
	for i := range len(in) + 1 {
		if got := through(t, driven, in[:i], in[i:]); got != want {
			require.Equal(t, want, got, "cut at %d", i)
		}
	}
	require.Equal(t, want, through(t, driven, strings.Split(in, "")...), "byte by byte")
}

const cancelSequence = "\x18\x1b\\"

// table reads the sequences that are filtered, and what is left of them.
func table(t testing.TB, name string) []struct{ Name, In, Want string } {
	t.Helper()
	return corpus.Rows[struct{ Name, In, Want string }](t, name)
}

func TestTheKeyboardIsNeverLockedR8(t *testing.T) {
	for _, tt := range table(t, "locks") {
		t.Run(tt.Name, func(t *testing.T) {
			everyCut(t, false, tt.In, tt.Want)
			if !strings.Contains(tt.In, "\x1b]2;") { // titles go as well
				everyCut(t, true, tt.In, tt.Want)
			}
		})
	}
}

func TestWhatGoesWhileAnAgentDrivesR43(t *testing.T) {
	for _, tt := range table(t, "driven") {
		t.Run(tt.Name, func(t *testing.T) {
			everyCut(t, true, tt.In, tt.Want)
			everyCut(t, false, tt.In, tt.In)
		})
	}
}

func TestEverythingElsePassesByteByByteR43(t *testing.T) {
	for _, in := range []string{
		"plain", "日本語 Ллл привет é \xff\xfe", "\x1b", "\x1b[", "\x1b[2", "\x1b]", "\x1b]5", "\xc2", "\x1bP@kitty",
		"\x1b[0;1;38;5;12mred\x1b[m", "\x1b[?2h\x1b[?2l\x1b[2l\x1b[4h\x1b[20h\x1b[22h", "\x1b[>2h", "\x1b[2$h", "\x1b[?25h\x1b[?1049h\x1b[?2026h",
		"\x1b[2J\x1b[2K\x1b[22;0t\x1b[23;0t\x1b[14t\x1b[18t\x1b[11t\x1b[0t\x1b[u\x1b[5u\x1b[1T\x1b[2;2'z", "\x1b[6n\x1b[c\x1b[>c\x1b[?u\x1b[>1u", "\x1b[i\x1b[0i\x1b[10i",
		"\x1b]8;;http://x\x1b\\link\x1b]8;;\x1b\\", "\x1b]4;1;?\a\x1b]10;?\a\x1b]133;A\a\x1b]9;hello\a\x1b]9;4;1;50\a\x1b]777;notify;a;b\a",
		"\x1b]1337;CurrentDir=/tmp\a\x1b]1337;SetUserVar=a=b\a\x1b]1337;Copycat=1\a", "\x1b]7;file://h/p\a", "\x1b]51;A/tmp\a\x1b]9;2 done\a\x1b]9;1\a\x1b]22;pointer\a\x1b]60\a\x1b]99;;hi\x1b\\", "\x1bP0p\x1b\\\x1bP1$tx\x1b\\", "\x1b]520;x\a", "\x1b]P0ffffff",
		"\x1bPq#0;2;0;0;0#0~~@@vv\x1b\\", "\x1bP+q544e\x1b\\", "\x1bP$qm\x1b\\", "\x1b_Gi=1;AAAA\x1b\\", "\x1b^x\x1b\\", "\x1bXx\x1b\\",
		"\x1bP!|00\x1b\\", "\x1b_Ga=T,t=d,f=100,m=1;AAAA\x1b\\\x1b_Gm=0;BBBB\x1b\\", "\x1b_Gi=31,s=1,v=1,a=q,t=d,f=24;AAAA\x1b\\\x1b_G\x1b\\\u009fGa=p\u009c",
		"\x1b]1337;File=name=YQ==;size=4;inline=1;width=10:AAAA\a", "\x1b]1337;File=inline=1:AAAA\x1b\\", "\u009d1337;File=inline=1:AAAA\u009c",
		"\x1b]1337;MultipartFile=inline=1;size=8\a\x1b]1337;FilePart=AAAA\a\x1b]1337;FilePart=AAAA\a\x1b]1337;FileEnd\a",
		"😀 \x1b_Gi=1\x1b\\ 😀", "\x1b_tmux;x\x1b\\", "\x1b_", "\x1b_Gt",
		"\x1b(B\x1b)0\x1b#8\x1b7\x1b8\x1b=\x1b>\x1bc\x1b%G", "\x1b[1\x1b[31mx", "\x1b[1é", "\x1b[中文字", "\x1b[串m", "\x1b串", "\x1b[2\xe4\xb8", "\x1b[\x18x", "\x1b[1*x\x1b[1;1;2;2$r", "\x1bÜ",
		"\x0e\x0f\a\b\t\r\n\x7f\u0085\u0084", "\xe2\x9b\x94 \xd0\x9b \xf0\x9f\x92\x9b", strings.Repeat("\x1b", 700) + "[m",
	} {
		everyCut(t, true, in, in)
		everyCut(t, false, in, in)
	}
}

// A byte 80 to 9f within a character of UTF-8 begins no sequence, anywhere in it; outside of one it
// does. The keyboard lock that follows shows which: a byte that cuts a sequence off leaves its end.
func TestContinuationBytesAreNotControls(t *testing.T) {
	const csi, osc = "\x9b", "\x9d"
	for _, lead := range []string{
		"\xc3", "\xd0", "\xdf", "\xe0\xa0", "\xe1", "\xe2\x9b", "\xef\xbf", "\xf0", "\xf0\x9f", "\xf0\x9b\x9b", "\xf0\x9f\x9b", "\xf1\x80", "\xf3\xa0\x84",
		"\xf4", "\xf4\x8f", "\xf4\x8f\xbf",
	} {
		for _, driven := range []bool{false, true} {
			everyCut(t, driven, lead+csi+"2h", lead+csi+"2h")
			everyCut(t, driven, lead+osc+"52;c;aGk=\a", lead+osc+"52;c;aGk=\a")
		}
	}
	// Characters of four bytes whose second, third or last byte would begin a sequence; there is
	// nothing to cut off.
	for _, char := range []string{"\U0001b000", "\U0001d7d7", "\U0001f6c0", "\U0001f7e0", "\U0001f61b", "\U0001f61d", "\U000db000", "\U0010fffd"} {
		for _, driven := range []bool{false, true} {
			everyCut(t, driven, char+"\x1b[2hx", char+"x")
		}
	}
	// These bytes leave no character open.
	for _, before := range []string{
		"\x80", "\xbf", "x", "é", "日", "\U0001f600", "\xdf\xbf", "\xef\xbf\xbf", "\xc3\xa9\xbf", "日\x80", "\U0001f600\x80", "\xf4\x8f\xbf\xbf",
	} {
		everyCut(t, false, before+csi+"2h", before)
		everyCut(t, true, before+osc+"52;c;aGk=\a", before)
	}
	for _, before := range []string{"\xc0", "\xc1", "\xf5", "\xff", "\xf0\xc1"} { // CAN and ST end what these began in some terminal
		everyCut(t, false, before+csi+"2h", before+cancelSequence)
		everyCut(t, true, before+osc+"52;c;aGk=\a", before+cancelSequence)
	}
}

// Half a sequence waits for the other half, and comes at the end.
func TestLoneEscape(t *testing.T) {
	var f filter.Filter
	require.Equal(t, "a", string(f.FilterOutput([]byte("a\x1b"), true).Bytes))
	require.Empty(t, f.FilterOutput([]byte("["), true).Bytes)
	require.Equal(t, "\x1b[31mb", string(f.FilterOutput([]byte("31mb\x1b"), true).Bytes))
	require.Equal(t, "\x1b", string(f.Flush()))
	require.Empty(t, f.Flush())
	require.Empty(t, f.FilterOutput(nil, true).Bytes)
}

// A string that is being dropped when control ends is dropped to its end.
func TestControlMayChangeAnywhere(t *testing.T) {
	var f filter.Filter
	require.Empty(t, f.FilterOutput([]byte("\x1b]52;c;"), true).Bytes)
	require.Equal(t, "x\x1b]52;c;y\a", string(f.FilterOutput([]byte("aGk=\ax\x1b]52;c;y\a"), false).Bytes))
}

func TestNothingIsCopiedOrAllocated(t *testing.T) {
	var f filter.Filter
	text := []byte(strings.Repeat("plain text, \x1b[1;31mred\x1b[m and \x1b[?25h Лл\r\n", 100))
	got := f.FilterOutput(text, true).Bytes
	require.Same(t, &text[0], &got[0])
	require.Len(t, got, len(text))
	locked := []byte("x\x1b[4;2h\x1b]52;c;aGk=\a\x1b]1337;File=:aa\ay\x1b[")
	f.FilterOutput(locked, true)
	require.Zero(t, testing.AllocsPerRun(100, func() { f.FilterOutput(text, true); f.FilterOutput(locked, true) }))
}

// reads cuts b at places that seed chooses.
func reads(b string, seed int64) []string {
	r := rand.New(rand.NewSource(seed))
	var out []string
	for len(b) > 0 {
		n := min(len(b), 1+r.Intn(7))
		out, b = append(out, b[:n]), b[n:]
	}
	return out
}

// FuzzFilter checks that it does not matter how the stream is cut, and that filtering the output
// again changes nothing, so leaving something out creates no new sequence. Without an introducer
// nothing changes, and sequences on the list for driving are untouched otherwise.
func FuzzFilter(f *testing.F) {
	for _, tt := range table(f, "locks") {
		f.Add([]byte(tt.In), int64(1))
	}
	for _, tt := range table(f, "driven") {
		f.Add([]byte(tt.In+tt.In), int64(2))
	}
	f.Add([]byte("\x1b[\x1b]52;c;\x1b[2h2h\xc2\x1b[2h\x9b2h\x1b\x1b]0;\x1b[2h\a"), int64(3))
	f.Fuzz(func(t *testing.T, in []byte, seed int64) {
		for _, driven := range []bool{false, true} {
			whole := through(t, driven, string(in))
			if cut := through(t, driven, reads(string(in), seed)...); cut != whole {
				t.Fatalf("driven %v: %q becomes %q, cut %q", driven, in, whole, cut)
			}
			if again := through(t, driven, whole); again != whole {
				t.Fatalf("driven %v: %q becomes %q, and that %q", driven, in, whole, again)
			}
			if !bytes.ContainsAny(in, "\x1b\x05") && !bytes.ContainsFunc(in, func(r rune) bool { return r >= 0x80 }) && whole != string(in) {
				t.Fatalf("%q became %q", in, whole)
			}
		}
		if !bytes.ContainsAny(in, "hè") && !bytes.Contains(in, []byte{0xe8}) && len(in) < filter.Longest && through(t, false, string(in)) != string(in) {
			t.Fatalf("%q changed", in)
		}
	})
}
