package redact

import "strings"

// phrases looks for secrets that stand behind words rather than behind a name and a sign.
func (f *finder) phrases() {
	f.netrc()
	f.bearer()
	f.sql()
}

// netrc looks for the word password in the file of that name.
func (f *finder) netrc() {
	at := strings.Index(f.line, "password ")
	if at < f.done || !strings.HasPrefix(strings.TrimLeft(f.line, " "), "machine ") || !strings.Contains(f.line[:at], " login ") {
		return
	}
	from := at + len("password ")
	end := from
	for end < len(f.line) && f.line[end] > ' ' {
		end++
	}
	if end > from && !placeholder(f.line[from:end]) {
		f.cover(from, end)
	}
}

// bearer looks for a token of RFC 6750 without the name of its header.
func (f *finder) bearer() {
	at := strings.Index(f.line, "Bearer ")
	if at < f.done {
		return
	}
	from := f.skip(at + len("Bearer "))
	end := f.token68(from)
	if value := f.line[from:end]; f.printing(from, end) || randomly(value, leastKey) && !code(value, 0) && !placeholder(value) {
		f.cover(from, end)
	}
}

// sql looks for what a user or role identifies itself by: IDENTIFIED BY 'x' (MySQL, Oracle), PASSWORD 'x' (PostgreSQL).
func (f *finder) sql() {
	for _, words := range [...]string{"IDENTIFIED BY '", "identified by '", "PASSWORD '", "password '"} {
		at := strings.Index(f.line, words)
		if at < f.done || !declares(f.line[:at]) {
			continue
		}
		from := at + len(words)
		end := from
		for end < len(f.line) && f.line[end] != '\'' {
			end++
		}
		if !placeholder(f.line[from:end]) {
			f.cover(from, end)
		}
	}
}

// declares reports whether a statement begins as one that makes or changes a user.
func declares(line string) bool {
	small := strings.ToLower(line)
	return (strings.Contains(small, "create ") || strings.Contains(small, "alter ") || strings.Contains(small, "grant ")) &&
		(strings.Contains(small, "user ") || strings.Contains(small, "role ") || strings.Contains(small, " to "))
}
