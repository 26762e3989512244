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

// shape is one way to match an expression: a literal, then a number of characters of a set.
type shape struct {
	literal     string
	inBody      bool // the literal is complete
	least, most int  // most is -1 for no limit
	set         [2]uint64
	bad         bool // it matches characters beyond ASCII
}

// Limits for the use of a rule.
const (
	shortest      = 3  // of a prefix
	shortestValue = 16 // of a value that only its name identifies
	alternate     = 4  // a class of more characters than this ends the prefix
	anything      = 90 // characters of a set that matches nearly anything
)

// addPrefixes adds the tokens of a rule that have a prefix, and reports whether it found one.
func (t table) addPrefixes(regex string, least int) (found bool) {
	for _, s := range secretShapes(regex) {
		if len(s.literal) >= least && s.isUsable() && hasUsualCase(regex, s.literal) {
			t.addShape(s.literal, s)
			found = true
		}
	}
	return found
}

// hasUsualCase reports whether the letters of a prefix have the case that the expression gives
// them, also when it ignores case.
func hasUsualCase(regex, prefix string) bool {
	separates := func(c rune) bool { return !unicode.IsLetter(c) }
	for _, part := range strings.FieldsFunc(prefix, separates) {
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

// addService adds a rule for a value in a name: an entry for each keyword that names the service.
func (t table) addService(r rule, value string) (found bool) {
	for _, s := range secretShapes(value) {
		s.least += len(s.literal)
		if s.most >= 0 {
			s.most += len(s.literal)
		}
		for i := range len(s.literal) {
			s.addChars(rune(s.literal[i]), rune(s.literal[i]))
		}
		for _, word := range r.keywords {
			word = joinParts(word)
			isName := len(word) > shortest && strings.Contains(joinParts(r.id), word)
			if isName && s.isUsable() && s.least >= shortestValue {
				t.addShape(word, s)
				found = true
			}
		}
	}
	return found
}

// joinParts removes the characters that may separate the parts of a word.
func joinParts(word string) string {
	return strings.Map(func(c rune) rune {
		if strings.ContainsRune("_-. ,", c) {
			return -1
		}
		return c
	}, strings.ToLower(word))
}

// table has one entry for each word.
type table map[string]shape

// addShape adds s, or joins it with the shape of that word: the characters of both, and the lengths
// of both.
func (t table) addShape(word string, s shape) {
	if old, ok := t[word]; ok {
		s.set[0] |= old.set[0]
		s.set[1] |= old.set[1]
		s.least = min(s.least, old.least)
		if s.most < 0 || old.most < 0 {
			s.most = -1
		} else {
			s.most = max(s.most, old.most)
		}
	}
	t[word] = s
}

// formatLines returns a line for each entry, which begins with kind.
func (t table) formatLines(kind string) string {
	var b strings.Builder
	for _, word := range slices.Sorted(maps.Keys(t)) {
		s := t[word]
		fmt.Fprintln(&b, kind, word, s.formatSet(), s.least, s.most)
	}
	return b.String()
}

// formatSet returns the set, with ranges such as A-Z. A minus stands first, where it does not make
// a range.
func (s *shape) formatSet() string {
	var b strings.Builder
	if s.hasChar('-') {
		b.WriteByte('-')
	}
	for c := '!'; c < utf8.RuneSelf; c++ {
		if !s.hasChar(c) || c == '-' {
			continue
		}
		from := c
		for s.hasChar(c+1) && c+1 != '-' {
			c++
		}
		b.WriteRune(from)
		if c > from {
			b.WriteString("-" + string(c))
		}
	}
	return b.String()
}

func (s *shape) isUsable() bool { return !s.bad && s.least > 0 && s.setSize() < anything }

func (s *shape) setSize() int { return bits.OnesCount64(s.set[0]) + bits.OnesCount64(s.set[1]) }

func (s *shape) hasChar(c rune) bool { return c < utf8.RuneSelf && s.set[c/64]>>(c%64)&1 != 0 }

// secretShapes returns the ways to match the secret part of an expression.
func secretShapes(regex string) []shape {
	re, err := syntax.Parse(regex, syntax.Perl)
	if err != nil {
		return nil
	}
	if group := firstGroup(re); group != nil {
		re = group
	}
	return extendShapes(re, []shape{{}})
}

// firstGroup returns the first group, nil if there is no group.
func firstGroup(re *syntax.Regexp) *syntax.Regexp {
	if re.Op == syntax.OpCapture {
		return re
	}
	for _, sub := range re.Sub {
		if group := firstGroup(sub); group != nil {
			return group
		}
	}
	return nil
}

// extendShapes appends the matches of re to each shape.
func extendShapes(re *syntax.Regexp, in []shape) []shape {
	switch re.Op {
	case syntax.OpEmptyMatch, syntax.OpBeginLine, syntax.OpEndLine, syntax.OpBeginText,
		syntax.OpEndText, syntax.OpWordBoundary, syntax.OpNoWordBoundary:
		return in
	case syntax.OpLiteral:
		return extendByLiteral(re, in)
	case syntax.OpCharClass:
		return extendByClass(re, in)
	case syntax.OpCapture:
		return extendShapes(re.Sub[0], in)
	case syntax.OpConcat:
		for _, sub := range re.Sub {
			in = extendShapes(sub, in)
		}
		return in
	case syntax.OpAlternate:
		var out []shape
		for _, sub := range re.Sub {
			out = append(out, extendShapes(sub, in)...)
		}
		return out
	case syntax.OpQuest:
		return append(extendShapes(re.Sub[0], in), in...)
	case syntax.OpStar, syntax.OpPlus, syntax.OpRepeat:
		return extendByRepeat(re, in)
	default:
		return markBad(in)
	}
}

func markBad(in []shape) (out []shape) {
	for _, s := range in {
		s.bad = true
		out = append(out, s)
	}
	return out
}

// extendByLiteral appends text. If case is ignored, it appends the text in capitals and in small
// letters, as people write it.
func extendByLiteral(re *syntax.Regexp, in []shape) (out []shape) {
	text := string(re.Rune)
	forms := []string{text}
	if re.Flags&syntax.FoldCase != 0 && strings.ToLower(text) != strings.ToUpper(text) {
		forms = []string{strings.ToLower(text), strings.ToUpper(text)}
	}
	for _, s := range in {
		for _, form := range forms {
			next := s
			if !s.inBody {
				next.literal += form
			} else {
				for _, c := range form {
					next.addChars(c, c)
				}
				next.addCount(len(form), len(form))
			}
			out = append(out, next)
		}
	}
	return out
}

func extendByClass(re *syntax.Regexp, in []shape) (out []shape) {
	n := 0
	for i := 0; i < len(re.Rune); i += 2 {
		n += int(re.Rune[i+1]-re.Rune[i]) + 1
	}
	for _, s := range in {
		if s.inBody || n > alternate {
			s.inBody = true
			for i := 0; i < len(re.Rune); i += 2 {
				s.addChars(re.Rune[i], re.Rune[i+1])
			}
			s.addCount(1, 1)
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

// extendByRepeat appends a sequence, with or without a limit. Of a group it keeps only the
// characters and their number.
func extendByRepeat(re *syntax.Regexp, in []shape) (out []shape) {
	low, high := re.Min, re.Max
	switch re.Op {
	case syntax.OpStar:
		low, high = 0, -1
	case syntax.OpPlus:
		low, high = 1, -1
	default: // re.Min and re.Max hold
	}
	for _, s := range in {
		s.inBody = true
		for _, one := range extendShapes(re.Sub[0], []shape{{inBody: true}}) {
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

// addChars adds characters to the set. Folded ASCII letters include two others (U+017F, U+212A),
// which tokens do not contain.
func (s *shape) addChars(from, to rune) {
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

func (s *shape) addCount(least, most int) {
	s.least += least
	if s.most >= 0 {
		s.most += most
	}
}
