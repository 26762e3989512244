package line

// Owner tells who owns the line that the user and agents share.
//
//	                 the user's key, at a line prompt
//	+------+ ------------------------------------------> +--------+
//	| Free |                                             | Users  | <----------------+
//	+------+ <------------------------------------------ +--------+                  |
//	   ^      emptied by ^C, by ^U, key by key; the user        |                    |
//	   |      lets agents type (AllowAgents); another program   | the user's Enter   |
//	   |      has the terminal, or there is no line prompt      v                    |
//	   |                                                 +---------+                 |
//	   +------------------------------------------------ | Pending | ----------------+
//	    the program has read it and waits for the next,  +---------+  its next prompt asks
//	    or does something else: it asks no further                    for the rest (PS2)
//
// A key whose effect the program has yet to show is Pending as well: the screen does not show the
// line yet. Pending ends when the program has answered, which is a fact and not a time. It is not
// announced: the line of a quick program never seems to be owned.
type Owner uint8

// The owners.
const (
	Free    Owner = iota // no text of the user: agents may type
	Users                // unsubmitted text of the user: agents wait, and the user is told
	Pending              // the program has yet to answer the user's keys: agents wait
)

// Doing is what the program does with the terminal, for the question who owns the line.
type Doing struct {
	// Group has the terminal, and Prompt comes from [PromptOfUserLine].
	Group  int
	Prompt Prompt
	// Keeps comes from [KeepsLineAtInterrupt].
	Keeps bool
	// Spell comes from [Tracker.Spell].
	Spell uint64
	// Read: it has read all input, and its output until then is on the screen. That held before and
	// after the rest was read.
	Read bool
	// Waits: it waits for input. Sleeps: it does not, and no process of the group runs. Known: the
	// system reports these.
	Waits, Sleeps, Known bool
	// Rests: it has printed nothing for a moment, which decides if the system does not report.
	Rests bool
}

// HasProcessedKeys reports whether the program has processed the keys that change the line.
func (d Doing) HasProcessedKeys() bool {
	return d.Read && (d.Waits || d.Sleeps || !d.Known && d.Rests)
}

// OwnerOf returns the owner of the line, and the line if it is the user's or may be. Without a line
// prompt the line is free: no text is known that could be waited for.
func OwnerOf(s Screen, d Doing, t Typed) (Owner, Buffer) {
	if d.Prompt == None || !t.MayHaveUserText() {
		return Free, Buffer{}
	}
	if b, yes := findUsersText(s, d, t); yes {
		if !d.HasProcessedKeys() && (t.gaveUp || d.Prompt == Editor) {
			return Pending, b // the newest key may empty the line
		}
		return Users, b
	}
	opened := t.open.Set && t.openGroup == d.Group
	switch {
	case opened && isContinued(s, t.open):
		return Users, ReadBuffer(s, t.open)
	case d.HasProcessedKeys():
	case opened && !t.Own.Set, t.Own.Set && t.Group == d.Group && d.Prompt == Editor:
		return Pending, Buffer{}
	}
	return Free, Buffer{}
}
