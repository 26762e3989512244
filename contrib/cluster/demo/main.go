// Command demo runs three NATS servers and three gateways on this machine, a session at one gateway and an agent at another, and prints
// what crosses from where to where. Everything is on free ports of loopback, in a directory of its own, and ends with it.
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
		fmt.Fprintln(os.Stderr, "usage: demo DIRECTORY   with the programs nats-server, gateway and proxy")
		os.Exit(2)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	err := run(ctx, os.Args[1])
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "demo:", err)
		os.Exit(1)
	}
}

// demo is the cluster with what takes part in it.
type demo struct {
	*rig.Rig
	ctx                         context.Context
	proxy, agent, viewer, owner string // files with tokens
	session                     string
	crossed                     map[string]int // messages between gateways until now, by gateway
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
	say("Three NATS servers and three gateways start, in %s.", dir)
	r, err := rig.Start(ctx, dir, bin, 3)
	if err != nil {
		return err
	}
	defer r.Close()
	d := &demo{Rig: r, ctx: ctx, crossed: make(map[string]int)}
	for _, n := range r.Nodes {
		say("  %s   tls://127.0.0.1:%d, process %d", n.Name, n.Port, n.Pid())
	}
	for _, g := range r.Gateways {
		say("  gateway %s %s, process %d", g.Name, g.URL(), g.Pid())
	}
	return d.scenes()
}

func say(format string, args ...any) { fmt.Printf(format+"\n", args...) }

// scenes are what is shown, in order.
func (d *demo) scenes() error {
	for name, file := range map[string]*string{"proxy": &d.proxy, "agent": &d.agent, "viewer": &d.viewer, "owner": &d.owner} {
		var err error
		if *file, err = d.Token(d.ctx, name, name); err != nil {
			return err
		}
	}
	end, err := d.share()
	if err != nil {
		return err
	}
	defer end()
	for _, scene := range []func() error{d.types, d.moves, d.halves, d.revokes} {
		if err := scene(); err != nil {
			return err
		}
	}
	say("\nDone: everything is stopped by its process id.")
	return nil
}

// share starts a session at gateway A.
func (d *demo) share() (end func(), err error) {
	say("\nA session starts at gateway A; its proxy also knows B and C.")
	cmd := d.Command(d.ctx, "proxy", "--agent", "--allow-remote-grant", "--gateway", d.URLs(0), "--token-file", d.proxy, "sh")
	shown("proxy --agent --gateway A,B,C sh")
	cmd.Env = append(cmd.Env, "PS1=$ ")
	terminal, err := rig.NewTerminal(cmd)
	if err != nil {
		return nil, err
	}
	end = terminal.Close
	for d.session == "" {
		list, err := d.gateway(1, d.viewer, "ls", "--json")
		if err != nil {
			end()
			return nil, err
		}
		if found := regexp.MustCompile(`"sessionId": "([^"]+)"`).FindStringSubmatch(list); found != nil {
			d.session = found[1]
		}
		if err := d.ctx.Err(); err != nil {
			end()
			return nil, err
		}
	}
	return end, nil
}

// types has an agent at gateway B type, whom an owner at C lets.
func (d *demo) types() error {
	d.count()
	say("\nAn agent at gateway B lists, asks and types; the owner at gateway C says yes; a viewer at C reads.")
	if err := d.shows(1, d.agent, "ls"); err != nil {
		return err
	}
	d.crosses("the list of sessions")
	if err := d.lets(); err != nil {
		return err
	}
	d.crosses("a request (B to A), the owner's yes (C to A), the grant (A to B)")
	if err := d.shows(1, d.agent, "send", d.session, "--text", "echo hello, this crossed two gateways", "--enter", "--until", "text=hello, this"); err != nil {
		return err
	}
	d.crosses("an input with its receipt, and the screen")
	if err := d.shows(2, d.viewer, "read", d.session); err != nil {
		return err
	}
	d.crosses("one screen (A to C)")
	return nil
}

// lets has the agent ask for the keyboard, and the owner give it.
func (d *demo) lets() error {
	asks := d.command(1, d.agent, "request", d.session, "--reason", "to show how it works")
	var out strings.Builder
	asks.Stdout, asks.Stderr = &out, &out
	shown("gateway --gateway B request %s --reason 'to show how it works'", d.session)
	if err := asks.Start(); err != nil {
		return err
	}
	if err := d.answers(); err != nil {
		_ = asks.Process.Kill()
		_ = asks.Wait()
		return fmt.Errorf("%w\n%s", err, out.String())
	}
	err := asks.Wait()
	quote(out.String())
	return err
}

// answers has the owner at gateway C allow what is asked for: with --allow-remote-grant the word of a gateway is enough.
func (d *demo) answers() error {
	for end := time.Now().Add(rig.Soon); time.Now().Before(end) && d.ctx.Err() == nil; time.Sleep(50 * time.Millisecond) {
		list, err := d.gateway(2, d.viewer, "ls", "--json")
		if err != nil {
			return err
		}
		if strings.Contains(list, `"asking"`) {
			say("  the owner at gateway C says yes: {\"type\":\"terminal.control.decide\",\"sessionId\":%q,\"grant\":true}", d.session)
			return d.Decide(d.ctx, d.Gateways[2], d.owner, d.session)
		}
	}
	return fmt.Errorf("nobody asks")
}

// moves kills the gateway of the session.
func (d *demo) moves() error {
	say("\nGateway A is killed. The proxy goes to B with the session's id; the keyboard stays behind.")
	a := d.Gateways[0]
	shown("kill -9 %d", a.Pid())
	killed := time.Now()
	a.Kill()
	for {
		if _, err := d.gateway(2, d.viewer, "read", d.session); err == nil {
			break
		} else if time.Since(killed) > rig.Soon {
			return err
		}
	}
	say("  readable at C again after %d ms", time.Since(killed).Milliseconds())
	if _, err := d.gateway(2, d.agent, "send", d.session, "--text", "x"); err != nil {
		say("  the agent, now at C, types without asking again: refused")
		quote(err.Error())
	} else {
		return fmt.Errorf("a grant outlived its connection")
	}
	say("  gateway A starts again")
	if err := a.Start(d.ctx); err != nil {
		return err
	}
	return d.Whole(d.ctx)
}

// halves stops a NATS server, and cuts another one off.
func (d *demo) halves() error {
	say("\nOne of the three NATS servers is killed, and started again: its gateway goes to another one.")
	n := d.Nodes[0]
	shown("kill -9 %d", n.Pid())
	n.Kill()
	if err := d.shows(0, d.viewer, "ls"); err != nil {
		return err
	}
	return n.Start()
}

// revokes takes the agent's token away.
func (d *demo) revokes() error {
	say("\nThe agent's token is revoked: no gateway takes it any more.")
	shown("gateway token revoke agent")
	if out, err := d.Command(d.ctx, "gateway", "token", "revoke", "agent", "--tokens", filepath.Join(d.Dir, "private", "tokens")).CombinedOutput(); err != nil {
		return fmt.Errorf("%s", out)
	}
	for i := range d.Gateways {
		if _, err := d.gateway(i, d.agent, "ls"); err == nil {
			return fmt.Errorf("gateway %s takes a revoked token", d.Gateways[i].Name)
		} else if i == 0 {
			quote(err.Error())
		}
	}
	return nil
}

// gateway runs a command at the i-th gateway, for the holder of a token.
func (d *demo) gateway(i int, token string, args ...string) (string, error) {
	cmd := d.command(i, token, args...)
	var errs strings.Builder
	cmd.Stderr = &errs
	out, err := cmd.Output()
	if err != nil {
		return "", fmt.Errorf("%s", strings.TrimSpace(errs.String()))
	}
	return string(out), nil
}

func (d *demo) command(i int, token string, args ...string) *exec.Cmd {
	return d.Command(d.ctx, "gateway", append([]string{"--gateway", d.Gateways[i].URL(), "--token-file", token}, args...)...)
}

// shows runs it and prints both.
func (d *demo) shows(i int, token string, args ...string) error {
	shown("gateway --gateway %s %s", d.Gateways[i].Name, quoted(args))
	out, err := d.gateway(i, token, args...)
	quote(out)
	return err
}

func quoted(args []string) string {
	all := make([]string, len(args))
	for i, a := range args {
		if all[i] = a; strings.ContainsAny(a, " ,") {
			all[i] = "'" + a + "'"
		}
	}
	return strings.Join(all, " ")
}

func shown(format string, args ...any) { say("$ "+format, args...) }

func quote(text string) {
	for line := range strings.Lines(strings.TrimRight(text, "\n ")) {
		_, _ = io.WriteString(os.Stdout, "  | "+strings.TrimRight(line, "\n ")+"\n")
	}
}

// crosses prints what went over NATS since it was asked last.
func (d *demo) crosses(what string) {
	before := d.crossed
	d.count()
	var parts []string
	for _, g := range d.Gateways {
		if n := d.crossed[g.Name] - before[g.Name]; n > 0 {
			parts = append(parts, fmt.Sprintf("%s sent %d", g.Name, n))
		}
	}
	say("  over NATS: %s: %s", what, strings.Join(parts, ", "))
}

// count counts what the gateways have sent to each other.
func (d *demo) count() {
	d.crossed = make(map[string]int)
	for _, g := range d.Gateways {
		text, err := g.Get(d.ctx, "/metrics", d.viewer)
		if err != nil {
			continue
		}
		if found := regexp.MustCompile(`(?m)^terminalproxy_cluster_messages_sent_total (\d+)`).FindStringSubmatch(text); found != nil {
			d.crossed[g.Name], _ = strconv.Atoi(found[1])
		}
	}
}
