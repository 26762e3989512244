package main

import (
	"log/slog"
	"os"

	"terminalproxy/cmd/internal/hooks/notify"
	"terminalproxy/proxy"
	"terminalproxy/proxy/display/alert"
)

// startNotifications makes the session's notifications that an agent waits. Call closeAll when the
// session is over.
func (f *flags) startNotifications(
	agent *proxy.AgentConfig, log *slog.Logger,
) (closeAll func(), err error) {
	where, err := f.ParseNotify()
	if err != nil {
		return nil, err
	}
	term := alert.Terminal{Env: os.Getenv, Forced: where.Terminal}
	agent.NotifyAfter = f.NotifyAfter
	if !where.Off {
		agent.Alert = term.Bytes
	}
	posters := make([]*notify.Poster, 0, len(where.Targets))
	for _, t := range where.Targets {
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
