package overlay

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"terminalproxy/protocol"
	"terminalproxy/proxy/consent/control"
	"terminalproxy/proxy/consent/question"
	"terminalproxy/proxy/display/notice"
	"terminalproxy/proxy/terminal/screen"
	"terminalproxy/proxy/terminal/vt"
)

// loop is a goroutine of the model that runs each call at once.
type loop struct {
	m    *screen.Screen
	now  time.Time
	held time.Time // until when the program's output is kept

	busy  bool // it does nothing that someone waits for
	stuck bool // it is busy as soon as it is fed a chunk
	late  []func()
}

func (l *loop) Post(do func(now time.Time)) bool { do(l.now); return true }
func (l *loop) Model() *screen.Screen            { return l.m }
func (l *loop) NoteScreenChange(time.Time)       {}
func (l *loop) HoldOutput(until time.Time)       { l.held = until }

func (l *loop) TryCall(_ time.Duration, do func(now time.Time), late func()) (ran, over bool) {
	return l.TryAround(0, nil, nil, do, late)
}

// TryAround keeps its arguments while the loop is busy.
func (l *loop) TryAround(_ time.Duration, before func(now time.Time), chunk []byte, after func(now time.Time), late func()) (ran, over bool) {
	if l.busy {
		l.late = append(l.late, func() { l.m.Feed(chunk); late() })
		return false, false
	}
	if before != nil {
		before(l.now)
		if l.stuck {
			l.late = append(l.late, func() { l.m.Feed(chunk); late() })
			return false, false
		}
	}
	l.m.Feed(chunk)
	after(l.now)
	return true, false
}

// catchUp lets the loop do what it was too busy for.
func (l *loop) catchUp() {
	l.busy, l.stuck = false, false
	for _, do := range l.late {
		do()
	}
	l.late = nil
}

// desk is a user's terminal over which the proxy draws, and the model of the same terminal without
// the proxy.
type desk struct {
	*loop
	t    *testing.T
	user *screen.Screen
	s    *Status
	p    *Painter
	miss int // chunks that took the fast path
}

func newDesk(t *testing.T, cols, rows int) *desk {
	d := &desk{t: t, user: screen.New(screen.Config{Cols: cols, Rows: rows, Scrollback: 500})}
	d.loop = &loop{m: screen.New(screen.Config{Cols: cols, Rows: rows, Scrollback: 500}), now: time.Now()}
	d.s = New(Config{Line: true, Reclaim: `Ctrl+\`, Grant: `Ctrl+G`, Colors: ManyColors, Repaint: func() {}})
	d.p = NewPainter(PainterConfig{Loop: d.loop, Status: d.s, Shown: func(uint64) {}})
	t.Cleanup(d.s.Close)
	return d
}

// drives makes an agent drive, without an end.
func (d *desk) drives() *desk {
	d.s.ShowState(control.State{Phase: control.Granted, Agent: control.Agent{ID: "a", Name: "claude"}, Level: protocol.LevelDrive})
	return d
}

// pass does what the copier does with a chunk; flood means that it has no time for more.
func (d *desk) pass(chunk string, flood bool) {
	p := []byte(chunk)
	switch {
	case !d.p.IsUp():
	case d.p.SparesTexts(new(vt.Cutter).Cut(p)):
		d.miss++
	case flood:
		d.user.Feed(d.p.RemoveTexts(false))
	default:
		before, after, _ := d.p.DrawAround(p, false)
		d.user.Feed(before)
		d.user.Feed(p)
		d.user.Feed(after)
		return
	}
	d.user.Feed(p)
	d.m.Feed(p)
}

// paint does what the copier does between chunks.
func (d *desk) paint() {
	show, _ := d.p.Paint(false)
	d.user.Feed(show)
}

// checkStanding checks that the painter's idea of what stands on the terminal is right.
func (d *desk) checkStanding(why string) {
	d.t.Helper()
	pic := d.p.picture
	if !pic.up {
		return
	}
	for i, text := range strings.Split(pic.text, "\n") {
		row := d.user.RowText(pic.row + i)
		if at := d.m.Cursor(); at.Pending && at.Row == pic.row+i && !pic.sign {
			continue // the last character is printed again for that, until the line makes way
		}
		if !pic.sign {
			require.Equal(d.t, strings.TrimRight(notice.Fit(text, pic.cols), " "), row, "%s, row %d", why, pic.row+i)
		} else {
			require.True(d.t, strings.HasSuffix(row, strings.TrimRight(text, " ")), "%s: %q; cursor %v, %+v, %q", why, row, d.m.Cursor(), pic, d.m.RowText(pic.row))
		}
	}
}

// checkSame takes everything away, and checks that the terminal is as without the proxy: cells,
// cursor, modes, history.
func (d *desk) checkSame(why string) {
	d.t.Helper()
	if d.p.IsUp() {
		d.user.Feed(d.p.RemoveTexts(false))
	}
	cols, rows := d.m.Size()
	for y := range rows {
		for x := range cols {
			want, got := d.m.Cell(y, x), d.user.Cell(y, x)
			if want.Content == "" && want.Width == 1 {
				want.Content = " "
			}
			if got.Content == "" && got.Width == 1 {
				got.Content = " "
			}
			if want != got {
				require.Equal(d.t, want, got, "%s: row %d, column %d", why, y, x)
			}
		}
	}
	require.Equal(d.t, d.m.Cursor(), d.user.Cursor(), why)
	require.Equal(d.t, d.m.Modes(), d.user.Modes(), why)
	require.Equal(d.t, d.m.HistoryLen(), d.user.HistoryLen(), why)
	for i := range d.m.HistoryLen() {
		require.Equal(d.t, d.m.HistoryText(i), d.user.HistoryText(i), "%s: history %d", why, i)
	}
	for i := range 256 {
		require.Equal(d.t, d.m.PaletteSpec(uint8(i)), d.user.PaletteSpec(uint8(i)), "%s: colour %d", why, i)
	}
}

// words returns pieces of output of every kind.
func words(r *rand.Rand, cols, rows int) string {
	at := func(n int) int { return r.IntN(n) + 1 }
	switch r.IntN(30) {
	case 0, 1, 2:
		return strings.Repeat("x", r.IntN(12)) + "\r\n"
	case 3:
		return strings.Repeat("y", at(2*cols))
	case 4, 5:
		return fmt.Sprintf("\x1b[%d;%dHat", at(rows), at(cols))
	case 6:
		return fmt.Sprintf("\x1b[%d;%dr", at(rows), at(rows))
	case 7:
		return []string{"\x1b[r", "\x1b[?69h", "\x1b[?69l", "\x1b[3;9s"}[r.IntN(4)]
	case 8:
		return []string{"\x1b[2J", "\x1b[J", "\x1b[1J", "\x1b[K", "\x1b[2K", "\x1b[3J", "\x1bc"}[r.IntN(7)]
	case 9:
		return []string{"\x1b[L", "\x1b[M", "\x1b[S", "\x1b[T", "\x1bM", "\x1bD", "\x1b[2@", "\x1b[3P", "\x1b[4X"}[r.IntN(9)]
	case 10:
		return strings.Repeat("世", r.IntN(cols))
	case 11:
		return []string{"\x1b[?1049h", "\x1b[?1049l", "\x1b[?47h", "\x1b[?47l"}[r.IntN(4)]
	case 12:
		return []string{"\x1b[4h", "\x1b[4l", "\x1b[?7l", "\x1b[?7h", "\x1b[?6h", "\x1b[?6l", "\x1b[?45h", "\x1b[?45l", "\x1b[20h", "\x1b[20l"}[r.IntN(10)]
	case 13:
		return []string{"\x1b7", "\x1b8", "\x1b[s", "\x1b[u"}[r.IntN(4)]
	case 14:
		return []string{"\t", "r\x1b[5b", "\b\b\b", "\r", "\n\n", "\v", "\x1b[Z"}[r.IntN(7)]
	case 15:
		return []string{"\x1b(0", "\x1b(B", "\x0e", "\x0f", "\x1b)0"}[r.IntN(5)]
	case 16:
		return fmt.Sprintf("\x1b[%d%c", r.IntN(rows+3), "ABCDEFG`dae"[r.IntN(11)])
	case 17:
		return fmt.Sprintf("\x1b]4;%d;rgb:%02x/00/00\a", []int{16, 214, 215, 232, 3}[r.IntN(5)], r.IntN(256))
	case 18:
		return "\x1b]104\a"
	case 19:
		return fmt.Sprintf("\x1b[3%d;4%dm", r.IntN(8), r.IntN(8))
	case 20:
		return "\x1b[m"
	case 21:
		return fmt.Sprintf("\x1b[%d;%dH", rows, at(cols)) + strings.Repeat("b", r.IntN(cols))
	case 22:
		return "\x1b[?25l\x1b[2;3Hed\x1b[K\x1b[?25h"
	case 23:
		return "é ü e\u0301"
	default:
		return string(rune('a' + r.IntN(26)))
	}
}

// TestNothingStaysOfTheSignR69 prints at random, draws at random moments, and lets a question come
// and go. What is shown stands as long as the painter believes so. Once it is gone, the terminal is
// as without it, also above its top.
func TestNothingStaysOfTheSignR69(t *testing.T) {
	missed := 0
	for seed := range 80 {
		r := rand.New(rand.NewPCG(uint64(seed), 1))
		cols, rows := 24+r.IntN(50), 2+r.IntN(10)
		d := newDesk(t, cols, rows).drives()
		var log []string
		for range 150 {
			chunk := ""
			for range 1 + r.IntN(3) {
				chunk += words(r, cols, rows)
			}
			if r.IntN(12) == 0 { // half a sequence
				chunk += "\x1b[3"
				d.pass(chunk, r.IntN(6) == 0)
				log = append(log, chunk)
				d.checkStanding(fmt.Sprintf("seed %d: %q", seed, log[max(0, len(log)-8):]))
				chunk = "m"
			}
			log = append(log, chunk)
			d.pass(chunk, r.IntN(6) == 0)
			d.checkStanding(fmt.Sprintf("seed %d: %q", seed, log[max(0, len(log)-8):]))
			d.now = d.now.Add(time.Duration(r.IntN(200)) * time.Millisecond)
			switch r.IntN(12) {
			case 0:
				d.s.ShowState(asks(question.Keyboard, control.State{Phase: control.Asked, Agent: claude, Reason: "try"}))
				d.paint()
			case 1, 2, 3:
				d.drives()
				d.paint()
			case 4:
				d.paint()
			case 5:
				d.checkSame(fmt.Sprintf("seed %d: %q", seed, log[max(0, len(log)-8):]))
			}
		}
		d.checkSame(fmt.Sprintf("seed %d at the end: %q", seed, log[max(0, len(log)-8):]))
		missed += d.miss
	}
	require.Greater(t, missed, 300, "the fast way is taken")
}

// BenchmarkMisses measures the cost of an echo on its way to the user's screen while the sign
// stands.
func BenchmarkMisses(b *testing.B) {
	m := screen.New(screen.Config{Cols: 120, Rows: 40})
	m.Feed([]byte("\x1b[3;7H"))
	f := newFollower(m, 39)
	for name, chunk := range map[string]string{"echo": "a", "in place": "\x1b[?25l\x1b[3;7H\x1b[33ma\x1b[m\x1b[K\x1b[3;8H\x1b[?25h"} {
		b.Run(name, func(b *testing.B) {
			p := new(vt.Cutter).Cut([]byte(chunk)) // the filter has cut it
			b.ReportAllocs()
			for b.Loop() {
				f.col = 7
				if !f.followIfHarmless(p) {
					b.Fatal("it gives up")
				}
			}
		})
	}
}

// TestTheSignGoesWithTheOldSizeR69 resizes the window while the sign stands: on the alternate
// screen in every way, on the main one so that it gets higher or lower.
func TestTheSignGoesWithTheOldSizeR69(t *testing.T) {
	for seed := range uint64(60) {
		r := rand.New(rand.NewPCG(seed, 3))
		cols, rows := 30+r.IntN(40), 6+r.IntN(8)
		d := newDesk(t, cols, rows).drives()
		alt := seed%2 == 0
		if alt {
			d.pass("\x1b[?1049h", false)
		}
		for n := range 20 {
			d.pass(fmt.Sprintf("line %d\r\n", n), false)
			d.now = d.now.Add(time.Second)
			d.paint()
			if n%4 != 3 {
				continue
			}
			if rows = 6 + r.IntN(8); alt {
				cols = 30 + r.IntN(40)
			}
			d.m.Resize(cols, rows)
			d.user.Resize(cols, rows)
			show, _ := d.p.Paint(true)
			d.user.Feed(show)
			d.checkStanding("after a resize")
		}
		if alt {
			d.checkSame(fmt.Sprintf("seed %d", seed))
			continue
		}
		// A terminal keeps rows below the cursor depending on whether they are empty, so the two
		// may differ in rows; the painter asks a real terminal where its cursor is.
		d.user.Feed(d.p.RemoveTexts(false))
		for i := range d.user.HistoryLen() {
			require.NotContains(t, d.user.HistoryText(i), "claude", "seed %d", seed)
		}
		for y := range rows {
			require.Equal(t, d.m.RowText(y), d.user.RowText(y), "seed %d", seed)
		}
	}
}

// While the model is behind, output continues unchanged, and nothing is drawn. When it has caught
// up the terminal shows the program again, and the sign.
func TestTheTerminalDoesNotWaitForTheModel(t *testing.T) {
	for _, c := range []struct {
		name string
		when func(d *desk)
	}{
		{"a chunk under the sign", func(d *desk) { d.busy = true; d.pass("\x1b[H\x1b[Jone\r\n\n\n\n\n\n\n\n\n\ntwo", false) }},
		{"a chunk that takes long", func(d *desk) { d.stuck = true; d.pass("\x1b[Hone\r\n\n\n\n\n\n\n\n\n\ntwo", false) }},
		{"a flood", func(d *desk) {
			d.busy = true
			d.user.Feed(d.p.RemoveTexts(false))
			d.user.Feed([]byte("\x1b[41m\x1b[2J"))
			d.late = append(d.late, func() { d.m.Feed([]byte("\x1b[41m\x1b[2J")) })
		}},
		{"another program", func(d *desk) {
			d.busy = true
			d.user.Feed(d.p.RemoveTexts(false))
			d.user.Feed([]byte("\x1b[2Jshell"))
			require.Empty(d.t, d.p.RestoreProgram(true))
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				d := newDesk(t, 60, 8).drives()
				told := make(chan struct{}, 9)
				d.p.conf.CaughtUp = func() { told <- struct{}{} }
				d.m.Feed([]byte("\x1b[?1049h\x1b[2Jtext"))
				d.user.Feed([]byte("\x1b[?1049h\x1b[2Jtext"))
				d.paint()
				require.True(t, d.p.IsUp())
				c.when(d)
				require.True(t, d.p.IsBehind())
				require.False(t, d.p.IsUp(), "nothing is known to stand there")
				require.Zero(t, d.p.NextDraw())
				_, ok := d.p.Paint(false)
				require.False(t, ok)
				d.catchUp()
				<-told
				require.False(t, d.p.IsBehind())
				d.paint()
				require.True(t, d.p.IsUp())
				d.checkStanding(c.name)
				d.checkSame(c.name)
			})
		})
	}
}

// A window of no size, one cell, one row or one column is drawn over, hidden and left behind like
// any other.
func TestTinyWindows(t *testing.T) {
	for _, size := range [][2]int{{0, 0}, {1, 1}, {1, 24}, {80, 1}, {2, 2}, {0, 24}} {
		synctest.Test(t, func(t *testing.T) {
			d := newDesk(t, size[0], size[1]).drives()
			cols, rows := d.m.Size()
			dice := rand.New(rand.NewPCG(1, uint64(cols)))
			for i := range 200 {
				d.paint()
				d.pass(words(dice, cols, rows)+"x\x1b[2147483647b\x1b[$t\x1b[ A", i%5 == 0)
				if d.busy = i%7 == 0; i%7 == 1 {
					d.catchUp()
					time.Sleep(minBehind)
				}
				d.m.Resize(size[0]+i%2, size[1])
				d.user.Resize(size[0]+i%2, size[1])
			}
			d.catchUp()
			time.Sleep(minBehind)
			d.user.Feed(d.p.RemoveTexts(true))
			require.False(t, d.p.IsUp())
		})
	}
}
