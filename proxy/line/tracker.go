package line

import (
	"bytes"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// Tracker knows who typed on the present line, and where that began. It keeps no key: only that there was one. Moved and
// Rested belong to the goroutine that owns the screen, User, Agent and Allow to the one that writes to the program; Typed may
// be called from any.
type Tracker struct {
	// Cooked reports whether the kernel collects lines now. It is asked on keys that mean something else in raw mode.
	Cooked func() bool
	// Spell numbers the spell for which it has collected them, 0 while it does not; nil where nobody knows.
	Spell func() uint64
	// Group is the foreground process group, 0 when nobody knows.
	Group func() int

	here atomic.Uint64 // a Place, packed: it changes with each chunk of output
	rest atomic.Pointer[Rest]

	mu    sync.Mutex
	typed Typed
	count uint64    // everybody's keys
	rests uint64    // those at the newest rest
	paste bool      // between the brackets of a paste, whose line ends are text
	last  byte      // the last byte that anybody typed
	began int       // the group that had the terminal when the line began
	at    time.Time // when anybody typed last

	prompts  prompts
	commands prompts // behind which a command was submitted
}

// Typed is what is known of the present line.
type Typed struct {
	// Line is where the first key of anybody came since the last end of a line, Own where the user's did.
	Line, Own Begin
	// Group had the terminal when the user's first key came, which the kernel collected if Cooked.
	Group  int
	Cooked bool
	spell  uint64 // see [Tracker.Spell]
	// Odd: somebody pressed a key that may have changed what letters mean: Escape in a vi mode, a prefix.
	Odd bool
	// Asks: see [Facts].
	Asks bool
	// Allowed: the user said that agents may type on this line all the same.
	Allowed bool
	// gaveUp: the user's newest key on the line is an interrupt. Some editors keep the line at that.
	gaveUp bool
	keys   uint64 // counts the user's

	// open is where the user submitted a line last, to a group: what comes next may be the rest of it.
	open      Begin
	openGroup int
	prompts   prompts
	commands  prompts
}

// Mine reports whether there may be something of the user's on the line.
func (t Typed) Mine() bool { return (t.Own.Set || t.open.Set) && !t.Allowed }

// PromptOn is what stands before the present line on a screen, or before the line that it goes on with: all that is left of the cursor
// where nobody knows better.
func (t Typed) PromptOn(s Screen) string {
	switch {
	case t.Line.hasPrompt():
		return t.Line.Rest.Prompt
	case t.Own.hasPrompt():
		return t.Own.Rest.Prompt
	case t.open.Set && t.open.hasPrompt() && continues(s, t.open):
		return t.open.Rest.Prompt
	}
	return Look(s).Prompt
}

// Keys counts the user's keys.
func (t Typed) Keys() uint64 { return t.keys }

// Moved says where the cursor is.
func (t *Tracker) Moved(p Place) { t.here.Store(p.pack()) }

// The packed form of a Place: a bit that says that there is one, a bit for the alternate screen, the line, the column.
const (
	packedSet = 1 << 63
	packedAlt = 1 << 62
	colBits   = 16
)

func (p Place) pack() uint64 {
	n := packedSet | p.Line<<colBits&(packedAlt-1) | uint64(p.Col)
	if p.Alt {
		n |= packedAlt
	}
	return n
}

func unpack(n uint64) (p Place, ok bool) {
	return Place{Alt: n&packedAlt != 0, Line: n & (packedAlt - 1) >> colBits, Col: int(n & (1<<colBits - 1))}, n&packedSet != 0
}

// Rested reads the prompt off the screen while the output pauses: that of the next key, and those of the keys that came before
// anybody had looked.
func (t *Tracker) Rested(s Screen) {
	r := Look(s)
	was := t.rest.Swap(&r)
	t.mu.Lock()
	defer t.mu.Unlock()
	if was != nil && t.rests == t.count && was.Prompt != r.Prompt {
		t.redrawn(*was, r)
	}
	t.rests = t.count
	t.typed.open.learn(s)
	t.typed.Own.learn(s)
	if t.typed.Line.learn(s) {
		t.prompted(t.typed.Line)
	}
}

// redrawn takes the begin of the line along, on which nobody has typed since.
func (t *Tracker) redrawn(was, now Rest) {
	t.typed.Own.follow(was, now)
	if t.typed.Line.follow(was, now) {
		t.prompts.add(t.began, t.typed.Line.Rest, true)
	}
}

// Typed returns what is known of the present line.
func (t *Tracker) Typed() Typed {
	t.mu.Lock()
	defer t.mu.Unlock()
	typed := t.typed
	typed.prompts, typed.commands = t.prompts, t.commands
	return typed
}

// Prompt notes the prompt at which a group waits, with nothing typed there yet, unless that asks for the rest of a line.
func (t *Tracker) Prompt(group int) {
	t.mu.Lock()
	defer t.mu.Unlock()
	rest := t.rest.Load()
	if rest == nil || strings.TrimSpace(rest.Prompt) == "" || t.typed.Line.Set || t.typed.Own.Set {
		return
	}
	before, _ := t.prompts.of(group)
	sure := t.prompts.isSure(group)
	if open := t.typed.open; open.hasPrompt() && !sure {
		before, sure = open.Rest, true
	}
	if !sure && t.typed.open.Set || sure && isContinuation(rest.Prompt, before.Prompt) {
		return
	}
	t.prompts.add(group, *rest, true)
}

// HasPrompt reports whether the prompt of a group is known for sure.
func (t *Tracker) HasPrompt(group int) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.prompts.isSure(group)
}

// Learned is what is known of the present line where nobody has typed since known was, else known.
func (t *Tracker) Learned(known Typed) Typed {
	if typed := t.Typed(); typed.keys == known.keys {
		return typed
	}
	return known
}

// Pressed is when anybody typed last, zero for never.
func (t *Tracker) Pressed() time.Time {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.at
}

// Free says that what is known left nothing of the user's on the line. answered says that the program waits for another one: the one
// that the user submitted last is not gone on with. What the user has typed since counts.
func (t *Tracker) Free(known Typed, answered bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.typed.keys != known.keys {
		return
	}
	if t.typed.Own = (Begin{}); answered {
		t.typed.open = Begin{}
	}
}

// Allow lets agents type on the line until the user's next key.
func (t *Tracker) Allow() {
	t.mu.Lock()
	t.typed.Allowed = true
	t.mu.Unlock()
}

// User notes keys of the user's before the program has them.
func (t *Tracker) User(keys []byte) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.at = time.Now()
	t.count++
	n := t.typed.keys + 1
	if t.ends(keys, true) {
		t.submits()
		next := Typed{keys: n}
		switch own := t.typed.Own; {
		case t.last == '\r' || t.last == '\n':
			next.open, next.openGroup = t.submitted()
		case t.last == interrupt && own.Set && !t.Cooked() && !t.left(own):
			next.Own, next.Group, next.gaveUp = own, t.typed.Group, true
		}
		t.typed = next
		return
	}
	t.typed.keys = n
	t.begin()
	if t.typed.Cooked && !t.Cooked() { // whoever has the terminal now takes what was typed ahead
		t.typed.Group, t.typed.Cooked = t.Group(), false
	}
	if here, _ := unpack(t.here.Load()); t.typed.gaveUp && here.Line != t.typed.Own.Line {
		t.typed.Own = Begin{}
	}
	t.typed.gaveUp = false
	if !t.typed.Own.Set || t.left(t.typed.Own) {
		t.typed.Own, t.typed.Group, t.typed.Cooked = t.now(), t.Group(), t.Cooked()
		if t.Spell != nil {
			t.typed.spell = t.Spell()
		}
	}
	t.typed.Allowed = false
	t.means(keys)
}

// Agent notes keys of an agent's before the program has them.
func (t *Tracker) Agent(keys []byte) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.at = time.Now()
	t.count++
	if t.ends(keys, false) {
		t.submits()
		t.typed = Typed{keys: t.typed.keys}
		return
	}
	t.begin()
	t.means(keys)
}

// means notes what keys make of the next ones.
func (t *Tracker) means(keys []byte) {
	t.typed.Odd = t.typed.Odd || odd(keys)
	t.typed.Asks = t.typed.Asks || !t.paste && asks(keys)
}

func (t *Tracker) begin() {
	if t.typed.Line.Set && !t.left(t.typed.Line) {
		return
	}
	t.typed.Line, t.began = t.now(), t.Group()
	if t.typed.Line.Known {
		t.prompted(t.typed.Line)
	}
}

// prompted notes the prompt of a line where none of its group is known, unless that asks for the rest of another one, or may. Where
// output was late the key came elsewhere than it seemed.
func (t *Tracker) prompted(b Begin) {
	_, known := t.prompts.of(t.began)
	if known || !b.hasPrompt() || t.typed.open.Set && (!t.typed.open.Known || isContinuation(b.Rest.Prompt, t.typed.open.Rest.Prompt)) {
		return
	}
	t.prompts.add(t.began, b.Rest, false)
}

// givesUp are the keys of the user's that end a line and submit none.
const givesUp = "\x03\x04\x15\x1a\x1c"

// submits notes the prompt of a command that is submitted.
func (t *Tracker) submits() {
	b := t.typed.Line
	if !b.Known || strings.IndexByte(givesUp, t.last) >= 0 {
		return
	}
	before, known := t.commands.of(t.began)
	empty := !known && strings.TrimSpace(b.Rest.Prompt) == "" // some have a prompt that ends with its row
	if empty || isCommand(b.Rest.Prompt, before.Prompt, known) && (!known || !isContinuation(b.Rest.Prompt, before.Prompt)) {
		t.commands.add(t.began, b.Rest, true)
	}
}

// left reports whether b was on the alternate screen, which is gone: what was typed there, as to a pager, is on no line.
func (t *Tracker) left(b Begin) bool {
	here, ok := unpack(t.here.Load())
	return ok && b.Alt && !here.Alt
}

// submitted is where the line began that the user submits now, or the one that it continues.
func (t *Tracker) submitted() (Begin, int) {
	group, b, open := t.Group(), t.typed.Line, t.typed.open
	if !b.Set {
		b = t.now()
	}
	if open.Set && t.typed.openGroup == group && b.Known && isContinuation(b.Rest.Prompt, open.Rest.Prompt) {
		return open, group
	}
	// Typed ahead, or while output was late, it shows behind the prompt of before, as a rule.
	if rest, _ := t.prompts.of(group); !b.hasPrompt() || t.prompts.isSure(group) && !isContinuation(b.Rest.Prompt, rest.Prompt) {
		b.Rest, b.Known = t.prompts.of(group)
	}
	return b, group
}

// now is where a key that is typed now will show.
func (t *Tracker) now() Begin {
	here, ok := unpack(t.here.Load())
	b := Begin{Place: here, Set: ok}
	if rest := t.rest.Load(); ok && rest != nil && rest.Place == here {
		b.Rest, b.Known = *rest, true
	}
	return b
}

// ends reports whether keys end with the end of a line: Enter, or an interrupt. An agent's interrupt is none: it could make
// what it typed be forgotten. ^U, ^Z and ^\ only empty a line that the kernel collects, and ^D hands over what stands on it.
func (t *Tracker) ends(keys []byte, user bool) bool {
	if len(keys) == 0 {
		return false
	}
	quoted := (t.last == 0x16 || t.last == 0x11) && len(keys) == 1 || bytes.HasSuffix(keys, altEnter) || t.last == 0x1b && !user
	if t.last = keys[len(keys)-1]; user && t.last == 0x1b {
		t.last = 0 // the user's Escape is a key by itself: an Alt with it comes in one piece
	}
	if at := bytes.LastIndex(keys, pasteBegins); at >= 0 {
		t.paste = true
		keys = keys[at:]
	}
	if bytes.Contains(keys, pasteEnds) {
		t.paste = false
		return false
	}
	if t.paste {
		return false
	}
	switch keys[len(keys)-1] {
	case '\r', '\n':
		return !quoted
	case interrupt:
		return user
	case 0x15, 0x1a, 0x1c:
		return user && t.Cooked()
	case 0x04:
		return user && !t.typed.Line.Set && t.Cooked()
	}
	return bytes.HasSuffix(keys, enterKitty) || bytes.HasSuffix(keys, enterOther)
}

// interrupt is Ctrl+C.
const interrupt = 0x03

// altEnter puts a line's end into the line in many editors, as Enter does behind ^V or ^Q. An agent's Escape may be one with the
// Enter that follows.
var altEnter = []byte("\x1b\r")

// Enter in the kitty protocol and in xterm's modifyOtherKeys.
var (
	enterKitty = []byte("\x1b[13u")
	enterOther = []byte("\x1b[27;1;13~")
)

// The marks of a bracketed paste (xterm ctlseqs, DECSET 2004).
var (
	pasteBegins = []byte("\x1b[200~")
	pasteEnds   = []byte("\x1b[201~")
)

// odd reports whether keys hold one that may change what the next letters mean: Escape or Alt with a letter (vi modes), and
// the prefixes ^V, ^X and ^Q.
func odd(keys []byte) bool {
	for i, b := range keys {
		switch {
		case b == 0x11, b == 0x16, b == 0x18:
			return true
		case b == 0x1b && (i+1 == len(keys) || keys[i+1] != '[' && keys[i+1] != 'O'):
			return true
		}
	}
	return false
}

// asks reports whether keys hold one on which an editor may ask for a single key: Tab, and all control keys but those that edit
// and move.
func asks(keys []byte) bool {
	for _, b := range keys {
		if b < 0x20 && b != 0x1b && bytes.IndexByte(edits, b) < 0 {
			return true
		}
	}
	return false
}

// edits are ^A ^B ^E ^F ^H ^K ^L ^N ^P ^U ^W and ^_.
var edits = []byte("\x01\x02\x05\x06\x08\x0b\x0c\x0e\x10\x15\x17\x1f")

// own is what the user typed since the last end of a line.
func own(s Screen, d Doing, t Typed) (Buffer, bool) {
	group, raw := d.Group, t.spell != 0 && d.Spell != 0 && t.spell != d.Spell // since then, and what was collected was read
	if !t.Own.Set || raw || t.Group != group && !t.Cooked || t.Own.Alt && !s.Alt() {
		return Buffer{}, false // nothing was typed, or another program took the keys
	}
	if row, _ := s.Cursor(); t.gaveUp && (!d.Keeps || s.Line(row) != t.Own.Line) {
		return Buffer{}, false
	}
	if rest, ok := t.prompts.of(group); ok && bare(s, rest) {
		return Buffer{}, false
	}
	mine, all := Find(s, t.Own), Find(s, t.Line)
	if !t.Line.Set {
		all = mine
	}
	if mine.Known {
		return all, !mine.Empty()
	}
	// What an agent had typed left of the user's first key is gone when the user empties the line.
	return all, !all.Known || !all.Empty()
}
