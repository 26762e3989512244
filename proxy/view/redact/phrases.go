package redact

import "strings"

// findPhrases covers secrets that follow words rather than a name and a sign.
func (f *finder) findPhrases() {
	f.findNetrc()
	f.findBearer()
	f.findSQLPassword()
}

// findNetrc covers the password in a line of netrc(5).
func (f *finder) findNetrc() {
	at := strings.Index(f.line, "password ")
	isNetrc := strings.HasPrefix(strings.TrimLeft(f.line, " "), "machine ")
	if at < f.done || !isNetrc || !strings.Contains(f.line[:at], " login ") {
		return
	}
	from := at + len("password ")
	end := from
	for end < len(f.line) && f.line[end] > ' ' {
		end++
	}
	if end > from && !isPlaceholder(f.line[from:end]) {
		f.coverSpan(from, end)
	}
}

// findBearer covers a token of RFC 6750 without the name of its header.
func (f *finder) findBearer() {
	at := strings.Index(f.line, "Bearer ")
	if at < f.done {
		return
	}
	from := f.skipQuotes(at + len("Bearer "))
	end := f.token68End(from)
	value := f.line[from:end]
	if f.isPrinting(from, end) ||
		looksRandom(value, leastKey) && !isCode(value, 0) && !isPlaceholder(value) {
		f.coverSpan(from, end)
	}
}

// findSQLPassword covers the password of a user or role: IDENTIFIED BY 'x' (MySQL, Oracle),
// PASSWORD 'x' (PostgreSQL).
func (f *finder) findSQLPassword() {
	for _, words := range [...]string{"IDENTIFIED BY '", "identified by '", "PASSWORD '", "password '"} {
		at := strings.Index(f.line, words)
		if at < f.done || !isUserStatement(f.line[:at]) {
			continue
		}
		from := at + len(words)
		end := from
		for end < len(f.line) && f.line[end] != '\'' {
			end++
		}
		if !isPlaceholder(f.line[from:end]) {
			f.coverSpan(from, end)
		}
	}
}

// isUserStatement reports whether a statement begins as one that creates or changes a user.
func isUserStatement(line string) bool {
	small := strings.ToLower(line)
	holds := func(word string) bool { return strings.Contains(small, word) }
	return (holds("create ") || holds("alter ") || holds("grant ")) &&
		(holds("user ") || holds("role ") || holds(" to "))
}
