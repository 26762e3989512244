package redact

import "strings"

// class is a set of characters.
type class uint8

const (
	upper class = 1 << iota
	lower
	digit
	under
	dash
	base64 // + / =
	anchor // may tell a secret
	alnum  = upper | lower | digit
	word   = alnum | under | dash
)

var classes = func() (t [256]class) {
	for c := range t {
		switch {
		case c >= 'A' && c <= 'Z':
			t[c] = upper
		case c >= 'a' && c <= 'z':
			t[c] = lower
		case c >= '0' && c <= '9':
			t[c] = digit
		case c == '+' || c == '/' || c == '=':
			t[c] = base64
		}
	}
	t['_'] = under
	t['-'] = dash
	for _, c := range "_-=:IJ" {
		t[c] |= anchor
	}
	return t
}()

// rule is a token with a prefix.
type rule struct {
	prefix string
	mark   int   // index of the character in prefix that is an anchor
	body   class // what follows
	least  int   // of the body, anywhere
	// weak prefixes are also begins of ordinary words: what is shorter than least counts only while it is being printed,
	// and not at the end of a line.
	weak bool
	// alone: the character before the prefix is none that could be part of the token.
	alone bool
}

var rules = [...]rule{
	{"ghp_", 3, alnum, 6, false, false},
	{"gho_", 3, alnum, 6, false, false},
	{"ghu_", 3, alnum, 6, false, false},
	{"ghs_", 3, alnum, 6, false, false},
	{"ghr_", 3, alnum, 6, false, false},
	{"github_pat_", 10, alnum | under, 6, false, false},
	{"npm_", 3, alnum, 30, true, true},
	{"hf_", 2, alnum, 30, true, true},
	{"sk_live_", 7, alnum, 6, false, true},
	{"rk_live_", 7, alnum, 6, false, true},
	{"sk-ant-", 6, word, 10, false, true},
	{"sk-proj-", 7, word, 10, false, true},
	{"sk-svcacct-", 10, word, 10, false, true},
	{"sk-", 2, alnum, 40, true, true},
	{"xoxb-", 4, alnum | dash, 8, false, true},
	{"xoxp-", 4, alnum | dash, 8, false, true},
	{"xoxa-", 4, alnum | dash, 8, false, true},
	{"xoxr-", 4, alnum | dash, 8, false, true},
	{"xoxs-", 4, alnum | dash, 8, false, true},
	{"xoxe-", 4, alnum | dash, 8, false, true},
	{"xapp-", 4, alnum | dash, 8, false, true},
	{"glpat-", 5, word, 8, false, true},
	{"pypi-", 4, word, 50, true, true},
	{"AKIA", 2, upper | digit, 12, false, true},
	{"ASIA", 2, upper | digit, 12, false, true},
	{"AIza", 1, word, 30, false, true},
}

// finder looks through one line after the other.
type finder struct {
	spans []Span

	n    int
	line string
	open int // where the program is printing, -1 for not here
	done int // nothing before this offset is looked at again

	key  bool // the lines of a private key come
	from int  // index of the first span of this line
}

// cover notes a span.
func (f *finder) cover(from, to int) {
	f.spans = append(f.spans, Span{f.n, from, to})
	f.done = to
}

// scan looks for tokens in a line.
func (f *finder) scan() {
	f.done, f.from = 0, len(f.spans)
	for i := 0; i < len(f.line); i++ {
		if classes[f.line[i]]&anchor == 0 {
			continue
		}
		switch f.line[i] {
		case ':':
			f.url(i)
		case '=':
			f.assignment(i)
		case 'J':
			f.webToken(i)
		default:
			f.token(i)
		}
		i = max(i, f.done-1)
	}
}

// run is the end of the characters of a class from i on.
func (f *finder) run(i int, c class) int {
	for i < len(f.line) && classes[f.line[i]]&c != 0 {
		i++
	}
	return i
}

// printing reports whether the program is printing behind the first character from from to end.
func (f *finder) printing(from, end int) bool { return from < f.open && f.open <= end }

// begins reports whether what starts at i stands by itself.
func (f *finder) begins(i int, c class) bool {
	return i == 0 || classes[f.line[i-1]]&c == 0
}

// token looks for tokens whose prefix has its anchor at i.
func (f *finder) token(i int) {
	if i == 0 || f.line[i-1] == f.line[i] {
		return // a line that is drawn
	}
	for k := range rules {
		r := &rules[k]
		at := i - r.mark
		if r.prefix[r.mark-1] != f.line[i-1] || r.prefix[r.mark] != f.line[i] || at < f.done || !strings.HasPrefix(f.line[at:], r.prefix) ||
			r.alone && !f.begins(at, alnum) {
			continue
		}
		body := at + len(r.prefix)
		end := f.run(body, r.body)
		if end-body >= r.least || end > body && (f.printing(body, end) || !r.weak && end == len(f.line)) {
			f.cover(at, end)
			return
		}
	}
}

// webToken looks for a JWT: two objects in base64url, which begin with eyJ, and a signature.
func (f *finder) webToken(i int) {
	at := i - 2
	if at < f.done || f.line[at:i] != "ey" || !f.begins(at, word) {
		return
	}
	end := f.run(at, word)
	if end-at < 10 {
		return
	}
	if !strings.HasPrefix(f.line[end:], ".") {
		if f.printing(at, end) {
			f.cover(at, end)
		}
		return
	}
	body := end + 1
	end = f.run(body, word)
	if !f.printing(body-1, end) && !strings.HasPrefix(f.line[body:], "eyJ") {
		return
	}
	if strings.HasPrefix(f.line[end:], ".") {
		end = f.run(end+1, word)
	}
	f.cover(at, end)
}

// userInfo bounds what is looked through for the @ behind a password.
const userInfo = 256

// url looks for scheme://user:password@host with the colon of the scheme at i. The password goes.
func (f *finder) url(i int) {
	if !strings.HasPrefix(f.line[i:], "://") || f.begins(i, alnum) || strings.HasPrefix(f.line[i:], "://[") {
		return
	}
	from := 0
	end := i + 3
	for ; end < len(f.line) && end-i < userInfo; end++ {
		switch c := f.line[end]; {
		case c == ':' && from == 0:
			from = end + 1
			continue
		case c == '@' && from > 0 && end > from:
			f.cover(from, f.lastAt(end))
			return
		case c <= ' ', c == '@', c == '/', c == '?' && from == 0, c == '#' && from == 0, c == '"', c == '\'', c == '<', c == '>':
		default:
			continue
		}
		break
	}
	// Being printed, it may become one; a port is no password.
	port := f.run(from, digit) == end && end-from <= len("65535")
	if from > 0 && f.printing(from, end) && !port {
		f.cover(from, end)
	}
}

// lastAt is the last @ before the end of the authority: a password may hold one.
func (f *finder) lastAt(at int) int {
	for i := at + 1; i < len(f.line) && i-at < userInfo; i++ {
		switch c := f.line[i]; {
		case c == '@':
			at = i
		case c <= ' ' || c == '/' || c == '"' || c == '\'':
			return at
		}
	}
	return at
}

// Names whose values are secrets end so; and these are none though they do.
var (
	secretNames = []string{"_KEY", "TOKEN", "SECRET", "_PASSWORD", "_PASSWD"}
	publicNames = []string{"PUBLIC_KEY", "PRIMARY_KEY", "FOREIGN_KEY", "SORT_KEY", "PARTITION_KEY", "CACHE_KEY", "HOST_KEY", "MAX_TOKEN"}
)

// assignment looks for NAME=value with the sign at i. In the form with blanks around the sign, that of programs, the value
// is a quoted string.
func (f *finder) assignment(i int) {
	end := i
	for end > 0 && f.line[end-1] == ' ' && i-end < 2 {
		end--
	}
	at := end
	for at > 0 && end-at < 64 && classes[f.line[at-1]]&(upper|digit|under) != 0 {
		at--
	}
	name := f.line[at:end]
	if len(name) < 5 || !suffixed(name, secretNames) || suffixed(name, publicNames) || !f.begins(at, alnum) {
		return
	}
	from := i + 1
	for from < len(f.line) && f.line[from] == ' ' && from-i < 3 {
		from++
	}
	spaced := end != i || from != i+1
	if from == len(f.line) {
		return
	}
	if q := f.line[from]; q == '"' || q == '\'' {
		f.quoted(from+1, q)
	} else if !spaced {
		f.bare(from)
	}
}

func suffixed(name string, list []string) bool {
	for _, s := range list {
		if strings.HasSuffix(name, s) {
			return true
		}
	}
	return false
}

// leastValue is how long a value is at least that counts as a secret once it is there.
const leastValue = 8

func (f *finder) quoted(from int, quote byte) {
	end := strings.IndexByte(f.line[from:], quote)
	if end < 0 {
		end = len(f.line)
	} else {
		end += from
	}
	f.value(from, end)
}

func (f *finder) bare(from int) {
	end := from
	for end < len(f.line) && f.line[end] > ' ' && !strings.ContainsRune(";|&<>\"'`", rune(f.line[end])) {
		end++
	}
	if !strings.ContainsAny(f.line[from:end], "([{") {
		f.value(from, end)
	}
}

// value covers a value that is long enough, or is being printed. What is computed, or hidden already, is none.
func (f *finder) value(from, end int) {
	if end <= from || strings.ContainsRune("$<{(%[*", rune(f.line[from])) || strings.HasPrefix(f.line[from:end], Mark) {
		return
	}
	if end-from >= leastValue || f.printing(from, end) {
		f.cover(from, end)
	}
}
