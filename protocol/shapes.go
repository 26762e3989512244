package protocol

import "time"

// Frame is the screen at one moment with everything that belongs to its reading: who has the
// keyboard is in every answer.
type Frame struct {
	// Seq is the revision of the screen; it grows with every visible change.
	Seq    uint64 `json:"seq"`
	Screen Screen `json:"screen"`
	// Changed holds the rows that differ from the frame with revision Since, in place of
	// Screen.Lines.
	Changed []Row  `json:"changed,omitempty"`
	Since   uint64 `json:"since,omitempty"`
	// Moved is by how many rows those of the frame Since have moved up, down if it is negative,
	// before Changed counts; see [Patch]. Only who reads with Follow gets it.
	Moved int `json:"moved,omitempty"`
	// Line is the lasting number that the first row of the main screen will have in the history.
	Line uint64 `json:"line,omitempty"`
	// Highlights are the parts of rows that stand out by their background, as a selected entry
	// does; at most MaxHighlights.
	Highlights []Highlight `json:"highlights,omitempty"`
	// Keyboard says who may type now.
	Keyboard Keyboard `json:"keyboard"`
	// IdleMs is the time since the last visible change.
	IdleMs int64 `json:"idleMs"`
	// Settled says that the screen had been quiet for the settle time.
	Settled bool `json:"settled"`
	// Repainting are the rows that the program kept repainting while all others were quiet: the
	// reason why Settled is set, or a wait is met. Rows count from 0.
	Repainting []int `json:"repainting,omitempty"`
	// Starting says that the program has shown nothing yet, and began so lately that it may still
	// be getting ready.
	Starting bool      `json:"starting,omitempty"`
	Activity *Activity `json:"activity,omitempty"`
	// Blackout says what the frame does not show, nil when it shows everything.
	Blackout *Hidden `json:"blackout,omitempty"`
	// Redactions counts the places on the screen where the proxy covered what looks like a secret.
	Redactions int `json:"redactions,omitempty"`
	// HiddenText are the rows that hold text which a person cannot see: concealed, or in a colour
	// that can hardly be told from its background as the program has set the palette.
	HiddenText []int `json:"hiddenText,omitempty"`
	// Pictures are the images that stand on the screen, from the top, at most MaxPictures; rows say
	// nothing of what they show.
	Pictures []Picture `json:"pictures,omitempty"`
}

// Picture is an image that the program has put on the screen (sixel, kitty's or iTerm2's graphics).
type Picture struct {
	// Kind is "sixel", "kitty" or "iterm2".
	Kind string `json:"kind"`
	// Row and Col are the cell of its upper left corner; Rows and Cols are left out where only the
	// terminal knows them.
	Row  int `json:"row"`
	Col  int `json:"col"`
	Rows int `json:"rows,omitempty"`
	Cols int `json:"cols,omitempty"`
}

// FirstSeq is the revision of a screen on which nothing was printed yet: what a read with Follow
// finds new since then is all that the program has printed.
const FirstSeq = 1

// Screen is what the user sees. Rows and columns count from 0.
type Screen struct {
	Cols int `json:"cols"`
	Rows int `json:"rows"`
	// Lines holds Rows rows of text, blanks at their ends cut. It is absent where the message says
	// what changed.
	Lines []string `json:"lines,omitempty"`
	// Palette is what the program changed of the terminal's colours, where rows carry SGR
	// sequences.
	Palette []Color `json:"palette,omitempty"`
	Cursor  Cursor  `json:"cursor"`
	// Alt says that the alternate screen is shown: a full-screen program, without scrollback.
	Alt   bool   `json:"alt"`
	Title string `json:"title"`
	// Progress is what the program says of a long job (OSC 9;4), nil for nothing.
	Progress *Progress `json:"progress,omitempty"`
	Modes    Modes     `json:"modes"`
	// Scrollback is the number of rows of history.
	Scrollback int `json:"scrollback"`
	// Hash names the content of the rows, the cursor and the size: equal screens have equal hashes.
	Hash string `json:"hash"`
}

// Progress is how far a long job of the program's is.
type Progress struct {
	// State is one of the Progress constants.
	State   string `json:"state"`
	Percent int    `json:"percent,omitempty"`
}

// States of a long job.
const (
	ProgressRuns    = "running"
	ProgressFailed  = "error"
	ProgressUnknown = "indeterminate" // under way, at an unknown percentage
	ProgressPaused  = "paused"
)

// Color is a colour of the palette: Name is its number, "foreground" or "background", RGB is
// "#rrggbb".
type Color struct {
	Name string `json:"name"`
	RGB  string `json:"rgb"`
}

// Row is one row of a screen.
type Row struct {
	Row  int    `json:"row"`
	Text string `json:"text"`
}

// Cell is a place on the screen.
type Cell struct {
	Row int `json:"row"`
	Col int `json:"col"`
}

// Highlight is a part of the screen that stands out: inverse, or on another background than its
// surroundings.
type Highlight struct {
	// Row is its first row, Rows how many it has where it is more than one.
	Row  int `json:"row"`
	Rows int `json:"rows,omitempty"`
	// Col is its first column, Cols how many it has.
	Col  int `json:"col"`
	Cols int `json:"cols"`
	// Text is the text shown there in the first row, at most MaxHighlight characters of it.
	Text string `json:"text"`
}

// Cursor is the text cursor.
type Cursor struct {
	Row     int  `json:"row"`
	Col     int  `json:"col"`
	Visible bool `json:"visible"`
	// Shape is "underline" or "bar", and left out for a block (DECSCUSR).
	Shape string `json:"shape,omitempty"`
}

// Shapes of a cursor other than the block.
const (
	CursorUnderline = "underline"
	CursorBar       = "bar"
)

// Modes holds the modes that matter for typing (xterm ctlseqs, DECSET).
type Modes struct {
	BracketedPaste bool `json:"bracketedPaste"`
	AppCursor      bool `json:"appCursor"`
	Mouse          bool `json:"mouse"`
}

// Keyboard says who has the keyboard. The user always has it; an agent has it beside the user while
// a grant lasts.
type Keyboard struct {
	// Holder is "user" or "agent".
	Holder    string `json:"holder"`
	AgentID   string `json:"agentId,omitempty"`
	AgentName string `json:"agentName,omitempty"`
	Level     Level  `json:"level,omitempty"`
	// Epoch is the number that input must carry to be accepted now.
	Epoch uint64 `json:"epoch"`
	// ExpiresAt is the end of the grant, 0 without one.
	ExpiresAt int64 `json:"expiresAt,omitempty"`
	// Paused says that the user is typing and the agent's input waits.
	Paused bool `json:"paused,omitempty"`
	// Held says that input of the agent's waits for the user, and HeldWhy for what: see the Held
	// constants.
	Held    bool   `json:"held,omitempty"`
	HeldWhy string `json:"heldWhy,omitempty"`
	// HeldLine quotes what the user has typed and not submitted, where input waits for that.
	HeldLine string `json:"heldLine,omitempty"`
	// Program is the program that the grant is for, where it is for one only; Away says that
	// another one has the terminal, and the agent's input waits.
	Program string `json:"program,omitempty"`
	Away    bool   `json:"away,omitempty"`
	// Asking is the name of the agent whose request is open.
	Asking string `json:"asking,omitempty"`
	// AskingLevel and AskingReason are what it asks for, and why in its own words.
	AskingLevel  Level  `json:"askingLevel,omitempty"`
	AskingReason string `json:"askingReason,omitempty"`
	// AskingSince is since when it asks.
	AskingSince int64 `json:"askingSince,omitempty"`
}

// What held input waits for.
const (
	HeldConfirm = "confirm" // the user lets it through: the grant does not cover it
	HeldLine    = "line"    // the user submits or clears the line, on which something stands
)

// Holders of the keyboard.
const (
	HolderUser  = "user"
	HolderAgent = "agent"
)

// Activity is what the program is doing, as facts with their evidence.
type Activity struct {
	// State is "busy", "waiting" or "exited". A program that only may be waiting is busy.
	State      string `json:"state"`
	Foreground string `json:"foreground,omitempty"`
	// Evidence of waiting, the strongest first.
	Evidence []string `json:"evidence,omitempty"`
	// Guess says why a program may wait that is not known to.
	Guess string `json:"guess,omitempty"`
	// LastExit is the exit status of the shell's last command, as its marks say, while it stands at
	// its prompt.
	LastExit *int  `json:"lastExit,omitempty"`
	SinceMs  int64 `json:"sinceMs"`
	// UnreadBytes is how much input, of anybody's, the program could read and has not, where the
	// kernel says so.
	UnreadBytes int `json:"unreadBytes,omitempty"`
	// OutputStopped: Ctrl+S was typed, and the terminal passes on nothing of what the program
	// prints until Ctrl+Q is.
	OutputStopped bool `json:"outputStopped,omitempty"`
	// ExitCode and Signal say how the program ended, where State is "exited"; a proxy from before
	// they came sends neither.
	ExitCode *int   `json:"exitCode,omitempty"`
	Signal   string `json:"signal,omitempty"`
}

// Command is a command line that a shell ran, as the shell's marks tell (OSC 133 and 633). Any
// program can print those, so all of it is a claim; the proxy itself vouches only for the times and
// what is said of rows.
type Command struct {
	// Line is the command line, "" where it is not known.
	Line string `json:"line,omitempty"`
	// Cwd is the directory in which it was given, as the shell named it, with "HOST:" before it if
	// that is another machine.
	Cwd string `json:"cwd,omitempty"`
	// Running says that no mark has told its end. ExitCode is nil if no mark has told it.
	Running  bool `json:"running,omitempty"`
	ExitCode *int `json:"exitCode,omitempty"`
	// StartedAt is when it began, and DurationMs how long it ran, or runs.
	StartedAt  int64 `json:"startedAt,omitempty"`
	DurationMs int64 `json:"durationMs,omitempty"`
	// FirstLine and NextLine are the lasting numbers of the first kept line of its output and of
	// the line after the last. Lines on the screen have numbers, too: those that they will have in
	// the history.
	FirstLine uint64 `json:"firstLine,omitempty"`
	NextLine  uint64 `json:"nextLine,omitempty"`
	// Within is the command line in whose output the marks came, "" for a command of the first
	// shell.
	Within string `json:"within,omitempty"`
	// Lost says that the shell that ran it has ended: it tells nothing of what came after.
	Lost bool `json:"lost,omitempty"`
	// Overflow says that its first lines are no longer kept, Erased that some of its output was
	// erased or overwritten, Alt that it showed the alternate screen, which leaves no lines, and
	// Behind that more of it stands on the main screen, behind that.
	Overflow bool `json:"overflow,omitempty"`
	Erased   bool `json:"erased,omitempty"`
	Alt      bool `json:"alt,omitempty"`
	Behind   bool `json:"behind,omitempty"`
}

// Evidence that the program waits for input.
const (
	// the shell's marks say so (OSC 133 and 633), which any program can print.
	EvidencePrompt    = "shell-prompt"
	EvidenceRead      = "tty-read"  // it is blocked in a read of its terminal
	EvidencePoll      = "tty-poll"  // it sleeps in a poll, select or epoll of its terminal
	EvidenceCanonical = "canonical" // in addition: the terminal hands over whole lines
)

// Reasons to guess that the program waits for input.
const (
	// it passes input on, always ready: the program behind it is not seen.
	GuessRelay    = "relay"
	GuessSleeping = "sleeping" // it sleeps, and the system does not say on what
	// GuessLoop: it always listens to its terminal, and to other things as well, but has been quiet
	// for a second.
	GuessLoop = "event-loop"
)

// Expect are conditions that must all hold when the first byte of an input would be written.
type Expect struct {
	Seq        *uint64 `json:"seq,omitempty"`
	Hash       string  `json:"hash,omitempty"`
	Text       string  `json:"text,omitempty"`
	CursorRow  *int    `json:"cursorRow,omitempty"`
	Foreground string  `json:"foreground,omitempty"`
}

// SessionInfo is one session in a list.
type SessionInfo struct {
	SessionID       string   `json:"sessionId"`
	Name            string   `json:"name"`
	Command         string   `json:"command"`
	Args            []string `json:"args"`
	Cwd             string   `json:"cwd"`
	Cols            int      `json:"cols"`
	Rows            int      `json:"rows"`
	Pid             int      `json:"pid"`
	StartedAt       int64    `json:"startedAt"`
	ParentSessionID string   `json:"parentSessionId,omitempty"`
	Headless        bool     `json:"headless,omitempty"`
	// Muted names the agents that are muted.
	Muted []string `json:"muted,omitempty"`
	// State is "running", "exited" or "lost" (its proxy does not answer).
	State string `json:"state"`
	// Moving says of a lost session that its gateway closed or does not answer, and that its proxy
	// is expected at another gateway of the cluster.
	Moving bool `json:"moving,omitempty"`
	// ExitCode and Signal are set when State is "exited".
	ExitCode int    `json:"exitCode,omitempty"`
	Signal   string `json:"signal,omitempty"`
	// Title and Progress are those of the newest screen.
	Title    string    `json:"title,omitempty"`
	Progress *Progress `json:"progress,omitempty"`
	Alt      bool      `json:"alt,omitempty"`
	// Foreground is the program that has the terminal, without its path and arguments, and
	// Directory where it runs, as the proxy's system says; "" where it does not. UsedAt is when the
	// user typed there last, to the second, 0 for never.
	Foreground string `json:"foreground,omitempty"`
	Directory  string `json:"directory,omitempty"`
	UsedAt     int64  `json:"usedAt,omitempty"`
	// Kept says that the session outlives its window, and DetachedAt since when it has no window, 0
	// while it has one.
	Kept       bool  `json:"kept,omitempty"`
	DetachedAt int64 `json:"detachedAt,omitempty"`
	// Viewed says that a person has its screen before them, on a page or by gateway attach --watch.
	Viewed   bool     `json:"viewed,omitempty"`
	Seq      uint64   `json:"seq"`
	IdleMs   int64    `json:"idleMs"`
	Keyboard Keyboard `json:"keyboard"`
	// LastLine is the last row of the newest screen on which something stands, as a read would show
	// it, cut; "" while something is kept from agents.
	LastLine string `json:"lastLine,omitempty"`
	// Decided is the newest decision about control, nil before the first.
	Decided *Decision `json:"decided,omitempty"`
	// Blackout describes the part kept from agents now.
	Blackout *Hidden `json:"blackout,omitempty"`
	// Chat is the conversation of a coding agent that runs there; it may be nil.
	Chat *ChatState `json:"chat,omitempty"`
}

// Decision is what became of control, or of a request for it, as a [ControlGrant] or a
// [ControlRevoke] said.
type Decision struct {
	AgentName string `json:"agentName,omitempty"`
	// Granted says that the agent got the keyboard; else Reason is why it has not, or no longer.
	Granted bool   `json:"granted,omitempty"`
	Level   Level  `json:"level,omitempty"`
	Reason  Reason `json:"reason,omitempty"`
	// By is that of the message, and At when it came.
	By string `json:"by,omitempty"`
	At int64  `json:"at"`
}

// States of a session in a list.
const (
	StateRunning = "running"
	StateExited  = "exited"
	StateLost    = "lost"
)

// Incomplete says of a list that it lacks sessions of other gateways of the cluster.
type Incomplete struct {
	// Since is since when, in Unix milliseconds.
	Since int64 `json:"since"`
	// Why is a clause for people and agents that follows "since then".
	Why string `json:"why"`
}

// Words are all of it as a clause.
func (m *Incomplete) Words(now time.Time) string {
	since, form := time.UnixMilli(m.Since).In(now.Location()), "15:04:05"
	if since.Format(time.DateOnly) != now.Format(time.DateOnly) {
		form = "2 Jan 15:04"
	}
	return "since " + since.Format(form) + " " + m.Why
}
