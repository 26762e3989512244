package world

// RunGranted grants codex the keyboard in a program, and returns the session's id. ready matches
// the program's screen once it has started.
func (s *Terminal) RunGranted(level, program, ready string) (id string) {
	s.W.T.Helper()
	if s.W.Content("rc") == "" {
		s.W.Write("rc", "PS1='$ '\n")
	}
	s.Run("proxy --agent --grant " + level + " --yield 100ms " + program)
	s.Match(ready)
	id = s.W.Session()
	s.W.RequestGrant(id, "--level", level, "--as", "codex")
	s.W.MustGateway("wait", id, "--waiting") // the matched prompt may have been another program's
	return id
}

const (
	PlainBash = "bash --noprofile --rcfile rc -i"
	WaitsLine = "“codex” waits for your line, to type “"
	AtPrompt  = `[$#%>] *\n` // of a shell, of root or not
)

// Prompt ends the row in which a shell waits. Before it appears, the shell may not have switched
// pastes on again.
const Prompt = `[#$%>] *$`
