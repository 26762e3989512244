// Package notices provides the flags for notifying people elsewhere that an agent waits.
package notices

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"github.com/spf13/pflag"

	"terminalproxy/cmd/internal/cli"
	"terminalproxy/cmd/internal/hooks/notify"
	"terminalproxy/gateway/doors/page"
	"terminalproxy/gateway/doors/page/waiting"
)

// Flags are the receivers and the delay of notifications.
type Flags struct {
	urls  []string
	After time.Duration
}

// AddFlags adds the flags of notifications.
func (n *Flags) AddFlags(f *pflag.FlagSet) {
	f.StringArrayVar(&n.urls, "notify", nil,
		"POST a short text to `URL` (ntfy, Slack, or your own receiver) when an agent waits "+
			"and no one is watching; may be repeated")
	f.DurationVar(&n.After, "notify-after", 10*time.Second,
		"how long no one has typed or watched before a notification")
}

// Read reads the URLs.
func (n Flags) Read(command string) (targets []notify.Target, err error) {
	for _, raw := range n.urls {
		target, err := notify.Parse(raw)
		if err != nil {
			return nil, cli.Usage("%s: --notify: %w", command, err)
		}
		targets = append(targets, target)
	}
	if n.After < 0 || n.After > time.Hour {
		return nil, cli.Usage("%s: --notify-after %s: must be 0s to 1h", command, n.After)
	}
	return targets, nil
}

// Waiting configures the notifications.
type Waiting struct {
	Targets []notify.Target // without targets no notification is sent
	Dial    func(context.Context) (page.Link, error)
	Session string                      // the only one, "" for all
	Secrets bool                        // for programs' questions, too; Dial is then an owner's
	Link    func(session string) string // may return ""
	Log     *slog.Logger
	Failed  func(error) // may be nil
}

// Start sends notifications until stop is called or ctx ends.
func (n Flags) Start(ctx context.Context, to Waiting) (stop func()) {
	if len(to.Targets) == 0 {
		return func() {}
	}
	ctx, cancel := context.WithCancel(ctx)
	posters := make([]*notify.Poster, 0, len(to.Targets))
	for _, t := range to.Targets {
		posters = append(posters,
			notify.New(notify.Config{Target: t, Log: to.Log, Failed: to.Failed}))
	}
	var wg sync.WaitGroup
	wg.Go(func() { // ends with ctx
		waiting.Run(ctx, waiting.Config{
			Session: to.Session, Secrets: to.Secrets, After: n.After, Log: to.Log,
			Dial: func(ctx context.Context) (waiting.Link, error) { return to.Dial(ctx) },
			Report: func(a waiting.Ask) {
				for _, p := range posters {
					p.Post(notify.Note{Text: a.Text(), Link: to.Link(a.SessionID)})
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
