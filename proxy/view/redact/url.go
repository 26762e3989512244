package redact

import "strings"

// userInfo bounds the bytes that are searched for the @ behind a password.
const userInfo = 256

// findURL covers the password of scheme://user:password@host, with the colon of the scheme at i. It
// reports whether there is a URL at all.
func (f *finder) findURL(i int) bool {
	if !strings.HasPrefix(f.line[i:], "://") || f.standsAlone(i, alnum) || strings.HasPrefix(f.line[i:], "://[") {
		return strings.HasPrefix(f.line[i:], "://")
	}
	from := 0
	end := i + 3
	for ; end < len(f.line) && end-i < userInfo; end++ {
		switch c := f.line[end]; {
		case c == ':' && from == 0:
			from = end + 1
			continue
		case c == '@' && from > 0 && end > from:
			f.coverSpan(from, f.lastAtSign(end))
			return true
		case c <= ' ', c == '@', c == '/', c == '?' && from == 0, c == '#' && from == 0,
			c == '"', c == '\'', c == '<', c == '>':
		default:
			continue
		}
		break
	}
	// While the program prints it, this may become a password. A port is not one.
	port := f.runEnd(from, digit) == end && end-from <= len("65535")
	if from > 0 && f.isPrinting(from, end) && !port {
		f.coverSpan(from, end)
	}
	return true
}

// lastAtSign returns the offset of the last @ before the end of the authority: a password may hold
// one.
func (f *finder) lastAtSign(at int) int {
	for i := at + 1; i < len(f.line) && i-at < userInfo; i++ {
		switch c := f.line[i]; {
		case c == '@':
			at = i
		case c <= ' ' || c == '/' || c == '"' || c == '\'':
			return at
		}
	}
	return at
}
