package redact

//go:generate go run ./generate

import (
	_ "embed"
	"strconv"
	"strings"
	"sync"
)

// class is a set of characters.
type class uint8

const (
	upper class = 1 << iota
	lower
	digit
	under
	dash
	base64 // + / =
	anchor // the search for secrets stops here
	alnum  = upper | lower | digit
	word   = alnum | under | dash
)

// classes holds the classes of each byte. loadRules adds the anchors of the rules.
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
	for _, c := range "-=:J" {
		t[c] |= anchor
	}
	return t
}()

// set is a set of ASCII characters.
type set [2]uint64

func (s *set) has(c byte) bool { return c < 128 && s[c/64]>>(c%64)&1 != 0 }

// setOf reads a set as the lists write it: characters, and ranges such as A-Z. The sign - stands
// first.
func setOf(list string) (s set) {
	for i := 0; i < len(list); i++ {
		from, to := list[i], list[i]
		if i+2 < len(list) && list[i+1] == '-' {
			to = list[i+2]
			i += 2
		}
		for c := from; c <= to; c++ {
			s[c/64] |= 1 << (c % 64)
		}
	}
	return s
}

// token is one with a prefix, or a value of a service.
type token struct {
	prefix      string
	body        set // what follows
	least, most int // of the body; most is -1 for no end
}

// rule is a token with a prefix, and how far the prefix can be trusted.
type rule struct {
	token
	mark int // index of the anchor in prefix
	// weak prefixes also begin ordinary words: a body shorter than least counts only while the
	// program is printing it, and not at the end of a line.
	weak bool
	// alone: the character before the prefix cannot be part of the token.
	alone bool
	// exact: the body has the right length, and looks random.
	exact bool
}

// The lists of tokens. A comment in each explains its lines.
var (
	//go:embed byhand.txt
	byHand string
	//go:embed gitleaks.txt
	gitleaks string
)

// The tables: rules by hand and then those of gitleaks, the longer prefix first, and the values of
// services. byPair is an index of the rules by the anchor and the character before it: the number
// of the first rule, counted from 1 (0: no rule), and of the next one in the same place.
var (
	rules    []rule
	services []token
	byPair   [1024]uint8
	nextRule [256]uint8
)

// loadRules makes the tables. A session without agents does not wait for them.
var loadRules = sync.OnceFunc(func() {
	readRules(byHand)
	readRules(gitleaks)
	for i := len(rules) - 1; i >= 0; i-- {
		before, mark := rules[i].prefix[rules[i].mark-1], rules[i].prefix[rules[i].mark]
		classes[mark] |= anchor
		h := pairHash(before, mark)
		byPair[h], nextRule[i+1] = uint8(i+1), byPair[h]
	}
})

// readRules reads a list into the tables: a line has the kind, the prefix, the characters of the
// body and their least number.
func readRules(list string) {
	for line := range strings.Lines(list) {
		f := strings.Fields(line)
		if len(f) == 0 || f[0] == "#" {
			continue
		}
		t := token{f[1], setOf(f[2]), mustNumber(f[3]), -1}
		switch f[0] {
		case "service":
			t.most = mustNumber(f[4])
			services = append(services, t)
		case "exact":
			t.most = mustNumber(f[4])
			rules = append(rules, rule{t, anchorIndex(t.prefix), true, true, true})
		default:
			rules = append(rules, rule{t, anchorIndex(t.prefix), f[0] == "weak", f[len(f)-1] != "inside", false})
		}
	}
}

func mustNumber(s string) int {
	n, err := strconv.Atoi(s)
	if err != nil {
		panic("redact: " + err.Error()) // the lists are part of the program
	}
	return n
}

// anchorIndex returns the index of the character by which a prefix is found: the first sign in it,
// else a capital or a digit, else a rare small letter.
func anchorIndex(prefix string) int {
	for _, signs := range []string{"_-.~", "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789", "jqxzvkwp"} {
		if at := strings.IndexAny(prefix[1:], signs); at >= 0 {
			return at + 1
		}
	}
	return 1
}

func pairHash(a, b byte) uint16 { return (uint16(a)*97 ^ uint16(b)<<3) & 1023 }

// finder finds what to cover, one line after another.
type finder struct {
	spans []Span

	lineIndex int
	line      string
	open      int // where the program is printing, -1 for not here
	done      int // the search of the line has passed this offset
	lead      int // where the line's first word begins, -1 for not known yet

	inKey         bool // this line may be inside a private key
	inCertificate bool // this line may be inside a certificate
	lineSpans     int  // index of the first span of this line
}

func (f *finder) coverSpan(from, to int) {
	f.spans = append(f.spans, Span{f.lineIndex, from, to})
	f.done = to
}

// scanLine looks for tokens in the current line.
func (f *finder) scanLine() {
	f.done, f.lead = 0, -1
	for i := 0; i < len(f.line); i++ {
		c := f.line[i]
		if classes[c]&anchor == 0 {
			continue
		}
		switch c {
		case ':':
			if !f.findURL(i) {
				f.findAssignment(i)
			}
		case '=':
			f.findAssignment(i)
		case 'J':
			f.findWebToken(i)
		case '-':
			if i == 0 || f.line[i-1] == ' ' {
				f.findFlag(i)
			} else if f.line[i-1] == '-' {
				continue // a drawn line
			}
		}
		if f.done <= i {
			f.findToken(i)
		}
		i = max(i, f.done-1)
	}
	f.findPhrases()
}

// runEnd returns the end of the run of characters of a class that begins at i.
func (f *finder) runEnd(i int, c class) int {
	for i < len(f.line) && classes[f.line[i]]&c != 0 {
		i++
	}
	return i
}

// longestToken bounds the bytes that are read to recognise a token. The rest of a longer one is
// covered as well, and not read again.
const longestToken = 512

// setRunEnd returns the end of the run of characters of a set that begins at i, n characters at
// most.
func (f *finder) setRunEnd(s *set, i, n int) int {
	n = min(len(f.line), i+n)
	for i < n && s.has(f.line[i]) {
		i++
	}
	return i
}

// isPrinting reports whether the program is printing between the first character behind from and
// end.
func (f *finder) isPrinting(from, end int) bool { return from < f.open && f.open <= end }

// standsAlone reports whether the character before i is not of a class.
func (f *finder) standsAlone(i int, c class) bool {
	return i == 0 || classes[f.line[i-1]]&c == 0
}

// findToken covers a token whose prefix has its anchor at i.
func (f *finder) findToken(i int) {
	if i == 0 {
		return
	}
	for k := byPair[pairHash(f.line[i-1], f.line[i])]; k != 0; k = nextRule[k] {
		r := &rules[k-1]
		at := i - r.mark
		if at < f.done || !strings.HasPrefix(f.line[at:], r.prefix) || r.alone && !f.standsAlone(at, alnum) {
			continue
		}
		body := at + len(r.prefix)
		if end := f.setRunEnd(&r.body, body, longestToken); f.isToken(r, body, end) {
			f.coverSpan(at, f.setRunEnd(&r.body, end, len(f.line)))
			return
		}
	}
}

// isToken reports whether the body between two offsets makes a token of a rule.
func (f *finder) isToken(r *rule, body, end int) bool {
	if end > body && f.isPrinting(body, end) {
		return true
	}
	switch n := end - body; {
	case !r.exact:
		return n >= r.least || end > body && !r.weak && end == len(f.line)
	case n < r.least:
		// A token that does not fit on the screen is cut off.
		return n >= leastCut && end == len(f.line) && len(r.prefix) > 4 && isMixed(f.line[body:end])
	case n > r.most && r.most >= 0 && len(r.prefix) <= 4:
		return false
	}
	return !f.isInsideLonger(body-len(r.prefix), end) && (!r.body.has('0') || isMixed(f.line[body:end]))
}

// leastCut is how many characters of a token must be visible if the rest is cut off.
const leastCut = 12

// isInsideLonger reports whether the text from from to end is a part of something longer, such as
// an image in base64.
func (f *finder) isInsideLonger(from, end int) bool {
	return from > 0 && strings.IndexByte("+/", f.line[from-1]) >= 0 ||
		end < len(f.line) && strings.IndexByte("+/", f.line[end]) >= 0
}

// classesOf returns the union of the classes of a text's characters.
func classesOf(s string) (c class) {
	for i := range len(s) {
		c |= classes[s[i]]
	}
	return c
}

// hasOnly reports whether all characters of a text are of a class.
func hasOnly(s string, c class) bool {
	for i := range len(s) {
		if classes[s[i]]&c == 0 {
			return false
		}
	}
	return true
}

// isMixed reports whether a text has both digits and letters.
func isMixed(s string) bool {
	c := classesOf(s)
	return c&digit != 0 && c&(upper|lower) != 0
}

// findWebToken covers a JWT: two objects in base64url, which begin with eyJ, and a signature.
func (f *finder) findWebToken(i int) {
	at := i - 2
	if at < f.done || f.line[at:i] != "ey" || !f.standsAlone(at, word) {
		return
	}
	end := f.runEnd(at, word)
	if end-at < 10 {
		return
	}
	if !strings.HasPrefix(f.line[end:], ".") {
		if f.isPrinting(at, end) {
			f.coverSpan(at, end)
		}
		return
	}
	body := end + 1
	end = f.runEnd(body, word)
	if !f.isPrinting(body-1, end) && !strings.HasPrefix(f.line[body:], "eyJ") {
		return
	}
	if strings.HasPrefix(f.line[end:], ".") {
		end = f.runEnd(end+1, word)
	}
	f.coverSpan(at, end)
}
