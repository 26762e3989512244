// Command load opens many simulated sessions at three gateways of this machine, watches some of
// them from other gateways, and prints the cost for the gateways and the NATS servers.
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
	watched  = flag.Int("watched", 1, "percent of them that are watched at another gateway")
	hertz    = flag.Int("hertz", 2, "screens a second of a watched one")
	duration = flag.Duration("for", 10*time.Second, "how long each measurement takes")
)

const (
	size       = 3
	perToken   = 60 // connections of a token to one gateway, whose limit is 64
	settleTime = 10 * time.Second
)

// tokensPerSpace is how many tokens share a namespace: about 3,000 sessions, or those of one token.
func tokensPerSpace() int { return max(1, 15 / *each) }

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
	programs, err := filepath.Abs(*bin)
	if err != nil {
		return err
	}
	r, err := rig.Start(ctx, dir, programs, size, "--sessions", "100000")
	if err != nil {
		return err
	}
	defer r.Close()
	count := *sessions / *each / size / perToken + 1
	tokens, viewers, err := r.CreateTokens(count, tokensPerSpace())
	if err != nil {
		return err
	}
	before := measureUsage(r)
	fmt.Printf("%d gateways without sessions: %s\n", size, before)
	began := time.Now()
	all, err := openSessions(ctx, r, tokens)
	defer func() {
		for _, p := range all {
			p.close()
		}
	}()
	if err != nil {
		return err
	}
	took := time.Since(began).Round(time.Millisecond)
	fmt.Printf("%d sessions of %d connections opened in %v\n", *sessions, len(all), took)
	if err := measureIdle(ctx, r, before, "nobody there"); err != nil {
		return err
	}
	clients, err := listSessions(ctx, r, viewers)
	if err != nil {
		return err
	}
	defer func() {
		for _, c := range slices.Concat(clients...) {
			_ = c.Close()
		}
	}()
	if err := measureIdle(ctx, r, before, "someone at each gateway has the list"); err != nil {
		return err
	}
	return watchSessions(ctx, r, before, all, clients)
}

// measureIdle measures the usage of an unchanged state.
func measureIdle(ctx context.Context, r *rig.Rig, before usage, state string) error {
	if err := pause(ctx, settleTime); err != nil {
		return err
	}
	from := measureUsage(r)
	if err := pause(ctx, *duration); err != nil {
		return err
	}
	now := measureUsage(r)
	fmt.Printf("%s: %s, %s\n", state, now.describeGrowth(before), now.describeLoad(from))
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

// openSessions connects all proxies, to each gateway in turn.
func openSessions(ctx context.Context, r *rig.Rig, tokens []string) (all []*proxy, err error) {
	n := (*sessions + *each - 1) / *each
	all = make([]*proxy, n)
	errs, slots := make([]error, n), make(chan struct{}, 16)
	var opening sync.WaitGroup
	for i := range n {
		slots <- struct{}{}
		opening.Go(func() {
			g, token := r.Gateways[i%size], tokens[i/size/perToken]
			all[i], errs[i] = connectProxy(ctx, g, token, i, min(*each, *sessions-i**each))
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

// listSessions connects a viewer of each namespace to each gateway and fetches its list of
// sessions.
func listSessions(
	ctx context.Context, r *rig.Rig, tokens []string,
) (all [][]*client.Client, err error) {
	all = make([][]*client.Client, size)
	for i, g := range r.Gateways {
		began, got := time.Now(), 0
		for _, token := range tokens {
			c, err := rig.NewClient(g.URL(), token, protocol.PathView, "", "")
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
		fmt.Printf("gateway %s lists %d sessions of %d namespaces in %v\n",
			g.Name, got, len(tokens), time.Since(began).Round(time.Millisecond))
	}
	return all, nil
}

// watchSessions subscribes to some sessions from other gateways, and draws their screens.
func watchSessions(
	ctx context.Context, r *rig.Rig, before usage, all []*proxy, clients [][]*client.Client,
) error {
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
		stream, err := clients[(p.gateway+1+i%2)%size][p.space].Subscribe(ctx, id, time.Millisecond)
		if err != nil {
			return fmt.Errorf("watch %s: %w", id, err)
		}
		watching.Go(func() { late.readScreens(stream) })
		watching.Go(func() { p.drawScreens(ctx, id, time.Second/time.Duration(*hertz)) })
	}
	if err := pause(ctx, 2*time.Second); err != nil {
		return err
	}
	late.reset()
	from := measureUsage(r)
	if err := pause(ctx, *duration); err != nil {
		return err
	}
	now := measureUsage(r)
	took := late.copyAll()
	slices.Sort(took)
	if len(took) == 0 {
		return fmt.Errorf("no screen of %d sessions came", n)
	}
	fmt.Printf("%d watched at another gateway, %d screens of 1 KiB a second each: %s, %s\n",
		n, *hertz, now.describeGrowth(before), now.describeLoad(from))
	p50 := took[len(took)/2].Round(10 * time.Microsecond)
	p99 := took[len(took)*99/100].Round(10 * time.Microsecond)
	perScreen := 1e6 / float64(len(took)) // microseconds
	fmt.Printf("  %d screens came: p50 %v, p99 %v; %.1f µs of the gateways' time for a screen, "+
		"%.1f µs of the servers'\n", len(took), p50, p99,
		now.gateways.cpu.sub(from.gateways.cpu)*perScreen,
		now.nodes.cpu.sub(from.nodes.cpu)*perScreen)
	return nil
}

// delays collects how long each screen travelled.
type delays struct {
	mu   sync.Mutex
	took []time.Duration
}

func (d *delays) readScreens(stream <-chan protocol.Message) {
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

func (d *delays) copyAll() []time.Duration {
	d.mu.Lock()
	defer d.mu.Unlock()
	return slices.Clone(d.took)
}
