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
	MinTokens     = 200 // the words around the rows
	MaxTokens     = 50_000
)

// Tokens is how many tokens a model may take for s, counted high: nobody knows a model's own way of cutting text, but what all
// of them do is no worse. Letters count one token for every three of a word, together with the blank before it; a digit,
// another sign and a line feed count one each; a run of one sign or of blanks counts one for every four; and any other
// character than ASCII counts one for each of its bytes, one where it is repeated.
func Tokens(s string) (n int) {
	for i := 0; i < len(s); {
		switch c := s[i]; {
		case letter(c):
			size := run(s[i:], letter)
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
			size := run(s[i:], func(o byte) bool { return o == c })
			if i += size; c != ' ' || size > 1 || i == len(s) || !letter(s[i]) {
				n += (size + 3) / 4
			}
		}
	}
	return n
}

func letter(c byte) bool { return 'a' <= c|0x20 && c|0x20 <= 'z' }

// run is how many bytes at the front of s are of a kind.
func run(s string, of func(byte) bool) int {
	n := 0
	for n < len(s) && of(s[n]) {
		n++
	}
	return n
}

// Page is rows for a model, and the words around them.
type Page struct {
	// Head is the words before everything, and Brief what has to be said of it where no row is shown; "" is all of it.
	Head, Brief string
	// Kind names the rows in a word or two, for their fence.
	Kind string
	// Rows are what a program printed, the newest last.
	Rows []string
	// Oldest keeps the first rows where not all have room; otherwise the last ones are kept.
	Oldest bool
	// Say names the rows from from to before to, which are shown, and what is left out; "" says nothing. It may be nil.
	Say func(from, to int) string
	// Wrap puts the rows, a row a line, into their place; nil leaves them as they are.
	Wrap func(rows string) string
	// Plain is the page without what is dropped before any row is; it may be nil.
	Plain *Page
	// Bare says that there are words only, and no place for rows.
	Bare bool
	// Part says that the rows are not all of the screen that is new to the reader, who has not seen it then.
	Part bool
}

// Fit is the page in at most so many tokens, words and all: it drops what Plain does not have, then rows, and says so. Where
// there is no room for the words around rows either, it is the words that have to be said, however long they are, and how
// many tokens rows would take: there is something to tell the reader in any case, as what was typed. limit names the
// parameter that sets the number.
func (p Page) Fit(tokens int, limit string) string {
	if p.fits(len(p.Rows), tokens) {
		return p.text(len(p.Rows))
	}
	p = p.plain()
	if n, _ := p.room(tokens); n > 0 || len(p.Rows) == 0 {
		return p.text(n)
	}
	return Join(cmp.Or(p.Brief, p.Head), p.tooFew(tokens, limit))
}

// Parts is Fit for who has another place for the words: what Say says, and the rows as they are.
func (p Page) Parts(tokens int, limit string) (words, rows string) {
	n := len(p.Rows)
	if !p.fits(n, tokens) {
		p = p.plain()
		var ok bool
		if n, ok = p.room(tokens); !ok && len(p.Rows) > 0 {
			return p.tooFew(tokens, limit), ""
		}
	}
	from, to := p.shown(n)
	if p.Say != nil {
		words = p.Say(from, to)
	}
	return words, strings.Join(p.Rows[from:to], "\n")
}

func (p Page) plain() Page {
	if p.Plain != nil {
		return *p.Plain
	}
	return p
}

func (p Page) fits(n, tokens int) bool { return Tokens(p.text(n)) <= tokens }

// room is for how many rows there is room in so many tokens; it reports false where there is none for the words.
func (p Page) room(tokens int) (n int, ok bool) {
	if p.fits(len(p.Rows), tokens) {
		return len(p.Rows), true
	}
	for left := tokens - Tokens(p.text(0)); n < len(p.Rows); n++ {
		row := p.Rows[len(p.Rows)-1-n]
		if p.Oldest {
			row = p.Rows[n]
		}
		if left -= Tokens(row) + 1; left < 0 {
			break
		}
	}
	for ; !p.fits(n, tokens); n-- { // the words for what is left out may have grown
		if n == 0 {
			return 0, false
		}
	}
	for n < len(p.Rows) && p.fits(n+1, tokens) { // or be fewer
		n++
	}
	return n, true
}

// shown is which rows n of them are.
func (p Page) shown(n int) (from, to int) {
	if p.Oldest {
		return 0, n
	}
	return len(p.Rows) - n, len(p.Rows)
}

// roomForRows is what is offered for rows beside the words, in tokens.
const roomForRows = 400

// tooFew stands in the place of rows for which there is no room, nor for the words around them.
func (p Page) tooFew(tokens int, limit string) string {
	const step = 100
	return fmt.Sprintf("all rows are left out, %s %d has no room for them: give %d or more",
		limit, tokens, (Tokens(p.text(0))+roomForRows+step-1)/step*step)
}

// text is the page with n of its rows.
func (p Page) text(n int) string {
	from, to := p.shown(n)
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

// Join is two texts, one below the other, where there are both.
func Join(above, below string) string {
	if above == "" || below == "" {
		return above + below
	}
	return above + "\n" + below
}

// CheckTokens is the budget that a reader gives, DefaultTokens for nil; it refuses one outside the bounds. limit names the
// parameter.
func CheckTokens(given *int, limit string) (tokens int, err error) {
	switch {
	case given == nil:
		return DefaultTokens, nil
	case *given < MinTokens:
		return 0, fmt.Errorf("%s is %d, which hardly holds the words around the rows: give %d or more, or leave it out for %d",
			limit, *given, MinTokens, DefaultTokens)
	case *given > MaxTokens:
		return 0, fmt.Errorf("%s is %d, at most %d is possible", limit, *given, MaxTokens)
	}
	return *given, nil
}
