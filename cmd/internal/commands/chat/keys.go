package chat

import "bytes"

var (
	pasteStart = []byte("\x1b[200~")
	pasteEnd   = []byte("\x1b[201~")
)

// filterKeys returns the keys that the line editor gets: it handles Ctrl+C itself, joins pasted
// lines to one, and while a question is open it turns the arrow down to the first answer. It holds
// an incomplete sequence back.
func (e *editor) filterKeys(in []byte) (out []byte) {
	e.held = nil
	if e.pasting && string(in) == "\x03" { // alone, so the end of the paste was lost
		in = append(bytes.Clone(pasteEnd), in...)
	}
	for len(in) > 0 {
		var kept []byte
		var n int
		switch {
		case len(in) > 1 && len(in) < len(pasteStart) &&
			(bytes.HasPrefix(pasteStart, in) || bytes.HasPrefix(pasteEnd, in)):
			e.held = bytes.Clone(in)
			return out
		case e.pasting:
			kept, n = e.filterPaste(in)
		default:
			kept, n = e.filterKey(in)
		}
		out, in = append(out, kept...), in[n:]
	}
	return out
}

// filterKey handles the first key, of n bytes.
func (e *editor) filterKey(in []byte) (kept []byte, n int) {
	switch {
	case bytes.HasPrefix(in, pasteStart):
		e.pasting = true
		return pasteStart, len(pasteStart)
	case bytes.HasPrefix(in, []byte("\x1b\r")): // Alt+Enter
		return []byte(newline), 2
	case e.question != 0 && bytes.HasPrefix(in, []byte("\x1b[A")):
		return []byte("\x1b[B"), 3
	case e.question != 0 && bytes.HasPrefix(in, []byte("\x1b[B")):
		return []byte("\x1b[A"), 3
	case string(in) == "\x1b": // Escape, for which the library would wait for more
		return nil, 1
	case in[0] == 3:
		e.stop()
		return nil, 1
	case in[0] == 4:
		return []byte{keyEnd}, 1
	// the package's control keys, and keys without a meaning here
	case in[0] == 0x1a || in[0] >= 0x1c && in[0] <= 0x1f:
		return nil, 1
	}
	return in[:1], 1
}

func (e *editor) stop() {
	select {
	case e.stops <- struct{}{}:
	default: // enough presses are queued
	}
}

// filterPaste handles the first character of a paste, of n bytes. It drops control characters,
// which a prompt cannot have.
func (e *editor) filterPaste(in []byte) (kept []byte, n int) {
	returned := e.returned
	e.returned = in[0] == '\r'
	switch c := in[0]; {
	case bytes.HasPrefix(in, pasteEnd):
		e.pasting = false
		return pasteEnd, len(pasteEnd)
	case c == '\n' && returned:
		return nil, 1
	case c == '\r' || c == '\n':
		return []byte(newline), 1
	case c == '\t':
		return []byte(tabulator), 1
	case c < ' ' || c == 0x7f:
		return nil, 1
	}
	return in[:1], 1
}
