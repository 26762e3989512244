// Package render plays what a terminal printed, from bytes or from an asciicast, on a screen.Screen
// and shows the result as text, JSON, ANSI, SVG or PNG.
package render

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"terminalproxy/proxy/terminal/screen"
)

// Scrollback is how many rows a rendering keeps of what scrolled off.
const Scrollback = 10_000

// Resize is a change of size after Off bytes of input.
type Resize struct{ Off, Cols, Rows int }

// ParseResize reads OFF:COLSxROWS.
func ParseResize(s string) (Resize, error) {
	off, size, ok := strings.Cut(s, ":")
	cols, rows, ok2 := strings.Cut(size, "x")
	var r Resize
	var errs [3]error
	r.Off, errs[0] = strconv.Atoi(off)
	r.Cols, errs[1] = strconv.Atoi(cols)
	r.Rows, errs[2] = strconv.Atoi(rows)
	if !ok || !ok2 || errors.Join(errs[:]...) != nil || r.Off < 0 {
		return r, fmt.Errorf("resize %q: write it as OFFSET:COLSxROWS, e.g. 1024:100x30", s)
	}
	return r, CheckSize(r.Cols, r.Rows)
}

// CheckSize refuses a size that no screen can have.
func CheckSize(cols, rows int) error {
	if cols < 1 || cols > screen.MaxCols || rows < 1 || rows > screen.MaxRows {
		return fmt.Errorf("size %dx%d: columns go from 1 to %d and rows from 1 to %d",
			cols, rows, screen.MaxCols, screen.MaxRows)
	}
	return nil
}

// Options say how bytes are played.
type Options struct {
	Cols, Rows int
	Resizes    []Resize // in the order of their offsets
	Chunk      int      // bytes a Feed, 0 for all at once
}

// Play feeds the bytes to a new screen.
func Play(b []byte, o Options) (*screen.Screen, error) {
	if err := CheckSize(o.Cols, o.Rows); err != nil {
		return nil, err
	}
	s := screen.New(screen.Config{Cols: o.Cols, Rows: o.Rows, Scrollback: Scrollback})
	at := 0
	for _, r := range o.Resizes {
		if r.Off < at || r.Off > len(b) {
			return nil, fmt.Errorf("resize at %d: offsets must grow and not pass the %d bytes of input", r.Off, len(b))
		}
		feed(s, b[at:r.Off], o.Chunk)
		s.Resize(r.Cols, r.Rows)
		at = r.Off
	}
	feed(s, b[at:], o.Chunk)
	return s, nil
}

func feed(s *screen.Screen, p []byte, chunk int) {
	if chunk <= 0 {
		chunk = len(p)
	}
	for len(p) > 0 {
		n := min(chunk, len(p))
		s.Feed(p[:n])
		p = p[n:]
	}
}

// Text returns the rows of the screen, each with a newline, without empty ones at the end.
func Text(s *screen.Screen) string { return join(s, (*screen.Screen).AppendRow) }

// ANSI is Text with colours and attributes.
func ANSI(s *screen.Screen) string { return join(s, (*screen.Screen).AppendRowANSI) }

func join(s *screen.Screen, row func(*screen.Screen, []byte, int) []byte) string {
	var b []byte
	end := 0
	_, rows := s.Size()
	for y := range rows {
		n := len(b)
		b = row(s, b, y)
		if len(b) > n {
			end = len(b) + 1
		}
		b = append(b, '\n')
	}
	return string(b[:end])
}

type jsonCursor struct {
	X       int  `json:"x"`
	Y       int  `json:"y"`
	Visible bool `json:"visible"`
}

type jsonScreen struct {
	Lines      []string   `json:"lines"`
	Cursor     jsonCursor `json:"cursor"`
	Alt        bool       `json:"alt"`
	Title      string     `json:"title"`
	Scrollback int        `json:"scrollback"`
	Replies    string     `json:"replies"` // base64
}

// JSON returns the screen as one object: rows, cursor, title, and what the terminal would have
// answered.
func JSON(s *screen.Screen) ([]byte, error) {
	c := s.Cursor()
	v := jsonScreen{
		Cursor: jsonCursor{X: c.Col, Y: c.Row, Visible: c.Visible},
		Alt:    s.Alt(), Title: s.Title(), Scrollback: s.HistoryLen(),
		Replies: base64.StdEncoding.EncodeToString(s.TakeReplies()),
	}
	_, rows := s.Size()
	for y := range rows {
		v.Lines = append(v.Lines, s.RowText(y))
	}
	b, err := json.Marshal(v)
	return append(b, '\n'), err
}
