package line

import (
	"bytes"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// Tracker records who typed on the present line, and where the line began. It stores no keys, only
// that there were some. SetPlace and ReadPrompt belong to the goroutine that owns the screen;
// NoteUserKeys, NoteAgentKeys and AllowAgents to the one that writes to the program. TypedLine is
// safe for concurrent use.
type Tracker struct {
	// Cooked reports whether the kernel collects lines now. It is called for keys that mean
	// something else in raw mode.
	Cooked func() bool
	// Spell returns the number of the present spell in which the kernel collects lines, or 0; nil
	// if unknown.
	Spell func() uint64
	// Group returns the foreground process group, 0 if unknown.
	Group func() int

	place     atomic.Pointer[Place]
	pausedRow atomic.Pointer[PausedRow]

	mu           sync.Mutex
	typed        Typed
	count        uint64    // all keys
	countAtPause uint64    // count at the newest rest
	paste        bool      // inside a bracketed paste, whose line ends are text
	agentPaste   bool      // that is an agent's, which the user's next key ends
	last         byte      // the last byte typed
	lineGroup    int       // the group that had the terminal when the line began
	at           time.Time // time of the last key

	prompts  prompts
	commands prompts // those at which a command was submitted
}

// Typed describes the present line.
type Typed struct {
	// Line is the place of the first key since the last end of a line, Own the place of the user's
	// first key.
	Line, Own Start
	// Group had the terminal when the user's first key came. Cooked means that the kernel collected
	// that key.
	Group  int
	Cooked bool
	spell  uint64 // see [Tracker.Spell]
	// KeysChanged: a key may have changed the meaning of letters: Escape in a vi mode, a prefix.
	KeysChanged bool
	// MayAskKey: see [Facts].
	MayAskKey bool
	// Allowed: the user lets agents type on this line anyway.
	Allowed bool
	// interrupted: the user's newest key on the line is an interrupt. Some editors keep the line
	// then.
	interrupted bool
	keys        uint64 // counts the user's

	// open is the start of the line that the user last submitted, to openGroup: its rest may
	// follow.
	open      Start
	openGroup int
	prompts   prompts
	commands  prompts
}

// MayHaveUserText reports whether text of the user may be on the line.
func (t Typed) MayHaveUserText() bool { return (t.Own.Set || t.open.Set) && !t.Allowed }

// PromptOn returns the prompt of the present line, or of the line that it continues. If neither is
// known, it returns all text left of the cursor.
func (t Typed) PromptOn(s Screen) string {
	switch {
	case t.Line.hasPrompt():
		return t.Line.Row.Prompt
	case t.Own.hasPrompt():
		return t.Own.Row.Prompt
	case t.open.Set && t.open.hasPrompt() && isContinued(s, t.open):
		return t.open.Row.Prompt
	}
	return ReadPausedRow(s).Prompt
}

// Keys returns the count of the user's keys.
func (t Typed) Keys() uint64 { return t.keys }

// SetPlace sets the cursor's place.
func (t *Tracker) SetPlace(p Place) { t.place.Store(&p) }

// cursor returns the cursor's place, and false before it is known.
func (t *Tracker) cursor() (p Place, ok bool) {
	if at := t.place.Load(); at != nil {
		return *at, true
	}
	return Place{}, false
}

// ReadPrompt reads the prompt off the screen while the output pauses: for the next key, and for
// keys that were typed before it was known.
func (t *Tracker) ReadPrompt(s Screen) {
	r := ReadPausedRow(s)
	old := t.pausedRow.Swap(&r)
	t.mu.Lock()
	defer t.mu.Unlock()
	if old != nil && t.countAtPause == t.count && old.Prompt != r.Prompt {
		t.noteRedraw(*old, r)
	}
	t.countAtPause = t.count
	t.typed.open.learnPrompt(s)
	t.typed.Own.learnPrompt(s)
	if t.typed.Line.learnPrompt(s) {
		t.notePrompt(t.typed.Line)
	}
}

// noteRedraw moves the start of a line without new keys.
func (t *Tracker) noteRedraw(old, now PausedRow) {
	t.typed.Own.followRedraw(old, now)
	if t.typed.Line.followRedraw(old, now) {
		t.prompts.addPrompt(t.lineGroup, t.typed.Line.Row, true)
	}
}

// TypedLine returns the state of the present line.
func (t *Tracker) TypedLine() Typed {
	t.mu.Lock()
	defer t.mu.Unlock()
	typed := t.typed
	typed.prompts, typed.commands = t.prompts, t.commands
	return typed
}

// NotePrompt notes the prompt at which a group waits before any key, unless that asks for the rest
// of a line.
func (t *Tracker) NotePrompt(group int) {
	t.mu.Lock()
	defer t.mu.Unlock()
	rest := t.pausedRow.Load()
	if rest == nil || strings.TrimSpace(rest.Prompt) == "" || t.typed.Line.Set || t.typed.Own.Set {
		return
	}
	before, _ := t.prompts.rowOf(group)
	sure := t.prompts.isSure(group)
	if open := t.typed.open; open.hasPrompt() && !sure {
		before, sure = open.Row, true
	}
	if !sure && t.typed.open.Set || sure && isContinuation(rest.Prompt, before.Prompt) {
		return
	}
	t.prompts.addPrompt(group, *rest, true)
}

// HasPrompt reports whether the prompt of a group is known for sure.
func (t *Tracker) HasPrompt(group int) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.prompts.isSure(group)
}

// RefreshTyped returns the present state if the user has not typed since known, and known
// otherwise.
func (t *Tracker) RefreshTyped(known Typed) Typed {
	if typed := t.TypedLine(); typed.keys == known.keys {
		return typed
	}
	return known
}

// LastKeyTime returns the time of the last key, or zero.
func (t *Tracker) LastKeyTime() time.Time {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.at
}

// NoteLineFree notes that the line was free of the user's text in the state known; it does nothing
// if the user has typed since. answered means that the program waits for a new line, so the last
// one is not continued.
func (t *Tracker) NoteLineFree(known Typed, answered bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.typed.keys != known.keys {
		return
	}
	if t.typed.Own = (Start{}); answered {
		t.typed.open = Start{}
	}
}

// AllowAgents lets agents type on the line until the user's next key.
func (t *Tracker) AllowAgents() {
	t.mu.Lock()
	t.typed.Allowed = true
	t.mu.Unlock()
}

// NoteUserKeys notes keys of the user before they reach the program.
func (t *Tracker) NoteUserKeys(keys []byte) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.at = time.Now()
	t.count++
	n := t.typed.keys + 1
	if t.endsLine(keys, true) {
		t.noteSubmit()
		next := Typed{keys: n}
		switch own := t.typed.Own; {
		case t.last == '\r' || t.last == '\n':
			next.open, next.openGroup = t.submittedStart()
		case t.last == interrupt && own.Set && !t.Cooked() && !t.isScreenGone(own):
			next.Own, next.Group, next.interrupted = own, t.typed.Group, true
		}
		t.typed = next
		return
	}
	t.typed.keys = n
	t.beginLine()
	if t.typed.Cooked && !t.Cooked() { // the new foreground program gets the text typed ahead
		t.typed.Group, t.typed.Cooked = t.Group(), false
	}
	if here, _ := t.cursor(); t.typed.interrupted && here.Line != t.typed.Own.Line {
		t.typed.Own = Start{}
	}
	t.typed.interrupted = false
	if !t.typed.Own.Set || t.isScreenGone(t.typed.Own) {
		t.typed.Own, t.typed.Group, t.typed.Cooked = t.startHere(), t.Group(), t.Cooked()
		if t.Spell != nil {
			t.typed.spell = t.Spell()
		}
	}
	t.typed.Allowed = false
	t.noteMeaning(keys)
}

// NoteAgentKeys notes keys of an agent before they reach the program.
func (t *Tracker) NoteAgentKeys(keys []byte) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.at = time.Now()
	t.count++
	if t.endsLine(keys, false) {
		t.noteSubmit()
		t.typed = Typed{keys: t.typed.keys}
		return
	}
	t.beginLine()
	t.noteMeaning(keys)
}

// noteMeaning notes whether keys change the meaning of the next ones.
func (t *Tracker) noteMeaning(keys []byte) {
	t.typed.KeysChanged = t.typed.KeysChanged || changesMeaning(keys)
	t.typed.MayAskKey = t.typed.MayAskKey || !t.paste && mayAsk(keys)
}

func (t *Tracker) beginLine() {
	if t.typed.Line.Set && !t.isScreenGone(t.typed.Line) {
		return
	}
	t.typed.Line, t.lineGroup = t.startHere(), t.Group()
	if t.typed.Line.Known {
		t.notePrompt(t.typed.Line)
	}
}

// notePrompt notes the prompt of a line if its group has no known prompt, unless it asks for the
// rest of another line, or may. After late output the key was really typed at another place.
func (t *Tracker) notePrompt(b Start) {
	_, known := t.prompts.rowOf(t.lineGroup)
	if known || !b.hasPrompt() ||
		t.typed.open.Set &&
			(!t.typed.open.Known || isContinuation(b.Row.Prompt, t.typed.open.Row.Prompt)) {
		return
	}
	t.prompts.addPrompt(t.lineGroup, b.Row, false)
}

// abandoningKeys are the user's keys that end a line without submitting it.
const abandoningKeys = "\x03\x04\x15\x1a\x1c"

// noteSubmit notes the prompt of a submitted command.
func (t *Tracker) noteSubmit() {
	b := t.typed.Line
	if !b.Known || strings.IndexByte(abandoningKeys, t.last) >= 0 {
		return
	}
	before, known := t.commands.rowOf(t.lineGroup)
	empty := !known && strings.TrimSpace(b.Row.Prompt) == "" // some prompts end with their row
	if empty ||
		isCommand(b.Row.Prompt, before.Prompt, known) &&
			(!known || !isContinuation(b.Row.Prompt, before.Prompt)) {
		t.commands.addPrompt(t.lineGroup, b.Row, true)
	}
}

// isScreenGone reports whether b was on the alternate screen, which has closed: text typed there,
// as to a pager, is on no line.
func (t *Tracker) isScreenGone(b Start) bool {
	here, ok := t.cursor()
	return ok && b.Alt && !here.Alt
}

// submittedStart returns where the submitted line began, or the line that it continues.
func (t *Tracker) submittedStart() (Start, int) {
	group, b, open := t.Group(), t.typed.Line, t.typed.open
	if !b.Set {
		b = t.startHere()
	}
	if open.Set && t.typed.openGroup == group && b.Known &&
		isContinuation(b.Row.Prompt, open.Row.Prompt) {
		return open, group
	}
	// A line typed ahead, or during late output, usually shows behind the previous prompt.
	if rest, _ := t.prompts.rowOf(group); !b.hasPrompt() ||
		t.prompts.isSure(group) && !isContinuation(b.Row.Prompt, rest.Prompt) {
		b.Row, b.Known = t.prompts.rowOf(group)
	}
	return b, group
}

// startHere returns where the next key will show.
func (t *Tracker) startHere() Start {
	here, ok := t.cursor()
	b := Start{Place: here, Set: ok}
	if rest := t.pausedRow.Load(); ok && rest != nil && rest.Place == here {
		b.Row, b.Known = *rest, true
	}
	return b
}

// endsLine reports whether keys end a line: Enter, or an interrupt. An agent's interrupt does not
// count, or an agent could hide the text that it typed. ^U, ^Z and ^\ empty only a line that the
// kernel collects, and ^D hands over the line's text.
func (t *Tracker) endsLine(keys []byte, user bool) bool {
	if len(keys) == 0 {
		return false
	}
	quoted := (t.last == 0x16 || t.last == 0x11) && len(keys) == 1 ||
		bytes.HasSuffix(keys, altEnter) || t.last == 0x1b && !user
	if t.last = keys[len(keys)-1]; user && t.last == 0x1b {
		t.last = 0 // the user's Escape is a key by itself: an Alt with it comes in one piece
	}
	if t.paste = t.paste && (!user || !t.agentPaste); bytes.Contains(keys, pasteBegins) {
		t.paste, t.agentPaste = true, !user
		keys = keys[bytes.LastIndex(keys, pasteBegins):]
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

// altEnter inserts a line end in many editors, as Enter does behind ^V or ^Q. An agent's Escape may
// combine with the Enter that follows.
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

// changesMeaning reports whether keys may change what the next letters mean: Escape or Alt with a
// letter (vi modes), and the prefixes ^V, ^X and ^Q.
func changesMeaning(keys []byte) bool {
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

// mayAsk reports whether an editor may ask for a single key after keys: Tab, and all control keys
// except those that edit and move.
func mayAsk(keys []byte) bool {
	for _, b := range keys {
		if b < 0x20 && b != 0x1b && bytes.IndexByte(editingKeys, b) < 0 {
			return true
		}
	}
	return false
}

// editingKeys are ^A ^B ^E ^F ^H ^K ^L ^N ^P ^U ^W and ^_.
var editingKeys = []byte("\x01\x02\x05\x06\x08\x0b\x0c\x0e\x10\x15\x17\x1f")

// findUserText returns the line, and whether the user has typed on it since the last end of a
// line.
func findUserText(s Screen, d Activity, t Typed) (Buffer, bool) {
	// In a later spell, the collected text has been read.
	group, raw := d.Group, t.spell != 0 && d.Spell != 0 && t.spell != d.Spell
	if !t.Own.Set || raw || t.Group != group && !t.Cooked || t.Own.Alt && !s.Alt() {
		return Buffer{}, false // there were no keys, or another program got them
	}
	if row, _ := s.Cursor(); t.interrupted && (!d.KeepsLine || s.Line(row) != t.Own.Line) {
		return Buffer{}, false
	}
	mine, all := ReadBuffer(s, t.Own), ReadBuffer(s, t.Line)
	if !t.Line.Set {
		all = mine
	}
	if mine.Known && mine.Before != "" && mine.Empty() {
		return all, true // blanks: an indent means something to Python
	}
	if rest, ok := t.prompts.rowOf(group); ok && isBarePrompt(s, rest) {
		return Buffer{}, false
	}
	if mine.Known {
		return all, !mine.Empty()
	}
	// If the user empties the line, an agent's text left of the user's first key goes, too.
	return all, !all.Known || !all.Empty()
}
