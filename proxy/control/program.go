package control

// Front is the program that has the terminal: its process group, 0 when that is not known, and its name.
type Front struct {
	Group int
	Name  string
}

// Look tells the machine which program has the terminal now. Where grants are for one program only, that is the one which
// has it when control is given, so it has to be told before anything that may give it, and before every piece of input.
func (m *Machine) Look(f Front) { m.front = f }

// Away reports whether control rests because another program has the terminal than the grant is for. What is not known
// counts as another.
func (m *Machine) Away() bool {
	return m.conf.OneProgram && m.phase == Granted && (m.front.Group != m.program.Group || m.front.Group == 0)
}

// grantedTo is the name of the program that the grant is for, "" for every program.
func (m *Machine) grantedTo() string {
	if !m.conf.OneProgram || m.phase != Granted {
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
