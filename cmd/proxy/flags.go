package main

import (
	"cmp"
	"errors"
	"log/slog"
	"os"
	"slices"
	"syscall"

	"github.com/spf13/pflag"

	"terminalproxy/cmd/internal/agents/beside"
	"terminalproxy/cmd/internal/agents/coding"
	"terminalproxy/cmd/internal/cli/terminals"
	"terminalproxy/cmd/internal/config/flagwords"
	"terminalproxy/cmd/internal/config/proxyflags"
	"terminalproxy/cmd/internal/config/settings"
	"terminalproxy/gateway/access/auth"
	"terminalproxy/gateway/client"
	"terminalproxy/gateway/endpoint"
	"terminalproxy/gateway/local"
	"terminalproxy/gateway/userdirs"
	"terminalproxy/protocol"
	"terminalproxy/proxy"
	"terminalproxy/proxy/consent/control"
	"terminalproxy/proxy/consent/policy"
	"terminalproxy/proxy/detached/keep"
	"terminalproxy/proxy/link"
	"terminalproxy/proxy/terminal/tty"
	"terminalproxy/proxy/terminal/watchdog"
)

var (
	errHelp    = errors.New("help")
	errVersion = errors.New("version")
)

// flags are the user's command line and configuration.
type flags struct {
	proxyflags.Flags
	configured
	set *pflag.FlagSet
}

// usageError returns an error in the user's flags or configuration.
var usageError = proxyflags.UsageError

// parseFlags reads the command line and the configuration.
func parseFlags(args []string) (*flags, error) {
	f := &flags{}
	set := f.Set()
	if err := set.Parse(args); err != nil {
		if message, hint, ok := flagwords.Explain(err); ok {
			return nil, usageError(hint, "%s", message)
		}
		hint := "see proxy --help; flags for PROGRAM come after it"
		if similar := flagwords.FindSimilar(err, set); similar != "" {
			hint = "did you mean " + similar + "? Flags for PROGRAM come after it"
		}
		return nil, usageError(hint, "%v", err)
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
	f.applyConfig(set)
	return f, f.retryWithoutConfig(set, func() error { return f.checkValues(set) })
}

// agentOnly are the flags that need --agent.
var agentOnly = []string{
	"grant",
	"for",
	"name",
	"gateway",
	"token-file",
	"allow-remote-grant",
	"allow-remote-keys",
	"snapshot-interval",
	"yield",
	"reclaim-key",
	"grant-key",
	"only-this-program",
	"no-notice",
	"notify",
	"notify-after",
	"allow-escapes",
	"no-redact",
	"nested",
	"keep",
}

func (f *flags) checkValues(set *pflag.FlagSet) error {
	if err := f.checkChat(); err != nil {
		return err
	}
	f.Agent = f.Agent || f.Chat
	if !f.Agent {
		for _, name := range agentOnly {
			if slices.Contains(f.typed, name) {
				return usageError("add --agent to let agents watch", "--%s needs --agent", name)
			}
		}
	}
	if f.Command == "" && set.NArg() > 0 {
		return usageError("is a variable empty that should name it?",
			"no program given: its name is empty")
	}
	if f.Command == "" {
		if f.Command = os.Getenv("SHELL"); !f.Agent || f.Command == "" {
			return usageError("name one after the flags, as in: proxy --agent vim notes.txt",
				"no program given")
		}
	}
	if err := f.CheckRanges(set); err != nil {
		return err
	}
	if set.Changed("status-fd") && os.Args[0] != keep.Name && !canWrite(f.StatusFD) {
		return usageError("as in: STATUS=$(proxy --status-fd 3 PROGRAM 3>&1 >&2)",
			"--status-fd %d: must be a descriptor above 2, open for writing", f.StatusFD)
	}
	if set.Changed("for") && f.Lasts == 0 {
		f.Lasts = control.Unlimited
	}
	return nil
}

// checkChat checks the flags that go with --chat.
func (f *flags) checkChat() error {
	if f.MayApprove && !f.Chat {
		return usageError("add --chat and name a coding agent", "--agents-may-approve needs --chat")
	}
	if f.Within > 0 && !f.Chat && slices.Contains(f.typed, coding.WithinFlag) {
		return usageError("add --chat and name a coding agent", "--%s needs --chat",
			coding.WithinFlag)
	}
	if err := coding.CheckWithin(f.Within); err != nil {
		return usageError("use a duration such as 10m", "%v", err)
	}
	if f.Command == "" && f.Chat {
		return usageError("as in: proxy --chat "+coding.Names()[0],
			"--chat: no coding agent is named")
	}
	return nil
}

// sessionConfig makes the session's configuration, without the user's own if that one fails.
// done is as that of makeConfig.
func (f *flags) sessionConfig(stdin, stdout *os.File) (conf proxy.Config, done func(), err error) {
	err = f.retryWithoutConfig(f.set, func() error {
		conf, done, err = f.makeConfig(stdin, stdout)
		return err
	})
	return conf, done, err
}

// makeConfig makes the session's configuration. Call done when the session is over.
func (f *flags) makeConfig(stdin, stdout *os.File) (conf proxy.Config, done func(), err error) {
	conf = proxy.Config{
		Command:  f.Command,
		Args:     f.Args,
		In:       stdin,
		Out:      stdout,
		Cols:     f.Cols,
		Rows:     f.Rows,
		Record:   f.Record,
		Watchdog: watchdog.Self(),
	}
	if f.RequireTTY && (!tty.IsTerminal(stdin) || !tty.IsTerminal(stdout)) {
		return conf, nil, usageError("leave out --require-tty to run without one",
			"standard input or output is not a terminal")
	}
	log, closeLog, err := f.openLog()
	if err != nil {
		return conf, nil, err
	}
	conf.Log = log
	// without one the recording is not listed, but it is made
	if dir, err := userdirs.RecordsPath(); err == nil {
		conf.Records = dir
	}
	if !f.Agent {
		return conf, closeLog, nil
	}
	agent, closeLocal, err := f.agentConfig(log)
	if dir, ok := errors.AsType[*userdirs.DirError](err); ok && !f.Chat &&
		os.Getenv(userdirs.EnvDir) == "" {
		f.unshared = dir // the user's program must run even if another user holds the name
		return conf, closeLog, nil
	}
	if err != nil {
		return conf, nil, err
	}
	quiet, err := f.startNotifications(agent, log)
	if err != nil {
		closeLocal()
		closeLog()
		return conf, nil, err
	}
	conf.Agent = agent
	told := f.startEvents(agent, log)
	over := func() { told(); quiet(); closeLocal(); closeLog() }
	if !f.Chat {
		return conf, over, nil
	}
	talk, err := f.startConversation()
	if err != nil {
		over()
		return conf, nil, err
	}
	agent.Chat = talk.Chat
	return conf, func() { talk.Done(); over() }, nil
}

// startConversation starts the conversation with the coding agent that --chat names.
func (f *flags) startConversation() (*coding.Conversation, error) {
	talk, err := coding.Start(coding.Program{
		Command:          f.Command,
		Args:             f.Args,
		AgentsMayApprove: f.MayApprove,
		Within:           f.Within,
	})
	if unknown, ok := errors.AsType[*coding.UnknownError](err); ok {
		return nil, usageError("leave out --chat, or name one of those", "%s", unknown)
	}
	if err != nil {
		return nil, &proxy.UserError{
			Status: statusFailure,
			Say:    err.Error(),
			Hint:   client.Hint(err),
			Cause:  err,
		}
	}
	return talk, nil
}

// agentConfig makes everything that --agent adds. It does not dial or serve.
func (f *flags) agentConfig(log *slog.Logger) (*proxy.AgentConfig, func(), error) {
	bound, err := f.KeyBindings()
	if err != nil {
		return nil, nil, err
	}
	agent := &proxy.AgentConfig{
		Taste:        f.taste,
		Name:         f.Name,
		Parent:       os.Getenv(proxy.SessionVariable),
		Level:        protocol.Level(f.Grant),
		For:          f.Lasts,
		Yield:        f.Yield,
		Interval:     f.Interval,
		Keys:         bound,
		ForCtrlG:     terminals.Find(os.Getenv).ForCtrlG(),
		NoNotice:     f.NoNotice,
		AllowEscapes: f.Escapes,
		NoRedact:     f.NoRedact,
		OneProgram:   f.OneProgram,
		CountStart:   newStartCounter(log),
	}
	at, err := f.gatewayEndpoint()
	if err != nil {
		return nil, nil, err
	}
	agent.RemoteGrant = f.RemoteGrant && at.Remote()
	agent.RemoteKeys, agent.Owner = f.RemoteKeys, auth.VerifyOwnSigner
	agent.LocalAgent, agent.Policy = auth.OwnLocalAgent, f.policySource(at)
	agent.URL, agent.Header = at.URL(protocol.PathProxy), at.Header()
	agent.Dial = at.DialContext
	for _, e := range at.All()[1:] {
		door := link.Door{Dial: e.DialContext, URL: e.URL(protocol.PathProxy), Header: e.Header()}
		agent.Others = append(agent.Others, door)
	}
	if !at.Local() {
		return agent, func() {}, nil
	}
	done, err := useLocalGateway(agent, log)
	return agent, done, err
}

// gatewayEndpoint returns the gateway to dial, with the token for it.
func (f *flags) gatewayEndpoint() (at endpoint.Endpoint, err error) {
	at, err = endpoint.Parse(cmp.Or(f.Gateway, os.Getenv("PROXY_GATEWAY")))
	if err != nil {
		return at, usageError("", "--gateway: %v", err)
	}
	if f.RemoteGrant && !at.Remote() && !f.isPreset("allow-remote-grant") {
		return at, usageError("this machine's owner needs no flag to give the keyboard",
			"--allow-remote-grant needs a remote gateway, not %s", at)
	}
	if file := cmp.Or(f.TokenFile, os.Getenv("PROXY_TOKEN_FILE")); file != "" {
		if at.Token, err = auth.ReadTokenFile(file); err != nil {
			return at, usageError("create one with: gateway token create", "--token-file: %v", err)
		}
	}
	return at, nil
}

// useLocalGateway connects agent to the user's local gateway, which this process may serve. Call
// closeLocal when the session is over.
func useLocalGateway(agent *proxy.AgentConfig, log *slog.Logger) (closeLocal func(), err error) {
	dir, err := userdirs.Runtime()
	if err != nil {
		return nil, &proxy.UserError{
			Status: statusFailure,
			Say:    "cannot use the local gateway's directory: " + err.Error(),
			Cause:  err,
		}
	}
	own := local.New(dir, log)
	own.Draw = beside.Draw
	agent.OwnGateway = true
	agent.Dial, agent.Away, agent.Back = own.Dial, own.GiveUpPlace, own.ServeAgain
	agent.Join = func() (link.Seat, error) {
		if seat, err := own.JoinInProcess(); seat != nil || err != nil {
			return seat, err
		}
		return nil, nil //nolint:nilnil // another process serves
	}
	return func() { _ = own.Close() }, nil
}

// policySource returns the user's rules. Rules that allow are for agents of this machine, behind
// its own gateway.
func (f *flags) policySource(at endpoint.Endpoint) *policy.Source {
	rules := f.agents
	if !at.Local() {
		rules.Allow = nil
	}
	host, _ := os.Hostname() // without one, no rule is for it
	return policy.NewSource(rules, host, settings.PolicyNow)
}

// openLog opens the diagnostics' output: a file, never the terminal.
func (f *flags) openLog() (*slog.Logger, func(), error) {
	if f.Log == "" {
		return slog.New(slog.DiscardHandler), func() {}, nil
	}
	level, err := f.ParseLogLevel()
	if err != nil {
		return nil, nil, err
	}
	// a pipe without a reader must not hold us up
	file, err := os.OpenFile(f.Log, os.O_CREATE|os.O_APPEND|os.O_WRONLY|syscall.O_NONBLOCK, 0o600)
	if err != nil {
		return nil, nil, usageError("name a file that can be written", "--log: %v", err)
	}
	return slog.New(slog.NewTextHandler(file, &slog.HandlerOptions{
		Level: level,
	})), func() { _ = file.Close() }, nil
}
