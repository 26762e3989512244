package pump

// What the table test of an input's life needs.
const (
	StateCount = State(states)
	EventCount = Event(events)
)

// After returns the state that follows e in s, 0 if e cannot happen then.
func After(s State, e Event) State { return transitions[s][e] }

// FateOf returns the fate of an input that e ended.
func FateOf(e Event) Fate { return fates[e] }
