package secrets

import (
	"errors"
	"path/filepath"
	"slices"
	"strings"
)

// process is what the kernel says of a process.
type process struct {
	pid, parent int
	started     int64    // in clock ticks since the boot
	name        string   // as it names itself (comm)
	path        string   // of its program, "" if the kernel does not tell
	args        []string // as it shows them
	dir         string
	real        int // user ids
	effective   int
	tracer      int // the debugger's process, or 0
	// system means that the program's file is root's alone to change.
	system bool
	// relays means that it handles signals for job control and the window, as sudo does once it has
	// started its command.
	relays bool
}

// program returns the name of the program that runs. The kernel hides the path of a program that
// runs with root's rights, and such a program names itself.
func (p *process) program() string {
	if p.path == "" {
		return p.name
	}
	return strings.TrimSuffix(filepath.Base(p.path), " (deleted)")
}

// isRoots reports whether the process runs with root's rights for a user: a file with the set-uid
// bit, which only root can make, gave it those.
func (p *process) isRoots() bool { return p.effective == 0 && (p.real != 0 || p.system) }

// facts are what decides whether an asker gets an answer.
type facts struct {
	asker process
	chain []process // the ancestors of the asker, the nearest first
	// agent is gpg-agent, which has the asker ask for the first process of the chain: that one is its
	// client. It is nil for a program that asks for itself.
	agent *process
	// ownFile means that the asker runs the gateway's own program, and beside that it is in the
	// gateway's namespaces of processes and users.
	ownFile, beside bool
	stdout          string // what its standard output is, as /proc names it
	programPipe     bool   // the program that started the asker made it, or may hold it
	sharers         []int  // other processes that could read from there
}

// errGone is the error for an asker that has ended.
var errGone = errors.New("the program that asked has ended")

// Refusal says why a program gets no answer, in a sentence for the agent that ran it.
type Refusal string

// Error implements error.
func (r Refusal) Error() string { return string(r) }

// The refusals that depend on the asker alone.
const (
	refusedHelper Refusal = "only sudo, ssh, git and gpg may ask: run the command, not the helper"
	refusedFile   Refusal = "this helper belongs to another version than the gateway that " +
		"answers: install one version, and restart the shared terminals"
	refusedPlace Refusal = "a program in a container gets no answer: ask the user to run this " +
		"outside"
	refusedSudo Refusal = "the program called sudo is not root's: run the system's own sudo"
	refusedFill Refusal = "git credential would print the password: run the git command that " +
		"needs it"
	refusedDebugger Refusal = "a debugger is attached: no password is given to it"
	refusedOutput   Refusal = "the answer would go elsewhere than to the program that asks: run the " +
		"command, not the helper"
	refusedSharers Refusal = "another process could read the answer"
	refusedClient  Refusal = "gpg-agent would give the passphrase to the program that asks it: " +
		"run gpg, or git with -S"
	refusedKey Refusal = "another process speaks for the helper: run the command, not the helper"
)

// askers are the programs that may ask, apart from sudo.
var askers = map[string]string{
	"ssh": "ssh", "ssh-add": "ssh", "ssh-keygen": "ssh",
	"git-remote-http": "git", "git-remote-https": "git", "git-remote-ftp": "git",
	"git-remote-ftps": "git", "git-http-fetch": "git", "git-http-push": "git",
}

// gpgClients are the programs that may ask by way of gpg-agent: they use the passphrase without
// printing it. gpg-connect-agent prints it.
var gpgClients = []string{"gpg", "gpg2", "gpgsm"}

// receiver returns the process that gets the answer.
func (f *facts) receiver() *process {
	if f.agent != nil {
		return f.agent
	}
	return &f.chain[0]
}

// judge returns the program that gets the answer, or a Refusal.
func (f *facts) judge() (program string, err error) {
	if len(f.chain) == 0 {
		return "", refusedHelper
	}
	program, err = f.findProgram()
	switch {
	case !f.beside:
		return "", refusedPlace
	case !f.ownFile:
		return "", refusedFile
	case err != nil:
		return "", err
	case f.asker.tracer != 0 || f.receiver().tracer != 0:
		return "", refusedDebugger
	case !strings.HasPrefix(f.stdout, "pipe:"), !f.programPipe:
		return "", refusedOutput
	case len(f.sharers) > 0:
		return "", refusedSharers
	}
	return program, nil
}

// findProgram looks which program started the asker.
func (f *facts) findProgram() (string, error) {
	parent := f.receiver()
	switch name := parent.program(); {
	case f.agent != nil:
		return f.findClient()
	case name == "sudo" || name == "sudo-rs":
		switch {
		case !parent.isRoots():
			return "", refusedSudo
		case parent.relays: // it would print the answer: it logs what its command prints
			return "", refusedOutput
		}
		return "sudo", nil
	case parent.effective != f.asker.effective:
		return "", refusedHelper
	case name == "git" && slices.Contains(parent.args, "credential"),
		name == "git-credential":
		return "", refusedFill
	case askers[name] != "":
		return askers[name], nil
	}
	return "", refusedHelper
}

// isClosed reports whether a process keeps its program and its descriptors from the user's other
// processes, as gpg-agent does.
func (p *process) isClosed() bool { return p.path == "" && p.effective != 0 }

// findClient looks which program gpg-agent asks for. What gpg-agent says of its client is believed
// if its file is the system's, or if it is closed: then its name has to do.
func (f *facts) findClient() (string, error) {
	client := &f.chain[0]
	switch {
	case f.agent.program() != "gpg-agent" || !f.agent.system && !f.agent.isClosed(),
		f.agent.effective != f.asker.effective:
		return "", refusedHelper
	case client.effective != f.asker.effective, !client.system,
		!slices.Contains(gpgClients, client.program()):
		return "", refusedClient
	}
	return "gpg", nil
}
