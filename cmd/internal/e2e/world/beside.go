package world

import (
	"strings"
)

// BesideClaude is Claude Code in its own interface under proxy --chat. A person at another terminal
// follows the conversation and answers.
type BesideClaude struct {
	*Chatting
	ID     string
	Person *Terminal
}

// BesideClaudeIn prepares everything but starts nothing.
func BesideClaudeIn(w *World) *BesideClaude {
	w.T.Helper()
	b := &BesideClaude{Chatting: w.NewChat(ChatAgents[0])}
	b.Person = w.Owner(100, 50)
	return b
}

// Start runs Claude Code with more arguments and waits for its prompt.
func (b *BesideClaude) Start(args string) {
	b.W.T.Helper()
	b.S.Run(b.Env + "proxy --chat --grant drive claude" + args)
	b.ID = b.W.Session()
	b.WaitForLog(`"state":"at prompt"`)
}

// WaitForLog waits until the conversation's log contains words.
func (b *BesideClaude) WaitForLog(words string) {
	b.W.T.Helper()
	log := ""
	b.W.Until(func() bool { log = b.W.MustGateway("chat", "log", b.ID, "--json"); return strings.Contains(log, words) }, func() string {
		return words + " is not in\n" + log + b.S.Screen()
	})
}

// AskForFile lets the model ask to create a file, and waits for the dialog.
func (b *BesideClaude) AskForFile(file string) {
	b.W.T.Helper()
	b.CallShell("touch " + file)
	b.S.See("a dialog for "+file, func(screen string) bool {
		at := strings.LastIndex(screen, "touch "+file)
		return at >= 0 && strings.Contains(screen[at:], "Do you want to proceed")
	})
	b.WaitForLog(`"command":"touch ` + file + `"`)
}
