package control

// Foreground is the foreground program: its process group, or 0 if unknown, and its name. File is
// the file that it executes, or "" if unknown: a process may execute another program in its place
// (exec sh).
type Foreground struct {
	Group int
	Name  string
	File  string
}

// isSameProgram reports whether both are the same program. The name does not count, because
// programs choose it themselves.
func (f Foreground) isSameProgram(other Foreground) bool {
	return f.Group != 0 && f.Group == other.Group &&
		(f.File == other.File || f.File == "" || other.File == "")
}

// SetForeground sets the program that has the terminal now. A grant for one program is for the one
// that has the terminal when control is given. So SetForeground must come before anything that may
// give control, and before every piece of input.
func (m *situation) SetForeground(f Foreground) { m.foreground = f }

// IsPausedByProgram reports whether control pauses because the foreground program is not the one
// that the grant is for, or because a rule of the user excludes the agent from it. An unknown
// program counts as a different one.
func (m *situation) IsPausedByProgram() bool {
	switch {
	case !m.driven:
		return false
	case m.forbidden != "":
		return true
	// a rule gave control, and no person saw the program: an unknown program counts as a different
	// one
	case m.given.OneProgram:
		return m.foreground.Group != m.program.Group || m.foreground.File != m.program.File
	}
	return m.conf.OneProgram && !m.foreground.isSameProgram(m.program)
}

// grantedTo names the program that the grant is for, or returns "" if it is for every program.
func (m *situation) grantedTo() string {
	if !m.driven || m.forbidden != "" || !m.conf.OneProgram && !m.given.OneProgram {
		return ""
	}
	return displayName(m.program)
}

// pausingProgram names the foreground program that makes the grant pause, or returns "".
func (m *situation) pausingProgram() string {
	if !m.IsPausedByProgram() {
		return ""
	}
	return displayName(m.foreground)
}

func displayName(f Foreground) string {
	if f.Name == "" {
		return "another program"
	}
	return f.Name
}
