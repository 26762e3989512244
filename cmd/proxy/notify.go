package main

import (
	"log/slog"
	"os"

	"terminalproxy/cmd/internal/notify"
	"terminalproxy/proxy"
	"terminalproxy/proxy/display/alert"
)

// These values of --notify are no URLs.
const (
	notifyTerminal = "terminal"
	notifyOff      = "off"
)

// startNotifications makes the session's notifications that an agent waits. Call closeAll when the
// session is over.
func (f *flags) startNotifications(
	agent *proxy.AgentConfig,
	log *slog.Logger,
) (closeAll func(), err error) {
	term := alert.Terminal{Env: os.Getenv}
	var targets []notify.Target
	off := false
	for _, to := range f.Notify {
		switch to {
		case notifyTerminal:
			term.Forced = true
		case notifyOff:
			off = true
		default:
			target, err := notify.Parse(to)
			if err != nil {
				return nil, usageError("or write terminal, or off", "--notify: %v", err)
			}
			targets = append(targets, target)
		}
	}
	if off && len(f.Notify) > 1 {
		return nil, usageError("leave one of them out", "--notify off: there is another --notify")
	}
	agent.NotifyAfter = f.NotifyAfter
	if !off {
		agent.Alert = term.Bytes
	}
	posters := make([]*notify.Poster, 0, len(targets))
	for _, t := range targets {
		posters = append(posters, notify.New(notify.Config{Target: t, Log: log}))
	}
	if len(posters) > 0 {
		agent.Notify = func(text string) {
			for _, p := range posters {
				p.Post(notify.Note{Text: text})
			}
		}
	}
	return func() {
		for _, p := range posters {
			p.Close()
		}
	}, nil
}
