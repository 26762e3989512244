package main

import (
	"fmt"
	"maps"
	"math/bits"
	"regexp/syntax"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// shape is one way in which an expression matches: a literal first, and then a number of characters of a set.
type shape struct {
	literal     string
	open        bool // the literal has ended
	least, most int  // most is -1 for no end
	set         [2]uint64
	bad         bool // what is no ASCII, or any character at all
}

// limits of what is taken from a rule.
const (
	shortest      = 3  // a prefix
	shortestValue = 16 // a value whose name is all that tells it
	alternate     = 4  // characters in a class that still is a part of the prefix
	anything      = 90
)

// prefixes are the tokens of a rule that have one.
func (t table) prefixes(regex string, least int) (found bool) {
	for _, s := range shapes(regex) {
		if len(s.literal) >= least && s.usable() && written(regex, s.literal) {
			t.add(s.literal, s)
			found = true
		}
	}
	return found
}

// written reports whether a prefix stands in the expression in capitals or small letters as it is, where case does not matter.
func written(regex, prefix string) bool {
	for _, part := range strings.FieldsFunc(prefix, func(c rune) bool { return !unicode.IsLetter(c) }) {
		other := strings.ToLower(part)
		if other == part {
			other = strings.ToUpper(part)
		}
		if !strings.Contains(regex, part) && strings.Contains(regex, other) {
			return false
		}
	}
	return true
}

// service is a rule for a value in a name: one entry for each word in it that names the service.
func (t table) service(r rule, value string) (found bool) {
	for _, s := range shapes(value) {
		s.least += len(s.literal)
		if s.most >= 0 {
			s.most += len(s.literal)
		}
		for i := range len(s.literal) {
			s.add(rune(s.literal[i]), rune(s.literal[i]))
		}
		for _, word := range r.keywords {
			word = bare(word)
			if len(word) > shortest && strings.Contains(bare(r.id), word) && s.usable() && s.least >= shortestValue {
				t.add(word, s)
				found = true
			}
		}
	}
	return found
}

// bare is a word without what may stand between its parts.
func bare(word string) string {
	return strings.Map(func(c rune) rune {
		if strings.ContainsRune("_-. ,", c) {
			return -1
		}
		return c
	}, strings.ToLower(word))
}

// table has one entry for each word.
type table map[string]shape

// add joins what is there and s: their characters, and any of their lengths.
func (t table) add(word string, s shape) {
	if was, ok := t[word]; ok {
		s.set[0] |= was.set[0]
		s.set[1] |= was.set[1]
		s.least = min(s.least, was.least)
		if s.most < 0 || was.most < 0 {
			s.most = -1
		} else {
			s.most = max(s.most, was.most)
		}
	}
	t[word] = s
}

// lines are the entries of the table, each behind the word for what they are.
func (t table) lines(kind string) string {
	var b strings.Builder
	for _, word := range slices.Sorted(maps.Keys(t)) {
		s := t[word]
		fmt.Fprintln(&b, kind, word, s.characters(), s.least, s.most)
	}
	return b.String()
}

// characters is the set, with ranges such as A-Z. The sign - stands first, where it makes no range.
func (s *shape) characters() string {
	var b strings.Builder
	if s.has('-') {
		b.WriteByte('-')
	}
	for c := '!'; c < utf8.RuneSelf; c++ {
		if !s.has(c) || c == '-' {
			continue
		}
		from := c
		for s.has(c+1) && c+1 != '-' {
			c++
		}
		b.WriteRune(from)
		if c > from {
			b.WriteString("-" + string(c))
		}
	}
	return b.String()
}

func (s *shape) usable() bool { return !s.bad && s.least > 0 && s.size() < anything }

func (s *shape) size() int { return bits.OnesCount64(s.set[0]) + bits.OnesCount64(s.set[1]) }

func (s *shape) has(c rune) bool { return c < utf8.RuneSelf && s.set[c/64]>>(c%64)&1 != 0 }

// shapes are the ways in which the part of an expression that is the secret matches.
func shapes(regex string) []shape {
	re, err := syntax.Parse(regex, syntax.Perl)
	if err != nil {
		return nil
	}
	if group := capture(re); group != nil {
		re = group
	}
	return walk(re, []shape{{}})
}

// capture is the first group, nil for none.
func capture(re *syntax.Regexp) *syntax.Regexp {
	if re.Op == syntax.OpCapture {
		return re
	}
	for _, sub := range re.Sub {
		if group := capture(sub); group != nil {
			return group
		}
	}
	return nil
}

// walk adds what re matches to each of the shapes.
func walk(re *syntax.Regexp, in []shape) []shape {
	switch re.Op {
	case syntax.OpEmptyMatch, syntax.OpBeginLine, syntax.OpEndLine, syntax.OpBeginText, syntax.OpEndText, syntax.OpWordBoundary, syntax.OpNoWordBoundary:
		return in
	case syntax.OpLiteral:
		return literal(re, in)
	case syntax.OpCharClass:
		return class(re, in)
	case syntax.OpCapture:
		return walk(re.Sub[0], in)
	case syntax.OpConcat:
		for _, sub := range re.Sub {
			in = walk(sub, in)
		}
		return in
	case syntax.OpAlternate:
		var out []shape
		for _, sub := range re.Sub {
			out = append(out, walk(sub, in)...)
		}
		return out
	case syntax.OpQuest:
		return append(walk(re.Sub[0], in), in...)
	case syntax.OpStar, syntax.OpPlus, syntax.OpRepeat:
		return repeat(re, in)
	default:
		return spoilt(in)
	}
}

func spoilt(in []shape) (out []shape) {
	for _, s := range in {
		s.bad = true
		out = append(out, s)
	}
	return out
}

// literal adds text; where case does not matter, in capitals or in small letters only, as people write it.
func literal(re *syntax.Regexp, in []shape) (out []shape) {
	text := string(re.Rune)
	forms := []string{text}
	if re.Flags&syntax.FoldCase != 0 && strings.ToLower(text) != strings.ToUpper(text) {
		forms = []string{strings.ToLower(text), strings.ToUpper(text)}
	}
	for _, s := range in {
		for _, form := range forms {
			next := s
			if !s.open {
				next.literal += form
			} else {
				for _, c := range form {
					next.add(c, c)
				}
				next.count(len(form), len(form))
			}
			out = append(out, next)
		}
	}
	return out
}

func class(re *syntax.Regexp, in []shape) (out []shape) {
	n := 0
	for i := 0; i < len(re.Rune); i += 2 {
		n += int(re.Rune[i+1]-re.Rune[i]) + 1
	}
	for _, s := range in {
		if s.open || n > alternate {
			s.open = true
			for i := 0; i < len(re.Rune); i += 2 {
				s.add(re.Rune[i], re.Rune[i+1])
			}
			s.count(1, 1)
			out = append(out, s)
			continue
		}
		for i := 0; i < len(re.Rune); i += 2 {
			for c := re.Rune[i]; c <= re.Rune[i+1]; c++ {
				next := s
				next.literal += string(c)
				next.bad = next.bad || c >= utf8.RuneSelf
				out = append(out, next)
			}
		}
	}
	return out
}

// repeat is a sequence, with an end or without one. Of a group only the characters and their number count.
func repeat(re *syntax.Regexp, in []shape) (out []shape) {
	low, high := re.Min, re.Max
	switch re.Op {
	case syntax.OpStar:
		low, high = 0, -1
	case syntax.OpPlus:
		low, high = 1, -1
	default: // says itself how often
	}
	for _, s := range in {
		s.open = true
		for _, one := range walk(re.Sub[0], []shape{{open: true}}) {
			next := s
			next.bad = next.bad || one.bad
			next.set[0] |= one.set[0]
			next.set[1] |= one.set[1]
			next.least += low * one.least
			if next.most < 0 || high < 0 || one.most < 0 {
				next.most = -1
			} else {
				next.most += high * one.most
			}
			out = append(out, next)
		}
	}
	return out
}

// add adds characters to the set. Folding ASCII letters also gives two beyond it (U+017F, U+212A), which no token has.
func (s *shape) add(from, to rune) {
	for c := from; c <= to; c++ {
		switch {
		case c < utf8.RuneSelf && c > ' ':
			s.set[c/64] |= 1 << (c % 64)
		case c == '\u017f' || c == '\u212a':
		default:
			s.bad = true
			return
		}
	}
}

func (s *shape) count(least, most int) {
	s.least += least
	if s.most >= 0 {
		s.most += most
	}
}
