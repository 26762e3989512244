package keys

// Letter returns the ASCII letter that a key types alone, without Ctrl, Alt or the like, sent as
// text or as a kitty CSI u sequence (all keys as escape codes). ok is false for a release.
func Letter(unit []byte) (letter byte, ok bool) {
	n := len(unit)
	if n == 1 {
		return unit[0], isLetter(int32(unit[0]))
	}
	if n < 4 || unit[0] != esc || unit[1] != '[' || unit[n-1] != 'u' {
		return 0, false
	}
	var q params
	q.parseBody(csiBody(unit))
	code, mods, event := q.v[0][0], max(q.v[1][0], 1)-1, q.v[1][1]
	if q.prefix != 0 || q.inter != 0 || !isLetter(code) {
		return 0, false
	}
	return byte(code), mods&^modLocks == 0 && event != released
}

func isLetter(c int32) bool { return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' }
