// Package rig runs a cluster on this machine: NATS servers and gateways, each a process of its own,
// on free ports of loopback in a directory. It must not know how they are used.
package rig

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/nats-io/nkeys"

	cluster "terminalproxy/contrib/cluster"
)

// Soon bounds the wait for a process to answer.
const Soon = 30 * time.Second

// Rig is a running cluster.
type Rig struct {
	Dir, Bin string // directories of all files, and of the programs nats-server, gateway and proxy
	Nodes    []*Node
	Gateways []*Gateway

	routes map[[2]int]*relay // by dialling node and dialled node
	seeds  []string          // files with nkey seeds, by gateway
	flags  []string          // more flags of gateway serve
}

// Start starts n servers and n gateways, with more flags of gateway serve. Close ends them, also
// after an error.
func Start(ctx context.Context, dir, bin string, n int, flags ...string) (r *Rig, err error) {
	r = &Rig{Dir: dir, Bin: bin, flags: flags, routes: make(map[[2]int]*relay)}
	defer func() {
		if err != nil {
			r.Close()
		}
	}()
	if err := makeCertificates(dir); err != nil {
		return r, err
	}
	keys, err := r.createKeys(n)
	if err != nil {
		return r, err
	}
	if err := r.assignPorts(n, keys); err != nil {
		return r, err
	}
	for _, node := range r.Nodes {
		if err := node.Start(); err != nil {
			return r, err
		}
	}
	for _, g := range r.Gateways {
		if err := g.Start(ctx); err != nil {
			return r, err
		}
	}
	return r, r.WaitConnected(ctx)
}

// createKeys makes a key for each gateway and returns the public keys.
func (r *Rig) createKeys(n int) (public []string, err error) {
	for i := range n {
		pair, err := nkeys.CreateUser()
		if err != nil {
			return nil, err
		}
		seed, err := pair.Seed()
		if err != nil {
			return nil, err
		}
		one, err := pair.PublicKey()
		if err != nil {
			return nil, err
		}
		file := filepath.Join(r.Dir, letter(i)+".nk")
		if err := os.WriteFile(file, append(seed, '\n'), 0o600); err != nil {
			return nil, err
		}
		r.seeds, public = append(r.seeds, file), append(public, one)
	}
	return public, nil
}

// assignPorts assigns a port to each server, gateway and relay, and writes the servers' settings.
func (r *Rig) assignPorts(n int, keys []string) error {
	ports, err := freePorts(3 * n)
	if err != nil {
		return err
	}
	for i := range n {
		node := &Node{Name: "nats-" + letter(i), Port: ports[i], route: ports[n+i], rig: r}
		r.Nodes = append(r.Nodes, node)
		r.Gateways = append(r.Gateways, &Gateway{
			Name: strings.ToUpper(letter(i)), Port: ports[2*n+i], rig: r, seed: r.seeds[i],
		})
	}
	for i := range n {
		for j := range n {
			if i != j {
				if r.routes[[2]int{i, j}], err = newRelay(r.Nodes[j].route); err != nil {
					return err
				}
			}
		}
	}
	for i, node := range r.Nodes {
		if err := node.writeConfig(i, keys); err != nil {
			return err
		}
	}
	return nil
}

// writeConfig writes the settings of a node, based on those that operators copy.
func (n *Node) writeConfig(number int, keys []string) error {
	var routes, users []string
	for i := range n.rig.Nodes {
		if relay := n.rig.routes[[2]int{number, i}]; relay != nil {
			routes = append(routes, fmt.Sprintf("%q", "nats-route://"+relay.address))
		}
	}
	for _, key := range keys {
		users = append(users, "{ nkey: "+key+" }")
	}
	n.store = filepath.Join(n.rig.Dir, n.Name)
	n.conf = filepath.Join(n.rig.Dir, n.Name+".conf")
	text := cluster.NATSConf
	for _, change := range [][2]string{
		{`MACHINE: "a.example.org"`, fmt.Sprintf("MACHINE: %q", n.Name)},
		{"advertise: $MACHINE", fmt.Sprintf(`advertise: "127.0.0.1:%d"`, n.route)},
		{`"0.0.0.0:4222"`, fmt.Sprintf(`"127.0.0.1:%d"`, n.Port)},
		{`"0.0.0.0:6222"`, fmt.Sprintf(`"127.0.0.1:%d"`, n.route)},
		{`"/var/lib/nats"`, fmt.Sprintf("%q", n.store)},
		{"/etc/nats", n.rig.Dir},
		{textBetween(text, "routes: [", "]"), strings.Join(routes, ", ")},
		{textBetween(text, "users: [", "]"), strings.Join(users, "\n")},
	} {
		if change[0] == "" || !strings.Contains(text, change[0]) {
			return fmt.Errorf("nats.conf: %q is not there", change[0])
		}
		text = strings.ReplaceAll(text, change[0], change[1])
	}
	return os.WriteFile(n.conf, []byte(text), 0o600)
}

func textBetween(text, from, to string) string {
	_, rest, _ := strings.Cut(text, from)
	part, _, _ := strings.Cut(rest, to)
	return part
}

func letter(i int) string { return string(rune('a' + i)) }

// Servers returns the value of --cluster: all NATS servers.
func (r *Rig) Servers() string {
	urls := make([]string, len(r.Nodes))
	for i, n := range r.Nodes {
		urls[i] = fmt.Sprintf("tls://127.0.0.1:%d", n.Port)
	}
	return strings.Join(urls, ",")
}

// URLs returns the value of --gateway: all gateways, beginning with gateway i.
func (r *Rig) URLs(i int) string {
	var urls []string
	for k := range r.Gateways {
		urls = append(urls, r.Gateways[(i+k)%len(r.Gateways)].URL())
	}
	return strings.Join(urls, ",")
}

// CreateToken makes a token, which all gateways know, and returns its file.
func (r *Rig) CreateToken(ctx context.Context, name, role string) (string, error) {
	args := []string{"token", "create", name, "--role", role, "--tokens", r.tokensPath()}
	out, err := r.Command(ctx, "gateway", args...).Output()
	if err != nil {
		return "", fmt.Errorf("a token: %w", withStderr(err))
	}
	file := filepath.Join(r.Dir, name+".token")
	return file, os.WriteFile(file, out, 0o600)
}

func (r *Rig) tokensPath() string { return filepath.Join(r.Dir, "private", "tokens") }

// WaitConnected waits until every gateway hears every other one.
func (r *Rig) WaitConnected(ctx context.Context) error {
	return retryUntilDone(ctx, func() error {
		for _, g := range r.Gateways {
			if n := g.countPeers(ctx); n < len(r.Gateways)-1 {
				return fmt.Errorf("gateway %s hears %d others", g.Name, n)
			}
		}
		return nil
	})
}

// SetCut cuts a node off from the others, or connects it again.
func (r *Rig) SetCut(node int, isCut bool) {
	for ends, relay := range r.routes {
		if ends[0] == node || ends[1] == node {
			relay.setCut(isCut)
		}
	}
}

// Close ends all processes by their ids.
func (r *Rig) Close() {
	for _, g := range r.Gateways {
		g.End()
	}
	for _, n := range r.Nodes {
		n.End()
	}
	for _, relay := range r.routes {
		relay.close()
	}
}

// retryUntilDone repeats try until it succeeds, ctx ends, or [Soon] has passed.
func retryUntilDone(ctx context.Context, try func() error) error {
	ctx, cancel := context.WithTimeout(ctx, Soon)
	defer cancel()
	for {
		err := try()
		if err == nil {
			return nil
		}
		select {
		case <-ctx.Done():
			return errors.Join(context.Cause(ctx), err)
		case <-time.After(20 * time.Millisecond):
		}
	}
}
