package screen

import "time"

// Config says what a new Screen is like.
type Config struct {
	Cols, Rows int // clamped to 1..MaxCols and 1..MaxRows
	// rows kept that scrolled off the main screen, at most MaxScrollback; 0 keeps no history
	Scrollback int
	Clusters   Clusters // of the user's terminal
	Text       TextSink // receives the printed text; may be nil
	// Now tells when a command began and ended; nil is time.Now.
	Now func() time.Time
	// Group is the process group that has the terminal now; nil is 0, unknown.
	Group func() int
}

// New returns a fresh screen, as a terminal is after power-on.
func New(c Config) *Screen {
	makeTables()
	s := &Screen{}
	t := &s.t
	t.cols, t.rows = clamp(c.Cols, minSize, MaxCols), clamp(c.Rows, minSize, MaxRows)
	t.hist.limit = clamp(c.Scrollback, 0, MaxScrollback)
	t.sink, t.now, t.group = c.Text, c.Now, c.Group
	if t.group == nil {
		t.group = func() int { return 0 }
	}
	if t.now == nil {
		t.now = time.Now
	}
	if t.sink == nil {
		t.sink = noSink{}
	}
	t.styles, t.clusters = newStyleTable(), newClusterTable()
	t.main = t.newGrid(t.cols, t.rows)
	t.grid = t.main
	t.tick = 1
	t.clusterMode = c.Clusters
	t.ris()
	s.commit()
	return s
}

// feedPiece is how many bytes are taken between two looks at the tables that may need sweeping.
const feedPiece = 64 << 10

// Feed takes what the program printed. Any bytes are fine, cut anywhere; it never fails.
func (s *Screen) Feed(p []byte) {
	for len(p) > 0 {
		n := min(len(p), feedPiece)
		s.t.tick = s.rev + 1
		s.t.feed(p[:n])
		s.commit()
		p = p[n:]
	}
}

// IsAtGround says whether the parser stands between two sequences and characters, so that other
// bytes may be inserted into the stream here.
func (s *Screen) IsAtGround() bool { return s.t.parse.state == ground && s.t.parse.utf8.n == 0 }
