package keys

import (
	"bytes"
	"testing"

	"github.com/stretchr/testify/require"
)

// FuzzNoStuck checks that after any input the three common encodings of the reclaim key are found,
// with and without X10 mouse reports (R3).
func FuzzNoStuck(f *testing.F) {
	for _, v := range vectors(f) {
		f.Add([]byte(v.in), false)
		f.Add([]byte(v.in[:len(v.in)-1]), true)
	}
	f.Add([]byte("\x1b[200~abc\x1b[20"), false)
	f.Add([]byte("\x1b[M!"), true)
	f.Fuzz(func(t *testing.T, prefix []byte, x10 bool) {
		for _, key := range []string{"\x1c", "\x1b[92;5u", "\x1b[27;5;92~"} {
			s := NewScanner(Bindings{})
			s.SetX10Mouse(x10)
			s.Scan(prefix, func(Unit) {})
			var last seen
			s.Scan([]byte(key), func(u Unit) { last = seen{u.Kind, string(u.Bytes)} })
			require.Equal(t, seen{Reclaim, key}, last)
			require.Nil(t, s.HeldBytes())
		}
	})
}

// FuzzConcat checks that no byte is lost, doubled or moved, and that the units do not depend on
// where reads cut the stream.
func FuzzConcat(f *testing.F) {
	for _, v := range vectors(f) {
		f.Add([]byte(v.in+"a"), uint16(1), false, uint8(0))
		f.Add([]byte("\x1b[200~"+v.in+"\x1b[201~\x07"), uint16(7), true, uint8(1))
	}
	f.Add(bytes.Repeat([]byte("\x1b]1;"), 600), uint16(3), false, uint8(0))
	f.Add(append([]byte("\x1bP1"), bytes.Repeat([]byte("x"), 3000)...), uint16(1025), false, uint8(2))
	f.Fuzz(func(t *testing.T, in []byte, cut uint16, x10 bool, cpr uint8) {
		fresh := func() *Scanner {
			s := NewScanner(Bindings{})
			s.SetX10Mouse(x10)
			s.ExpectCPR(int(cpr))
			return s
		}
		whole, held := collect(t, fresh(), in)
		require.Equal(t, string(in), text(whole)+held)
		at := min(int(cut), len(in))
		inTwo, heldInTwo := collect(t, fresh(), in[:at], in[at:])
		require.Equal(t, merge(whole), merge(inTwo))
		require.Equal(t, held, heldInTwo)
		bytewise, heldBytewise := collect(t, fresh(), single(string(in))...)
		require.Equal(t, merge(whole), merge(bytewise))
		require.Equal(t, held, heldBytewise)
	})
}

func collect(t *testing.T, s *Scanner, reads ...[]byte) (units []seen, held string) {
	for _, p := range reads {
		s.Scan(p, func(u Unit) {
			require.NotEmpty(t, u.Bytes)
			units = append(units, seen{u.Kind, string(u.Bytes)})
		})
		require.LessOrEqual(t, len(s.HeldBytes()), MaxHeld+1)
		require.Equal(t, string(s.HeldBytes()) == "\x1b", s.HasLoneEsc())
	}
	return units, string(s.HeldBytes())
}

func text(units []seen) string {
	var b bytes.Buffer
	for _, u := range units {
		b.WriteString(u.text)
	}
	return b.String()
}

// FuzzCut checks that pieces add up, make progress, and end only between keys.
func FuzzCut(f *testing.F) {
	for _, v := range vectors(f) {
		f.Add([]byte("ab"+v.in+"é"+v.in), uint8(4))
	}
	f.Fuzz(func(t *testing.T, in []byte, most uint8) {
		for rest := in; len(rest) > 0; {
			n := CutBetweenKeys(rest, int(most))
			require.Positive(t, n)
			require.LessOrEqual(t, n, max(int(most), maxWhole, 1))
			require.LessOrEqual(t, n, len(rest))
			rest = rest[n:]
		}
	})
}

// FuzzCleanPaste checks that cleaned text holds no control byte that a terminal, a shell or this
// scanner would act on, and that cleaning it again changes nothing.
func FuzzCleanPaste(f *testing.F) {
	for _, v := range vectors(f) {
		f.Add(v.in)
	}
	f.Add("\xc2\x1b\x9b201~")
	f.Add("a\r\nb\nc\rd\te")
	f.Fuzz(func(t *testing.T, in string) {
		out := CleanPaste(in)
		for _, r := range out {
			require.True(t, r == '\t' || r == '\r' || r >= 0x20 && (r < 0x7f || r > 0x9f), "%q", out)
		}
		require.Equal(t, out, CleanPaste(out))
		for _, u := range scanAll(NewScanner(Bindings{}), []byte("\x1b[200~"+out))[1:] {
			require.Equal(t, Paste, u.kind)
		}
	})
}
