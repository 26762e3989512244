package doctor

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

	"terminalproxy/cmd/internal/process/version"
	"terminalproxy/gateway/access/auth"
	"terminalproxy/gateway/client"
	"terminalproxy/gateway/endpoint"
	"terminalproxy/gateway/place"
	"terminalproxy/gateway/text"
	"terminalproxy/gateway/userdirs"
	"terminalproxy/protocol"
	"terminalproxy/protocol/handshake"
)

// doctorTime bounds each question to a gateway.
const doctorTime = 5 * time.Second

// checkVersions shows the versions of both programs: the proxy is the one that this shell would
// start.
func (d *doctor) checkVersions(ctx context.Context) {
	d.addOK("gateway", "version %s, wire %s, %s on %s/%s", version.String(), protocol.Version,
		runtime.Version(), runtime.GOOS, runtime.GOARCH)
	path, err := exec.LookPath("proxy")
	if err != nil {
		d.addWarning("proxy", "install it in a directory of $PATH, beside gateway",
			"proxy is not in $PATH")
		return
	}
	ctx, cancel := context.WithTimeout(ctx, doctorTime)
	defer cancel()
	output, err := exec.CommandContext(ctx, path, "--version").Output()
	own, ours := strings.CutPrefix(strings.TrimSpace(string(output)), "proxy ")
	if err != nil || !ours {
		d.addWarning("proxy", "put this project's directory first in $PATH",
			"%s is another program", path)
		return
	}
	own = fmt.Sprintf("%.100s", text.OneLine(own))
	if own != version.String() {
		d.addWarning("proxy", "keep one installation: type -a proxy gateway shows those in $PATH",
			"%s has version %s, and this gateway is from another build", path, own)
		return
	}
	d.addOK("proxy", "version %s, %s", own, path)
}

// checkSocket checks the local gateway.
func (d *doctor) checkSocket(ctx context.Context) {
	dir, path, err := userdirs.LocalSocket()
	switch {
	case errors.Is(err, fs.ErrNotExist):
		d.addOK("local gateway", "not running; the next proxy --agent will serve it, in %s", dir)
		return
	case err != nil:
		d.addError("directory", "", "%v", err)
		return
	}
	d.addOK("directory", "%s is yours, mode 0700", dir)
	if !d.checkPrivate("socket", path, 0o600) {
		d.addOK("local gateway", "not running; the next proxy --agent will serve it, in %s", dir)
		return
	}
	ctx, cancel := context.WithTimeout(ctx, doctorTime)
	defer cancel()
	ep, _ := endpoint.Parse("") // the local one, which always parses
	ep.KeepsOwner = true
	if conn := d.dialSocket(ctx, ep); conn != nil {
		defer func() { _ = conn.Close() }()
		d.checkServer(ctx, ep, conn)
	}
}

// dialSocket connects to the local gateway. On failure it reports the reason and returns nil.
func (d *doctor) dialSocket(ctx context.Context, ep endpoint.Endpoint) net.Conn {
	conn, err := ep.DialContext(ctx)
	silent, isSilent := errors.AsType[*place.SilentOwnerError](err)
	switch {
	case isSilent && silent.Full:
		d.addError("local gateway", silent.Hint(), "%v", silent)
	case isSilent:
		d.addError("local gateway",
			"resume that process (kill -CONT), or run gateway ls: another one takes over", "%v",
			silent)
	case errors.Is(err, syscall.ECONNREFUSED):
		d.addOK("local gateway",
			"not running; a killed gateway left its socket, which the next one replaces")
	case err != nil:
		d.addError("local gateway", "do not use it until you know whose it is", "%v", err)
	default:
		return conn
	}
	return nil
}

// checkServer checks the process that serves the local socket, and its health report.
func (d *doctor) checkServer(ctx context.Context, ep endpoint.Endpoint, conn net.Conn) {
	server := place.Process{}
	if socket, ok := conn.(syscall.Conn); ok {
		server = place.ProcessOf(socket)
	}
	health, err := fetchHealth(conn, "localhost")
	if err != nil {
		d.addError("local gateway", "end that process; another one takes over",
			"%s does not answer on the local socket: %v", server, err)
		return
	}
	d.addOK("local gateway", "%s serves the local socket, wire %s", server, text.Name(health.Version))
	d.checkProcess("process of the gateway", server.Pid)
	d.checkCluster("", health)
	d.checkSessions(ctx, "", ep)
}

// healthReport is a gateway's answer about its health.
type healthReport struct {
	Version string
	Cluster *struct { // nil for a gateway without others
		Connected   bool
		Gateways    int
		Trouble, Do string // sent on the gateway's own machine only
	}
}

// checkCluster reports whether a gateway reaches the others.
func (d *doctor) checkCluster(at string, health healthReport) {
	name := "cluster" + at
	switch c := health.Cluster; {
	case c == nil:
	case !c.Connected:
		why := "NATS cannot be reached; this gateway continues with its own sessions"
		if c.Trouble != "" {
			why += ": " + c.Trouble
		}
		d.addError(name,
			cmp.Or(c.Do, "run gateway doctor on its machine, as its user: it shows the reason"), "%s", why)
	case c.Trouble != "":
		d.addWarning(name, c.Do, "NATS is reachable, other gateways found: %d; but %s",
			c.Gateways, c.Trouble)
	case c.Gateways == 0:
		d.addWarning(name, "start the other gateways with the same --cluster",
			"NATS is reachable, but no other gateway is connected")
	default:
		d.addOK(name, "NATS is reachable; other gateways found: %d", c.Gateways)
	}
}

// fetchHealth asks a gateway for its health report.
func fetchHealth(raw net.Conn, host string) (health healthReport, err error) {
	conn, err := handshake.Bound(raw, doctorTime)
	if err != nil {
		return health, err
	}
	if _, err := io.WriteString(conn, "GET /healthz HTTP/1.1\r\nHost: "+host+
		"\r\nConnection: close\r\n\r\n"); err != nil {
		return health, err
	}
	resp, err := http.ReadResponse(bufio.NewReader(conn), nil)
	if err != nil {
		return health, err
	}
	defer func() { _ = resp.Body.Close() }()
	if err := json.NewDecoder(resp.Body).Decode(&health); err != nil ||
		resp.StatusCode != http.StatusOK {
		return health, errors.Join(fmt.Errorf("unexpected answer, status %s", resp.Status), err)
	}
	return health, nil
}

// mostListed is how many sessions of a gateway are checked one by one.
const mostListed = 20

// checkSessions lists a gateway's sessions, and checks the processes of those on this machine.
func (d *doctor) checkSessions(ctx context.Context, at string, ep endpoint.Endpoint) {
	cfg := d.env.ClientConfig(ep, protocol.PathAgent, protocol.PathView)
	cfg.Name = "gateway doctor"
	c := client.New(cfg)
	defer func() { _ = c.Close() }()
	list, err := c.Sessions(ctx)
	if err != nil {
		d.addError("sessions"+at, "", "cannot list them: %v", err)
		return
	}
	switch {
	case len(list) == 0:
		d.addOK("sessions"+at, "none")
	case at != "":
		d.addOK("sessions"+at, "%d", len(list))
	}
	for i, s := range list {
		if i == mostListed {
			d.addOK("sessions"+at, "%d more: see gateway ls", len(list)-i)
			return
		}
		name := "session " + s.SessionID
		d.addOK(name, "%s, %s, keyboard: %s", text.Command(s), text.State(s),
			text.Keyboard(s.Keyboard, "", time.Now()))
		if at == "" && s.State == protocol.StateRunning {
			d.checkProcess("process of "+s.SessionID, findProxy(d.root, s.Pid))
		}
	}
}

// checkRemote checks the gateway that the user named.
func (d *doctor) checkRemote(ctx context.Context) {
	if d.env.Gateway == "" {
		return
	}
	const at = " of --gateway"
	ep, err := d.env.Endpoint()
	if err != nil {
		d.addError("address"+at, "", "%v", err)
		return
	}
	for _, one := range ep.All() {
		name := at
		if len(ep.All()) > 1 {
			name = " of " + one.String()
		}
		within, cancel := context.WithTimeout(ctx, doctorTime)
		if d.checkPeers(within, name, one) {
			d.checkSessions(within, name, one)
		}
		cancel()
	}
}

// checkPeers reports whether a gateway that the user named reaches the other gateways of its
// cluster. It returns whether the gateway answers.
func (d *doctor) checkPeers(ctx context.Context, at string, ep endpoint.Endpoint) bool {
	conn, err := ep.DialContext(ctx)
	if err != nil {
		err = handshake.ExplainError(err)
		d.addError("gateway"+at, client.Hint(err), "%v", err)
		return false
	}
	defer func() { _ = conn.Close() }()
	health, err := fetchHealth(conn, ep.Host())
	if err != nil {
		d.addError("gateway"+at, "check that a gateway runs there, and read its log",
			"it does not answer like a gateway: %v", err)
		return false
	}
	d.checkCluster(at, health)
	return true
}

// checkTokens checks the files with secrets.
func (d *doctor) checkTokens() {
	path, err := userdirs.TokensPath()
	if err != nil {
		d.addError("tokens", "", "%v", err)
		return
	}
	d.checkPrivate("state directory", filepath.Dir(path), 0o700)
	d.checkWritable("state directory", filepath.Dir(path))
	if d.checkPrivate("tokens", path, 0o600) {
		d.checkTokenFile(path)
	} else {
		d.addOK("tokens", "not created: only this user's processes can connect, by the local "+
			"socket")
	}
	d.checkPrivate("identity", filepath.Join(filepath.Dir(path), "agent.key"), 0o600)
	owner, err := userdirs.OwnerTokenPath()
	if err != nil {
		d.addError("owner token", "", "%v", err)
		return
	}
	if !d.checkPrivate("owner token", owner, 0o600) {
		d.addOK("owner token", "not created: control is granted at the sessions' own terminals")
		return
	}
	d.addWarning("owner token",
		"keep it on another machine or under another user, and pass it with --token-file",
		"every process of yours can read it, an agent's too: it prevents mistakes, not attacks")
}

// checkTokenFile checks the contents of the token file.
func (d *doctor) checkTokenFile(path string) {
	store, err := auth.OpenStore(path, nil)
	if err != nil {
		return // its mode was checked above
	}
	list, err := store.List()
	if err != nil {
		d.addError("tokens", "", "%v", err)
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
	d.addOK("tokens", "%d proxy, %d agent, %d viewer, %d owner", count[auth.RoleProxy],
		count[auth.RoleAgent], count[auth.RoleViewer], count[auth.RoleOwner])
	if old > 0 {
		d.addWarning("tokens", "create new ones with gateway token create, and revoke these",
			"%d must be sent to be checked: they are from an older version", old)
	}
	if late > 0 {
		d.addWarning("tokens", "gateway token revoke NAME", "%d have expired", late)
	}
}

// leaderName is the name of the proxy's helper process that may stand between proxy and program
// (package child).
const leaderName = "proxy-leader"

// procPath returns the path of a process's file; see proc(5).
func procPath(root string, pid int, name string) string {
	return filepath.Join(root+"/proc", strconv.Itoa(pid), name)
}

// findProxy returns the process that runs a session's program, or 0 if unknown.
func findProxy(root string, program int) int {
	pid := findParent(root, program)
	if name, _ := os.ReadFile(procPath(root, pid, "comm")); strings.TrimSpace(string(name)) == leaderName {
		return findParent(root, pid)
	}
	return pid
}
