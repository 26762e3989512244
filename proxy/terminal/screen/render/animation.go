package render

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"terminalproxy/proxy/terminal/screen"
)

// The rhythm of an animation.
const (
	settled   = 30 * time.Millisecond  // output that pauses this long has drawn a picture
	unsettled = 250 * time.Millisecond // output that does not pause is drawn this often
	longest   = 4 * time.Second        // a picture stays no longer, and the last one this long
	maxFrames = 2_000
)

// The window around the screen, in units of the SVG.
const (
	barHeight    = 28
	barBaseline  = 19
	windowMargin = 8
	windowRadius = 8
)

// Animation draws an asciicast as an SVG that plays it, over and over, in a window with its title.
// CSS moves it; there is no script. What does not animate shows the picture that stood longest. It
// is meant for a minute or two: a recording with more than 2,000 pictures is an error.
func Animation(w io.Writer, cast []byte) error {
	f := film{ids: make(map[string]int)}
	if err := f.playCast(cast); err != nil {
		return err
	}
	f.finishPictures()
	out := bufio.NewWriter(w)
	f.writeSVG(out)
	return out.Flush()
}

// film collects an animation. Its pictures hang below one another on a strip. A row that looks the
// same in many pictures is drawn once.
type film struct {
	cols, rows int            // of the largest screen
	ids        map[string]int // of the rows' drawings
	defs       strings.Builder
	frames     []frame
}

// frame is one picture: its drawing with the upper edge at 0, and when it appeared.
type frame struct {
	drawing string
	at      time.Duration
	stays   time.Duration
	blank   bool
}

// playCast feeds the recording to a screen and takes a picture whenever the output pauses.
func (f *film) playCast(cast []byte) error {
	var err error
	if f.cols, f.rows, err = events(cast, func(event) error { return nil }); err != nil {
		return err
	}
	if err := CheckSize(f.cols, f.rows); err != nil {
		return err
	}
	s := screen.New(screen.Config{Cols: f.cols, Rows: f.rows})
	const none = -1
	first, last := time.Duration(none), time.Duration(0) // of the output after the last picture
	_, _, err = events(cast, func(e event) error {
		if first != none && (e.at-last >= settled || e.at-first >= unsettled) {
			f.addPicture(s, last)
			first = none
		}
		if len(f.frames) > maxFrames {
			return fmt.Errorf("the recording has more than %d pictures: animate a shorter one", maxFrames)
		}
		if first == none {
			first = e.at
		}
		last = e.at
		return f.feedEvent(s, e)
	})
	if err != nil {
		return err
	}
	if first == none {
		return errors.New("the recording shows nothing")
	}
	f.addPicture(s, last)
	return nil
}

func (f *film) feedEvent(s *screen.Screen, e event) error {
	if e.kind == "o" {
		s.Feed([]byte(e.data))
		return nil
	}
	r, err := ParseResize("0:" + e.data)
	if err != nil {
		return err
	}
	s.Resize(r.Cols, r.Rows)
	f.cols, f.rows = max(f.cols, r.Cols), max(f.rows, r.Rows)
	return nil
}

// addPicture adds a picture of the screen, unless it looks like the one before it.
func (f *film) addPicture(s *screen.Screen, at time.Duration) {
	d := svg{view: newView(s)}
	blank := strings.TrimSpace(Text(s)) == ""
	var b strings.Builder
	if c := d.backgroundColor(); c.R|c.G|c.B != 0 {
		fmt.Fprintf(&b, `<rect y="%d" width="100%%" height="%d" fill="%s"/>`,
			barHeight, d.rows*cellHeight, hex(c))
	}
	f.useDrawing(&b, drawTitle(s.Title(), d.cols), 0)
	for y := range d.rows {
		d.b.Reset()
		d.first = y
		d.drawBackgrounds(y)
		d.drawTexts(y)
		d.drawLines(y)
		d.drawShapes(y, y+1)
		if d.cursor.row == y {
			d.lineCursor()
		}
		f.useDrawing(&b, d.b.String(), barHeight+y*cellHeight)
	}
	if n := len(f.frames); n > 0 && f.frames[n-1].drawing == b.String() {
		return
	}
	f.frames = append(f.frames, frame{drawing: b.String(), at: at, blank: blank})
}

// drawTitle draws the window's title.
func drawTitle(text string, cols int) string {
	if text == "" {
		return ""
	}
	return fmt.Sprintf(`<text x="%s" y="%d" text-anchor="middle" fill="#bbbbbb">%s</text>`+"\n",
		formatNumber(float64(cols)*cellWidth/2), barBaseline, escape(text))
}

// useDrawing puts a drawing at a height of the picture.
func (f *film) useDrawing(b *strings.Builder, drawing string, y int) {
	if drawing == "" {
		return
	}
	id, known := f.ids[drawing]
	if !known {
		id = len(f.ids)
		f.ids[drawing] = id
		fmt.Fprintf(&f.defs, `<g id="r%d">%s</g>`+"\n", id, strings.TrimSuffix(drawing, "\n"))
	}
	fmt.Fprintf(b, `<use href="#r%d" y="%d"/>`, id, y)
}

// finishPictures leaves out empty screens at both ends (a program has not drawn anything yet, or has
// left the alternate screen), and sets how long each picture stays.
func (f *film) finishPictures() {
	for len(f.frames) > 1 && f.frames[0].blank {
		f.frames = f.frames[1:]
	}
	for i := range len(f.frames) - 1 {
		f.frames[i].stays = f.frames[i+1].at - f.frames[i].at
	}
	if n := len(f.frames) - 1; n > 0 && f.frames[n].blank {
		f.frames = f.frames[:n]
	}
}

// longestStanding returns the index of the picture that stood longest.
func (f *film) longestStanding() int {
	best := 0
	for i, fr := range f.frames {
		if fr.stays > f.frames[best].stays {
			best = i
		}
	}
	return best
}

func (f *film) writeSVG(w io.Writer) {
	inside := float64(f.cols) * cellWidth
	width, height := inside+2*windowMargin, barHeight+f.rows*cellHeight+windowMargin
	svgHead(w, formatNumber(width), height)
	f.writeStyle(w, height)
	fmt.Fprintf(w, "<defs>\n%s</defs>\n", f.defs.String())
	fmt.Fprintf(w, `<rect width="100%%" height="100%%" rx="%d" fill="#000000"/>`+"\n", windowRadius)
	fmt.Fprintf(w, `<path d="M0 %d V%d q0 -%[2]d %[2]d -%[2]d H%s q%[2]d 0 %[2]d %[2]d V%[1]d z" fill="#333333"/>`+"\n",
		barHeight, windowRadius, formatNumber(width-windowRadius))
	// The inner picture cuts off all of the strip but one frame, in any viewer.
	fmt.Fprintf(w, `<svg x="%d" width="%s" height="%d"><g id="strip" transform="translate(0 %d)">`+"\n",
		windowMargin, formatNumber(inside), height, -f.longestStanding()*height)
	for i, fr := range f.frames {
		fmt.Fprintf(w, `<g transform="translate(0 %d)">%s</g>`+"\n", i*height, fr.drawing)
	}
	fmt.Fprint(w, "</g></svg>\n</svg>\n")
}

// writeStyle writes the animation (CSS Animations 1): the strip jumps from picture to picture.
func (f *film) writeStyle(w io.Writer, height int) {
	stays := make([]time.Duration, len(f.frames))
	var whole, now time.Duration
	for i, fr := range f.frames {
		stays[i] = min(fr.stays, longest)
		if i == len(f.frames)-1 {
			stays[i] = longest
		}
		whole += stays[i]
	}
	fmt.Fprintf(w, "<style>\n#strip { animation: play %ss step-end infinite }\n@keyframes play {\n", formatNumber(whole.Seconds()))
	for i, d := range stays {
		fmt.Fprintf(w, "%.3f%% { transform: translateY(%dpx) }\n",
			100*now.Seconds()/whole.Seconds(), -i*height)
		now += d
	}
	fmt.Fprint(w, "}\n@media (prefers-reduced-motion: reduce) { #strip { animation: none } }\n</style>\n")
}
