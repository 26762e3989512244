package screen

import (
	"bytes"
	"strconv"
	"strings"
)

// Picture is an image that a program has put on the screen. What it shows is not kept, only that it
// stands there.
type Picture struct {
	Kind     string // "sixel", "kitty" or "iterm2"
	Row, Col int    // its upper left corner
	// Rows and Cols are its size in cells, cut at the edges of the screen; 0 where only the
	// terminal knows it.
	Rows, Cols int
}

// maxPictures bounds the pictures that are kept with a row.
const maxPictures = 8

// placed is a Picture in its first row.
type placed struct {
	Picture
	id    string // the program's name for it (kitty)
	below cell   // its corner's content: a later write there takes its place
}

// Pictures returns the pictures on the screen, from the top. One that has been written or erased
// over at its corner is gone, as is one whose first row has left the screen; resizing to another
// width forgets those of the main screen.
func (s *Screen) Pictures() (out []Picture) {
	t := &s.t
	for y, r := range t.grid.rows {
		for _, p := range r.pictures {
			if p.Col < t.cols && r.settle().cells[p.Col] == p.below {
				p.Row, p.Rows, p.Cols = y, min(p.Rows, t.rows-y), min(p.Cols, t.cols-p.Col)
				out = append(out, p.Picture)
			}
		}
	}
	return out
}

// putPicture notes a picture at the cursor. Another at the same place is under it.
func (t *terminal) putPicture(kind, id string, cols, rows int) {
	r := t.cursorRow()
	r.pictures = append(r.picturesExcept(func(p *placed) bool { return p.Col == t.x }), placed{
		Picture: Picture{
			Kind: kind,
			Col:  t.x,
			Cols: clamp(cols, 0, maxSize),
			Rows: clamp(rows, 0, maxSize),
		},
		id:    id,
		below: r.cells[t.x],
	})
	if n := len(r.pictures); n > maxPictures {
		r.pictures = r.pictures[n-maxPictures:]
	}
	t.touchRow(t.y)
}

// picturesExcept returns the pictures of a row but for some.
func (r *row) picturesExcept(gone func(p *placed) bool) (kept []placed) {
	for i := range r.pictures {
		if !gone(&r.pictures[i]) {
			kept = append(kept, r.pictures[i])
		}
	}
	return kept
}

// dropPictures takes pictures off the screen.
func (t *terminal) dropPictures(gone func(p *placed) bool) {
	for y, r := range t.grid.rows {
		if kept := r.picturesExcept(gone); len(kept) != len(r.pictures) {
			r.pictures = kept
			t.touchRow(y)
		}
	}
}

// kittyGraphics performs a command of kitty's graphics protocol (APC G keys ; data), of which only
// what puts a picture on the screen or takes it away matters. Further pieces of a picture's data (m
// without a) are none of these.
func (t *terminal) kittyGraphics(s []byte) {
	keys, _, _ := bytes.Cut(s, []byte{';'})
	value := make(map[string]string, 8)
	for _, pair := range strings.Split(string(keys), ",") {
		name, v, _ := strings.Cut(pair, "=")
		value[name] = v
	}
	switch value["a"] {
	case "T", "p":
		if value["U"] != "1" { // else the program prints characters for it
			t.putPicture("kitty", value["i"], cellCount(value["c"]), cellCount(value["r"]))
		}
	case "d":
		which := strings.ToLower(value["d"])
		switch which {
		case "", "a":
			t.dropPictures(func(p *placed) bool { return p.Kind == "kitty" })
		case "i":
			t.dropPictures(func(p *placed) bool { return p.Kind == "kitty" && p.id == value["i"] })
		case "c":
			x, r := t.x, t.cursorRow()
			r.pictures = r.picturesExcept(func(p *placed) bool {
				return p.Kind == "kitty" && p.Col == x
			})
			t.touchRow(t.y)
		}
	}
}

// oscITerm2 performs what iTerm2 added (OSC 1337), of which only inline pictures matter
// (File=arguments:data).
func (t *terminal) oscITerm2(text string) {
	args, ok := strings.CutPrefix(text, "File=")
	if !ok {
		args, ok = strings.CutPrefix(text, "MultipartFile=")
	}
	if !ok {
		t.palette.noteOther(1337, text)
		return
	}
	args, _, _ = strings.Cut(args, ":")
	value := make(map[string]string, 8)
	for _, pair := range strings.Split(args, ";") {
		name, v, _ := strings.Cut(pair, "=")
		value[name] = v
	}
	if value["inline"] == "1" { // else it is a download
		t.putPicture("iterm2", "", cellCount(value["width"]), cellCount(value["height"]))
	}
}

// cellCount returns a number of cells, 0 for anything else: pixels, percents, "auto".
func cellCount(s string) int {
	n, err := strconv.Atoi(s)
	if err != nil {
		return 0
	}
	return n
}
