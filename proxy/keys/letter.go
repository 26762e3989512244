package keys

import (
	"bytes"
	"strconv"
)

// Letter is the letter of ASCII that a key typed alone, without Ctrl, Alt or the like: as text, or as a kitty CSI u
// sequence (all keys as escape codes). A release is no letter.
func Letter(unit []byte) (letter byte, ok bool) {
	if len(unit) == 1 {
		return unit[0], isLetter(int(unit[0]))
	}
	params, ok := bytes.CutPrefix(unit, []byte("\x1b["))
	if !ok || !bytes.HasSuffix(params, []byte("u")) {
		return 0, false
	}
	fields := bytes.Split(params[:len(params)-1], []byte(";"))
	code, _, _ := bytes.Cut(fields[0], []byte(":"))
	n, err := strconv.Atoi(string(code))
	if err != nil || !isLetter(n) {
		return 0, false
	}
	if len(fields) == 1 {
		return byte(n), true
	}
	const locks = 64 | 128 // Caps Lock, Num Lock
	mods, event, _ := bytes.Cut(fields[1], []byte(":"))
	m, err := strconv.Atoi(string(mods))
	if len(mods) == 0 {
		m, err = 1, nil
	}
	return byte(n), err == nil && (m-1)&^locks == 0 && !bytes.Equal(event, []byte("3"))
}

func isLetter(c int) bool { return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' }
