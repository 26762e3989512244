package fullscreen

import (
	"errors"
	"os"
	"strconv"
	"strings"
	"time"

	"terminalproxy/proxy/display/notice"
	"terminalproxy/proxy/display/overlay"
	"terminalproxy/proxy/terminal/tty"
)

// The modes of the program: the alternate screen, brackets around pastes, and a cursor only where a
// view has one (xterm ctlseqs, DECSET 1049, 2004 and 25).
const (
	enterModes = "\x1b[?1049h\x1b[?2004h\x1b[?25l\x1b[2J"
	leaveModes = "\x1b[m\x1b[?25h\x1b[?2004l\x1b[?1049l"
)

// drawPatience is how long a terminal may take no output.
const drawPatience = time.Second

// display draws views. It writes only the rows that changed.
type display struct {
	terminal   *tty.Terminal
	colors     colors
	titles     bool // the terminal takes titles
	cols, rows int
	drawn      []string // nil if the terminal may show something else
	title      string
	drawnAt    time.Time
}

func newDisplay(t *tty.Terminal) *display {
	term := os.Getenv("TERM")
	return &display{
		terminal: t, titles: overlay.TakesTitle(term),
		colors: colorsOf(term, os.Getenv("COLORTERM"), os.Getenv("NO_COLOR") != ""),
	}
}

func (d *display) setModes() { _ = d.writeOrForget([]byte(enterModes)) }

func (d *display) resetModes() {
	end := leaveModes
	if d.title != "" {
		end += notice.PopTitle
	}
	_ = d.writeOrForget([]byte(end))
}

// writeOrForget writes to the terminal. If that takes no output, as after Ctrl+S, the whole view is
// drawn again.
func (d *display) writeOrForget(b []byte) error {
	err := d.terminal.WriteAll(b, drawPatience)
	if errors.Is(err, tty.ErrAgain) {
		d.drawn = nil
		return nil
	}
	return err
}

// measureTerminal takes the terminal's size.
func (d *display) measureTerminal() Resize {
	cols, rows, err := d.terminal.Size()
	if err != nil {
		cols, rows = 80, 24
	}
	if cols != d.cols || rows != d.rows {
		d.cols, d.rows, d.drawn = cols, rows, nil
	}
	return Resize{cols, rows}
}

func (d *display) drawView(v View) error { return d.writeOrForget(d.appendView(nil, v)) }

// appendView appends the bytes that show a view instead of the last one.
func (d *display) appendView(dst []byte, v View) []byte {
	if d.titles && v.Title != "" && v.Title != d.title {
		if d.title == "" {
			dst = append(dst, notice.PushTitle...)
		}
		d.title = v.Title
		dst = notice.Title(dst, v.Title)
	}
	dst = append(dst, "\x1b[?25l\x1b[?7l"...) // the terminal cuts a row that does not fit
	if d.drawn == nil {
		dst = append(dst, "\x1b[m\x1b[2J"...)
		d.drawn = make([]string, d.rows)
	}
	for y := range d.drawn {
		row := ""
		if y < len(v.Rows) {
			row = v.Rows[y]
		}
		if row == d.drawn[y] {
			continue
		}
		d.drawn[y] = row
		dst = append(appendMove(dst, 0, y), "\x1b[m\x1b[2K"...)
		dst = append(dst, d.colors.reduceColors(row)...)
	}
	dst = append(dst, "\x1b[m\x1b[?7h"...)
	if c := v.Cursor; c != nil {
		dst = append(appendMove(dst, c.Col, c.Row), "\x1b[?25h"...)
	}
	return dst
}

func appendMove(dst []byte, col, row int) []byte {
	dst = strconv.AppendInt(append(dst, "\x1b["...), int64(row+1), 10)
	dst = strconv.AppendInt(append(dst, ';'), int64(col+1), 10)
	return append(dst, 'H')
}

// colors says which colours a terminal has.
type colors uint8

const (
	noColors   colors = iota
	palette256        // entries of the palette
	trueColors        // 24 bits
)

// colorsOf derives the colours from the environment: TERM, COLORTERM and NO_COLOR.
func colorsOf(term, colorTerm string, noColor bool) colors {
	switch {
	case overlay.ColorsOf(term, noColor) == overlay.NoColors:
		return noColors
	case colorTerm == "truecolor", colorTerm == "24bit", strings.HasSuffix(term, "-direct"):
		return trueColors
	}
	return palette256
}

// reduceColors returns a row with colours that the terminal has.
func (c colors) reduceColors(row string) string {
	if c == trueColors || !strings.Contains(row, "\x1b[") {
		return row
	}
	var b strings.Builder
	for {
		at := strings.Index(row, "\x1b[")
		if at < 0 {
			b.WriteString(row)
			return b.String()
		}
		b.WriteString(row[:at])
		row = row[at+2:]
		end := strings.IndexFunc(row, func(r rune) bool { return r >= '@' && r <= '~' })
		switch {
		case end < 0 || row[end] != 'm':
			b.WriteString("\x1b[")
			continue
		case end == 0:
			b.WriteString("\x1b[m")
		default:
			if kept := c.reduceParams(strings.Split(row[:end], ";")); len(kept) > 0 {
				b.WriteString("\x1b[" + strings.Join(kept, ";") + "m")
			}
		}
		row = row[end+1:]
	}
}

// reduceParams returns the parameters of an SGR sequence without, or with other, colours.
func (c colors) reduceParams(params []string) (kept []string) {
	for i := 0; i < len(params); i++ {
		first, _, _ := strings.Cut(params[i], ":")
		n, _ := strconv.Atoi(first)
		long := 0 // parameters of a colour behind this one
		if params[i] == "38" || params[i] == "48" {
			if long = 2; i+1 < len(params) && params[i+1] == "2" {
				long = 4
			}
		}
		color := n == 58 || n >= 30 && n <= 49 || n >= 90 && n <= 107
		last := min(i+long, len(params)-1)
		switch {
		case color && c == noColors:
		case long == 4 && last == i+4:
			kept = append(kept, params[i], "5", nearestEntry(params[i+2:i+5]))
		default:
			kept = append(kept, params[i:last+1]...)
		}
		i = last
	}
	return kept
}

// nearestEntry returns the entry of the palette's cube (16 to 231) nearest to a colour in
// 24 bits.
func nearestEntry(rgb []string) string {
	entry := 16
	for i, weight := range [3]int{36, 6, 1} {
		n, _ := strconv.Atoi(rgb[i])
		step := 0
		switch {
		case n >= 115: // the steps are 0, 95, 135, 175, 215 and 255
			step = min((n-35)/40, 5)
		case n >= 48:
			step = 1
		}
		entry += weight * step
	}
	return strconv.Itoa(entry)
}
