// Command demo runs three NATS servers and three gateways on this machine, a session at one gateway
// and an agent at another, and prints the messages that cross between them. It uses free ports of
// loopback and a directory of its own, and stops everything at its end.
package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"time"

	"terminalproxy/contrib/cluster/rig"
)

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr,
			"usage: demo DIRECTORY   with the programs nats-server, gateway and proxy")
		os.Exit(2)
	}
	ctx, stop := signal.NotifyContext(
		context.Background(), os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	err := run(ctx, os.Args[1])
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "demo:", err)
		os.Exit(1)
	}
}

var (
	sessionID = regexp.MustCompile(`"sessionId": "([^"]+)"`)
	sentTotal = regexp.MustCompile(`(?m)^terminalproxy_cluster_messages_sent_total (\d+)`)
)

// demo is the cluster with its session and its participants.
type demo struct {
	*rig.Rig
	ctx                         context.Context
	proxy, agent, viewer, owner string // token files
	session                     string
	crossed                     map[string]int // messages sent to other gateways until now
}

func run(ctx context.Context, bin string) (err error) {
	if bin, err = filepath.Abs(bin); err != nil {
		return err
	}
	dir, err := os.MkdirTemp("", "cluster")
	if err != nil {
		return err
	}
	defer func() {
		if err == nil {
			_ = os.RemoveAll(dir)
		} else {
			fmt.Fprintln(os.Stderr, "demo: the logs are in", dir)
		}
	}()
	printLine("Three NATS servers and three gateways start, in %s.", dir)
	r, err := rig.Start(ctx, dir, bin, 3)
	if err != nil {
		return err
	}
	defer r.Close()
	d := &demo{Rig: r, ctx: ctx, crossed: make(map[string]int)}
	for _, n := range r.Nodes {
		printLine("  %s   tls://127.0.0.1:%d, process %d", n.Name, n.Port, n.Pid())
	}
	for _, g := range r.Gateways {
		printLine("  gateway %s %s, process %d", g.Name, g.URL(), g.Pid())
	}
	return d.runScenes()
}

func printLine(format string, args ...any) { fmt.Printf(format+"\n", args...) }

// runScenes creates the tokens, starts the session and shows each scene in order.
func (d *demo) runScenes() error {
	files := map[string]*string{
		"proxy": &d.proxy, "agent": &d.agent, "viewer": &d.viewer, "owner": &d.owner,
	}
	for name, file := range files {
		var err error
		if *file, err = d.CreateToken(d.ctx, name, name); err != nil {
			return err
		}
	}
	end, err := d.startSession()
	if err != nil {
		return err
	}
	defer end()
	scenes := []func() error{d.showTyping, d.showFailover, d.showServerLoss, d.showRevocation}
	for _, scene := range scenes {
		if err := scene(); err != nil {
			return err
		}
	}
	printLine("\nDone: everything is stopped by its process id.")
	return nil
}

// startSession starts a session at gateway A, and waits until gateway B lists it.
func (d *demo) startSession() (end func(), err error) {
	printLine("\nA session starts at gateway A; its proxy also knows B and C.")
	cmd := d.Command(d.ctx, "proxy", "--agent", "--allow-remote-grant",
		"--gateway", d.URLs(0), "--token-file", d.proxy, "sh")
	printCommand("proxy --agent --gateway A,B,C sh")
	cmd.Env = append(cmd.Env, "PS1=$ ")
	terminal, err := rig.NewTerminal(cmd)
	if err != nil {
		return nil, err
	}
	end = terminal.Close
	for d.session == "" {
		list, err := d.runGateway(1, d.viewer, "ls", "--json")
		if err != nil {
			end()
			return nil, err
		}
		if found := sessionID.FindStringSubmatch(list); found != nil {
			d.session = found[1]
		}
		if err := d.ctx.Err(); err != nil {
			end()
			return nil, err
		}
	}
	return end, nil
}

// showTyping lets an agent at gateway B type with the permission of an owner at C.
func (d *demo) showTyping() error {
	d.countMessages()
	printLine("\nAn agent at gateway B lists, asks and types; " +
		"the owner at gateway C says yes; a viewer at C reads.")
	if err := d.runAndPrint(1, d.agent, "ls"); err != nil {
		return err
	}
	d.printCrossed("the list of sessions")
	if err := d.grantControl(); err != nil {
		return err
	}
	d.printCrossed("a request (B to A), the owner's yes (C to A), the grant (A to B)")
	err := d.runAndPrint(1, d.agent, "send", d.session,
		"--text", "echo hello, this crossed two gateways", "--enter", "--until", "text=hello, this")
	if err != nil {
		return err
	}
	d.printCrossed("an input with its receipt, and the screen")
	if err := d.runAndPrint(2, d.viewer, "read", d.session); err != nil {
		return err
	}
	d.printCrossed("one screen (A to C)")
	return nil
}

// grantControl lets the agent ask for the keyboard and the owner agree.
func (d *demo) grantControl() error {
	reason := "to show how it works"
	request := d.gatewayCommand(1, d.agent, "request", d.session, "--reason", reason)
	var out strings.Builder
	request.Stdout, request.Stderr = &out, &out
	printCommand("gateway --gateway B request %s --reason 'to show how it works'", d.session)
	if err := request.Start(); err != nil {
		return err
	}
	if err := d.approveRequest(); err != nil {
		_ = request.Process.Kill()
		_ = request.Wait()
		return fmt.Errorf("%w\n%s", err, out.String())
	}
	err := request.Wait()
	printQuoted(out.String())
	return err
}

// approveRequest lets the owner at gateway C approve the request: --allow-remote-grant trusts the
// gateway.
func (d *demo) approveRequest() error {
	for end := time.Now().Add(rig.Soon); time.Now().Before(end) && d.ctx.Err() == nil; {
		list, err := d.runGateway(2, d.viewer, "ls", "--json")
		if err != nil {
			return err
		}
		if strings.Contains(list, `"asking"`) {
			printLine("  the owner at gateway C says yes: "+
				"{\"type\":\"terminal.control.decide\",\"sessionId\":%q,\"grant\":true}", d.session)
			return d.AllowControl(d.ctx, d.Gateways[2], d.owner, d.session)
		}
		time.Sleep(50 * time.Millisecond)
	}
	return fmt.Errorf("nobody asks")
}

// showFailover kills the session's gateway.
func (d *demo) showFailover() error {
	printLine("\nGateway A is killed. The proxy goes to B with the session's id; " +
		"the keyboard stays behind.")
	a := d.Gateways[0]
	printCommand("kill -9 %d", a.Pid())
	killed := time.Now()
	a.Kill()
	for {
		if _, err := d.runGateway(2, d.viewer, "read", d.session); err == nil {
			break
		} else if time.Since(killed) > rig.Soon {
			return err
		}
	}
	printLine("  readable at C again after %d ms", time.Since(killed).Milliseconds())
	if _, err := d.runGateway(2, d.agent, "send", d.session, "--text", "x"); err != nil {
		printLine("  the agent, now at C, types without asking again: refused")
		printQuoted(err.Error())
	} else {
		return fmt.Errorf("a grant outlived its connection")
	}
	printLine("  gateway A starts again")
	if err := a.Start(d.ctx); err != nil {
		return err
	}
	return d.WaitConnected(d.ctx)
}

// showServerLoss kills a NATS server and starts it again.
func (d *demo) showServerLoss() error {
	printLine("\nOne of the three NATS servers is killed, and started again: " +
		"its gateway goes to another one.")
	n := d.Nodes[0]
	printCommand("kill -9 %d", n.Pid())
	n.Kill()
	if err := d.runAndPrint(0, d.viewer, "ls"); err != nil {
		return err
	}
	return n.Start()
}

// showRevocation revokes the agent's token.
func (d *demo) showRevocation() error {
	printLine("\nThe agent's token is revoked: no gateway accepts it now.")
	printCommand("gateway token revoke agent")
	tokens := filepath.Join(d.Dir, "private", "tokens")
	revoke := d.Command(d.ctx, "gateway", "token", "revoke", "agent", "--tokens", tokens)
	if out, err := revoke.CombinedOutput(); err != nil {
		return fmt.Errorf("%s", out)
	}
	for i := range d.Gateways {
		if _, err := d.runGateway(i, d.agent, "ls"); err == nil {
			return fmt.Errorf("gateway %s takes a revoked token", d.Gateways[i].Name)
		} else if i == 0 {
			printQuoted(err.Error())
		}
	}
	return nil
}

// runGateway runs a command at gateway i with a token file, and returns its output.
func (d *demo) runGateway(i int, token string, args ...string) (string, error) {
	cmd := d.gatewayCommand(i, token, args...)
	var errs strings.Builder
	cmd.Stderr = &errs
	out, err := cmd.Output()
	if err != nil {
		return "", fmt.Errorf("%s", strings.TrimSpace(errs.String()))
	}
	return string(out), nil
}

func (d *demo) gatewayCommand(i int, token string, args ...string) *exec.Cmd {
	connection := []string{"--gateway", d.Gateways[i].URL(), "--token-file", token}
	return d.Command(d.ctx, "gateway", append(connection, args...)...)
}

// runAndPrint prints a gateway command and its output.
func (d *demo) runAndPrint(i int, token string, args ...string) error {
	printCommand("gateway --gateway %s %s", d.Gateways[i].Name, quoteArgs(args))
	out, err := d.runGateway(i, token, args...)
	printQuoted(out)
	return err
}

func quoteArgs(args []string) string {
	all := make([]string, len(args))
	for i, a := range args {
		if all[i] = a; strings.ContainsAny(a, " ,") {
			all[i] = "'" + a + "'"
		}
	}
	return strings.Join(all, " ")
}

func printCommand(format string, args ...any) { printLine("$ "+format, args...) }

func printQuoted(text string) {
	for line := range strings.Lines(strings.TrimRight(text, "\n ")) {
		_, _ = io.WriteString(os.Stdout, "  | "+strings.TrimRight(line, "\n ")+"\n")
	}
}

// printCrossed prints how many messages went over NATS since the last count.
func (d *demo) printCrossed(content string) {
	before := d.crossed
	d.countMessages()
	var parts []string
	for _, g := range d.Gateways {
		if n := d.crossed[g.Name] - before[g.Name]; n > 0 {
			parts = append(parts, fmt.Sprintf("%s sent %d", g.Name, n))
		}
	}
	printLine("  over NATS: %s: %s", content, strings.Join(parts, ", "))
}

// countMessages counts the messages that each gateway sent to the others.
func (d *demo) countMessages() {
	d.crossed = make(map[string]int)
	for _, g := range d.Gateways {
		text, err := g.Get(d.ctx, "/metrics", d.viewer)
		if err != nil {
			continue
		}
		if found := sentTotal.FindStringSubmatch(text); found != nil {
			d.crossed[g.Name], _ = strconv.Atoi(found[1])
		}
	}
}
