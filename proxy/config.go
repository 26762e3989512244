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
	"terminalproxy/proxy/events"
	"terminalproxy/proxy/host"
	"terminalproxy/proxy/keys"
	"terminalproxy/proxy/link"
	"terminalproxy/proxy/overlay"
	"terminalproxy/proxy/policy"
	"terminalproxy/proxy/redact"
	"terminalproxy/proxy/window"
)

// Config says what to run and who may look.
type Config struct {
	Command string
	Args    []string
	// In, Out and Err are the user's standard streams. One that is no terminal goes to the program as it is, and In and Out of
	// this process lead nowhere from then on. Err may be nil.
	In, Out, Err *os.File
	Cols, Rows   int // size where the terminal has none; 0 is 80x24
	// Watchdog is the path of a program that becomes the terminal's watchdog when it is called by [watchdog.Name]; "" does
	// without one.
	Watchdog string
	// Agent lets agents observe; nil is a plain PTY without any network.
	Agent  *AgentConfig
	Record string // file to record the session to, "" for none; its audit log stands beside it
	// Records is the directory in which the user's recordings are known, "" for none.
	Records string
	Log     *slog.Logger // nil discards
	// Final says that the process ends with the session: the signals that it obeyed stay taken, and nobody hears them.
	Final bool
	// Keep has the session outlive its window; nil ends it with that. It needs Agent.
	Keep *window.Keep

	headless *host.Session // nil for a session on a user's terminal
}

// Taste is what a user wants of every session.
type Taste struct {
	Redact *redact.Own   // rules about what agents are not shown, nil for none
	Look   overlay.Taste // of the proxy's own line and sign
}

// AgentConfig says how agents reach the session and what they may do.
type AgentConfig struct {
	Taste
	Name   string // of the session; "" is the program's name
	Parent string // id of the session this one runs in
	Dial   func(context.Context) (net.Conn, error)
	Join   func() (link.Seat, error) // see [link.Config]; nil without
	// Away is called before this process is stopped with the session, so that others serve what it served, and Back when it
	// goes on. Away returns within a moment; both may be nil.
	Away, Back func()
	URL        string // of the gateway's proxy door
	Header     http.Header
	Others     []link.Door    // gateways to turn to when that one does not answer or is lost
	Level      protocol.Level // given to the first agent that asks, "" for none
	For        time.Duration  // longest grant; 0 and control.Unlimited as in [control.Config]
	Yield      time.Duration  // an agent pauses this long after a user's key
	Interval   time.Duration  // between snapshots of continuous output
	Keys       keys.Bindings  // what the user presses to take the keyboard back and to give it
	// ForCtrlG is what people press for Ctrl+G at the terminal that the session starts at, where
	// that one keeps it for itself; "" where it does not.
	ForCtrlG string
	NoNotice bool // no line over the program
	// Owner says which owner signed a message; an error is for people. nil: this session knows no owners.
	Owner func(message, signature []byte) (protocol.Signer, error)
	// LocalAgent says whose local token signed a message; nil: this session knows none.
	LocalAgent func(message, signature []byte) (token string, err error)
	// Policy is the user's rules; nil for none.
	Policy *policy.Source
	// RemoteGrant: the gateway's word is enough that an owner decided.
	RemoteGrant bool
	// RemoteKeys: every owner may type here from elsewhere.
	RemoteKeys bool
	// AllowEscapes lets sequences through that touch the clipboard, files, the window and the like while an agent drives.
	AllowEscapes bool
	// NoRedact shows agents what looks like a token or a key.
	NoRedact bool
	// OneProgram binds every grant to the program that has the terminal when it is given.
	OneProgram bool
	// Notify is told in a short text that an agent waits and nobody has typed or looked for NotifyAfter. It returns at once; nil for
	// nobody. It is called from a goroutine of its own, as is Alert.
	Notify      func(text string)
	NotifyAfter time.Duration
	// Happened is told of every [events.Event], in order. It returns at once; nil for nobody.
	Happened func(events.Event)
	// Alert makes what has the user's terminal show such a text, nil for nothing: whole control strings that change nothing on
	// the screen. It may be nil.
	Alert func(text string) []byte
	// Chat is the conversation of the coding agent that the program is, nil for none.
	Chat *Chat
}

// Chat is a conversation that others follow and take part in.
type Chat struct {
	// Session is started when the program runs, and closed when it has ended.
	Session *chat.Session
	// Around: it is that of another program, which runs this one. It is neither started nor shown here, but agents in the terminal can put
	// requests to its people.
	Around bool
	// Args are what the program gets in place of those of [Config], unless they are nil, and Env variables for it.
	Args, Env []string
	// Beside is the session's driver where the program has an interface of its own in the terminal, nil where it has not.
	Beside chat.Beside
	// AgentsMayApprove: agents' keys go through while the program asks something that is a person's to answer.
	AgentsMayApprove bool
}

// Result is how a session ended.
type Result struct {
	ID   string // of the session, "" without agents
	Code int    // the exit status to pass on
	// HeldOpen says that processes in the background kept the program's terminal open.
	HeldOpen bool
	// Agent says why the coding agent ended, in a sentence; "" where it ended as it should, and where there is none.
	Agent string
	// Unrecorded says what is missing in the recording.
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

// Unwrap is the cause, for logs.
func (e *UserError) Unwrap() error { return e.Cause }
