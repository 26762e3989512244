package record

import (
	"encoding/json"
	"fmt"
	"strconv"
	"time"
	"unicode/utf8"
)

// Codes of events in an asciicast v3. Those after exit are this project's own; players pass over
// what they do not know.
const (
	codeOutput = 'o'
	codeInput  = 'i'
	codeMarker = 'm'
	codeResize = 'r'
	codeExit   = 'x'
	// codeAuthor says who types the input after it, as a JSON object in a string.
	codeAuthor = 'A'
	// codeUser says that the user typed, or, as its data, who else did from elsewhere: not the
	// keys, nor how many.
	codeUser = 'U'
	// codeRepaint is output that begins with an empty screen, after output was left out. In the
	// file it is output.
	codeRepaint = 'R'
)

// Header is the first line of an asciicast v3.
type Header struct {
	Cols, Rows int
	Type       string // of the terminal, as in TERM
	Begin      time.Time
	Command    string
	Title      string
}

func (h Header) appendLine(dst []byte) ([]byte, error) {
	type term struct {
		Cols int    `json:"cols"`
		Rows int    `json:"rows"`
		Type string `json:"type,omitempty"`
	}
	line, err := json.Marshal(struct {
		Version   int    `json:"version"`
		Term      term   `json:"term"`
		Timestamp int64  `json:"timestamp"`
		Command   string `json:"command,omitempty"`
		Title     string `json:"title,omitempty"`
	}{3, term{h.Cols, h.Rows, h.Type}, h.Begin.Unix(), h.Command, h.Title})
	if err != nil {
		return dst, fmt.Errorf("encode the header: %w", err)
	}
	return append(append(dst, line...), '\n'), nil
}

// encoder writes the events of an asciicast. Its times are whole microseconds since the beginning,
// so the intervals between events, of which the file consists, do not drift.
type encoder struct {
	at    int64 // of the last event
	out   carry
	input carry
}

// carry is the beginning of a character whose end has not come yet.
type carry struct {
	b [utf8.UTFMax]byte
	n int
}

// appendEvent appends the line of an event. If output or input ends within a character, the next
// event of its kind has that character.
func (e *encoder) appendEvent(dst []byte, at time.Duration, code byte, data []byte) []byte {
	now := max(at.Microseconds(), e.at)
	gap := now - e.at
	e.at = now
	dst = append(dst, '[')
	dst = strconv.AppendInt(dst, gap/1_000_000, 10)
	dst = append(dst, '.')
	for digit := int64(100_000); digit > 0; digit /= 10 {
		dst = append(dst, byte('0'+gap/digit%10))
	}
	name := code
	if code == codeRepaint {
		name, e.out.n = codeOutput, 0
	}
	dst = append(dst, `, "`...)
	dst = append(dst, name)
	dst = append(dst, `", "`...)
	switch name {
	case codeOutput:
		dst = e.out.appendData(dst, data)
	case codeInput:
		dst = e.input.appendData(dst, data)
	default:
		dst = appendString(dst, data)
	}
	return append(dst, "\"]\n"...)
}

// appendData appends p, the next bytes of the stream, as the inside of a JSON string.
func (c *carry) appendData(dst, p []byte) []byte {
	if c.n > 0 {
		for c.n < len(c.b) && len(p) > 0 && p[0]&0xc0 == 0x80 && !utf8.FullRune(c.b[:c.n]) {
			c.b[c.n] = p[0]
			c.n, p = c.n+1, p[1:]
		}
		if len(p) == 0 && !utf8.FullRune(c.b[:c.n]) {
			return dst
		}
		dst = appendString(dst, c.b[:c.n])
		c.n = 0
	}
	begun := unfinished(p)
	c.n = copy(c.b[:], p[len(p)-begun:])
	return appendString(dst, p[:len(p)-begun])
}

// unfinished counts the bytes at the end of p that begin a character without completing it.
func unfinished(p []byte) int {
	for n := 1; n < utf8.UTFMax && n <= len(p); n++ {
		tail := p[len(p)-n:]
		if utf8.RuneStart(tail[0]) {
			if utf8.FullRune(tail) {
				return 0
			}
			return n
		}
	}
	return 0
}

const hexDigits = "0123456789abcdef"

// appendString appends p as the inside of a JSON string (RFC 8259). Bytes that are not UTF-8 become
// U+FFFD, as the format requires text.
func appendString(dst, p []byte) []byte {
	start := 0
	for i := 0; i < len(p); {
		c := p[i]
		if c < utf8.RuneSelf {
			if c >= ' ' && c != '"' && c != '\\' && c != 0x7f {
				i++
				continue
			}
			dst = appendEscape(append(dst, p[start:i]...), c)
			i++
			start = i
			continue
		}
		r, size := utf8.DecodeRune(p[i:])
		if r == utf8.RuneError && size == 1 {
			dst = append(append(dst, p[start:i]...), "\ufffd"...)
			start = i + 1
		}
		i += size
	}
	return append(dst, p[start:]...)
}

func appendEscape(dst []byte, c byte) []byte {
	switch c {
	case '"', '\\':
		return append(dst, '\\', c)
	case '\n':
		return append(dst, `\n`...)
	case '\r':
		return append(dst, `\r`...)
	case '\t':
		return append(dst, `\t`...)
	}
	return append(dst, '\\', 'u', '0', '0', hexDigits[c>>4], hexDigits[c&15])
}

// sizeData returns the data of a resize.
func sizeData(cols, rows int) []byte {
	b := strconv.AppendInt(nil, int64(cols), 10)
	return strconv.AppendInt(append(b, 'x'), int64(rows), 10)
}
