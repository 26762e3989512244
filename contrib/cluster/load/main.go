// Command load opens many simulated sessions at three gateways of this machine, has a part of them watched from other gateways, and prints
// what the gateways and the NATS servers take for it.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"terminalproxy/contrib/cluster/rig"
	"terminalproxy/gateway/client"
	"terminalproxy/protocol"
)

var (
	bin      = flag.String("bin", filepath.Join("..", "..", "bin"), "directory of nats-server, gateway and proxy")
	sessions = flag.Int("sessions", 3000, "sessions in all")
	each     = flag.Int("each", 1, "sessions of one connection, 64 at most")
	watched  = flag.Int("watched", 1, "percent of them that somebody watches at another gateway")
	hertz    = flag.Int("hertz", 2, "screens a second of one that is watched")
	lasting  = flag.Duration("for", 10*time.Second, "how long each measurement takes")
)

const (
	size     = 3
	perToken = 60 // connections of a token to one gateway, which takes 64
	settles  = 10 * time.Second
)

// inOne is how many tokens a namespace has: it gets some 3,000 sessions, or those of one token.
func inOne() int { return max(1, 15 / *each) }

func main() {
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := run(ctx)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "load:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context) error {
	dir, err := os.MkdirTemp("", "load")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(dir) }()
	where, err := filepath.Abs(*bin)
	if err != nil {
		return err
	}
	r, err := rig.Start(ctx, dir, where, size, "--sessions", "100000")
	if err != nil {
		return err
	}
	defer r.Close()
	tokens, viewers, err := r.Tokens(*sessions / *each / size / perToken + 1, inOne())
	if err != nil {
		return err
	}
	before := measure(r)
	fmt.Printf("%d gateways without sessions: %s\n", size, before)
	began := time.Now()
	all, err := open(ctx, r, tokens)
	defer func() {
		for _, p := range all {
			p.close()
		}
	}()
	if err != nil {
		return err
	}
	fmt.Printf("%d sessions of %d connections opened in %v\n", *sessions, len(all), time.Since(began).Round(time.Millisecond))
	if err := idle(ctx, r, before, "nobody there"); err != nil {
		return err
	}
	lookers, err := list(ctx, r, viewers)
	if err != nil {
		return err
	}
	defer func() {
		for _, c := range slices.Concat(lookers...) {
			_ = c.Close()
		}
	}()
	if err := idle(ctx, r, before, "somebody at each gateway has the list"); err != nil {
		return err
	}
	return watch(ctx, r, before, all, lookers)
}

// idle measures while nothing happens.
func idle(ctx context.Context, r *rig.Rig, before usage, what string) error {
	if err := pause(ctx, settles); err != nil {
		return err
	}
	from := measure(r)
	if err := pause(ctx, *lasting); err != nil {
		return err
	}
	now := measure(r)
	fmt.Printf("%s: %s, %s\n", what, now.more(before), now.busy(from))
	return nil
}

func pause(ctx context.Context, d time.Duration) error {
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(d):
		return nil
	}
}

// open opens the sessions, at one gateway after the other.
func open(ctx context.Context, r *rig.Rig, tokens []string) (all []*proxy, err error) {
	n := (*sessions + *each - 1) / *each
	all = make([]*proxy, n)
	errs, slots := make([]error, n), make(chan struct{}, 16)
	var opening sync.WaitGroup
	for i := range n {
		slots <- struct{}{}
		opening.Go(func() {
			all[i], errs[i] = join(ctx, r.Gateways[i%size], tokens[i/size/perToken], i, min(*each, *sessions-i**each))
			<-slots
		})
	}
	opening.Wait()
	all = slices.DeleteFunc(all, func(p *proxy) bool { return p == nil })
	for _, err := range errs {
		if err != nil {
			return all, err
		}
	}
	return all, nil
}

// list has somebody of each namespace at each gateway see all sessions that are theirs.
func list(ctx context.Context, r *rig.Rig, tokens []string) (all [][]*client.Client, err error) {
	all = make([][]*client.Client, size)
	for i, g := range r.Gateways {
		began, got := time.Now(), 0
		for _, token := range tokens {
			c, err := rig.Client(g.URL(), token, protocol.PathView, "", "")
			if err != nil {
				return all, err
			}
			all[i] = append(all[i], c)
			list, err := c.Sessions(ctx)
			if err != nil {
				return all, fmt.Errorf("the list at gateway %s: %w", g.Name, err)
			}
			got += len(list)
		}
		fmt.Printf("gateway %s lists %d sessions of %d namespaces in %v\n", g.Name, got, len(tokens), time.Since(began).Round(time.Millisecond))
	}
	return all, nil
}

// watch has a part of the sessions watched from other gateways, and draw.
func watch(ctx context.Context, r *rig.Rig, before usage, all []*proxy, lookers [][]*client.Client) error {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	late := &delays{}
	n := *sessions * *watched / 100
	var watching sync.WaitGroup
	defer watching.Wait()
	defer stop()
	for i := range n {
		p := all[i%len(all)]
		id := p.ids[i/len(all)%len(p.ids)]
		stream, err := lookers[(p.at+1+i%2)%size][p.space].Subscribe(ctx, id, time.Millisecond)
		if err != nil {
			return fmt.Errorf("watch %s: %w", id, err)
		}
		watching.Go(func() { late.read(stream) })
		watching.Go(func() { p.draws(ctx, id, time.Second/time.Duration(*hertz)) })
	}
	if err := pause(ctx, 2*time.Second); err != nil {
		return err
	}
	late.reset()
	from := measure(r)
	if err := pause(ctx, *lasting); err != nil {
		return err
	}
	now := measure(r)
	took := late.all()
	slices.Sort(took)
	if len(took) == 0 {
		return fmt.Errorf("no screen of %d sessions came", n)
	}
	fmt.Printf("%d watched at another gateway, %d screens of 1 KiB a second each: %s, %s\n", n, *hertz, now.more(before), now.busy(from))
	fmt.Printf("  %d screens came: p50 %v, p99 %v; %.1f µs of the gateways' time for a screen, %.1f µs of the servers'\n", len(took),
		took[len(took)/2].Round(10*time.Microsecond), took[len(took)*99/100].Round(10*time.Microsecond),
		now.gateways.cpu.sub(from.gateways.cpu)/float64(len(took))*1e6, now.nodes.cpu.sub(from.nodes.cpu)/float64(len(took))*1e6)
	return nil
}

// delays are how long screens were on their way.
type delays struct {
	mu   sync.Mutex
	took []time.Duration
}

func (d *delays) read(stream <-chan protocol.Message) {
	for m := range stream {
		s, ok := m.(*protocol.Snapshot)
		if !ok || s.Screen == nil || len(s.Screen.Lines) == 0 {
			continue
		}
		var at int64
		if _, err := fmt.Sscanf(strings.TrimSpace(s.Screen.Lines[0]), "%d", &at); err == nil {
			d.mu.Lock()
			d.took = append(d.took, time.Since(time.Unix(0, at)))
			d.mu.Unlock()
		}
	}
}

func (d *delays) reset() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.took = nil
}

func (d *delays) all() []time.Duration {
	d.mu.Lock()
	defer d.mu.Unlock()
	return slices.Clone(d.took)
}
