package doctor

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"

	"terminalproxy/cmd/internal/askpass"
	"terminalproxy/gateway/access/secrets"
)

// shellTool says which of sudo, git and ssh can ask the user in an agent's shell tool, because it
// passes on their variables.
type shellTool struct {
	asks    string // the programs that ask the user
	asksNot string // the programs that do not, and why; "" if all do
}

// shellTools holds the known agents' shell tools, found by experiment.
var shellTools = map[string]shellTool{
	"claude": {"sudo, git and ssh", ""},
	"codex": {
		"sudo, git and ssh, with full access",
		"in its sandbox nothing can ask: let it run such a command outside",
	},
	"gemini":   {"sudo", clearsGit},
	"opencode": {"sudo, git and ssh", ""},
	"copilot":  {"sudo", clearsGit},
}

// clearsGit is the note for tools that clear the helper variables of git and ssh, but not sudo's.
const clearsGit = "git and ssh do not ask, because it empties their variables, unless the agent sets " +
	"them: GIT_ASKPASS=$SUDO_ASKPASS git push, SSH_ASKPASS=$SUDO_ASKPASS ssh HOST"

const initDo = "put the lines of `gateway init bash` (or zsh, fish) into your shell's start file, " +
	"open a new terminal, and start the agent there"

// checkAskpass checks whether sudo, git and ssh in the shell tools of the installed agents would
// ask the user.
func (d *doctor) checkAskpass() {
	var installed []string
	for _, name := range secrets.Agents() {
		if _, err := exec.LookPath(name); err == nil {
			installed = append(installed, name)
		}
	}
	path, err := askpass.Path(askpass.Name)
	if err != nil || len(installed) == 0 || !secrets.Supported {
		return
	}
	if info, err := os.Stat(path); err != nil || info.Mode().Perm()&0o100 == 0 {
		d.addWarning("passwords", initDo, "sudo, git and ssh of %s cannot ask you: there is no %s",
			strings.Join(installed, ", "), path)
		return
	}
	if d.status("self", "NoNewPrivs:") == "1" {
		d.addWarning("passwords", "run it outside of the sandbox",
			"sudo cannot work here: this shell may gain no rights (NoNewPrivs)")
	}
	for _, name := range installed {
		d.checkShellTool(name)
	}
}

// checkShellTool checks one agent: what its shell tool passes on, and whether running agents were
// started with the variables.
func (d *doctor) checkShellTool(name string) {
	tool, known := shellTools[name]
	if !known {
		return
	}
	words := "in its shell tool " + tool.asks + " ask you at your terminal"
	if tool.asksNot != "" {
		words += "; " + tool.asksNot
	}
	without := d.agentsWithoutAskpass(name)
	if len(without) == 0 {
		d.addOK("passwords of "+name, "%s", words)
		return
	}
	do := initDo
	if name == "claude" {
		do += "; with the plugin its shell tool has them anyway"
	}
	d.addWarning("passwords of "+name, do, "%s; but process %s runs without the variables for it",
		words, strings.Join(without, ", "))
}

// agentsWithoutAskpass returns the processes of an agent whose environment names no helper.
func (d *doctor) agentsWithoutAskpass(name string) (pids []string) {
	entries, err := os.ReadDir(d.root + "/proc")
	if err != nil {
		return nil
	}
	for _, e := range entries {
		pid, err := strconv.Atoi(e.Name())
		if err != nil || !d.runsAgent(pid, name) {
			continue
		}
		env, err := os.ReadFile(procPath(d.root, pid, "environ"))
		if err == nil && !strings.Contains("\x00"+string(env), "\x00SUDO_ASKPASS=") {
			pids = append(pids, e.Name())
		}
	}
	return pids
}

// runsAgent reports whether a process is an agent: its program, or its script under an interpreter,
// has that name.
func (d *doctor) runsAgent(pid int, name string) bool {
	line, err := os.ReadFile(procPath(d.root, pid, "cmdline"))
	if err != nil {
		return false
	}
	words := strings.Split(string(line), "\x00")
	base := filepath.Base(words[0])
	if len(words) > 1 && (base == "node" || base == "bun") {
		base = filepath.Base(words[1])
	}
	return strings.TrimSuffix(base, filepath.Ext(base)) == name
}

// status returns the value of a line of a process's status, "" if it is missing.
func (d *doctor) status(pid, label string) string {
	data, err := os.ReadFile(fmt.Sprintf("%s/proc/%s/status", d.root, pid))
	if err != nil {
		return ""
	}
	for line := range strings.Lines(string(data)) {
		if rest, ok := strings.CutPrefix(line, label); ok {
			return strings.TrimSpace(rest)
		}
	}
	return ""
}
