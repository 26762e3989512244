package text

import (
	"cmp"
	"fmt"
	"strings"
	"unicode/utf8"
)

// Bounds of an answer for a model, in tokens as Tokens counts them.
const (
	DefaultTokens = 10_000
	MinTokens     = 200 // room for the text around the rows
	MaxTokens     = 50_000
)

// Tokens estimates from above how many tokens a model needs for s: tokenizers differ, and the known
// ones need fewer. Letters count one token for every three of a word, together with the blank
// before it; a digit, another sign and a line feed count one each; a run of one sign or of blanks
// counts one for every four; and any other character than ASCII counts one for each of its bytes,
// one where it is repeated.
func Tokens(s string) (n int) {
	for i := 0; i < len(s); {
		switch c := s[i]; {
		case isLetter(c):
			size := runLength(s[i:], isLetter)
			n, i = n+(size+2)/3, i+size
		case c >= utf8.RuneSelf:
			_, size := utf8.DecodeRuneInString(s[i:])
			r := s[i : i+size]
			n, i = n+size, i+size
			for strings.HasPrefix(s[i:], r) {
				n, i = n+1, i+size
			}
		case '0' <= c && c <= '9' || c == '\n':
			n, i = n+1, i+1
		default:
			size := runLength(s[i:], func(o byte) bool { return o == c })
			if i += size; c != ' ' || size > 1 || i == len(s) || !isLetter(s[i]) {
				n += (size + 3) / 4
			}
		}
	}
	return n
}

func isLetter(c byte) bool { return 'a' <= c|0x20 && c|0x20 <= 'z' }

// runLength returns the number of leading bytes of s for which matches is true.
func runLength(s string, matches func(byte) bool) int {
	n := 0
	for n < len(s) && matches(s[n]) {
		n++
	}
	return n
}

// Page holds rows for a model, and the text around them.
type Page struct {
	// Head comes before everything, and Brief replaces it when no row is shown; an empty Brief
	// stands for all of Head.
	Head, Brief string
	// Rows are rows that a program printed, the newest last.
	Rows []string
	// Numbered: the rows begin with their numbers, see [Numbered].
	Numbered bool
	// Oldest keeps the first rows if not all have room; otherwise the last ones are kept.
	Oldest bool
	// Say names the shown rows, from from to before to, and those left out; "" says nothing. It may
	// be nil.
	Say func(from, to int) string
	// Wrap puts the rows, a row a line, into their place; nil leaves them as they are.
	Wrap func(rows string) string
	// Plain is the page without the parts that are dropped before any row is; it may be nil.
	Plain *Page
	// Bare: the page is text only, and has no place for rows.
	Bare bool
	// Part: the rows are not the whole new screen, so they do not count as having seen it.
	Part bool
}

// Fit renders the page within a number of tokens, the text around the rows included: it drops the
// parts that Plain lacks, then rows, and says so. If even the text around the rows does not fit, it
// returns the necessary text, however long, with the number of tokens that rows would take: the
// reader must learn, for example, the receipt of its input in any case. limit names the parameter
// that sets the number.
func (p Page) Fit(tokens int, limit string) string {
	if p.fitsIn(len(p.Rows), tokens) {
		return p.renderRows(len(p.Rows))
	}
	p = p.plainPage()
	if n, _ := p.rowsThatFit(tokens); n > 0 || len(p.Rows) == 0 {
		return p.renderRows(n)
	}
	return Join(cmp.Or(p.Brief, p.Head), p.tooFewTokens(tokens, limit))
}

// Parts is Fit for callers that put the text elsewhere: it returns the text of Say, and the rows as
// they are.
func (p Page) Parts(tokens int, limit string) (words, rows string) {
	n := len(p.Rows)
	if !p.fitsIn(n, tokens) {
		p = p.plainPage()
		var ok bool
		if n, ok = p.rowsThatFit(tokens); !ok && len(p.Rows) > 0 {
			return p.tooFewTokens(tokens, limit), ""
		}
	}
	from, to := p.shownRange(n)
	if p.Say != nil {
		words = p.Say(from, to)
	}
	return words, strings.Join(p.Rows[from:to], "\n")
}

func (p Page) plainPage() Page {
	if p.Plain != nil {
		return *p.Plain
	}
	return p
}

func (p Page) fitsIn(n, tokens int) bool { return Tokens(p.renderRows(n)) <= tokens }

// rowsThatFit returns how many rows fit into a number of tokens; ok is false if even the text
// around them does not fit.
func (p Page) rowsThatFit(tokens int) (n int, ok bool) {
	if p.fitsIn(len(p.Rows), tokens) {
		return len(p.Rows), true
	}
	for left := tokens - Tokens(p.renderRows(0)); n < len(p.Rows); n++ {
		row := p.Rows[len(p.Rows)-1-n]
		if p.Oldest {
			row = p.Rows[n]
		}
		if left -= Tokens(row) + 1; left < 0 {
			break
		}
	}
	for ; !p.fitsIn(n, tokens); n-- { // the note about omitted rows may have grown
		if n == 0 {
			return 0, false
		}
	}
	for n < len(p.Rows) && p.fitsIn(n+1, tokens) { // or shrunk
		n++
	}
	return n, true
}

// shownRange returns the range of the n shown rows.
func (p Page) shownRange(n int) (from, to int) {
	if p.Oldest {
		return 0, n
	}
	return len(p.Rows) - n, len(p.Rows)
}

// roomForRows is the number of tokens for rows in the limit that tooFewTokens suggests.
const roomForRows = 400

// tooFewTokens replaces the rows if even the text around them does not fit.
func (p Page) tooFewTokens(tokens int, limit string) string {
	const step = 100
	return fmt.Sprintf("all rows are left out because %s %d has no room for them: give %d or more",
		limit, tokens, (Tokens(p.renderRows(0))+roomForRows+step-1)/step*step)
}

// renderRows renders the page with n of its rows.
func (p Page) renderRows(n int) string {
	from, to := p.shownRange(n)
	out := p.Head
	if p.Say != nil {
		out = Join(out, p.Say(from, to))
	}
	rows := strings.Join(p.Rows[from:to], "\n")
	if p.Wrap != nil {
		rows = p.Wrap(rows)
	}
	return Join(out, rows)
}

// Join puts two texts one below the other; an empty one leaves the other alone.
func Join(above, below string) string {
	if above == "" || below == "" {
		return above + below
	}
	return above + "\n" + below
}

// CheckTokens returns the budget that a reader gives, DefaultTokens for nil; it refuses one outside
// the bounds. limit names the parameter.
func CheckTokens(given *int, limit string) (tokens int, err error) {
	switch {
	case given == nil:
		return DefaultTokens, nil
	case *given < MinTokens:
		return 0, fmt.Errorf("%s is %d, which hardly fits the text around the rows: give %d or "+
			"more, or leave it out for %d",
			limit, *given, MinTokens, DefaultTokens)
	case *given > MaxTokens:
		return 0, fmt.Errorf("%s is %d, the limit is %d", limit, *given, MaxTokens)
	}
	return *given, nil
}
