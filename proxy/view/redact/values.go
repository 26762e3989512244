package redact

import (
	"bytes"
	std64 "encoding/base64"
	"slices"
	"strings"
)

// findAssignment looks for the name of a secret, with the sign between it and its value at i.
func (f *finder) findAssignment(i int) {
	from := i + 1
	switch {
	case i > 0 && strings.IndexByte("=!<>+*/%^&|~", f.line[i-1]) >= 0 ||
		from < len(f.line) && f.line[from] == '=' && f.line[i] == '=':
		return // a comparison, an addition
	case from < len(f.line) &&
		(f.line[i] == '=' && f.line[from] == '>' || f.line[i] == ':' && f.line[from] == '='):
		from++
	case f.line[i] == ':' && i > 0 && f.line[i-1] == ':',
		f.line[i] == ':' && from < len(f.line) && f.line[from] == ':':
		return // a name in another one
	case f.line[i] == '=' && i > 0 && (f.line[i-1] == ':' || f.line[i-1] == '?'):
		return // seen at the colon, or nothing
	}
	n, ok := f.findName(i)
	sign := from
	for from < len(f.line) && from-i < 32 && (f.line[from] == ' ' || f.line[from] == '\t') {
		from++
	}
	if from == len(f.line) {
		return
	}
	n.spaced = n.spaced || from > sign
	if !ok {
		f.findService(i, from)
		return
	}
	switch n.kind {
	case header:
		if f.line[i] == ':' || strings.IndexByte("\"'`", f.line[from]) >= 0 {
			f.coverHeader(from)
		}
	case cookie:
		f.coverCookies(from)
	default:
		f.coverAssigned(n, i, from)
	}
}

// coverAssigned covers the value of a name, in quotes or not, if it is a secret.
func (f *finder) coverAssigned(n named, i, from int) {
	escaped := strings.HasPrefix(f.line[from:], `\"`) || strings.HasPrefix(f.line[from:], `\'`)
	q := f.line[from]
	if escaped {
		q = f.line[from+1]
	}
	if q == '"' || q == '\'' || q == '`' {
		if n.quote != q && f.isQuotedAt(n.from, q) {
			return // the quote ends the text that contains the name
		}
		f.coverQuoted(n, from+1, q, escaped)
		return
	}
	if n.kind != login {
		f.coverBare(n, i, from)
	}
}

// isQuotedAt reports whether an offset is within a text in quotes.
func (f *finder) isQuotedAt(i int, q byte) bool {
	return strings.Count(f.line[max(0, i-256):i], string(q))%2 != 0
}

// longestValue bounds the bytes that are searched for the end of a text in quotes.
const longestValue = 1024

func (f *finder) coverQuoted(n named, from int, q byte, escaped bool) {
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
	case isPlaceholder(value),
		len(value) < n.to-n.from && strings.EqualFold(value, f.line[n.to-len(value):n.to]),
		f.isTelling(n) && strings.Contains(strings.ToLower(value), strings.ToLower(f.line[n.from:n.to])):
	case f.isPrinting(from, end),
		n.kind == envKey && len(value) >= leastValue && (!n.spaced || isMixed(value)),
		n.kind == key && looksRandom(value, leastValue),
		n.kind == password && len(value) >= leastWord && !isProse(value),
		n.kind == login && holdsPair(value):
		f.coverSpan(from, end)
	}
}

// The fewest characters of a value that counts as a secret once it is complete.
const (
	leastValue = 8
	leastWord  = 4 // of a password
	leastKey   = 16
)

// isTelling reports whether a password is unlikely to contain this name by chance.
func (f *finder) isTelling(n named) bool { return n.kind == key || n.to-n.from > len("password") }

func (f *finder) coverBare(n named, i, from int) {
	end := from
	for end < len(f.line) && end-from < longestValue && f.line[end] > ' ' &&
		strings.IndexByte(";|&<>\"'`", f.line[end]) < 0 {
		end++
	}
	if f.isFirstWord(n.from) && !n.spaced { // a line of a file: all of it
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
	if isPlaceholder(value) || isDull(value) || strings.EqualFold(value, f.line[n.from:n.to]) ||
		isCode(value, digitsIn(n.kind)) || f.isArgument(n) {
		return
	}
	comma := f.line[min(end, len(f.line)-1)] == ','
	if f.isPrinting(from, end) || f.isSecret(n, value, f.line[i] == ':', last, comma) {
		f.coverSpan(from, end)
	}
}

// isSecret reports whether a value without quotes is a secret. Source code rarely holds one; there
// another name usually follows.
func (f *finder) isSecret(n named, value string, colon, last, comma bool) bool {
	spaced := n.spaced
	switch n.kind {
	case envKey:
		return !spaced && len(value) >= leastValue || looksRandom(value, leastKey)
	case key:
		return !spaced && !colon && looksRandom(value, leastValue) || looksRandom(value, leastKey)
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
		return isMixed(value) && len(value) >= leastValue
	case colon:
		named := n.to-n.from > len("pass") && !comma
		return spaced && last && !strings.HasSuffix(f.line[:n.to], "PASS") &&
			(named && f.isFirstWord(n.from) || !hasOnlyLetters(value))
	}
	return last && f.isFirstWord(n.from) && !hasOnlyLetters(value)
}

// isArgument reports whether a name stands in the arguments of a call.
func (f *finder) isArgument(n named) bool {
	if n.from == 0 {
		return false
	}
	return f.line[n.from-1] == '(' || !n.spaced && n.from >= 2 && f.line[n.from-2:n.from] == ", "
}

// isPlaceholder reports whether a value is computed, stands for something, or is hidden already.
func isPlaceholder(value string) bool {
	if value == "" || strings.IndexByte("$<{(%[*&!", value[0]) >= 0 || strings.Trim(value, "Xx*.:- ") == "" {
		return true
	}
	prefixes := [...]string{Mark, "...", "…", "xxx", `\n`, `\u`, "@{", "0x"}
	return slices.ContainsFunc(prefixes[:], func(prefix string) bool { return strings.HasPrefix(value, prefix) })
}

// dullValues cannot be secrets: keywords and types of programming languages, and the sources in
// nsswitch.conf(5).
var dullValues = []string{
	"true", "false", "null", "nil", "none", "undefined", "yes", "no", "on", "off", "string", "str",
	"bytes", "byte", "int", "integer", "number", "bool",
	"boolean", "object", "any", "optional", "required", "void", "text", "files", "compat",
	"systemd", "ldap", "winbind", "cache", "input", "prompt",
	"unset", "empty", "enabled", "disabled", "default", "redacted", "hidden", "self", "ask", "file",
	"env", "never", "always", "incorrect", "invalid",
	"expired", "failed", "wrong", "missing", "correct", "unchanged",
}

// isDull reports whether a value is one of dulls, or a word about secrets: a name, not its value.
func isDull(value string) bool {
	var room [longestName]byte
	if len(value) > len(room) {
		return false
	}
	small := plainName(room[:0], value)
	return len(small) == 0 || isOneOf(small, dullValues) || hasOnlyLetters(value) && isAboutSecrets(string(small))
}

// isAboutSecrets reports whether a text holds a word about secrets.
func isAboutSecrets(small string) bool {
	words := [...]string{"passw", "token", "secret", "credential", "kennwort"}
	return slices.ContainsFunc(words[:], func(word string) bool { return strings.Contains(small, word) })
}

// isCode reports whether a value is an expression: a call, a name in another, a path.
func isCode(value string, digits int) bool {
	if strings.ContainsAny(value, "()[]{}") || strings.Contains(value, "::") ||
		strings.Contains(value, "->") || strings.Contains(value, "://") {
		return true
	}
	if (value[0] == '/' || value[0] == '.' || value[0] == '~') && strings.ToLower(value) == value {
		return true
	}
	return isMemberPath(value, digits)
}

// digitsIn returns how many digits a name may have in place of a value of a kind: passwords look
// more like names.
func digitsIn(k kind) int {
	if k == password {
		return 0
	}
	return 10
}

// isMemberPath reports whether a value is names joined by dots, with at most most digits, and no
// digit at the beginning of a name.
func isMemberPath(value string, most int) bool {
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

// hasOnlyLetters reports whether a text has only letters and the signs that join words.
func hasOnlyLetters(s string) bool {
	for i := range len(s) {
		if classes[s[i]]&(upper|lower|under|dash) == 0 && s[i] != '.' && s[i] != ' ' {
			return false
		}
	}
	return true
}

// looksRandom reports whether a text is one word of at least n characters with digits and letters.
func looksRandom(s string, n int) bool {
	return len(s) >= n && isMixed(s) && strings.IndexByte(s, ' ') < 0
}

// isProse reports whether a quoted text is a message to people.
func isProse(value string) bool {
	var room [longestName]byte
	small := plainName(room[:0], value[:min(len(value), longestName)])
	blank := strings.IndexByte(value, ' ') >= 0
	return isOneOf(small, dullValues) ||
		isAboutSecrets(string(small)) && (blank || hasOnlyLetters(value)) ||
		blank && classes[value[0]]&upper != 0 && !isMixed(value)
}

// holdsPair reports whether base64 holds a user and a password.
func holdsPair(value string) bool {
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

// coverHeader covers the token behind the scheme of a header, in quotes or not.
func (f *finder) coverHeader(from int) {
	from = f.skipQuotes(from)
	end := f.token68End(from)
	if end < len(f.line) && f.line[end] == ' ' && hasOnlyLetters(f.line[from:end]) {
		from = f.skipQuotes(end)
		end = f.token68End(from)
	}
	if end <= from || isPlaceholder(f.line[from:end]) || strings.IndexByte(f.line[from:end], '(') >= 0 {
		return
	}
	value := f.line[from:end]
	if f.isPrinting(from, end) || len(value) >= leastValue && isMixed(value) ||
		len(value) >= leastKey || holdsPair(value) {
		f.coverSpan(from, end)
	}
}

// skipQuotes returns where a value begins, behind blanks and quotes.
func (f *finder) skipQuotes(i int) int {
	for i < len(f.line) && strings.IndexByte(" \\\"'`", f.line[i]) >= 0 {
		i++
	}
	return i
}

// token68End returns the end of a token68 (RFC 9110, 11.2).
func (f *finder) token68End(i int) int {
	n := min(len(f.line), i+longestValue)
	for i < n && f.line[i] > ' ' && strings.IndexByte("\\\"'`,;", f.line[i]) < 0 {
		i++
	}
	return i
}

// coverCookies covers the values of cookies that look random. In a Set-Cookie only the first pair
// is a cookie; its attributes follow.
func (f *finder) coverCookies(from int) {
	for range 32 {
		eq := strings.IndexByte(f.line[from:], '=')
		if eq < 0 || eq > longestName {
			return
		}
		from += eq + 1
		end := f.token68End(from)
		if looksRandom(f.line[from:end], leastKey) || f.isPrinting(from, end) {
			f.coverSpan(from, end)
		}
		if end == len(f.line) || f.line[end] != ';' {
			return
		}
		from = end + 1
	}
}

// longestService exceeds the length of every service's values.
const longestService = 192

// findService covers the value of a name that holds the name of a service, with the sign between
// them at i.
func (f *finder) findService(i, from int) {
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
	for end < len(f.line) && end-from < longestService &&
		(classes[f.line[end]]&(word|base64) != 0 || strings.IndexByte(".:%", f.line[end]) >= 0) {
		end++
	}
	if end-from < leastKey || !isMixed(f.line[from:end]) ||
		end < len(f.line) && strings.IndexByte(" ;,'\"`\\", f.line[end]) < 0 {
		return
	}
	var room [longestName]byte
	name := plainName(room[:0], f.line[at:to])
	for k := range services {
		s := &services[k]
		n := end - from
		if n >= s.least && (n <= s.most || s.most < 0) &&
			bytes.Contains(name, []byte(s.prefix)) && s.matchesBody(f.line[from:end]) {
			f.coverSpan(from, end)
			return
		}
	}
}

// matchesBody reports whether all characters of a text may stand in the body.
func (t *token) matchesBody(text string) bool {
	for i := range len(text) {
		if !t.body.has(text[i]) {
			return false
		}
	}
	return true
}
