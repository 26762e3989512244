package keys

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
)

// A press counts once in each encoding in which the reclaim key does, and no other sequence counts.
func TestGrantKeyInEveryEncoding(t *testing.T) {
	for _, key := range grantKeys() {
		b := Bindings{Grant: key}
		code, c0 := key.codes[0].code, string(rune(key.c0))
		presses := []string{
			c0, "ab" + c0, fmt.Sprintf("\x1b[27;5;%d~", code), fmt.Sprintf("\x1b[27;133;%d~", code),
			fmt.Sprintf("\x1b[%d;5u", code), fmt.Sprintf("\x9b%d;5u", code), fmt.Sprintf("\x1b[%d;5:1u", code), fmt.Sprintf("\x1b[%d;5;%du", code, code),
		}
		for _, locks := range []int{modCaps, modNum, modLocks} {
			presses = append(presses, fmt.Sprintf("\x1b[%d;%du", code, 1+modCtrl+locks))
		}
		if key.base != 0 {
			presses = append(presses, fmt.Sprintf("\x1b[1087::%d;5u", key.base), fmt.Sprintf("\x1b[%d;0;%d;1;8;1_", key.vk, key.c0))
		}
		for _, in := range presses {
			for i := range len(in) {
				require.Equal(t, []int{1, 0}, counts(scanAll(NewScanner(b), []byte(in[:i]), []byte(in[i:])), Confirm, Reclaim), "%s %q at %d", key, in, i)
			}
		}
		for _, in := range []string{
			fmt.Sprintf("\x1b[%d;5:2u", code), fmt.Sprintf("\x1b[%d;5:3u", code), fmt.Sprintf("\x1b[%d;7u", code), fmt.Sprintf("\x1b[%d;1u", code),
			fmt.Sprintf("\x1b[%d;0;%d;0;8;1_", key.vk, key.c0), fmt.Sprintf("\x1b[%d;0;%d;1;9;1_", key.vk, key.c0),
			"\x1b[200~" + c0 + "\x1b[201~", "\x1b[200~" + fmt.Sprintf("\x1b[%d;5u", code) + "\x1b[201~", "\x1b]11;rgb:0/0/0" + c0 + "\x1b\\", "\x1b[1;" + c0,
			"\x1b]1;" + c0, "\x1b" + c0,
		} {
			require.Equal(t, []int{0, 0}, counts(scanAll(NewScanner(b), single(in)...), Confirm, Reclaim), "%s %q", key, in)
		}
		if key.String() != "ctrl-g" {
			require.Equal(t, []int{0}, counts(scanAll(NewScanner(b), []byte("\x07\x1b[103;5u\x1b[27;5;103~")), Confirm), "%s: Ctrl+G is the program's", key)
		}
		if !key.takesShift() {
			require.Equal(t, []int{0}, counts(scanAll(NewScanner(b), []byte(fmt.Sprintf("\x1b[%d;6u", code))), Confirm), "%s with Shift", key)
		}
	}
}

// With every grant key, each sequence of the reclaim key still counts, and comes first.
func TestTheGrantKeyHidesNoReclaimKeyR2(t *testing.T) {
	for _, key := range append(grantKeys(), reclaimKey(t, `ctrl-\`)) {
		for _, v := range vectors(t) {
			if v.want != Reclaim && v.want != Release {
				continue
			}
			got := scanAll(NewScanner(Bindings{Grant: key}), []byte(v.in))
			require.Equal(t, []seen{{v.want, v.in}}, got, "%s %s", key, v.name)
		}
		for _, in := range []string{"\x1c\x1c", key.String() + "\x1c\x1b]1;\x1c", "\x1b[\x1c\x1b[200~\x1c"} {
			require.Equal(t, []int{2}, counts(scanAll(NewScanner(Bindings{Grant: key}), single(in)...), Reclaim), "%s %q", key, in)
		}
	}
}
