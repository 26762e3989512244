package control

// Front is the foreground program: its process group, or 0 if unknown, and its name. File is what
// it runs, or "" if unknown: a process may execute another program in its place (exec sh).
type Front struct {
	Group int
	Name  string
	File  string
}

// isSameProgram reports whether both are the same program. Its name is its own choice and does not
// count.
func (f Front) isSameProgram(other Front) bool {
	return f.Group != 0 && f.Group == other.Group &&
		(f.File == other.File || f.File == "" || other.File == "")
}

// SetForeground sets the program that has the terminal now. If grants are for one program only, it
// is the one that has the terminal when control is given. So SetForeground must come before
// anything that may give control, and before every piece of input.
func (m *Machine) SetForeground(f Front) { m.front = f }

// IsPausedByProgram reports whether control pauses because another program has the terminal than
// the grant is for, or one that a rule of the user keeps the agent out of. An unknown program
// counts as another.
func (m *Machine) IsPausedByProgram() bool {
	switch {
	case m.phase != Granted:
		return false
	case m.forbidden != "":
		return true
	case m.given.Bound: // no person looked when it was given: an unknown program is another one
		return m.front.Group != m.program.Group || m.front.File != m.program.File
	}
	return m.conf.OneProgram && !m.front.isSameProgram(m.program)
}

// grantedTo names the program that the grant is for, or returns "" if it is for every program.
func (m *Machine) grantedTo() string {
	if m.phase != Granted || m.forbidden != "" || !m.conf.OneProgram && !m.given.Bound {
		return ""
	}
	return displayName(m.program)
}

// inFront names the program that makes the grant pause, or returns "".
func (m *Machine) inFront() string {
	if !m.IsPausedByProgram() {
		return ""
	}
	return displayName(m.front)
}

func displayName(f Front) string {
	if f.Name == "" {
		return "another program"
	}
	return f.Name
}
