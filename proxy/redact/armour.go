package redact

import "strings"

// armour looks for private keys in PEM: everything between the lines that begin and end one, and lines of base64 as long
// as only PEM has them where those are not to be seen.
func (f *finder) armour(lines []string) {
	begin := boundary(f.line, "-----BEGIN ")
	end := boundary(f.line, "-----END ")
	switch {
	case begin >= 0:
		f.key = end < begin
		from, to := begin+len("-----BEGIN "), len(f.line)
		if n := strings.Index(f.line[from:], "-----"); n >= 0 {
			from += n + len("-----")
		}
		if end > from {
			to = end
		}
		f.block(from, to)
	case end >= 0:
		if !f.key {
			f.above(lines)
		}
		f.key = false
		f.block(0, end)
	case f.key && armoured(f.line):
		f.block(0, len(f.line))
	default:
		f.key = false
		if strings.Contains(f.line, "-----BEGIN ") {
			f.public = true // a certificate
		} else if !armoured(f.line) || strings.TrimSpace(f.line) == "" {
			f.public = false
		}
		if !f.public && orphan(f.line) {
			f.block(0, len(f.line))
		}
	}
}

// boundary is where a line that begins or ends a private key stands in a line, -1 for nowhere.
func boundary(line, word string) int {
	at := strings.Index(line, word)
	if at < 0 || !strings.Contains(line[at:], "PRIVATE KEY") {
		return -1
	}
	return at
}

// block covers what is not blank of the present line from from to to, in place of what was found in it.
func (f *finder) block(from, to int) {
	text := f.line[from:max(from, to)]
	from += len(text) - len(strings.TrimLeft(text, " "))
	to = from + len(strings.TrimSpace(text))
	if strings.Trim(f.line[min(from, to):to], "\"'`+;,) ") == "" {
		return
	}
	f.spans = append(f.spans[:f.from], Span{f.n, from, to})
}

// above covers the lines of a key whose end is at the present line and whose begin is not to be seen.
func (f *finder) above(lines []string) {
	first := f.n
	for first > 0 && lines[first-1] != "" && armoured(lines[first-1]) {
		first--
	}
	kept := len(f.spans)
	for kept > 0 && f.spans[kept-1].Line >= first {
		kept--
	}
	f.spans = f.spans[:kept]
	for i := first; i < f.n; i++ {
		f.spans = append(f.spans, Span{i, 0, len(lines[i])})
	}
	f.from = len(f.spans)
}

// armoured reports whether a line may stand within a key: base64, an empty line or a header, perhaps behind the number or
// the edge that an editor draws.
func armoured(line string) bool {
	line = strings.TrimSpace(strings.TrimLeft(strings.TrimSpace(line), "0123456789│|~ "))
	return every(line, alnum|base64) || strings.HasPrefix(line, "Proc-Type:") || strings.HasPrefix(line, "DEK-Info:")
}

// orphan reports whether a line is one of the inside of a key by its looks: RFC 7468 has 64 characters a line, OpenSSH 70,
// and random ones hold capitals, small letters and digits.
func orphan(line string) bool {
	if len(line) < 64 {
		return false
	}
	line = strings.TrimSpace(line)
	return (len(line) == 64 || len(line) == 70) && every(line, alnum|base64) && seen(line)&alnum == alnum
}
