package line

// Owner says who owns the line that the user and agents share.
//
//	                 the user's key, at a line prompt
//	+------+ ------------------------------------------> +--------+
//	| Free |                                             | Taken  | <----------------+
//	+------+ <------------------------------------------ +--------+                  |
//	   ^      emptied by ^C, by ^U, key by key; the user        |                    |
//	   |      lets agents type (AllowAgents); another program   | the user's Enter   |
//	   |      has the terminal, or there is no line prompt      v                    |
//	   |                                                 +---------+                 |
//	   +------------------------------------------------ | Pending | ----------------+
//	    the program has read it and waits for the next,  +---------+  its next prompt asks for
//	    or does something else: it asks no further                    the rest (PS2), or holds text
//
// The line is Pending, too, while the program has yet to show the effect of a key. Pending ends
// when the program has answered, not after a time. It is not announced, so with a quick program the
// line never seems taken.
type Owner uint8

// The owners.
const (
	Free    Owner = iota // no text of the user: agents may type
	Taken                // unsubmitted text of the user: agents wait, and the user sees that
	Pending              // the program has yet to answer the user's keys: agents wait
)

// Activity is what the program does with the terminal. It decides who owns the line.
type Activity struct {
	// Group has the terminal, and Prompt comes from [PromptOfUserLine].
	Group  int
	Prompt Prompt
	// KeepsLine comes from [KeepsLineAtInterrupt].
	KeepsLine bool
	// Spell comes from [Tracker.Spell].
	Spell uint64
	// Read: it has read all input, and its output until then is on the screen. That was so before
	// and after the other facts were read.
	Read bool
	// Waits: it waits for input. Sleeps: it does not, and no process of the group runs. Known: the
	// system reports these.
	Waits, Sleeps, Known bool
	// Quiet: it has printed nothing for a moment. That decides if the system cannot report these.
	Quiet bool
}

// HasProcessedKeys reports whether the program has processed the keys that change the line.
func (d Activity) HasProcessedKeys() bool {
	return d.Read && (d.Waits || d.Sleeps || !d.Known && d.Quiet)
}

// OwnerOf returns the owner of the line, and the line if it is the user's or may be. Without a line
// prompt the line is free: there is no known text to wait for.
func OwnerOf(s Screen, d Activity, t Typed) (Owner, Buffer) {
	if d.Prompt == None || !t.MayHaveUserText() {
		return Free, Buffer{}
	}
	if b, yes := findUserText(s, d, t); yes {
		if !d.HasProcessedKeys() && (t.interrupted || d.Prompt == Editor) {
			return Pending, b // the newest key may empty the line
		}
		return Taken, b
	}
	opened := t.open.Set && t.openGroup == d.Group
	switch {
	case opened && isContinued(s, t.open):
		return Taken, ReadBuffer(s, t.open)
	case d.HasProcessedKeys():
		if !opened || t.Line.Set { // text that an agent typed since then is its own
			break
		}
		kept := readKept(s, t.open)
		if kept.Empty() && d.Prompt == Editor && isProposed(s, t.open) {
			kept = ReadBuffer(s, Start{})
		}
		if !kept.Empty() {
			return Taken, kept
		}
	case opened && !t.Own.Set, t.Own.Set && t.Group == d.Group && d.Prompt == Editor:
		return Pending, Buffer{}
	}
	return Free, Buffer{}
}
