package proxy

import (
	"context"
	"log/slog"
	"net"
	"net/http"
	"os"
	"time"

	"terminalproxy/protocol"
	"terminalproxy/proxy/chat"
	"terminalproxy/proxy/consent/policy"
	"terminalproxy/proxy/detached/headless"
	"terminalproxy/proxy/detached/keep"
	"terminalproxy/proxy/display/events"
	"terminalproxy/proxy/display/overlay"
	"terminalproxy/proxy/link"
	"terminalproxy/proxy/terminal/keys"
	"terminalproxy/proxy/view/redact"
)

// Config says what to run, and who may observe it.
type Config struct {
	Command string
	Args    []string
	// In, Out and Err hold the user's standard streams. A stream that leads to no terminal goes to
	// the program as it is; In and Out of this process lead nowhere from then on. Err may be nil.
	In, Out, Err *os.File
	// Given are the other descriptors that this process was started with: the program gets them under
	// the same numbers, and this process closes them.
	Given      []int
	Cols, Rows int // size if the terminal reports no size; 0 means 80x24
	// Watchdog holds the path of a program that becomes the terminal's watchdog when it is called
	// by [watchdog.Name]; "" starts no watchdog.
	Watchdog string
	// Agent lets agents observe; nil is a plain PTY without any network.
	Agent  *AgentConfig
	Record string // file to record the session to, "" to record nothing; its audit log is beside it
	// Records names the directory that lists the user's recordings; "" keeps no list.
	Records string
	Log     *slog.Logger // nil discards
	// Final says that the process ends with the session: the signals that the session obeys stay
	// taken, and are ignored after its end.
	Final bool
	// Keep has the session outlive its window; nil ends it with that. It needs Agent.
	Keep *keep.Keep

	headless *headless.Session // nil for a session on a user's terminal
}

// Taste is what a user wants of every session.
type Taste struct {
	Redact *redact.Own   // rules about what agents are not shown; nil adds no rules
	Look   overlay.Taste // of the proxy's own line and sign
}

// AgentConfig says how agents reach the session and what they may do.
type AgentConfig struct {
	Taste
	Name   string // of the session; "" is the program's name
	Parent string // id of the session this one runs in
	Dial   func(context.Context) (net.Conn, error)
	Join   func() (link.Seat, error) // see [link.Config]; nil without
	// Away is called before this process is stopped with the session, so that others take over what
	// it serves; Back is called when it goes on. Away returns within a moment. Both may be nil.
	Away, Back func()
	URL        string // of the gateway's proxy door
	Header     http.Header
	OwnGateway bool           // the gateway is the user's own, of this machine: it may ask for secrets
	Others     []link.Door    // gateways to turn to when that one does not answer or is lost
	Level      protocol.Level // given to the first agent that asks; "" grants nothing
	For        time.Duration  // longest grant; 0 and control.Unlimited as in [control.Config]
	Yield      time.Duration  // an agent pauses this long after a user's key
	Interval   time.Duration  // between snapshots of continuous output
	Keys       keys.Bindings  // what the user presses to take the keyboard back and to give it
	// ForCtrlG names what people press for Ctrl+G at the terminal that the session starts at, if
	// that terminal keeps Ctrl+G for itself; "" otherwise.
	ForCtrlG string
	NoNotice bool // no line over the program
	// CountStart counts a session that a person starts, and reports whether to tell that person
	// that it is shared. It may wait for the disk, and may be nil.
	CountStart func() bool
	// Owner says which owner signed a message; an error is for people. If nil, this session knows
	// no owners.
	Owner func(message, signature []byte) (protocol.Signer, error)
	// LocalAgent says whose local token signed a message. If nil, this session knows no such
	// tokens.
	LocalAgent func(message, signature []byte) (token string, err error)
	// Policy holds the user's rules; it may be nil.
	Policy *policy.Source
	// RemoteGrant: the gateway's word is enough that an owner decided.
	RemoteGrant bool
	// RemoteKeys: every owner may type here from elsewhere.
	RemoteKeys bool
	// AllowEscapes passes sequences that touch the clipboard, files, the window and the like while
	// an agent drives.
	AllowEscapes bool
	// NoRedact shows agents what looks like a token or a key.
	NoRedact bool
	// OneProgram binds every grant to the program that has the terminal when it is given.
	OneProgram bool
	// Notify gets a short text when an agent waits and the user has not typed or looked for
	// NotifyAfter. It returns at once, and may be nil. Notify and Alert are called from a goroutine
	// of their own.
	Notify      func(text string)
	NotifyAfter time.Duration
	// OnEvent gets every [events.Event], in order. It returns at once, and may be nil.
	OnEvent func(events.Event)
	// Alert returns what makes the user's terminal show such a text, or nil: whole control strings
	// that change nothing on the screen. It may be nil.
	Alert func(text string) []byte
	// Chat holds the conversation of the coding agent that the program is; it may be nil.
	Chat *Chat
}

// Chat is a conversation that others follow and take part in.
type Chat struct {
	// Session is started when the program runs, and closed when it has ended.
	Session *chat.Session
	// Around says that the conversation is that of another program, which runs this one. It is
	// neither started nor shown here, but agents in the terminal can put requests to its people.
	Around bool
	// Args replace those of [Config] unless they are nil; Env adds variables for the program.
	Args, Env []string
	// Beside drives the conversation if the program has an interface of its own in the terminal;
	// nil otherwise.
	Beside chat.Beside
	// AgentsMayApprove lets agents' keys through while the program asks something for a person to
	// answer.
	AgentsMayApprove bool
}

// Result is how a session ended.
type Result struct {
	ID   string // of the session, "" without agents
	Code int    // the exit status to pass on
	// HeldOpen says that processes in the background kept the program's terminal open.
	HeldOpen bool
	// Agent says in a sentence why the coding agent ended; "" if it ended as expected, or if the
	// session runs no coding agent.
	Agent string
	// Unrecorded says which part is missing in the recording.
	Unrecorded error
}

// UserError is a failure in words for the user.
type UserError struct {
	Status int // exit status
	Say    string
	Hint   string
	Cause  error
}

// Error implements error.
func (e *UserError) Error() string { return e.Say }

// Unwrap returns the cause, for logs.
func (e *UserError) Unwrap() error { return e.Cause }
