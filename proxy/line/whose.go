package line

// Owner says whose the line is that the user and agents share.
//
//	                 the user's key, at a line prompt
//	+------+ ------------------------------------------> +--------+
//	| Free |                                             | Users  | <----------------+
//	+------+ <------------------------------------------ +--------+                  |
//	   ^      emptied by ^C, by ^U, key by key; the user        |                    |
//	   |      lets agents type (Allow); another program         | the user's Enter   |
//	   |      has the terminal, or there is no line prompt      v                    |
//	   |                                                 +---------+                 |
//	   +------------------------------------------------ | Pending | ----------------+
//	    the program has read it and waits for the next,  +---------+  its next prompt asks
//	    or does something else: it asks for no more                   for the rest (PS2)
//
// A key whose effect the program has yet to show is Pending as well: nothing on the screen says yet what stands there. Pending is
// over when the program has answered, which is a fact and not a time, and is told to nobody: the line of a program that is quick
// is never seen to be anybody's.
type Owner uint8

// The owners.
const (
	Free    Owner = iota // nothing of the user's stands there: agents may type
	Users                // the user has something unsubmitted there: agents wait, and the user is told
	Pending              // the program has yet to answer what the user typed: agents wait for that
)

// Doing is what the program does with the terminal, as far as that says whose the line is.
type Doing struct {
	// Group has the terminal, and Prompt is that of [Shared].
	Group  int
	Prompt Prompt
	// Keeps is that of [Keeps].
	Keeps bool
	// Spell is that of [Tracker.Spell].
	Spell uint64
	// Read: it has read all that was typed, and what it printed by then is on the screen. It was so before and after the rest was
	// looked at.
	Read bool
	// Waits: it waits for input. Sleeps: it does not, and no process of the group runs. Known: the system tells these.
	Waits, Sleeps, Known bool
	// Rests: it has printed nothing for a moment, which has to do where the system does not tell.
	Rests bool
}

// Answered reports whether the program is done with what was typed, as far as that changes the line.
func (d Doing) Answered() bool {
	return d.Read && (d.Waits || d.Sleeps || !d.Known && d.Rests)
}

// Whose says whose the line is, and what stands there where that is the user's, or may be. Outside of a line prompt it is nobody's: no line is
// known there that could be waited for.
func Whose(s Screen, d Doing, t Typed) (Owner, Buffer) {
	if d.Prompt == None || !t.Mine() {
		return Free, Buffer{}
	}
	if b, yes := own(s, d, t); yes {
		if !d.Answered() && (t.gaveUp || d.Prompt == Editor) {
			return Pending, b // what it makes of the newest key may leave nothing there
		}
		return Users, b
	}
	opened := t.open.Set && t.openGroup == d.Group
	switch {
	case opened && continues(s, t.open):
		return Users, Find(s, t.open)
	case d.Answered():
	case opened && !t.Own.Set, t.Own.Set && t.Group == d.Group && d.Prompt == Editor:
		return Pending, Buffer{}
	}
	return Free, Buffer{}
}
