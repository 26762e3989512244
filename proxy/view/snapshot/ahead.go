package snapshot

import (
	"bytes"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/clipperhouse/displaywidth"
)

// maxAhead bounds the lines that [typedAhead] keeps, and maxAheadLine each of them, in bytes.
const (
	maxAhead     = 64
	maxAheadLine = 4096
)

// typedAhead holds the lines that agents typed while the program was not waiting for input. The
// terminal shows such a line when it is typed, and a line editor shows it again, behind its prompt,
// when it reads it: both are an echo, and do not tell what the line does. The zero value is empty.
type typedAhead struct {
	lines []aheadLine
	open  bool // the last line has no end yet
}

type aheadLine struct {
	text []byte
	// unsure: the program may have been waiting for the line. Then only text behind a prompt is an
	// echo.
	unsure bool
	// garbled: keys that this package does not follow edited the line.
	garbled bool
}

// Readiness says whether the program waits for what is typed.
type Readiness uint8

// The values: the last two are guesses, for when the system cannot tell.
const (
	Waiting Readiness = iota // it waits, so it has read what was typed before
	Working                  // it will read what is typed later
	MaybeWaiting
	MaybeWorking
)

// NoteTyping notes what an agent is about to type.
func (w *Waits) NoteTyping(typed []byte, r Readiness) {
	switch {
	case r == Waiting:
		w.forgetTypedAhead()
	case r == Working, r == MaybeWorking, w.ahead.open:
		w.ahead.add(typed, r != Working)
	}
}

// forgetTypedAhead forgets all lines: the program has read them.
func (w *Waits) forgetTypedAhead() { w.ahead, w.sawInputWait = typedAhead{}, false }

// HoldsEcho reports whether the echo of typed-ahead text will end an open wait once the program
// waits for input.
func (w *Waits) HoldsEcho() bool {
	return slices.ContainsFunc(w.open, func(o *waiter) bool { return o.heldLine != "" })
}

func (a *typedAhead) add(typed []byte, unsure bool) {
	for _, mark := range []string{"\x1b[200~", "\x1b[201~"} { // of a bracketed paste
		typed = bytes.ReplaceAll(typed, []byte(mark), nil)
	}
	for len(typed) > 0 {
		c, n := utf8.DecodeRune(typed)
		a.addKey(c, typed[:n], unsure)
		typed = typed[n:]
	}
}

// addKey edits the open line as the kernel does for the usual keys.
func (a *typedAhead) addKey(c rune, key []byte, unsure bool) {
	if c == '\r' || c == '\n' {
		a.open = false
		return
	}
	if !a.open {
		if len(a.lines) == maxAhead {
			a.lines = a.lines[:copy(a.lines, a.lines[1:])]
		}
		a.lines, a.open = append(a.lines, aheadLine{}), true
	}
	l := &a.lines[len(a.lines)-1]
	l.unsure = l.unsure || unsure
	switch {
	case c == 0x7f || c == '\b':
		_, n := utf8.DecodeLastRune(l.text)
		l.text = l.text[:len(l.text)-n]
	case c == 0x15: // Ctrl+U
		l.text = nil
	case c < ' ' && c != '\t' || len(l.text)+len(key) > maxAheadLine:
		l.garbled = true
	default:
		l.text = append(l.text, key...)
	}
}

// isEcho reports whether a line of the program meets a condition only because it repeats a line
// that was typed ahead.
func (a *typedAhead) isEcho(c *Condition, line string) bool {
	return slices.ContainsFunc(a.lines, func(l aheadLine) bool {
		return l.isEchoIn(joinWords(line), joinWords(string(l.text)), c) ||
			l.isEchoIn(joinWide(line), joinWide(string(l.text)), c)
	})
}

// isEchoIn reports whether a line shows a typed text, or its start, and meets a condition only by
// that.
func (l *aheadLine) isEchoIn(line, typed string, c *Condition) bool {
	if l.garbled || typed == "" {
		return false
	}
	shown := typed
	before, after, found := strings.Cut(line, typed)
	if !found {
		shown = typedPrefixAtEnd(line, typed)
		before, found = strings.CutSuffix(line, shown)
	}
	if !found || !isRepeat(before, after, l.unsure) {
		return false
	}
	if _, met := c.matchLine(shown); !met {
		return false // the line has to say more than what was typed
	}
	_, met := c.matchLine(before + " " + after)
	return !met
}

// typedPrefixAtEnd returns the longest beginning of a typed text that is the end of a line: the
// rest is not drawn yet.
func typedPrefixAtEnd(line, typed string) string {
	for n := min(len(line), len(typed)-1); n > 0; n-- {
		if strings.HasSuffix(line, typed[:n]) {
			return typed[:n]
		}
	}
	return ""
}

// hasPart reports whether a text is a part of a line that was typed ahead.
func (a *typedAhead) hasPart(text string) bool {
	text = joinWide(text)
	return slices.ContainsFunc(a.lines, func(l aheadLine) bool {
		return !l.garbled && strings.Contains(joinWide(string(l.text)), text)
	})
}

// isRepeat reports whether a line only repeats a typed one, behind a prompt or as the terminal
// echoes it. It judges by the text before and after the typed text. A program that begins its own
// line with that text, as "./serve: ready", goes on with a word of its own.
func isRepeat(before, after string, unsure bool) bool {
	if strings.TrimSpace(before) != "" {
		return true
	}
	next, _ := utf8.DecodeRuneInString(after)
	return !unsure && next != ':' && !unicode.IsSpace(next)
}

// joinWords returns a text in the form of [Normalize], with one blank between words.
func joinWords(s string) string { return strings.Join(strings.Fields(Normalize(s)), " ") }

// joinWide is joinWords with no blank before a wide character: a line editor may fill the last
// column of a row with one.
func joinWide(s string) string {
	var joined strings.Builder
	for word := range strings.FieldsSeq(Normalize(s)) {
		first, _ := utf8.DecodeRuneInString(word)
		if joined.Len() > 0 && displaywidth.Rune(first) < 2 {
			joined.WriteByte(' ')
		}
		joined.WriteString(word)
	}
	return joined.String()
}

// findNewText searches a line for the text of o. The echo of typed-ahead text is not new: such a
// match is held until the program waits for input.
func (w *Waits) findNewText(o *waiter, line string) (matched string, ok bool) {
	matched, ok = w.findText(o, line)
	if !ok || len(w.ahead.lines) == 0 {
		return matched, ok
	}
	began := time.Now()
	echo := w.ahead.isEcho(o.Condition, line)
	w.countSearch(o, len(line), began)
	if echo {
		o.heldMatch, o.heldLine = matched, line
	}
	return matched, !echo
}
