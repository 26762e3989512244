package redact

import (
	"cmp"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"sort"
	"strings"
)

// Own holds the user's own rules beside the known ones, as regular expressions (RE2). A nil *Own
// has no rules. It may be used from any goroutine.
//
// A match of add is covered: its first group, if the expression has one. It counts once it is
// complete; only the known rules also find the beginning of a secret that the program is still
// printing. A span that the known rules find is shown if a match of allow holds all of it. A match
// of add stays covered all the same.
type Own struct{ add, allow []*regexp.Regexp }

// Limits of rules: each rule is tried on every line that changes.
const (
	MaxOwn        = 32
	maxExpression = 1000 // bytes
)

// NewOwn compiles rules from expressions. The error names the expression and its list.
func NewOwn(add, allow []string) (*Own, error) {
	var o Own
	var err error
	if o.add, err = compileRules("add", add); err != nil {
		return nil, err
	}
	if o.allow, err = compileRules("allow", allow); err != nil {
		return nil, err
	}
	return &o, nil
}

func compileRules(list string, all []string) (rules []*regexp.Regexp, err error) {
	if len(all) > MaxOwn {
		return nil, fmt.Errorf("%s: has %d expressions, the limit is %d", list, len(all), MaxOwn)
	}
	for _, text := range all {
		rule, err := regexp.Compile(text)
		switch {
		case len(text) > maxExpression:
			err = fmt.Errorf("has %d bytes, the limit is %d", len(text), maxExpression)
		case err == nil && rule.MatchString(""):
			err = errors.New("matches the empty text")
		}
		if err != nil {
			return nil, fmt.Errorf("%s: %.60q: %w", list, text, err)
		}
		rules = append(rules, rule)
	}
	return rules, nil
}

// Find appends to dst the spans to cover in consecutive lines, in order. A line is a logical one,
// rows joined where they wrap. Ordinary lines cost about a nanosecond a byte. seen is for lines that
// are checked repeatedly, and may be nil.
func (o *Own) Find(dst []Span, lines []string, at Place, seen *Seen) []Span {
	had := len(dst)
	dst = find(dst, lines, at, seen)
	if o == nil || len(o.add)+len(o.allow) == 0 {
		return dst
	}
	found := slices.DeleteFunc(dst[had:], func(s Span) bool { return o.isAllowed(lines[s.Line], s) })
	for i, line := range lines {
		found = o.appendAdded(found, i, line)
	}
	return append(dst[:had], mergeSpans(found)...)
}

// isAllowed reports whether a match of allow holds a whole span.
func (o *Own) isAllowed(line string, s Span) bool {
	for _, rule := range o.allow {
		for _, m := range rule.FindAllStringIndex(line, -1) {
			if m[0] <= s.From && s.To <= m[1] {
				return true
			}
		}
	}
	return false
}

// appendAdded appends the matches of add in a line.
func (o *Own) appendAdded(dst []Span, n int, line string) []Span {
	for _, rule := range o.add {
		for _, m := range rule.FindAllStringSubmatchIndex(line, -1) {
			from, to := m[0], m[1]
			if len(m) > 2 && m[2] >= 0 {
				from, to = m[2], m[3]
			}
			if from < to {
				dst = append(dst, Span{n, from, to})
			}
		}
	}
	return dst
}

// mergeSpans returns the spans in order, with overlapping ones joined.
func mergeSpans(all []Span) []Span {
	sort.Slice(all, func(i, k int) bool {
		a, b := all[i], all[k]
		return cmp.Or(a.Line-b.Line, a.From-b.From, a.To-b.To) < 0
	})
	out := all[:0]
	for _, s := range all {
		if last := len(out) - 1; last >= 0 && out[last].Line == s.Line && s.From < out[last].To {
			out[last].To = max(out[last].To, s.To)
			continue
		}
		out = append(out, s)
	}
	return out
}

// Text covers the secrets in text, line by line, and counts them. at is the offset where the
// program is printing, -1 if it is not.
func (o *Own) Text(text string, at int) (covered string, n int) { return o.TextSeen(nil, text, at) }

// TextSeen is Text for a text that grows and is checked repeatedly. seen belongs to the caller.
func (o *Own) TextSeen(seen *Seen, text string, at int) (covered string, n int) {
	lines := strings.Split(text, "\n")
	place := Nowhere
	if at >= 0 {
		before := text[:min(at, len(text))]
		place.Line = strings.Count(before, "\n")
		place.Offset = len(before) - (strings.LastIndexByte(before, '\n') + 1)
	}
	spans := o.Find(nil, lines, place, seen)
	if len(spans) == 0 {
		return text, 0
	}
	for i := len(spans) - 1; i >= 0; i-- {
		// backwards, so that the offsets of the spans before stay valid
		s := spans[i]
		lines[s.Line] = Cover(lines[s.Line], s.From, s.To)
	}
	return strings.Join(lines, "\n"), len(spans)
}
