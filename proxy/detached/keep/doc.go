// Package keep lets a session outlive the window in which it was started. The session runs in a
// process of its own, which belongs to no terminal; a process in front, which the user's shell
// knows, lends it the terminal: it hands over the descriptors, passes signals on, stops as a job
// when the session does, and ends with it, or when the session lets the terminal go. Nothing that
// is typed or shown passes the process in front: the session reads and writes the terminal itself.
//
// [Window], [Door] and [Keep], which has both, are the session's side, [LendTerminal] is the other
// one. The two speak JSON over a Unix socket, beside whose first byte the descriptors travel
// (SCM_RIGHTS, unix(7)). The package must not know what a session is.
package keep

// Name is the argv[0] by which the program knows that it runs a session behind a window.
const Name = "proxy-kept"

// word is a message. The process in front sends the first three fields, the session the others.
type word struct {
	Signal int     `json:"signal,omitempty"` // that it got
	Job    bool    `json:"job,omitempty"`    // a shell could resume it if it stopped
	Front  *opened `json:"front,omitempty"`  // the first word

	Stop    int     `json:"stop,omitempty"`    // stop by this signal
	Say     string  `json:"say,omitempty"`     // tell the user
	Exit    *int    `json:"exit,omitempty"`    // the program has ended with this status
	Release Release `json:"release,omitempty"` // the terminal is let go
	Session string  `json:"session,omitempty"` // which session lets it go
}

// opened describes the process in front.
type opened struct {
	Pid int `json:"pid"`
	// ForCtrlG names what its user presses for Ctrl+G, if the terminal keeps that key for itself.
	ForCtrlG string `json:"for_ctrl_g,omitempty"`
}

// Release says why a session lets a terminal go while its program goes on; "" gives no reason.
type Release string

// The reasons.
const (
	Detached Release = "detached" // the user wants it
	Taken    Release = "taken"    // the session is at another terminal now
)
