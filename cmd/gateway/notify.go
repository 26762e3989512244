package main

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"github.com/spf13/pflag"

	"terminalproxy/cmd/internal/notify"
	"terminalproxy/gateway/page"
	"terminalproxy/gateway/waiting"
)

// notifyFlags say whom to tell that an agent waits.
type notifyFlags struct {
	urls  []string
	after time.Duration
}

func (n *notifyFlags) addFlags(f *pflag.FlagSet) {
	f.StringArrayVar(&n.urls, "notify", nil,
		"POST a short text to `URL` (ntfy, Slack, or your own receiver) when an agent waits "+
			"and no one looks; may be repeated")
	f.DurationVar(&n.after, "notify-after", 10*time.Second,
		"how long no one has typed or looked before a notification")
}

// read reads the URLs.
func (n notifyFlags) read(command string) (targets []notify.Target, err error) {
	for _, raw := range n.urls {
		target, err := notify.Parse(raw)
		if err != nil {
			return nil, usage("%s: --notify: %w", command, err)
		}
		targets = append(targets, target)
	}
	if n.after < 0 || n.after > time.Hour {
		return nil, usage("%s: --notify-after %s: must be 0s to 1h", command, n.after)
	}
	return targets, nil
}

// notifying is what telling needs.
type notifying struct {
	targets []notify.Target // without targets no notice is sent
	dial    func(context.Context) (page.Link, error)
	session string                      // the only one, "" for all
	link    func(session string) string // may return ""
	log     *slog.Logger
	failed  func(error) // may be nil
}

// start tells until stop is called, or ctx ends.
func (n notifyFlags) start(ctx context.Context, to notifying) (stop func()) {
	if len(to.targets) == 0 {
		return func() {}
	}
	ctx, cancel := context.WithCancel(ctx)
	posters := make([]*notify.Poster, 0, len(to.targets))
	for _, t := range to.targets {
		posters = append(posters,
			notify.New(notify.Config{Target: t, Log: to.log, Failed: to.failed}))
	}
	var wg sync.WaitGroup
	wg.Go(func() { // ends with ctx
		waiting.Run(ctx, waiting.Config{
			Session: to.session, After: n.after, Log: to.log,
			Dial: func(ctx context.Context) (waiting.Link, error) { return to.dial(ctx) },
			Tell: func(a waiting.Ask) {
				for _, p := range posters {
					p.Post(notify.Note{Text: a.Text(), Link: to.link(a.SessionID)})
				}
			},
		})
	})
	return func() {
		cancel()
		wg.Wait()
		for _, p := range posters {
			p.Close()
		}
	}
}
