package screen

import (
	"fmt"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"
)

// verify checks the invariants, which hold after any input.
func (t *terminal) verify() error {
	switch {
	case t.x < 0 || t.x >= t.cols || t.y < 0 || t.y >= t.rows:
		return fmt.Errorf("cursor %d,%d outside %dx%d", t.x, t.y, t.cols, t.rows)
	case t.top < 0 || t.top > t.bottom || t.bottom >= t.rows:
		return fmt.Errorf("margins %d to %d of %d rows", t.top, t.bottom, t.rows)
	case t.left < 0 || t.left > t.right || t.right >= t.cols:
		return fmt.Errorf("margins %d to %d of %d columns", t.left, t.right, t.cols)
	case t.pending && t.x != t.right && t.x != t.cols-1:
		return fmt.Errorf("wrap pending in column %d", t.x)
	case len(t.replies) > maxReplies, len(t.parse.str) > maxString, len(t.title) > maxTitle:
		return fmt.Errorf("a limit was passed")
	case t.hist.length > t.hist.limit:
		return fmt.Errorf("history of %d rows, limit %d", t.hist.length, t.hist.limit)
	}
	var err error
	t.eachGrid(func(g *grid) {
		if err == nil {
			err = t.verifyGrid(g)
		}
	})
	return err
}

func (t *terminal) verifyGrid(g *grid) error {
	if len(g.rows) != t.rows || len(g.revs) != t.rows {
		return fmt.Errorf("%d rows, %d revisions, want %d", len(g.rows), len(g.revs), t.rows)
	}
	seen, parts := make(map[*row]bool), make(map[*part]bool)
	for y, r := range g.rows {
		if seen[r] || len(r.cells) != t.cols {
			return fmt.Errorf("row %d stands twice or has %d cells", y, len(r.cells))
		}
		if r.part != nil && parts[r.part] {
			return fmt.Errorf("row %d shares its part", y)
		}
		seen[r], parts[r.part] = true, true
		if err := t.verifyRow(r); err != nil {
			return fmt.Errorf("row %d: %w", y, err)
		}
	}
	return nil
}

func (t *terminal) verifyRow(r *row) error {
	if r.rest.isTail() || r.rest.isWide() && len(r.cells)%2 != 0 || int(r.rest.styleID()) >= len(t.styles.list) || r.rest.code() >= utf8.RuneSelf && !r.rich {
		return fmt.Errorf("left to be written: %#x", uint64(r.rest))
	}
	d := r.deferred
	if d.kind == lays && (!r.late || r.rest != 0 || len(r.part.cells) > d.to-d.from) {
		return fmt.Errorf("a part of %d cells for columns %d to %d", len(r.part.cells), d.from, d.to)
	}
	for x, c := range r.cells {
		switch {
		case d.kind == lays && x >= d.from && x < d.to && c != 0:
			return fmt.Errorf("column %d holds %#x, and its part is apart", x, uint64(c))
		case x >= r.used && c != 0:
			return fmt.Errorf("column %d holds %#x after the %d used ones", x, uint64(c), r.used)
		case c.isTail() && (x == 0 || !r.cells[x-1].isWide()):
			return fmt.Errorf("column %d: second half without a first", x)
		case c.isWide() && (x+1 == len(r.cells) || !r.cells[x+1].isTail()):
			return fmt.Errorf("column %d: first half without a second", x)
		case c.content() >= utf8.RuneSelf && !r.rich:
			return fmt.Errorf("column %d: not ASCII, in a row that is not marked", x)
		case int(c.styleID()) >= len(t.styles.list):
			return fmt.Errorf("column %d: style %d of %d", x, c.styleID(), len(t.styles.list))
		case c.isCluster() && int(c.code()) >= len(t.clusters.texts):
			return fmt.Errorf("column %d: cluster %d of %d", x, c.code(), len(t.clusters.texts))
		}
	}
	return nil
}

// dump returns everything that an observer can ask for, as text.
func dump(s *Screen) string {
	cols, rows := s.Size()
	d := fmt.Sprintf("%dx%d %+v alt=%v %q %+v %q %+v bells=%d %d", cols, rows, s.Cursor(), s.Alt(), s.Title(), s.Progress(), s.Cwd(),
		s.Modes(), s.Bells(), s.HistoryBase())
	for i := range s.HistoryLen() {
		d += fmt.Sprintf("\nh %v %q", s.HistoryWrapped(i), s.HistoryText(i))
	}
	for y := range rows {
		d += fmt.Sprintf("\n%v %q", s.RowWrapped(y), s.AppendRowANSI(nil, y))
	}
	return d
}

// script interprets data as sizes, cuts and bytes: its first bytes choose the size, the byte 0xfe
// followed by two more resizes, 0xff cuts.
func script(data []byte) (cfg Config, steps [][]byte) {
	cfg = Config{Cols: 10, Rows: 4, Scrollback: 20}
	if len(data) > 2 {
		cfg.Cols, cfg.Rows = int(data[0]%40)+1, int(data[1]%20)+1
		data = data[2:]
	}
	start := 0
	for i := 0; i < len(data); i++ {
		switch {
		case data[i] == 0xff:
			steps = append(steps, data[start:i])
			start = i + 1
		case data[i] == 0xfe && i+2 < len(data):
			steps = append(steps, data[start:i], data[i:i+3])
			i += 2
			start = i + 1
		}
	}
	return cfg, append(steps, data[start:])
}

func play(s *Screen, steps [][]byte, each func()) {
	for _, p := range steps {
		if len(p) == 3 && p[0] == 0xfe {
			s.Resize(int(p[1]%40)+1, int(p[2]%20)+1)
		} else {
			s.Feed(p)
		}
		each()
	}
}

// FuzzInvariants feeds any bytes, cut anywhere, with resizes in between.
func FuzzInvariants(f *testing.F) {
	f.Fuzz(func(t *testing.T, data []byte) {
		cfg, steps := script(data)
		s := New(cfg)
		rev := s.Rev()
		play(s, steps, func() {
			require.NoError(t, s.t.verify())
			require.GreaterOrEqual(t, s.Rev(), rev)
			rev = s.Rev()
		})
		require.True(t, utf8.ValidString(s.Title()))
		require.True(t, utf8.ValidString(show(s)))
		_ = s.AppendRedraw(s.AppendPen(s.TakeReplies()))
	})
}

// FuzzSplit feeds the same bytes whole and one by one.
func FuzzSplit(f *testing.F) {
	f.Fuzz(func(t *testing.T, data []byte) {
		cfg, steps := script(data)
		whole, parts := New(cfg), New(cfg)
		play(whole, steps, func() {})
		for _, p := range steps {
			if len(p) == 3 && p[0] == 0xfe {
				play(parts, [][]byte{p}, func() {})
				continue
			}
			for i := range p {
				parts.Feed(p[i : i+1])
			}
		}
		require.Equal(t, dump(whole), dump(parts))
		require.Equal(t, whole.TakeReplies(), parts.TakeReplies())
	})
}

// FuzzDeltas rebuilds the screen from deltas alone.
func FuzzDeltas(f *testing.F) {
	f.Fuzz(func(t *testing.T, data []byte) {
		cfg, steps := script(data)
		s := New(cfg)
		var copied []string
		rev := uint64(0)
		play(s, steps, func() {
			_, rows := s.Size()
			if len(copied) != rows {
				copied = make([]string, rows)
			}
			for _, y := range changedSince(s, rev) {
				copied[y] = string(s.AppendRowANSI(nil, y))
			}
			rev = s.Rev()
			for y := range rows {
				require.Equal(t, string(s.AppendRowANSI(nil, y)), copied[y], "row %d", y)
			}
		})
	})
}

// FuzzRedraw paints the screen on a fresh one, which must then show the same.
func FuzzRedraw(f *testing.F) {
	f.Fuzz(func(t *testing.T, data []byte) {
		cfg, steps := script(data)
		s := New(cfg)
		play(s, steps, func() {})
		cfg.Cols, cfg.Rows = s.Size()
		late := New(cfg)
		late.Feed(s.AppendRedraw(nil))
		require.NoError(t, late.t.verify())
		require.Equal(t, s.Cursor(), late.Cursor())
		require.Equal(t, s.Alt(), late.Alt())
		require.Equal(t, s.Title(), late.Title())
		require.Equal(t, s.Modes(), late.Modes())
		require.Equal(t, show(s), show(late))
	})
}

// FuzzPen disturbs a terminal as drawing a notice would, repairs it with AppendPen, and prints on:
// nothing may differ from an undisturbed terminal.
func FuzzPen(f *testing.F) {
	f.Fuzz(func(t *testing.T, data []byte) {
		cfg, steps := script(data)
		alone, notice := New(cfg), New(cfg)
		play(alone, steps, func() {})
		play(notice, steps, func() {})
		if !alone.IsAtGround() {
			return
		}
		notice.Feed([]byte("\x1b[0m\x1b]8;;\x1b\\\x1b(B\x0f\x1b[?6l\x1b[4l\x1b[?7h\x1b[1;1H"))
		notice.Feed(alone.AppendPen(nil))
		for _, s := range []string{"", "q", "\x1b[5;5Hq"} {
			alone.Feed([]byte(s))
			notice.Feed([]byte(s))
			require.Equal(t, alone.Cursor(), notice.Cursor())
			require.Equal(t, alone.Modes(), notice.Modes())
			require.Equal(t, rowsOf(alone), rowsOf(notice))
		}
	})
}

func rowsOf(s *Screen) []string {
	_, rows := s.Size()
	var all []string
	for y := range rows {
		all = append(all, string(s.AppendRowANSI(nil, y)))
	}
	return all
}
