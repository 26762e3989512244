// Package proxyflags declares the flags of proxy, for proxy itself and for the packages that
// document or preset them.
package proxyflags

import (
	"time"

	"github.com/spf13/pflag"
)

// Flags is the command line of proxy.
type Flags struct {
	Agent       bool
	Chat        bool
	MayApprove  bool
	Within      time.Duration
	Grant       string
	Lasts       time.Duration
	Name        string
	Gateway     string
	TokenFile   string
	RemoteGrant bool
	RemoteKeys  bool
	Interval    time.Duration
	Yield       time.Duration
	ReclaimKey  string
	GrantKey    string
	Keep        bool
	Nested      bool
	RequireTTY  bool
	OneProgram  bool
	NoNotice    bool
	Notify      []string
	NotifyAfter time.Duration
	Record      string
	Escapes     bool
	NoRedact    bool
	Cols, Rows  int
	StatusFD    int
	Log         string
	LogLevel    string
	Help        bool
	ShowVersion bool

	Command string // PROGRAM, or ""
	Args    []string
}

// Set declares the flags. All of them stand before PROGRAM; the program gets the rest.
func (f *Flags) Set() *pflag.FlagSet {
	s := pflag.NewFlagSet("proxy", pflag.ContinueOnError)
	s.SortFlags = false
	s.SetInterspersed(false)
	f.addAgentFlags(s)
	f.addGatewayFlags(s)
	f.addKeyFlags(s)
	f.addNoticeFlags(s)
	f.addProgramFlags(s)
	s.StringVar(&f.Log, "log", "", "write diagnostics to `FILE`")
	s.StringVar(&f.LogLevel, "log-level", "info",
		"`LEVEL` of the diagnostics: debug, info, warn, error")
	s.BoolVarP(&f.Help, "help", "h", false, "show this help")
	s.BoolVar(&f.ShowVersion, "version", false, "show the version")
	s.Lookup("reclaim-key").DefValue = "" // it would be printed with two backslashes
	s.Usage = func() {}
	return s
}

func (f *Flags) addAgentFlags(s *pflag.FlagSet) {
	s.BoolVar(&f.Agent, "agent", false, "let agents watch this session and ask for the keyboard")
	s.BoolVar(&f.Chat, "chat", false,
		"PROGRAM is a coding agent: show its conversation beside its own interface, with "+
			"approvals and questions to answer (implies --agent)")
	s.BoolVar(&f.MayApprove, "agents-may-approve", false,
		"with --chat, let the keys of agents through while PROGRAM asks something: they answer "+
			"for you")
	s.DurationVar(&f.Within, "answer-within", 0,
		"with --chat, refuse what PROGRAM asks if it has no answer after this long, e.g. 10m "+
			"(default: it waits)")
	s.StringVar(&f.Grant, "grant", "",
		"give the keyboard to the first agent that asks, without a question. `LEVEL` drive: "+
			"every key; type: text at a line prompt, while the rest waits for your approval")
	s.DurationVar(&f.Lasts, "for", 0,
		"end every grant after this long, e.g. 1h; 0 for no limit (default: 10m if you answered "+
			"a question, no limit after --grant)")
	s.StringVar(&f.Name, "name", "", "`NAME` of the session (default: the program's)")
}

func (f *Flags) addGatewayFlags(s *pflag.FlagSet) {
	s.StringVar(&f.Gateway, "gateway", "",
		"`URL` of a gateway: ws://, wss:// or unix:, or several of the first two as URL,URL: "+
			"the first that answers (env PROXY_GATEWAY; default: the local one, which "+
			"this process serves if no other does)")
	s.StringVar(&f.TokenFile, "token-file", "",
		"`FILE` with the token for the gateway (env PROXY_TOKEN_FILE)")
	s.BoolVar(&f.RemoteGrant, "allow-remote-grant", false,
		"trust the gateway of --gateway: its owners may give agents the keyboard, too (default: "+
			"only you, at this terminal or with this machine's owner token)")
	s.BoolVar(&f.RemoteKeys, "allow-remote-keys", false,
		"let every owner's page type here as you do (default: only pages of gateway open --type)")
	s.DurationVar(&f.Interval, "snapshot-interval", 500*time.Millisecond,
		"shortest time between two snapshots of a screen that keeps changing")
}

func (f *Flags) addKeyFlags(s *pflag.FlagSet) {
	s.DurationVar(&f.Yield, "yield", time.Second, "how long an agent pauses after you press a key")
	s.StringVar(&f.ReclaimKey, "reclaim-key", `ctrl-\`,
		"the `KEY` that takes the keyboard back (default ctrl-\\)")
	s.StringVar(&f.GrantKey, "grant-key", "",
		"the `KEY` that gives an agent the keyboard (default ctrl-g; inside zellij, which keeps "+
			"that one, ctrl-])")
	s.BoolVar(&f.OneProgram, "only-this-program", false,
		"pause a grant while a program other than the one it was given for is in the foreground")
}

func (f *Flags) addNoticeFlags(s *pflag.FlagSet) {
	s.BoolVar(&f.NoNotice, "no-notice", false,
		"draw nothing over the program: use only the bell and the window title")
	s.StringArrayVar(&f.Notify, "notify", nil,
		"tell you when an agent waits and you do not look: POST a short text to `URL` (ntfy, "+
			"Slack, or your own receiver); terminal: through the terminal, as those known to "+
			"show notifications do anyway; off: not at all")
	s.DurationVar(&f.NotifyAfter, "notify-after", 10*time.Second,
		"how long no one has typed or watched before --notify tells you")
}

func (f *Flags) addProgramFlags(s *pflag.FlagSet) {
	s.BoolVar(&f.Escapes, "allow-escapes", false,
		"while an agent drives, let through escape sequences that reach the clipboard, files, "+
			"the window, function keys or a printer")
	s.BoolVar(&f.NoRedact, "no-redact", false,
		"show agents what looks like a token, key or password (masking is best effort anyway)")
	s.BoolVar(&f.Keep, "keep", false,
		"let PROGRAM go on when you press d in the menu or close the window; gateway attach "+
			"comes back to it")
	s.BoolVar(&f.Nested, "nested", false,
		"share PROGRAM inside a shared terminal, too; otherwise --agent just runs it there, "+
			"because agents see it already")
	s.StringVar(&f.Record, "record", "",
		"record the session to `FILE`, an asciicast, and what agents do to FILE.audit.jsonl")
	s.BoolVar(&f.RequireTTY, "require-tty", false,
		"fail if standard input or output is not a terminal")
	s.IntVar(&f.Cols, "cols", 0, "columns, if there is no terminal (default 80)")
	s.IntVar(&f.Rows, "rows", 0, "rows, if there is no terminal (default 24)")
	s.IntVar(&f.StatusFD, "status-fd", 0,
		"when PROGRAM ends, write its exit status to the open descriptor `N`; if nothing comes, "+
			"the status is proxy's own")
}

// The parts of --help that are text.
const (
	Synopsis = "proxy [flags] [--] PROGRAM [ARG ...]"
	About    = "proxy runs PROGRAM on your terminal, exactly as without it. With --agent, AI " +
		"agents can watch it, and type while you let\n" +
		"them. A line over the program asks you: Ctrl+G, or the key that it names, gives them " +
		"the keyboard, and Ctrl+\\ takes it\n" +
		"back at once. Without PROGRAM, --agent runs your $SHELL. If standard input, output or " +
		"error is a pipe or a file, PROGRAM gets\n" +
		"it as it is. Agents do not see it: they see what PROGRAM shows on the terminal.\n\n" +
		"The exit status is PROGRAM's, or 128 and the number of the signal that ended it. Else: " +
		"127 PROGRAM was not found; 126 it is no\n" +
		"program; 125 proxy failed; 2 usage."
	FlagsHead = "Flags (before PROGRAM; everything after it belongs to it):"
	Examples  = `  proxy --agent vim notes.txt
  proxy --agent --grant drive --for 10m python3
  proxy --agent --record s.cast bash
  proxy --chat claude`
)

// Usage is the text of --help.
func Usage() string {
	flags := new(Flags).Set().FlagUsagesWrapped(100)
	return "Usage: " + Synopsis + "\n\n" + About + "\n\n" + FlagsHead + "\n" + flags +
		"\nExamples:\n" + Examples + "\n"
}
