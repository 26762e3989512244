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

// Frame is the screen at one moment, with what an agent needs to interpret it, such as who has the
// keyboard.
type Frame struct {
	// Seq is the revision of the screen; it grows with every visible change.
	Seq    uint64 `json:"seq"`
	Screen Screen `json:"screen"`
	// Changed holds the rows that differ from the frame with revision Since, instead of
	// Screen.Lines.
	Changed []Row  `json:"changed,omitempty"`
	Since   uint64 `json:"since,omitempty"`
	// Moved is by how many rows the rows of the frame Since have moved up, or down if it is
	// negative, before Changed applies; see [Patch]. It is set only for a read with Follow.
	Moved int `json:"moved,omitempty"`
	// Line is the lasting number that the first row of the main screen will have in the history.
	Line uint64 `json:"line,omitempty"`
	// Highlights are the parts of rows that stand out by their background, as a selected entry
	// does; at most MaxHighlights.
	Highlights []Highlight `json:"highlights,omitempty"`
	// Wrapped are the rows that go on in the next one: their line is longer than the screen is wide.
	Wrapped []int `json:"wrapped,omitempty"`
	// Keyboard describes who may type now.
	Keyboard Keyboard `json:"keyboard"`
	// IdleMs is the time since the last visible change.
	IdleMs int64 `json:"idleMs"`
	// Settled is set if the screen had been quiet for the settle time.
	Settled bool `json:"settled"`
	// Repainting lists the rows, from 0, that the program kept repainting while all others were
	// quiet. They did not prevent Settled from being set, or a wait from being met.
	Repainting []int `json:"repainting,omitempty"`
	// Starting is set if the program has shown nothing yet, and began so recently that it may still
	// be starting.
	Starting bool      `json:"starting,omitempty"`
	Activity *Activity `json:"activity,omitempty"`
	// Blackout describes what the frame omits, nil if it shows everything.
	Blackout *Hidden `json:"blackout,omitempty"`
	// Redactions counts the places on the screen where the proxy covered text that looks like a
	// secret.
	Redactions int `json:"redactions,omitempty"`
	// HiddenText lists the rows that hold text which a person cannot see: concealed, or in a colour
	// that the program's palette makes hard to distinguish from its background.
	HiddenText []int `json:"hiddenText,omitempty"`
	// Pictures are the images on the screen, from the top, at most MaxPictures; the text of the
	// rows does not contain them.
	Pictures []Picture `json:"pictures,omitempty"`
}

// FirstSeq is the revision of a screen on which nothing was printed yet. A read with Follow since
// then gets everything that the program has printed.
const FirstSeq = 1

// Screen is what the user sees. Rows and columns count from 0.
type Screen struct {
	Cols int `json:"cols"`
	Rows int `json:"rows"`
	// Lines holds Rows rows of text, without the blanks at their ends. It is absent if the message
	// has only the changes.
	Lines []string `json:"lines,omitempty"`
	// Palette holds the terminal's colours that the program changed. It is set if rows carry SGR
	// sequences.
	Palette []Color `json:"palette,omitempty"`
	Cursor  Cursor  `json:"cursor"`
	// Alt is set while the alternate screen is shown: a full-screen program, without scrollback.
	Alt   bool   `json:"alt"`
	Title string `json:"title"`
	// Progress is what the program reports about a long job (OSC 9;4), nil if it reports nothing.
	Progress *Progress `json:"progress,omitempty"`
	Modes    Modes     `json:"modes"`
	// Scrollback is the number of rows of history.
	Scrollback int `json:"scrollback"`
	// Hash identifies the content of the rows, the cursor and the size: equal screens have equal
	// hashes. See [HashScreen].
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

// Progress is the progress of a long job of the program.
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
	// Row is its first row, and Rows how many it has, left out for one.
	Row  int `json:"row"`
	Rows int `json:"rows,omitempty"`
	// Col is its first column, and Cols how many it has.
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
	// Shape is "underline" or "bar" (DECSCUSR); it is left out for a block.
	Shape string `json:"shape,omitempty"`
}

// Shapes of a cursor other than the block.
const (
	CursorUnderline = "underline"
	CursorBar       = "bar"
)

// CursorShape returns the value of Cursor.Shape for a parameter of DECSCUSR.
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
	// Row and Col are the cell of its upper left corner; Rows and Cols are left out if only the
	// terminal can compute them.
	Row  int `json:"row"`
	Col  int `json:"col"`
	Rows int `json:"rows,omitempty"`
	Cols int `json:"cols,omitempty"`
}

// Activity is what the program is doing, as facts with their evidence.
type Activity struct {
	// State is "busy", "waiting" or "exited". A program that may be waiting, without proof, is
	// busy.
	State      string `json:"state"`
	Foreground string `json:"foreground,omitempty"`
	// Evidence of waiting, the strongest first.
	Evidence []string `json:"evidence,omitempty"`
	// Guess is why a busy program may in fact be waiting, one of the Guess constants, or "".
	Guess string `json:"guess,omitempty"`
	// LastExit is the exit status of the shell's last command, according to its marks, while it is
	// at its prompt.
	LastExit *int  `json:"lastExit,omitempty"`
	SinceMs  int64 `json:"sinceMs"`
	// UnreadBytes is how much input, from anyone, the program could read and has not, on systems
	// whose kernel reports it: [MostUnread] stands for that or more.
	UnreadBytes int `json:"unreadBytes,omitempty"`
	// OutputStopped is set if Ctrl+S was typed: the terminal holds back the program's output until
	// Ctrl+Q is typed.
	OutputStopped bool `json:"outputStopped,omitempty"`
	// ExitCode and Signal say how the program ended, if State is "exited"; proxies of earlier
	// versions send neither.
	ExitCode *int   `json:"exitCode,omitempty"`
	Signal   string `json:"signal,omitempty"`
}

// Evidence that the program waits for input.
const (
	// from the shell's marks (OSC 133 and 633), which any program can print.
	EvidencePrompt    = "shell-prompt"
	EvidenceRead      = "tty-read"  // it is blocked in a read from its terminal
	EvidencePoll      = "tty-poll"  // it sleeps in a poll, select or epoll on its terminal
	EvidenceCanonical = "canonical" // in addition: the terminal delivers whole lines
)

// Reasons to guess that the program waits for input.
const (
	// it always forwards input, to a program that the proxy cannot observe.
	GuessRelay    = "relay"
	GuessSleeping = "sleeping" // it sleeps, and the system does not reveal on what
	// GuessLoop: it always polls its terminal along with other sources, but has been quiet for a
	// second.
	GuessLoop = "event-loop"
)

func (c *checks) size(cols, rows int) *checks {
	return c.between("cols", cols, 1, MaxSize).between("rows", rows, 1, MaxSize)
}

func (c *checks) checkScreen(s *Screen) *checks {
	if s == nil {
		return c
	}
	c.between("screen.cols", s.Cols, 1, MaxSize).
		between("screen.rows", s.Rows, 1, MaxSize)
	if len(s.Lines) > s.Rows {
		c.fail(CodeBadMessage, "screen.lines", "has %d rows, screen.rows is %d",
			len(s.Lines), s.Rows)
	}
	if p := s.Progress; p != nil {
		c.text("screen.progress.state", p.State, MaxName).
			between("screen.progress.percent", p.Percent, 0, 100)
	}
	return c.between("screen.cursor.row", s.Cursor.Row, 0, s.Rows-1).
		between("screen.cursor.col", s.Cursor.Col, 0, s.Cols-1)
}

func (c *checks) checkChanged(field string, changed []Row, rows int) *checks {
	for _, r := range changed {
		c.between(field+".row", r.Row, 0, rows-1)
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
		checkHidden("frame.wrapped", f.Wrapped, f.Screen.Rows).
		between("frame.moved", f.Moved, -f.Screen.Rows, f.Screen.Rows).
		checkHighlights(f.Highlights, &f.Screen).checkPictures(f.Pictures, &f.Screen).
		checkBlackout("frame.blackout", f.Blackout)
}

func (c *checks) checkPictures(all []Picture, s *Screen) *checks {
	c.between("frame.pictures", len(all), 0, MaxPictures)
	for _, p := range all {
		c.between("frame.pictures.row", p.Row, 0, s.Rows-1).
			between("frame.pictures.col", p.Col, 0, s.Cols-1).
			between("frame.pictures.rows", p.Rows, 0, s.Rows).
			between("frame.pictures.cols", p.Cols, 0, s.Cols).
			text("frame.pictures.kind", p.Kind, MaxName)
	}
	return c
}

func (c *checks) checkHighlights(all []Highlight, s *Screen) *checks {
	c.between("frame.highlights", len(all), 0, MaxHighlights)
	for _, h := range all {
		c.between("frame.highlights.row", h.Row, 0, s.Rows-1).
			between("frame.highlights.rows", h.Rows, 0, s.Rows).
			between("frame.highlights.col", h.Col, 0, s.Cols-1).
			between("frame.highlights.cols", h.Cols, 1, s.Cols).
			text("frame.highlights.text", h.Text, 16*MaxHighlight)
	}
	return c
}

func (c *checks) checkHidden(field string, rows []int, all int) *checks {
	for _, row := range rows {
		c.between(field, row, 0, all-1)
	}
	return c
}
