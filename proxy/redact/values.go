package redact

import (
	"bytes"
	std64 "encoding/base64"
	"slices"
	"strings"
)

// assignment looks for a name that tells a secret, with the sign between it and its value at i.
func (f *finder) assignment(i int) {
	from := i + 1
	switch {
	case i > 0 && strings.IndexByte("=!<>+*/%^&|~", f.line[i-1]) >= 0 || from < len(f.line) && f.line[from] == '=' && f.line[i] == '=':
		return // a comparison, an addition
	case from < len(f.line) && (f.line[i] == '=' && f.line[from] == '>' || f.line[i] == ':' && f.line[from] == '='):
		from++
	case f.line[i] == ':' && i > 0 && f.line[i-1] == ':', f.line[i] == ':' && from < len(f.line) && f.line[from] == ':':
		return // a name in another one
	case f.line[i] == '=' && i > 0 && (f.line[i-1] == ':' || f.line[i-1] == '?'):
		return // seen at the colon, or nothing
	}
	n, ok := f.name(i)
	sign := from
	for from < len(f.line) && from-i < 32 && (f.line[from] == ' ' || f.line[from] == '\t') {
		from++
	}
	if from == len(f.line) {
		return
	}
	n.spaced = n.spaced || from > sign
	if !ok {
		f.service(i, from)
		return
	}
	switch n.kind {
	case header:
		if f.line[i] == ':' || strings.IndexByte("\"'`", f.line[from]) >= 0 {
			f.header(from)
		}
	case cookie:
		f.cookies(from)
	default:
		f.assigned(n, i, from)
	}
}

// assigned looks at the value of a name.
func (f *finder) assigned(n named, i, from int) {
	escaped := strings.HasPrefix(f.line[from:], `\"`) || strings.HasPrefix(f.line[from:], `\'`)
	q := f.line[from]
	if escaped {
		q = f.line[from+1]
	}
	if q == '"' || q == '\'' || q == '`' {
		if n.quote != q && f.quotedAt(n.from, q) {
			return // the quote ends the text that the name stands in
		}
		f.quoted(n, from+1, q, escaped)
		return
	}
	if n.kind != login {
		f.bare(n, i, from)
	}
}

// quotedAt reports whether an offset is within a text in quotes.
func (f *finder) quotedAt(i int, q byte) bool {
	return strings.Count(f.line[max(0, i-256):i], string(q))%2 != 0
}

// longestValue bounds what is looked through for the end of a text in quotes.
const longestValue = 1024

func (f *finder) quoted(n named, from int, q byte, escaped bool) {
	if escaped {
		from++
	}
	end := from
	for end < len(f.line) && end-from < longestValue && f.line[end] != q {
		if f.line[end] == '\\' && !escaped {
			end++
		}
		end++
	}
	end = min(end, len(f.line))
	if escaped && end > from && f.line[end-1] == '\\' {
		end--
	}
	if end <= from {
		return
	}
	value := f.line[from:end]
	switch {
	case placeholder(value), len(value) < n.to-n.from && strings.EqualFold(value, f.line[n.to-len(value):n.to]), f.tells(n) && strings.Contains(strings.ToLower(value), strings.ToLower(f.line[n.from:n.to])):
	case f.printing(from, end), n.kind == shouted && len(value) >= leastValue && (!n.spaced || mixed(value)), n.kind == key && randomly(value, leastValue),
		n.kind == password && len(value) >= leastWord && !prose(value), n.kind == login && pairIn(value):
		f.cover(from, end)
	}
}

// How long a value is at least that counts as a secret once it is there.
const (
	leastValue = 8
	leastWord  = 4 // of a password
	leastKey   = 16
)

// tells reports whether a name is one that no password holds by chance.
func (f *finder) tells(n named) bool { return n.kind == key || n.to-n.from > len("password") }

func (f *finder) bare(n named, i, from int) {
	end := from
	for end < len(f.line) && end-from < longestValue && f.line[end] > ' ' && strings.IndexByte(";|&<>\"'`", f.line[end]) < 0 {
		end++
	}
	if f.first(n.from) && !n.spaced { // a line of a file: all of it
		for end < len(f.line) && end-from < longestValue && f.line[end] > ' ' && f.line[end] != '&' {
			end++
		}
	}
	last := strings.Trim(f.line[end:min(end+256, len(f.line))], " │┃║|") == "" // a form has an edge
	for end > from && strings.IndexByte(",;\"'", f.line[end-1]) >= 0 {
		end--
	}
	if end == from {
		return
	}
	value := f.line[from:end]
	if placeholder(value) || dull(value) || strings.EqualFold(value, f.line[n.from:n.to]) || code(value, digitsIn(n.kind)) || f.argument(n) {
		return
	}
	if f.printing(from, end) || f.secret(n, value, f.line[i] == ':', last, f.line[min(end, len(f.line)-1)] == ',') {
		f.cover(from, end)
	}
}

// secret reports whether a value without quotes is one. In source code one stands seldom; there what follows a name is
// rather another name.
func (f *finder) secret(n named, value string, colon, last, comma bool) bool {
	spaced := n.spaced
	switch n.kind {
	case shouted:
		return !spaced && len(value) >= leastValue || randomly(value, leastKey)
	case key:
		return !spaced && !colon && randomly(value, leastValue) || randomly(value, leastKey)
	case password:
	default:
		return false
	}
	if len(value) < leastWord {
		return false
	}
	switch {
	case !spaced && !colon:
		return true
	case n.quote != 0:
		return false
	case colon && !spaced:
		return mixed(value) && len(value) >= leastValue
	case colon:
		named := n.to-n.from > len("pass") && !comma
		return spaced && last && !strings.HasSuffix(f.line[:n.to], "PASS") && (named && f.first(n.from) || !letters(value))
	}
	return last && f.first(n.from) && !letters(value)
}

// argument reports whether a name stands in the arguments of a call.
func (f *finder) argument(n named) bool {
	if n.from == 0 {
		return false
	}
	return f.line[n.from-1] == '(' || !n.spaced && n.from >= 2 && f.line[n.from-2:n.from] == ", "
}

// placeholder reports whether what starts so is computed, or stands for something, or is hidden already.
func placeholder(value string) bool {
	return value == "" || strings.IndexByte("$<{(%[*&!", value[0]) >= 0 || strings.HasPrefix(value, Mark) || strings.HasPrefix(value, "...") ||
		strings.HasPrefix(value, "…") || strings.HasPrefix(value, "xxx") || strings.HasPrefix(value, `\n`) || strings.HasPrefix(value, `\u`) || strings.HasPrefix(value, "@{") || strings.HasPrefix(value, "0x") || strings.Trim(value, "Xx*.:- ") == ""
}

// dulls are values that are none: those of other languages' keywords, types, and the sources in nsswitch.conf(5).
var dulls = []string{
	"true", "false", "null", "nil", "none", "undefined", "yes", "no", "on", "off", "string", "str", "bytes", "byte", "int", "integer", "number", "bool",
	"boolean", "object", "any", "optional", "required", "void", "text", "files", "compat", "systemd", "ldap", "winbind", "cache", "input", "prompt",
	"unset", "empty", "enabled", "disabled", "default", "redacted", "hidden", "self", "ask", "file", "env", "never", "always", "incorrect", "invalid",
	"expired", "failed", "wrong", "missing", "correct", "unchanged",
}

// dull reports whether a value is a word that says nothing, or one about secrets: a name, not its value.
func dull(value string) bool {
	var room [longestName]byte
	if len(value) > len(room) {
		return false
	}
	small := plain(room[:0], value)
	return len(small) == 0 || whole(small, dulls) || letters(value) && speaks(string(small))
}

// speaks reports whether a text is about secrets.
func speaks(small string) bool {
	words := [...]string{"passw", "token", "secret", "credential", "kennwort"}
	return slices.ContainsFunc(words[:], func(word string) bool { return strings.Contains(small, word) })
}

// code reports whether a value is an expression: a call, a name in another, a path.
func code(value string, digits int) bool {
	if strings.ContainsAny(value, "()[]{}") || strings.Contains(value, "::") || strings.Contains(value, "->") || strings.Contains(value, "://") {
		return true
	}
	if (value[0] == '/' || value[0] == '.' || value[0] == '~') && strings.ToLower(value) == value {
		return true
	}
	return members(value, digits)
}

// digitsIn is how many digits names may have where a value would be of a kind: passwords look more like names.
func digitsIn(k kind) int {
	if k == password {
		return 0
	}
	return 10
}

// members reports whether a value is names joined by dots: with at most so many digits, and none at the begin of a name.
func members(value string, most int) bool {
	dots, digits := 0, 0
	for i := range len(value) {
		switch c := classes[value[i]]; {
		case value[i] == '.' && i > 0 && value[i-1] != '.':
			dots++
		case c&digit != 0 && i > 0 && value[i-1] != '.':
			digits++
		case c&(upper|lower|under) == 0:
			return false
		}
	}
	return dots > 0 && digits <= most && len(value) < 48
}

// letters reports whether a text has nothing but letters and what joins words.
func letters(s string) bool {
	for i := range len(s) {
		if classes[s[i]]&(upper|lower|under|dash) == 0 && s[i] != '.' && s[i] != ' ' {
			return false
		}
	}
	return true
}

// randomly reports whether a text is one word of at least n characters with digits and letters.
func randomly(s string, n int) bool {
	return len(s) >= n && mixed(s) && strings.IndexByte(s, ' ') < 0
}

// prose reports whether what stands in quotes is said to people.
func prose(value string) bool {
	var room [longestName]byte
	small := plain(room[:0], value[:min(len(value), longestName)])
	blank := strings.IndexByte(value, ' ') >= 0
	return whole(small, dulls) || speaks(string(small)) && (blank || letters(value)) || blank && classes[value[0]]&upper != 0 && !mixed(value)
}

// pairIn reports whether base64 holds a user and a password.
func pairIn(value string) bool {
	text, err := std64.StdEncoding.DecodeString(value)
	if err != nil || len(text) < 3 {
		return false
	}
	for _, c := range text {
		if c < ' ' || c >= 0x7f {
			return false
		}
	}
	return strings.IndexByte(string(text), ':') > 0
}

// header covers the token behind the scheme of a header, in quotes or not.
func (f *finder) header(from int) {
	from = f.skip(from)
	end := f.token68(from)
	if end < len(f.line) && f.line[end] == ' ' && letters(f.line[from:end]) {
		from = f.skip(end)
		end = f.token68(from)
	}
	if end <= from || placeholder(f.line[from:end]) || strings.IndexByte(f.line[from:end], '(') >= 0 {
		return
	}
	if value := f.line[from:end]; f.printing(from, end) || len(value) >= leastValue && mixed(value) || len(value) >= leastKey || pairIn(value) {
		f.cover(from, end)
	}
}

// skip is where a value begins, behind blanks and quotes.
func (f *finder) skip(i int) int {
	for i < len(f.line) && strings.IndexByte(" \\\"'`", f.line[i]) >= 0 {
		i++
	}
	return i
}

// token68 is the end of a token (RFC 9110, 11.2).
func (f *finder) token68(i int) int {
	for n := min(len(f.line), i+longestValue); i < n && f.line[i] > ' ' && strings.IndexByte("\\\"'`,;", f.line[i]) < 0; {
		i++
	}
	return i
}

// cookies covers the values of cookies that look random. The first one is that of a Set-Cookie; what follows it is none.
func (f *finder) cookies(from int) {
	for range 32 {
		eq := strings.IndexByte(f.line[from:], '=')
		if eq < 0 || eq > longestName {
			return
		}
		from += eq + 1
		end := f.token68(from)
		if randomly(f.line[from:end], leastKey) || f.printing(from, end) {
			f.cover(from, end)
		}
		if end == len(f.line) || f.line[end] != ';' {
			return
		}
		from = end + 1
	}
}

// longestService is longer than any of those values.
const longestService = 192

// service looks for the value of a name with the name of a service in it, with the sign between them at i.
func (f *finder) service(i, from int) {
	to := i
	for to > 0 && i-to < 32 && strings.IndexByte(` "'`, f.line[to-1]) >= 0 {
		to--
	}
	at := to
	for at > 0 && to-at < longestName && (classes[f.line[at-1]]&word != 0 || f.line[at-1] == '.') {
		at--
	}
	if to-at < 4 {
		return
	}
	if strings.IndexByte("\"'`", f.line[from]) >= 0 {
		from++
	}
	end := from
	for end < len(f.line) && end-from < longestService && (classes[f.line[end]]&(word|base64) != 0 || strings.IndexByte(".:%", f.line[end]) >= 0) {
		end++
	}
	if end-from < leastKey || end < len(f.line) && strings.IndexByte(" ;,'\"`\\", f.line[end]) < 0 || !mixed(f.line[from:end]) {
		return
	}
	var room [longestName]byte
	name := plain(room[:0], f.line[at:to])
	for k := range services {
		s := &services[k]
		n := end - from
		if n >= s.least && (n <= s.most || s.most < 0) && bytes.Contains(name, []byte(s.prefix)) && s.all(f.line[from:end]) {
			f.cover(from, end)
			return
		}
	}
}

// all reports whether a text has no other characters than the body.
func (t *token) all(text string) bool {
	for i := range len(text) {
		if !t.body.has(text[i]) {
			return false
		}
	}
	return true
}
