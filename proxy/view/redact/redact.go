// Package redact finds text in a terminal that looks like a token or a key, and covers it. It is
// pure: text in, text out, and every function may be called from any goroutine.
//
// It is a second line of defence for the text that agents see, without a guarantee: it recognises
// the shapes of some common secrets, and a password that looks like a word passes. It never covers
// the user's own screen, nor text that an agent typed itself.
//
// The rules recognise: tokens by their prefixes and the values of services by their names, after
// the rules of gitleaks (gitleaks.txt) and by hand (byhand.txt); JSON web tokens (RFC 7519);
// private keys in PEM (RFC 7468), also where only a part of them is on the screen; the password in
// a URL (RFC 3986 3.2.1); the value of a name such as db_password, apiToken or
// AWS_SECRET_ACCESS_KEY (names.go, values.go), in files, JSON, connection strings, flags and URLs;
// the headers of HTTP that carry one; and the passwords of netrc(5), curl -u, mysql -p, sshpass,
// SQL's users and docker's configuration.
//
// Not every value of such a name is a secret: in source code it may be another name or a call, in a
// manual a word. A quoted or random-looking value counts, and so does the whole line of a file; a
// doubtful value is shown.
//
// A secret is painted in pieces, none of which may be visible. So a prefix with a single character
// behind it counts while the program is printing there, and where it ends a line.
package redact

import (
	"strings"

	"github.com/clipperhouse/displaywidth"
	"github.com/clipperhouse/uax29/v2/graphemes"
)

// Mark replaces each covered column.
const Mark = "•"

// Span is a part of a line, in bytes.
type Span struct{ Line, From, To int }

// Place is where the program is printing, as a line and an offset in bytes.
type Place struct{ Line, Offset int }

// Nowhere is the place of a text to which nothing is added.
var Nowhere = Place{Line: -1}

func find(dst []Span, lines []string, at Place, seen *Seen) []Span {
	loadRules()
	f := finder{spans: dst}
	for i, line := range lines {
		f.lineIndex, f.line, f.open = i, line, -1
		if at.Line == i {
			f.open = at.Offset
		}
		f.lineSpans = len(f.spans)
		if f.open >= 0 || !seen.isClean(line) {
			if f.scanLine(); f.open < 0 && len(f.spans) == f.lineSpans {
				seen.add(line)
			}
		}
		f.findPrivateKey(lines)
	}
	return f.spans
}

// Cover replaces line[from:to] by marks, one for each column. It ignores offsets beyond the line.
func Cover(line string, from, to int) string {
	from, to = max(from, 0), min(to, len(line))
	if from >= to {
		return line
	}
	return line[:from] + strings.Repeat(Mark, width(line[from:to])) + line[to:]
}

func width(s string) int {
	for i := range len(s) {
		if s[i] >= 0x80 {
			return displaywidth.String(s)
		}
	}
	return len(s)
}

// ANSI covers columns of a row that holds SGR sequences, which it keeps. covered reports whether a
// column is covered.
func ANSI(row string, covered func(col int) bool) string {
	var b strings.Builder
	col := 0
	for len(row) > 0 {
		if row[0] == 0x1b {
			n := sequenceLen(row)
			b.WriteString(row[:n])
			row = row[n:]
			continue
		}
		n := strings.IndexByte(row, 0x1b)
		if n < 0 {
			n = len(row)
		}
		for g := graphemes.FromString(row[:n]); g.Next(); {
			w := displaywidth.String(g.Value())
			if covered(col) {
				b.WriteString(strings.Repeat(Mark, w))
			} else {
				b.WriteString(g.Value())
			}
			col += w
		}
		row = row[n:]
	}
	return b.String()
}

// sequenceLen returns the length of the control sequence at the start of s: ESC, [ and all up to a
// letter.
func sequenceLen(s string) int {
	for i := 2; i < len(s); i++ {
		if c := s[i]; c >= '@' && c <= '~' {
			return i + 1
		}
	}
	return len(s)
}
