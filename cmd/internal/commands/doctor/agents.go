package doctor

import (
	"os"
	"os/exec"
	"runtime"
	"strings"

	"terminalproxy/cmd/internal/agents/confine"
	"terminalproxy/gateway/userdirs"
)

// checkAgents reports which installed agents are kept from the user's tokens and sockets, and how.
func (d *doctor) checkAgents() {
	dirs, err := confine.Directories()
	if err != nil {
		return // checkTokens reports it
	}
	d.checkSurroundings()
	var free []string
	for _, a := range confine.Agents() {
		if _, err := exec.LookPath(a.Name); err != nil {
			continue
		}
		name := "agent " + a.Name
		switch a.FindStrength(dirs) {
		case confine.Absent:
			free = append(free, a.Name)
		case confine.Patterns:
			d.addOK(name, "%s keeps its tools from your tokens by their names: this prevents "+
				"mistakes, not attacks", a.File())
		case confine.Sandbox:
			d.checkSandbox(name, a)
		}
	}
	if len(free) > 0 {
		d.addWarning("agents", "gateway confine "+free[0],
			"commands of %s can read your tokens and reach your sockets, as you can",
			strings.Join(free, ", "))
	}
}

// checkSandbox checks whether the sandbox of an agent can start.
func (d *doctor) checkSandbox(name string, a confine.Agent) {
	var missing []string
	for _, program := range a.Needs {
		if _, err := exec.LookPath(program); err != nil && runtime.GOOS == "linux" {
			missing = append(missing, program)
		}
	}
	if len(missing) > 0 {
		d.addWarning(name, "install "+strings.Join(missing, " and "),
			"%s asks for a sandbox, which does not work without %s", a.File(),
			strings.Join(missing, " and "))
		return
	}
	d.addOK(name, "its sandbox keeps its commands from your tokens and sockets, by %s", a.File())
}

// checkSurroundings reports whether this user is confined: by a container, or by a token for
// another user's gateway.
func (d *doctor) checkSurroundings() {
	for _, mark := range []string{"/.dockerenv", "/run/.containerenv"} {
		if _, err := os.Stat(d.root + mark); err == nil {
			d.addOK("container", "programs here reach only what the container mounts (%s)", mark)
			break
		}
	}
	owner, err := userdirs.OwnerTokenPath()
	if err != nil || d.env.Gateway == "" {
		return
	}
	if _, err := os.Stat(owner); err != nil {
		d.addOK("user", "this user has no owner token; its own token limits it at %s", d.env.Gateway)
	}
}
