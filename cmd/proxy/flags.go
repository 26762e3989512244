package main

import (
	"cmp"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"terminalproxy/cmd/internal/flagwords"
	"terminalproxy/cmd/internal/pictures"
	"terminalproxy/gateway"
	"terminalproxy/gateway/auth"
	"terminalproxy/protocol"
	"terminalproxy/proxy"
	"terminalproxy/proxy/control"
	"terminalproxy/proxy/keys"
	"terminalproxy/proxy/link"
	"terminalproxy/proxy/watchdog"
)

var (
	errHelp    = errors.New("help")
	errVersion = errors.New("version")
)

// flags are what the user typed.
type flags struct {
	agent       bool
	grant       string
	lasts       time.Duration
	name        string
	gateway     string
	tokenFile   string
	remoteGrant bool
	remoteKeys  bool
	interval    time.Duration
	yield       time.Duration
	reclaimKey  string
	nested      bool
	requireTTY  bool
	oneProgram  bool
	noNotice    bool
	notify      []string
	notifyAfter time.Duration
	record      string
	escapes     bool
	noRedact    bool
	cols, rows  int
	log         string
	logLevel    string
	help        bool
	showVersion bool

	command string
	args    []string
}

// set declares the flags. All of them stand before PROGRAM; what follows it is the program's.
func (f *flags) set() *pflag.FlagSet {
	s := pflag.NewFlagSet("proxy", pflag.ContinueOnError)
	s.SortFlags = false
	s.SetInterspersed(false)
	s.BoolVar(&f.agent, "agent", false, "let agents watch this session and ask for the keyboard")
	s.StringVar(&f.grant, "grant", "", "give the keyboard to the first agent that asks, without a question. `LEVEL` drive: every key; type: text at a line prompt, while the rest waits for your approval")
	s.DurationVar(&f.lasts, "for", 0, "end every grant after this long, e.g. 1h; 0 for no limit (default: 10m after Ctrl+G, no limit after --grant)")
	s.StringVar(&f.name, "name", "", "`NAME` of the session (default: the program's)")
	s.StringVar(&f.gateway, "gateway", "", "`URL` of a gateway: ws://, wss:// or unix: (env PROXY_GATEWAY; default: the local one, served by this process if none is running)")
	s.StringVar(&f.tokenFile, "token-file", "", "`FILE` with the token for the gateway (env PROXY_TOKEN_FILE)")
	s.BoolVar(&f.remoteGrant, "allow-remote-grant", false, "trust the gateway of --gateway: its owners may give agents the keyboard, too (default: only you, at this terminal or with this machine's owner token)")
	s.BoolVar(&f.remoteKeys, "allow-remote-keys", false, "let every owner's page type here as you do (default: only pages of gateway open --type)")
	s.DurationVar(&f.interval, "snapshot-interval", 500*time.Millisecond, "shortest time between two snapshots of a screen that keeps changing")
	s.DurationVar(&f.yield, "yield", time.Second, "how long an agent pauses after a key of yours")
	s.StringVar(&f.reclaimKey, "reclaim-key", `ctrl-\`, "the `KEY` that takes the keyboard back (default ctrl-\\)")
	s.BoolVar(&f.oneProgram, "only-this-program", false, "pause a grant while a program other than the one it was given for is in the foreground")
	s.BoolVar(&f.noNotice, "no-notice", false, "draw nothing over the program: use only the bell and the window title")
	s.StringArrayVar(&f.notify, "notify", nil, "tell you when an agent waits and you do not look: POST a short text to `URL` (ntfy, Slack, or a receiver of yours); terminal: by the terminal, which those known to show notifications do anyway; off: not at all")
	s.DurationVar(&f.notifyAfter, "notify-after", 10*time.Second, "how long nobody has typed or looked before --notify tells you")
	s.BoolVar(&f.escapes, "allow-escapes", false, "while an agent drives, let through escape sequences that reach the clipboard, files, the window, function keys or a printer")
	s.BoolVar(&f.noRedact, "no-redact", false, "show agents what looks like a token, key or password (masking is best effort anyway)")
	s.BoolVar(&f.nested, "nested", false, "allow running inside another proxy session")
	s.StringVar(&f.record, "record", "", "record the session to `FILE`, an asciicast, and what agents do to FILE.audit.jsonl")
	s.BoolVar(&f.requireTTY, "require-tty", false, "fail if standard input or output is not a terminal")
	s.IntVar(&f.cols, "cols", 0, "columns, if there is no terminal (default 80)")
	s.IntVar(&f.rows, "rows", 0, "rows, if there is no terminal (default 24)")
	s.StringVar(&f.log, "log", "", "write diagnostics to `FILE`")
	s.StringVar(&f.logLevel, "log-level", "info", "`LEVEL` of the diagnostics: debug, info, warn, error")
	s.BoolVarP(&f.help, "help", "h", false, "show this help")
	s.BoolVar(&f.showVersion, "version", false, "show the version")
	s.Lookup("reclaim-key").DefValue = "" // it would be printed with two backslashes
	s.Usage = func() {}
	return s
}

const usageHead = `Usage: proxy [flags] [--] PROGRAM [ARG ...]

proxy runs PROGRAM on your terminal, exactly as without it. With --agent, AI agents can watch, and type while you let
them: a line over the program asks you, Ctrl+G gives them the keyboard, and Ctrl+\ takes it back at once. Without
PROGRAM, --agent runs your $SHELL.

Flags (before PROGRAM; everything after it belongs to it):
`

const usageTail = `
Examples:
  proxy --agent vim notes.txt
  proxy --agent --grant drive --for 10m python3
  proxy --agent --record s.cast bash
`

func usage() string {
	return usageHead + new(flags).set().FlagUsagesWrapped(100) + usageTail
}

// wrong is an error in what the user typed.
func wrong(hint, say string, args ...any) error {
	return &proxy.UserError{Status: statusUsage, Say: fmt.Sprintf(say, args...), Hint: hint}
}

// parse reads the command line.
func parse(args []string) (*flags, error) {
	f := &flags{}
	set := f.set()
	if err := set.Parse(args); err != nil {
		if say, hint, ok := flagwords.Explain(err); ok {
			return nil, wrong(hint, "%s", say)
		}
		return nil, wrong("see proxy --help; flags for PROGRAM come after it", "%v", err)
	}
	switch {
	case f.help:
		return nil, errHelp
	case f.showVersion:
		return nil, errVersion
	}
	if rest := set.Args(); len(rest) > 0 {
		f.command, f.args = rest[0], rest[1:]
	}
	return f, f.check(set)
}

// agentOnly are the flags that say nothing without --agent.
var agentOnly = []string{
	"grant", "for", "name", "gateway", "token-file", "allow-remote-grant", "allow-remote-keys", "snapshot-interval", "yield",
	"reclaim-key", "only-this-program", "no-notice", "notify", "notify-after", "allow-escapes", "no-redact", "nested",
}

func (f *flags) check(set *pflag.FlagSet) error {
	if !f.agent {
		for _, name := range agentOnly {
			if set.Changed(name) {
				return wrong("add --agent to let agents watch", "--%s needs --agent", name)
			}
		}
	}
	if f.command == "" {
		if f.command = os.Getenv("SHELL"); !f.agent || f.command == "" {
			return wrong("name one after the flags, as in: proxy --agent vim notes.txt", "no program given")
		}
	}
	switch {
	case f.grant != "" && f.grant != string(protocol.LevelType) && f.grant != string(protocol.LevelDrive):
		return wrong("type lets the agent write text, drive lets it press every key", "--grant %q: must be type or drive", f.grant)
	case f.lasts < 0:
		return wrong("use a duration such as 90s or 10m", "--for %s: must not be negative", f.lasts)
	case f.yield < 0 || f.yield > time.Hour:
		return wrong("use a duration such as 1s", "--yield %s: must be 0s to 1h", f.yield)
	case f.notifyAfter < 0 || f.notifyAfter > time.Hour:
		return wrong("use a duration such as 10s", "--notify-after %s: must be 0s to 1h", f.notifyAfter)
	case f.interval < 10*time.Millisecond || f.interval > time.Minute:
		return wrong("use a duration such as 500ms", "--snapshot-interval %s: must be 10ms to 1m", f.interval)
	case set.Changed("cols") && (f.cols < 1 || f.cols > protocol.MaxSize):
		return wrong("", "--cols %d: must be 1 to %d", f.cols, protocol.MaxSize)
	case set.Changed("rows") && (f.rows < 1 || f.rows > protocol.MaxSize):
		return wrong("", "--rows %d: must be 1 to %d", f.rows, protocol.MaxSize)
	case len(f.name) > protocol.MaxName || strings.ContainsFunc(f.name, func(r rune) bool { return r < ' ' || r == 0x7f }):
		return wrong("", "--name: must be at most %d bytes, without control characters", protocol.MaxName)
	}
	if set.Changed("for") && f.lasts == 0 {
		f.lasts = control.Unlimited
	}
	return nil
}

// session makes the session's configuration. done is to be called when the session is over.
func (f *flags) session(stdin, stdout *os.File) (conf proxy.Config, done func(), err error) {
	conf = proxy.Config{
		Command: f.command, Args: f.args, In: stdin, Out: stdout, Cols: f.cols, Rows: f.rows, Record: f.record,
		Watchdog: watchdog.Self(),
	}
	if f.requireTTY && (!isTerminal(stdin) || !isTerminal(stdout)) {
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
	if !f.agent {
		return conf, closeLog, nil
	}
	if outer := os.Getenv(proxy.SessionVariable); outer != "" && !f.nested {
		return conf, nil, wrong("agents already see this terminal; add --nested to share the inner program as well (the outer session's keys win)",
			"this shell already runs inside the session %s", outer)
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
	return conf, func() { quiet(); closeLocal(); closeLog() }, nil
}

// agentConfig is everything that --agent adds. Nothing is dialled or served here.
func (f *flags) agentConfig(log *slog.Logger) (*proxy.AgentConfig, func(), error) {
	key, err := keys.ParseReclaimKey(f.reclaimKey)
	if err != nil {
		return nil, nil, wrong("", "--reclaim-key: %v", err)
	}
	agent := &proxy.AgentConfig{
		Name: f.name, Parent: os.Getenv(proxy.SessionVariable), Level: protocol.Level(f.grant), For: f.lasts,
		Yield: f.yield, Interval: f.interval, Key: key, NoNotice: f.noNotice,
		AllowEscapes: f.escapes, NoRedact: f.noRedact, OneProgram: f.oneProgram,
	}
	url := cmp.Or(f.gateway, os.Getenv("PROXY_GATEWAY"))
	endpoint, err := gateway.ParseEndpoint(url)
	if err != nil {
		return nil, nil, wrong("", "--gateway: %v", err)
	}
	if f.remoteGrant && !endpoint.Remote() {
		return nil, nil, wrong("this machine's owner needs no flag to give the keyboard", "--allow-remote-grant needs a remote gateway, not %s", endpoint)
	}
	agent.RemoteGrant, agent.RemoteKeys, agent.Owner = f.remoteGrant, f.remoteKeys, gateway.Signed
	if file := cmp.Or(f.tokenFile, os.Getenv("PROXY_TOKEN_FILE")); file != "" {
		if endpoint.Token, err = auth.ReadTokenFile(file); err != nil {
			return nil, nil, wrong("create one with: gateway token create", "--token-file: %v", err)
		}
	}
	agent.URL, agent.Header, agent.Dial = endpoint.URL(protocol.PathProxy), endpoint.Header(), endpoint.DialContext
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

// logger is the diagnostics' way out: a file, never the terminal.
func (f *flags) logger() (*slog.Logger, func(), error) {
	if f.log == "" {
		return slog.New(slog.DiscardHandler), func() {}, nil
	}
	var level slog.Level
	if err := level.UnmarshalText([]byte(f.logLevel)); err != nil {
		return nil, nil, wrong("use debug, info, warn or error", "--log-level %q: unknown level", f.logLevel)
	}
	file, err := os.OpenFile(f.log, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return nil, nil, wrong("name a file that can be written", "--log: %v", err)
	}
	return slog.New(slog.NewTextHandler(file, &slog.HandlerOptions{Level: level})), func() { _ = file.Close() }, nil
}
