package control

// Front is the program that has the terminal: its process group, 0 when that is not known, and its name. File is what it
// runs, "" when that is not known: a process may execute another program in its place (exec sh).
type Front struct {
	Group int
	Name  string
	File  string
}

// is reports whether two looks found the same program. Its name is its own choice and does not matter.
func (f Front) is(other Front) bool {
	return f.Group != 0 && f.Group == other.Group && (f.File == other.File || f.File == "" || other.File == "")
}

// Look tells the machine which program has the terminal now. Where grants are for one program only, that is the one which
// has it when control is given, so it has to be told before anything that may give it, and before every piece of input.
func (m *Machine) Look(f Front) { m.front = f }

// Away reports whether control rests because another program has the terminal than the grant is for, or one that a rule of the user's
// keeps the agent out of. What is not known counts as another.
func (m *Machine) Away() bool {
	switch {
	case m.phase != Granted:
		return false
	case m.forbidden != "":
		return true
	case m.given.Bound: // nobody looked when it was given: what is not known is another one
		return m.front.Group != m.program.Group || m.front.File != m.program.File
	}
	return m.conf.OneProgram && !m.front.is(m.program)
}

// grantedTo is the name of the program that the grant is for, "" for every program.
func (m *Machine) grantedTo() string {
	if m.phase != Granted || m.forbidden != "" || !m.conf.OneProgram && !m.given.Bound {
		return ""
	}
	return named(m.program)
}

// inFront is the name of the program that keeps the grant resting, "" while it does not rest.
func (m *Machine) inFront() string {
	if !m.Away() {
		return ""
	}
	return named(m.front)
}

func named(f Front) string {
	if f.Name == "" {
		return "another program"
	}
	return f.Name
}
