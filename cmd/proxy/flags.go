package main

import (
	"cmp"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/pflag"

	"terminalproxy/cmd/internal/coding"
	"terminalproxy/cmd/internal/flagwords"
	"terminalproxy/cmd/internal/pictures"
	"terminalproxy/cmd/internal/proxyflags"
	"terminalproxy/cmd/internal/settings"
	"terminalproxy/cmd/internal/terminals"
	"terminalproxy/gateway"
	"terminalproxy/gateway/auth"
	"terminalproxy/protocol"
	"terminalproxy/proxy"
	"terminalproxy/proxy/control"
	"terminalproxy/proxy/link"
	"terminalproxy/proxy/policy"
	"terminalproxy/proxy/tty"
	"terminalproxy/proxy/watchdog"
	"terminalproxy/proxy/window"
)

var (
	errHelp    = errors.New("help")
	errVersion = errors.New("version")
)

// flags are what the user typed.
type flags struct {
	proxyflags.Flags
	configured
	set *pflag.FlagSet
}

// wrong is an error in what the user typed.
func wrong(hint, say string, args ...any) error {
	return &proxy.UserError{Status: statusUsage, Say: fmt.Sprintf(say, args...), Hint: hint}
}

// parse reads the command line.
func parse(args []string) (*flags, error) {
	f := &flags{}
	set := f.Set()
	if err := set.Parse(args); err != nil {
		if say, hint, ok := flagwords.Explain(err); ok {
			return nil, wrong(hint, "%s", say)
		}
		return nil, wrong("see proxy --help; flags for PROGRAM come after it", "%v", err)
	}
	switch {
	case f.Help:
		return nil, errHelp
	case f.ShowVersion:
		return nil, errVersion
	}
	if rest := set.Args(); len(rest) > 0 {
		f.Command, f.Args = rest[0], rest[1:]
	}
	f.set = set
	f.configure(set)
	return f, f.settle(set, func() error { return f.check(set) })
}

// agentOnly are the flags that say nothing without --agent.
var agentOnly = []string{
	"grant", "for", "name", "gateway", "token-file", "allow-remote-grant", "allow-remote-keys", "snapshot-interval", "yield",
	"reclaim-key", "grant-key", "only-this-program", "no-notice", "notify", "notify-after", "allow-escapes", "no-redact", "nested", "keep",
}

func (f *flags) check(set *pflag.FlagSet) error {
	if f.MayApprove && !f.Chat {
		return wrong("add --chat and name a coding agent", "--agents-may-approve needs --chat")
	}
	if f.Within > 0 && !f.Chat && slices.Contains(f.typed, coding.WithinFlag) {
		return wrong("add --chat and name a coding agent", "--%s needs --chat", coding.WithinFlag)
	}
	if err := coding.CheckWithin(f.Within); err != nil {
		return wrong("use a duration such as 10m", "%v", err)
	}
	f.Agent = f.Agent || f.Chat
	if !f.Agent {
		for _, name := range agentOnly {
			if slices.Contains(f.typed, name) {
				return wrong("add --agent to let agents watch", "--%s needs --agent", name)
			}
		}
	}
	if f.Command == "" && f.Chat {
		return wrong("as in: proxy --chat "+coding.Names()[0], "--chat: no coding agent is named")
	}
	if f.Command == "" {
		if f.Command = os.Getenv("SHELL"); !f.Agent || f.Command == "" {
			return wrong("name one after the flags, as in: proxy --agent vim notes.txt", "no program given")
		}
	}
	switch {
	case f.Grant != "" && f.Grant != string(protocol.LevelType) && f.Grant != string(protocol.LevelDrive):
		return wrong("type lets the agent write text, drive lets it press every key", "--grant %q: must be type or drive", f.Grant)
	case f.Lasts < 0:
		return wrong("use a duration such as 90s or 10m", "--for %s: must not be negative", f.Lasts)
	case f.Yield < 0 || f.Yield > time.Hour:
		return wrong("use a duration such as 1s", "--yield %s: must be 0s to 1h", f.Yield)
	case f.NotifyAfter < 0 || f.NotifyAfter > time.Hour:
		return wrong("use a duration such as 10s", "--notify-after %s: must be 0s to 1h", f.NotifyAfter)
	case f.Interval < 10*time.Millisecond || f.Interval > time.Minute:
		return wrong("use a duration such as 500ms", "--snapshot-interval %s: must be 10ms to 1m", f.Interval)
	case set.Changed("cols") && (f.Cols < 1 || f.Cols > protocol.MaxSize):
		return wrong("", "--cols %d: must be 1 to %d", f.Cols, protocol.MaxSize)
	case set.Changed("rows") && (f.Rows < 1 || f.Rows > protocol.MaxSize):
		return wrong("", "--rows %d: must be 1 to %d", f.Rows, protocol.MaxSize)
	case set.Changed("status-fd") && os.Args[0] != window.Name && !canWrite(f.StatusFD):
		return wrong("as in: STATUS=$(proxy --status-fd 3 PROGRAM 3>&1 >&2)", "--status-fd %d: must be a descriptor above 2 that is open for writing", f.StatusFD)
	case len(f.Name) > protocol.MaxName || strings.ContainsFunc(f.Name, func(r rune) bool { return r < ' ' || r == 0x7f }):
		return wrong("", "--name: must be at most %d bytes, without control characters", protocol.MaxName)
	}
	if set.Changed("for") && f.Lasts == 0 {
		f.Lasts = control.Unlimited
	}
	return nil
}

// session makes the session's configuration, without what the user's own says where that is what it fails at. done is as that of make.
func (f *flags) session(stdin, stdout *os.File) (conf proxy.Config, done func(), err error) {
	err = f.settle(f.set, func() error {
		conf, done, err = f.make(stdin, stdout)
		return err
	})
	return conf, done, err
}

// make makes the session's configuration. done is to be called when the session is over.
func (f *flags) make(stdin, stdout *os.File) (conf proxy.Config, done func(), err error) {
	conf = proxy.Config{
		Command: f.Command, Args: f.Args, In: stdin, Out: stdout, Cols: f.Cols, Rows: f.Rows, Record: f.Record,
		Watchdog: watchdog.Self(),
	}
	if f.RequireTTY && (!tty.IsTerminal(stdin) || !tty.IsTerminal(stdout)) {
		return conf, nil, wrong("leave out --require-tty to run without one", "standard input or output is not a terminal")
	}
	log, closeLog, err := f.logger()
	if err != nil {
		return conf, nil, err
	}
	conf.Log = log
	if dir, err := gateway.RecordsPath(); err == nil { // without one nobody finds the recording, which is no reason not to record
		conf.Records = dir
	}
	if !f.Agent {
		return conf, closeLog, nil
	}
	agent, closeLocal, err := f.agentConfig(log)
	if err != nil {
		return conf, nil, err
	}
	quiet, err := f.notifications(agent, log)
	if err != nil {
		closeLocal()
		closeLog()
		return conf, nil, err
	}
	conf.Agent = agent
	told := f.events(agent, log)
	over := func() { told(); quiet(); closeLocal(); closeLog() }
	if !f.Chat {
		return conf, over, nil
	}
	talk, err := f.conversation()
	if err != nil {
		over()
		return conf, nil, err
	}
	agent.Chat = talk.Chat
	return conf, func() { talk.Done(); over() }, nil
}

// conversation is that with the coding agent which --chat names.
func (f *flags) conversation() (*coding.Conversation, error) {
	talk, err := coding.Start(coding.Program{Command: f.Command, Args: f.Args, AgentsMayApprove: f.MayApprove, Within: f.Within})
	if unknown, ok := errors.AsType[*coding.UnknownError](err); ok {
		return nil, wrong("leave out --chat, or name one of those", "%s", unknown)
	}
	if err != nil {
		return nil, &proxy.UserError{Status: statusFailure, Say: err.Error(), Hint: coding.Hint(err), Cause: err}
	}
	return talk, nil
}

// agentConfig is everything that --agent adds. Nothing is dialled or served here.
func (f *flags) agentConfig(log *slog.Logger) (*proxy.AgentConfig, func(), error) {
	bound, err := f.bindings()
	if err != nil {
		return nil, nil, err
	}
	agent := &proxy.AgentConfig{
		Taste: f.taste, Name: f.Name, Parent: os.Getenv(proxy.SessionVariable), Level: protocol.Level(f.Grant), For: f.Lasts,
		Yield: f.Yield, Interval: f.Interval, Keys: bound, ForCtrlG: terminals.Find(os.Getenv).ForCtrlG(), NoNotice: f.NoNotice,
		AllowEscapes: f.Escapes, NoRedact: f.NoRedact, OneProgram: f.OneProgram,
	}
	url := cmp.Or(f.Gateway, os.Getenv("PROXY_GATEWAY"))
	endpoint, err := gateway.ParseEndpoint(url)
	if err != nil {
		return nil, nil, wrong("", "--gateway: %v", err)
	}
	if f.RemoteGrant && !endpoint.Remote() && !f.presets("allow-remote-grant") {
		return nil, nil, wrong("this machine's owner needs no flag to give the keyboard", "--allow-remote-grant needs a remote gateway, not %s", endpoint)
	}
	agent.RemoteGrant, agent.RemoteKeys, agent.Owner = f.RemoteGrant && endpoint.Remote(), f.RemoteKeys, gateway.Signed
	agent.LocalAgent, agent.Policy = gateway.LocalAgent, f.policy(endpoint)
	if file := cmp.Or(f.TokenFile, os.Getenv("PROXY_TOKEN_FILE")); file != "" {
		if endpoint.Token, err = auth.ReadTokenFile(file); err != nil {
			return nil, nil, wrong("create one with: gateway token create", "--token-file: %v", err)
		}
	}
	agent.URL, agent.Header, agent.Dial = endpoint.URL(protocol.PathProxy), endpoint.Header(), endpoint.DialContext
	for _, e := range endpoint.All()[1:] {
		agent.Others = append(agent.Others, link.Door{Dial: e.DialContext, URL: e.URL(protocol.PathProxy), Header: e.Header()})
	}
	if !endpoint.Local() {
		return agent, func() {}, nil
	}
	dir, err := gateway.RuntimeDir()
	if err != nil {
		return nil, nil, &proxy.UserError{Status: statusFailure, Say: "cannot use the local gateway's directory: " + err.Error(), Cause: err}
	}
	local := gateway.NewLocal(dir, log)
	local.Draw = pictures.Draw
	agent.Dial, agent.Away, agent.Back = local.Dial, local.Away, local.Back
	agent.Join = func() (link.Seat, error) {
		if seat, err := local.Join(); seat != nil || err != nil {
			return seat, err
		}
		return nil, nil //nolint:nilnil // another process serves
	}
	return agent, func() { _ = local.Close() }, nil
}

// policy is the user's rules. What allows is for agents of this machine, behind its own gateway.
func (f *flags) policy(endpoint gateway.Endpoint) *policy.Source {
	rules := f.agents
	if !endpoint.Local() {
		rules.Allow = nil
	}
	host, _ := os.Hostname() // without one, no rule is for it
	return policy.NewSource(rules, host, settings.PolicyNow)
}

// logger is the diagnostics' way out: a file, never the terminal.
func (f *flags) logger() (*slog.Logger, func(), error) {
	if f.Log == "" {
		return slog.New(slog.DiscardHandler), func() {}, nil
	}
	var level slog.Level
	if err := level.UnmarshalText([]byte(f.LogLevel)); err != nil {
		return nil, nil, wrong("use debug, info, warn or error", "--log-level %q: unknown level", f.LogLevel)
	}
	file, err := os.OpenFile(f.Log, os.O_CREATE|os.O_APPEND|os.O_WRONLY|syscall.O_NONBLOCK, 0o600) // a pipe that nobody reads must not hold us up
	if err != nil {
		return nil, nil, wrong("name a file that can be written", "--log: %v", err)
	}
	return slog.New(slog.NewTextHandler(file, &slog.HandlerOptions{Level: level})), func() { _ = file.Close() }, nil
}
