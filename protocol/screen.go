package protocol

import "strconv"

// MostUnread is the most that Linux counts of input that a program has not read, in bytes: the size
// of its line discipline's buffer. More may wait before that.
const MostUnread = 4095

// Limits of a [Frame].
const (
	MaxSize       = 1000 // columns or rows
	MaxHighlights = 32   // highlights of one frame
	MaxPictures   = 32   // pictures of one frame
	MaxHighlight  = 80   // characters of the text of one highlight
)

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
	// Keyboard describes who may type now.
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
	// See [HashScreen].
	Hash string `json:"hash"`
}

// HashScreen returns the hash of a screen: FNV-1a of 64 bits, in base 36, of the numbers of columns
// and rows and the cursor's row and column, with a blank before each, and of the rows, with a line
// feed before each.
func HashScreen(cols, rows int, cursor Cursor, lines []string) string {
	hash := uint64(14695981039346656037)
	add := func(text string) {
		for i := range len(text) {
			hash = (hash ^ uint64(text[i])) * 1099511628211
		}
	}
	for _, n := range []int{cols, rows, cursor.Row, cursor.Col} {
		add(" ")
		add(strconv.Itoa(n))
	}
	for _, line := range lines {
		add("\n")
		add(line)
	}
	return strconv.FormatUint(hash, 36)
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

// CursorShape translates the number of DECSCUSR to a cursor's shape on the wire.
func CursorShape(n int) string {
	switch n {
	case 3, 4:
		return CursorUnderline
	case 5, 6:
		return CursorBar
	}
	return ""
}

// Modes holds the modes that matter for typing (xterm ctlseqs, DECSET).
type Modes struct {
	BracketedPaste bool `json:"bracketedPaste"`
	AppCursor      bool `json:"appCursor"`
	Mouse          bool `json:"mouse"`
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
	// kernel says so: [MostUnread] stands for that or more.
	UnreadBytes int `json:"unreadBytes,omitempty"`
	// OutputStopped: Ctrl+S was typed, and the terminal passes on nothing of what the program
	// prints until Ctrl+Q is.
	OutputStopped bool `json:"outputStopped,omitempty"`
	// ExitCode and Signal say how the program ended, where State is "exited"; a proxy from before
	// they came sends neither.
	ExitCode *int   `json:"exitCode,omitempty"`
	Signal   string `json:"signal,omitempty"`
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

func (c *checks) size(cols, rows int) *checks {
	return c.between("cols", int64(cols), 1, MaxSize).between("rows", int64(rows), 1, MaxSize)
}

func (c *checks) checkScreen(s *Screen) *checks {
	if s == nil {
		return c
	}
	c.between("screen.cols", int64(s.Cols), 1, MaxSize).
		between("screen.rows", int64(s.Rows), 1, MaxSize)
	if len(s.Lines) > s.Rows {
		c.fail(CodeBadMessage, "screen.lines", "has %d rows, screen.rows is %d",
			len(s.Lines), s.Rows)
	}
	if p := s.Progress; p != nil {
		c.text("screen.progress.state", p.State, MaxName).
			between("screen.progress.percent", int64(p.Percent), 0, 100)
	}
	return c.between("screen.cursor.row", int64(s.Cursor.Row), 0, int64(s.Rows)-1).
		between("screen.cursor.col", int64(s.Cursor.Col), 0, int64(s.Cols)-1)
}

func (c *checks) checkChanged(field string, changed []Row, rows int) *checks {
	for _, r := range changed {
		c.between(field+".row", int64(r.Row), 0, int64(rows)-1)
	}
	return c
}

func (c *checks) checkFrame(f *Frame) *checks {
	if f == nil {
		return c
	}
	return c.checkScreen(&f.Screen).checkChanged("frame.changed", f.Changed, f.Screen.Rows).
		checkHidden("frame.hiddenText", f.HiddenText, f.Screen.Rows).
		checkHidden("frame.repainting", f.Repainting, f.Screen.Rows).
		between("frame.moved", int64(f.Moved), -int64(f.Screen.Rows), int64(f.Screen.Rows)).
		checkHighlights(f.Highlights, &f.Screen).checkPictures(f.Pictures, &f.Screen).
		checkBlackout("frame.blackout", f.Blackout)
}

func (c *checks) checkPictures(all []Picture, s *Screen) *checks {
	c.between("frame.pictures", int64(len(all)), 0, MaxPictures)
	for _, p := range all {
		c.between("frame.pictures.row", int64(p.Row), 0, int64(s.Rows)-1).
			between("frame.pictures.col", int64(p.Col), 0, int64(s.Cols)-1).
			between("frame.pictures.rows", int64(p.Rows), 0, int64(s.Rows)).
			between("frame.pictures.cols", int64(p.Cols), 0, int64(s.Cols)).
			text("frame.pictures.kind", p.Kind, MaxName)
	}
	return c
}

func (c *checks) checkHighlights(all []Highlight, s *Screen) *checks {
	c.between("frame.highlights", int64(len(all)), 0, MaxHighlights)
	for _, h := range all {
		c.between("frame.highlights.row", int64(h.Row), 0, int64(s.Rows)-1).
			between("frame.highlights.rows", int64(h.Rows), 0, int64(s.Rows)).
			between("frame.highlights.col", int64(h.Col), 0, int64(s.Cols)-1).
			between("frame.highlights.cols", int64(h.Cols), 1, int64(s.Cols)).
			text("frame.highlights.text", h.Text, 16*MaxHighlight)
	}
	return c
}

func (c *checks) checkHidden(field string, rows []int, all int) *checks {
	for _, row := range rows {
		c.between(field, int64(row), 0, int64(all)-1)
	}
	return c
}
