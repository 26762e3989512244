package main

import (
	"bufio"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"time"

	"terminalproxy/cmd/internal/version"
	"terminalproxy/gateway"
	"terminalproxy/gateway/auth"
	"terminalproxy/gateway/client"
	"terminalproxy/gateway/place"
	"terminalproxy/gateway/text"
	"terminalproxy/protocol"
	"terminalproxy/protocol/handshake"
)

// doctorTime bounds each question to a gateway.
const doctorTime = 5 * time.Second

// versions are those of both programs: the proxy is the one that this shell would start.
func (d *doctor) versions(ctx context.Context) {
	d.ok("gateway", "version %s, wire %s, %s on %s/%s", version.String(), protocol.Version, runtime.Version(), runtime.GOOS, runtime.GOARCH)
	path, err := exec.LookPath("proxy")
	if err != nil {
		d.warn("proxy", "install it in a directory of $PATH, beside gateway", "proxy is not in $PATH")
		return
	}
	ctx, cancel := context.WithTimeout(ctx, doctorTime)
	defer cancel()
	said, err := exec.CommandContext(ctx, path, "--version").Output()
	own, ours := strings.CutPrefix(strings.TrimSpace(string(said)), "proxy ")
	if err != nil || !ours {
		d.warn("proxy", "put this project's directory first in $PATH", "%s is another program", path)
		return
	}
	d.ok("proxy", "version %s, %s", text.Name(own), path)
}

// socket looks at the local gateway.
func (d *doctor) socket(ctx context.Context) {
	dir, path, err := gateway.LocalSocket()
	switch {
	case errors.Is(err, fs.ErrNotExist):
		d.ok("local gateway", "none is running; the next proxy --agent will serve it, in %s", dir)
		return
	case err != nil:
		d.wrong("directory", "", "%v", err)
		return
	}
	d.ok("directory", "%s is yours, mode 0700", dir)
	if !d.private("socket", path, 0o600) {
		d.ok("local gateway", "none is running; the next proxy --agent will serve it, in %s", dir)
		return
	}
	ctx, cancel := context.WithTimeout(ctx, doctorTime)
	defer cancel()
	ep, _ := gateway.ParseEndpoint("") // the local one, which is no mistake
	ep.LookOnly = true
	conn, err := ep.DialContext(ctx)
	silent, isSilent := errors.AsType[*place.Silent](err)
	switch {
	case isSilent && silent.Full:
		d.wrong("local gateway", silent.Hint(), "%v", silent)
		return
	case isSilent:
		d.wrong("local gateway", "resume that process (kill -CONT), or run gateway ls: another one takes over", "%v", silent)
		return
	case errors.Is(err, syscall.ECONNREFUSED):
		d.ok("local gateway", "none is running; a killed one left its socket, which the next one replaces")
		return
	case err != nil:
		d.wrong("local gateway", "do not use it until you know whose it is", "%v", err)
		return
	}
	defer func() { _ = conn.Close() }()
	who := place.Process{}
	if socket, ok := conn.(syscall.Conn); ok {
		who = place.ProcessOf(socket)
	}
	said, err := health(conn, "localhost")
	if err != nil {
		d.wrong("local gateway", "end that process; another one takes over", "%s does not answer on the local socket: %v", who, err)
		return
	}
	d.ok("local gateway", "%s serves the local socket, wire %s", who, text.Name(said.Version))
	d.process("process of the gateway", who.Pid)
	d.cluster("", said)
	d.sessions(ctx, "", ep)
}

// healthy is what a gateway says of itself.
type healthy struct {
	Version string
	Cluster *struct { // nil for a gateway without others
		Connected   bool
		Gateways    int
		Trouble, Do string // told on the gateway's own machine
	}
}

// cluster says whether a gateway reaches the others.
func (d *doctor) cluster(at string, said healthy) {
	name := "cluster" + at
	switch c := said.Cluster; {
	case c == nil:
	case !c.Connected:
		why := "NATS is not reached, and this gateway goes on with its own sessions"
		if c.Trouble != "" {
			why += ": " + c.Trouble
		}
		d.wrong(name, cmp.Or(c.Do, "run gateway doctor on its machine, as its user: it says why"), "%s", why)
	case c.Trouble != "":
		d.warn(name, c.Do, "NATS is reached, other gateways that are heard: %d; but %s", c.Gateways, c.Trouble)
	case c.Gateways == 0:
		d.warn(name, "start the other gateways with the same --cluster", "NATS is reached, and no other gateway is there")
	default:
		d.ok(name, "NATS is reached; other gateways that are heard: %d", c.Gateways)
	}
}

// health asks a gateway how it is.
func health(raw net.Conn, host string) (said healthy, err error) {
	conn, err := handshake.Bound(raw, doctorTime)
	if err != nil {
		return said, err
	}
	if _, err := io.WriteString(conn, "GET /healthz HTTP/1.1\r\nHost: "+host+"\r\nConnection: close\r\n\r\n"); err != nil {
		return said, err
	}
	resp, err := http.ReadResponse(bufio.NewReader(conn), nil)
	if err != nil {
		return said, err
	}
	defer func() { _ = resp.Body.Close() }()
	if err := json.NewDecoder(resp.Body).Decode(&said); err != nil || resp.StatusCode != http.StatusOK {
		return said, errors.Join(fmt.Errorf("it says %s", resp.Status), err)
	}
	return said, nil
}

// mostListed is how many sessions of a gateway are looked at one by one.
const mostListed = 20

// sessions lists what a gateway has, and looks at the processes of those on this machine.
func (d *doctor) sessions(ctx context.Context, at string, ep gateway.Endpoint) {
	cfg := d.app.way(ep, protocol.PathAgent, protocol.PathView)
	cfg.Name = "gateway doctor"
	c := client.New(cfg)
	defer func() { _ = c.Close() }()
	list, err := c.Sessions(ctx)
	if err != nil {
		d.wrong("sessions"+at, "", "cannot list them: %v", err)
		return
	}
	switch {
	case len(list) == 0:
		d.ok("sessions"+at, "none")
	case at != "":
		d.ok("sessions"+at, "%d", len(list))
	}
	for i, s := range list {
		if i == mostListed {
			d.ok("sessions"+at, "%d more: see gateway ls", len(list)-i)
			return
		}
		name := "session " + s.SessionID
		d.ok(name, "%s, %s, keyboard: %s", text.Command(s), text.State(s), text.Keyboard(s.Keyboard, "", time.Now()))
		if at == "" && s.State == protocol.StateRunning {
			d.process("process of "+s.SessionID, proxyOf(d.root, s.Pid))
		}
	}
}

// remote looks at the gateway that the user named.
func (d *doctor) remote(ctx context.Context) {
	if d.app.gateway == "" {
		return
	}
	const at = " of --gateway"
	ep, err := d.app.endpoint()
	if err != nil {
		d.wrong("address"+at, "", "%v", err)
		return
	}
	for _, one := range ep.All() {
		name := at
		if len(ep.All()) > 1 {
			name = " of " + one.String()
		}
		within, cancel := context.WithTimeout(ctx, doctorTime)
		if d.others(within, name, one) {
			d.sessions(within, name, one)
		}
		cancel()
	}
}

// others says whether a gateway that the user named reaches others, where it belongs to some. It reports whether the gateway answers.
func (d *doctor) others(ctx context.Context, at string, ep gateway.Endpoint) bool {
	conn, err := ep.DialContext(ctx)
	if err != nil {
		err = handshake.Worded(err)
		d.wrong("gateway"+at, client.Hint(err), "%v", err)
		return false
	}
	defer func() { _ = conn.Close() }()
	said, err := health(conn, ep.Host())
	if err != nil {
		d.wrong("gateway"+at, "look whether that is a gateway, and at its log", "it does not answer as a gateway does: %v", err)
		return false
	}
	d.cluster(at, said)
	return true
}

// tokens looks at the files with secrets.
func (d *doctor) tokens() {
	path, err := gateway.TokensPath()
	if err != nil {
		d.wrong("tokens", "", "%v", err)
		return
	}
	d.private("state directory", filepath.Dir(path), 0o700)
	if d.private("tokens", path, 0o600) {
		d.store(path)
	} else {
		d.ok("tokens", "none: only processes of this user can connect, by the local socket")
	}
	d.private("identity", filepath.Join(filepath.Dir(path), "agent.key"), 0o600)
	owner, err := gateway.OwnerTokenPath()
	if err != nil {
		d.wrong("owner token", "", "%v", err)
		return
	}
	if !d.private("owner token", owner, 0o600) {
		d.ok("owner token", "none: control is granted at the sessions' own terminals")
		return
	}
	d.warn("owner token", "keep it on another machine or under another user, and pass it with --token-file",
		"every process of yours can read it, an agent's too: it prevents mistakes, not attacks")
}

// store looks into the tokens' file.
func (d *doctor) store(path string) {
	store, err := auth.OpenStore(path, nil)
	if err != nil {
		return // its modes were looked at
	}
	list, err := store.List()
	if err != nil {
		d.wrong("tokens", "", "%v", err)
		return
	}
	count, old, late := make(map[auth.Role]int), 0, 0
	for _, t := range list {
		switch {
		case !t.Expires.IsZero() && time.Now().After(t.Expires):
			late++
		case t.Key == "":
			old++
		}
		count[t.Role]++
	}
	d.ok("tokens", "%d proxy, %d agent, %d viewer, %d owner", count[auth.RoleProxy], count[auth.RoleAgent], count[auth.RoleViewer], count[auth.RoleOwner])
	if old > 0 {
		d.warn("tokens", "create new ones with gateway token create, and revoke these", "%d must be sent to be checked: they are from an older version", old)
	}
	if late > 0 {
		d.warn("tokens", "gateway token revoke NAME", "%d have expired", late)
	}
}

// leaderName is the name of a process of the proxy's that may stand between it and its program (package child).
const leaderName = "proxy-leader"

// proc is a file of the kernel's about a process; see proc(5).
func proc(root string, pid int, name string) string {
	return filepath.Join(root+"/proc", strconv.Itoa(pid), name)
}

// proxyOf is the process that runs a session's program, 0 when that is not known.
func proxyOf(root string, program int) int {
	pid := parent(root, program)
	if name, _ := os.ReadFile(proc(root, pid, "comm")); strings.TrimSpace(string(name)) == leaderName {
		return parent(root, pid)
	}
	return pid
}
