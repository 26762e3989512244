package fullscreen

import (
	"bytes"
	"time"
	"unicode/utf8"
)

// escapePatience is how long the rest of a sequence may take. After that its beginning was the key
// Esc.
const escapePatience = 50 * time.Millisecond

// csiNames are the names of keys by what follows CSI, and of those with SS3 by the last byte
// (xterm ctlseqs, PC-style function keys).
var csiNames = map[string]string{
	"A": "up", "B": "down", "C": "right", "D": "left", "H": "home", "F": "end",
	"1~": "home", "4~": "end", "7~": "home", "8~": "end", "5~": "pgup", "6~": "pgdown",
}

// The brackets of a paste (xterm ctlseqs, bracketed paste mode). A pasted text is not keys: it must
// not answer a question.
const (
	pasteBegins = "200~"
	pasteEnds   = "\x1b[201~"
)

// keyReader makes keys of what a terminal sends.
type keyReader struct {
	rest    []byte // the beginning of a key
	pasting bool
}

// isWithin reports whether the terminal has sent a part of a key.
func (k *keyReader) isWithin() bool { return len(k.rest) > 0 && !k.pasting }

// decodeKeys returns the keys in bytes. over means that the rest of a sequence came too late.
func (k *keyReader) decodeKeys(typed []byte, over bool) (keys []string) {
	k.rest = append(k.rest, typed...)
	for len(k.rest) > 0 {
		if k.pasting {
			at := bytes.Index(k.rest, []byte(pasteEnds))
			if at < 0 {
				k.rest = k.rest[max(0, len(k.rest)-len(pasteEnds)+1):]
				return keys
			}
			k.rest, k.pasting = k.rest[at+len(pasteEnds):], false
			continue
		}
		key, n := nextKey(k.rest, over)
		if n == 0 {
			return keys
		}
		k.rest = k.rest[n:]
		switch key {
		case "":
		case pasteBegins:
			k.pasting = true
		default:
			keys = append(keys, key)
		}
	}
	return keys
}

// nextKey returns the first key, and its length: 0 if it is not whole. The key is "" for a
// sequence without a name here.
func nextKey(b []byte, over bool) (key string, n int) {
	switch c := b[0]; {
	case c == 0x1b:
		return escapedKey(b, over)
	case c == '\r':
		return "enter", 1
	case c == '\t':
		return "tab", 1
	case c < ' ':
		return "ctrl+" + string(c|0x40|lowerBit(c)), 1
	case c == ' ':
		return "space", 1
	case c == 0x7f:
		return "backspace", 1
	case !over && !utf8.FullRune(b):
		return "", 0
	}
	r, n := utf8.DecodeRune(b)
	return string(r), n
}

// lowerBit makes a small letter of the capital that a control character stands for.
func lowerBit(c byte) byte {
	if c >= 1 && c <= 26 {
		return 0x20
	}
	return 0
}

// escapedKey is nextKey for what begins with ESC.
func escapedKey(b []byte, over bool) (key string, n int) {
	if len(b) == 1 || b[1] == 0x1b {
		if len(b) == 1 && !over {
			return "", 0
		}
		return "esc", 1
	}
	end := 0
	switch b[1] {
	case '[':
		end = 2 + bytes.IndexFunc(b[2:], func(r rune) bool { return r >= '@' && r <= '~' })
		if end >= 2 {
			return nameOf(string(b[2 : end+1])), end + 1
		}
	case 'O':
		if len(b) > 2 {
			return nameOf(string(b[2:3])), 3
		}
	case ']', 'P', '_', '^', 'X': // a terminal's report
		if at := bytes.IndexAny(b, "\a\x9c"); at > 0 {
			return "", at + 1
		}
		if at := bytes.Index(b, []byte("\x1b\\")); at > 0 {
			return "", at + 2
		}
	default: // with Alt
		_, n := nextKey(b[1:], over)
		if n > 0 {
			n++
		}
		return "", n
	}
	if over {
		return "", len(b)
	}
	return "", 0
}

// nameOf returns the name of the key with a sequence.
func nameOf(sequence string) string {
	if sequence == pasteBegins {
		return pasteBegins
	}
	return csiNames[sequence]
}
