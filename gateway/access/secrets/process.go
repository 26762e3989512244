package secrets

import (
	"errors"
	"path/filepath"
	"slices"
	"strings"
)

// process is a process as the kernel describes it.
type process struct {
	pid, parent int
	started     int64    // in clock ticks since the boot
	name        string   // as it names itself (comm)
	path        string   // of its program, "" if the kernel hides it
	args        []string // as the process shows them
	dir         string
	real        int // user ids
	effective   int
	tracer      int // the debugger's process, or 0
	// system means that only root can change the program's file.
	system bool
	// relays means that it handles signals for job control and the window, as sudo does once it has
	// started its command.
	relays bool
}

// program returns the name of the running program. The kernel hides the path of a program with
// root's rights, and such a program names itself.
func (p *process) program() string {
	if p.path == "" {
		return p.name
	}
	return strings.TrimSuffix(filepath.Base(p.path), " (deleted)")
}

// hasRootRights reports whether the process runs with root's rights for a user: a file with the
// set-uid bit, which only root can create, gave it those.
func (p *process) hasRootRights() bool { return p.effective == 0 && (p.real != 0 || p.system) }

// facts decide whether an asker gets an answer.
type facts struct {
	asker process
	chain []process // the ancestors of the asker, the nearest first
	// agent is gpg-agent, which asks through the helper on behalf of its client, the first process
	// of the chain. It is nil for a program that asks for itself.
	agent *process
	// ownFile means that the asker runs the gateway's own program, and sameNamespaces that it is in
	// the gateway's namespaces of processes and users.
	ownFile, sameNamespaces bool
	stdout                  string // the asker's standard output, as /proc names it
	programPipe             bool   // the asker's parent created that pipe, or may hold it
	sharers                 []int  // other processes that could read from it
}

// errGone is the error for an asker that has ended.
var errGone = errors.New("the program that asked has ended")

// Refusal says why a program gets no answer, in a sentence for the agent that runs it.
type Refusal string

// Error implements error.
func (r Refusal) Error() string { return string(r) }

// The refusals that depend only on the asker.
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
	refusedOutput   Refusal = "the answer would not go to the program that asks: run the " +
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

// gpgClients are the programs that may ask through gpg-agent: they use the passphrase without
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
	case !f.sameNamespaces:
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

// findProgram returns the name of the program that started the asker, or a Refusal.
func (f *facts) findProgram() (string, error) {
	parent := f.receiver()
	switch name := parent.program(); {
	case f.agent != nil:
		return f.findClient()
	case name == "sudo" || name == "sudo-rs":
		switch {
		case !parent.hasRootRights():
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

// findClient returns the name of the program on whose behalf gpg-agent asks. What gpg-agent reports
// of its client is believed if its file is the system's, or if it is closed: then only its name can
// be checked.
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
