package redact

import "strings"

// findPrivateKey covers private keys in PEM: everything between the lines that begin and end one.
// If these lines are not visible, it covers lines of base64 as long as only PEM has them.
func (f *finder) findPrivateKey(lines []string) {
	begin := findKeyBoundary(f.line, "-----BEGIN ")
	end := findKeyBoundary(f.line, "-----END ")
	switch {
	case begin >= 0:
		f.inKey = end < begin
		from, to := begin+len("-----BEGIN "), len(f.line)
		if n := strings.Index(f.line[from:], "-----"); n >= 0 {
			from += n + len("-----")
		}
		if end > from {
			to = end
		}
		f.coverBlock(from, to)
	case end >= 0:
		if !f.inKey {
			f.coverKeyAbove(lines)
		}
		f.inKey = false
		f.coverBlock(0, end)
	case f.inKey && mayBeInsideKey(f.line):
		f.coverBlock(0, len(f.line))
	default:
		f.inKey = false
		if strings.Contains(f.line, "-----BEGIN ") {
			f.inCertificate = true // a certificate
		} else if !mayBeInsideKey(f.line) || strings.TrimSpace(f.line) == "" {
			f.inCertificate = false
		}
		if !f.inCertificate && isKeyLine(f.line) {
			f.coverBlock(0, len(f.line))
		}
	}
}

// findKeyBoundary returns the offset in a line at which the BEGIN or END line of a private key
// stands, or -1.
func findKeyBoundary(line, word string) int {
	at := strings.Index(line, word)
	if at < 0 || !strings.Contains(line[at:], "PRIVATE KEY") {
		return -1
	}
	return at
}

// coverBlock covers the current line between two offsets, without the blanks at its edges. It
// replaces the other spans of the line.
func (f *finder) coverBlock(from, to int) {
	text := f.line[from:max(from, to)]
	from += len(text) - len(strings.TrimLeft(text, " "))
	to = from + len(strings.TrimSpace(text))
	if strings.Trim(f.line[min(from, to):to], "\"'`+;,) ") == "" {
		return
	}
	f.spans = append(f.spans[:f.lineSpans], Span{f.lineIndex, from, to})
}

// coverKeyAbove covers the lines of a private key whose END line is the current one and whose BEGIN
// line has scrolled away. They were scanned as ordinary text, so spans over the whole lines replace
// what was found in them.
func (f *finder) coverKeyAbove(lines []string) {
	first := f.lineIndex
	for first > 0 && lines[first-1] != "" && mayBeInsideKey(lines[first-1]) {
		first--
	}
	kept := len(f.spans)
	for kept > 0 && f.spans[kept-1].Line >= first {
		kept--
	}
	f.spans = f.spans[:kept]
	for i := first; i < f.lineIndex; i++ {
		f.spans = append(f.spans, Span{i, 0, len(lines[i])})
	}
	f.lineSpans = len(f.spans)
}

// mayBeInsideKey reports whether a line may be inside a key: base64, an empty line or a header,
// perhaps behind the number or the edge that an editor draws.
func mayBeInsideKey(line string) bool {
	line = strings.TrimSpace(strings.TrimLeft(strings.TrimSpace(line), "0123456789│|~ "))
	return hasOnly(line, alnum|base64) ||
		strings.HasPrefix(line, "Proc-Type:") || strings.HasPrefix(line, "DEK-Info:")
}

// isKeyLine reports whether a line looks like the inside of a key: RFC 7468 has 64 characters a
// line, OpenSSH 70, and random ones hold capitals, small letters and digits.
func isKeyLine(line string) bool {
	if len(line) < 64 {
		return false
	}
	line = strings.TrimSpace(line)
	return (len(line) == 64 || len(line) == 70) && hasOnly(line, alnum|base64) && classesOf(line)&alnum == alnum
}
