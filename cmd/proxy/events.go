package main

import (
	"log/slog"
	"strconv"

	"terminalproxy/cmd/internal/hooks/onevent"
	"terminalproxy/proxy"
	"terminalproxy/proxy/display/events"
	"terminalproxy/proxy/terminal/watchdog"
)

// startEvents lets the session run the configuration's commands when something happens. Call over
// when the session is over.
func (f *flags) startEvents(agent *proxy.AgentConfig, log *slog.Logger) (over func()) {
	if len(f.rules) == 0 {
		return func() {}
	}
	runner := onevent.New(onevent.Config{Rules: f.rules, Self: watchdog.Self(), Log: log})
	agent.OnEvent = func(e events.Event) {
		runner.QueueEvent(onevent.Event{Name: e.Name, Env: eventVariables(e)})
	}
	return runner.Close
}

// eventVariables describe an event. They hold nothing that a program or an agent wrote but the
// agent's name.
func eventVariables(e events.Event) []string {
	env := []string{proxy.SessionVariable + "=" + e.Session}
	if e.Agent != "" {
		env = append(env, "TERMINALPROXY_AGENT="+e.Agent)
	}
	if e.Reason != "" {
		env = append(env, "TERMINALPROXY_REASON="+string(e.Reason))
	}
	if e.Name == events.Exit {
		env = append(env, "TERMINALPROXY_STATUS="+strconv.Itoa(e.Status))
	}
	return env
}
