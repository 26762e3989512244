package render

import (
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"html"
	"io"
	"strings"
	"time"

	"terminalproxy/proxy/terminal/screen"
)

// maxHTML bounds a page: a browser lays all of it out.
const maxHTML = 16 << 20

// ErrPageTooLarge says that a page would be too large.
var ErrPageTooLarge = errors.New("the page would be larger than 16 MiB")

// HTML is a page that plays pictures of a terminal, as text that can be selected and searched, or
// shows them one below another. It is one file without a script, and its own policy lets it load
// nothing. One goroutine may use it.
type HTML struct {
	cols, rows int // of the largest screen
	body       strings.Builder
	styles     map[look]string // classes
	rules      strings.Builder
	stays      []time.Duration
}

// Add adds the screen, which stays so long, under a line that says what it is.
func (h *HTML) Add(s *screen.Screen, said string, stays time.Duration) error {
	if h.styles == nil {
		h.styles = make(map[look]string)
	}
	d := svg{view: newView(s)}
	if d.cursor.kind != noCursor {
		d.cursor.kind = blockCursor
	}
	h.cols, h.rows = max(h.cols, d.cols), max(h.rows, d.rows)
	h.stays = append(h.stays, stays)
	none := look{bg: d.backgroundColor(), fg: d.resolveColor(0, !d.reverse)}
	none.line = none.fg
	fmt.Fprintf(&h.body, "<li><p>%s</p><pre class=%s>\n", html.EscapeString(said), h.classOf(none))
	for y := range d.rows { // the first line feed of a pre counts for nothing
		if y > 0 {
			h.body.WriteByte('\n')
		}
		h.writeRow(&d, y, none)
	}
	h.body.WriteString("</pre></li>\n")
	if h.body.Len() > maxHTML {
		return ErrPageTooLarge
	}
	return nil
}

// writeRow writes a row, without the blank cells at its end.
func (h *HTML) writeRow(d *svg, y int, none look) {
	blanks := 0 // of the plain look, which are not written yet
	d.eachRun(y, func(a, b look) bool { return a == b }, func(from, to int, l look) {
		var text strings.Builder
		for x := from; x < to; x++ {
			c, _ := d.cellLook(y, x)
			switch {
			case c.Width == 0:
			case c.Width == 1 && (isLetter(c.Content) || c.Content == ""):
				text.WriteString(html.EscapeString(pad(c.Content)))
			default: // a font of another width must not move what follows
				fmt.Fprintf(&text, "<i class=w%d>%s</i>", c.Width, html.EscapeString(c.Content))
			}
		}
		if l == none && strings.TrimLeft(text.String(), " ") == "" {
			blanks += text.Len()
			return
		}
		h.body.WriteString(strings.Repeat(" ", blanks))
		blanks = 0
		if l == none {
			kept := strings.TrimRight(text.String(), " ")
			blanks = text.Len() - len(kept)
			h.body.WriteString(kept)
			return
		}
		fmt.Fprintf(&h.body, "<span class=%s>%s</span>", h.classOf(l), text.String())
	})
}

// underlines are the styles of those that are not single.
var underlines = [...]string{
	screen.DoubleUnderline: " double", screen.CurlyUnderline: " wavy",
	screen.DottedUnderline: " dotted", screen.DashedUnderline: " dashed",
}

// classOf returns the class of a look, and adds its rule to the sheet.
func (h *HTML) classOf(l look) string {
	name, known := h.styles[l]
	if known {
		return name
	}
	name = fmt.Sprintf("c%d", len(h.styles))
	h.styles[l] = name
	fmt.Fprintf(&h.rules, ".%s{color:%s;background:%s", name, hex(l.fg), hex(l.bg))
	if l.attrs&screen.Bold != 0 {
		h.rules.WriteString(";font-weight:bold")
	}
	if l.attrs&screen.Italic != 0 {
		h.rules.WriteString(";font-style:italic")
	}
	var lines []string
	if l.underline != screen.NoUnderline {
		lines = append(lines, "underline")
	}
	if l.attrs&screen.Strike != 0 {
		lines = append(lines, "line-through")
	}
	if l.attrs&screen.Overline != 0 {
		lines = append(lines, "overline")
	}
	if len(lines) > 0 {
		fmt.Fprintf(&h.rules, ";text-decoration:%s %s%s", strings.Join(lines, " "), hex(l.line), underlines[l.underline])
	}
	h.rules.WriteString("}\n")
	return name
}

// pageCSS is how the page looks. The list of pictures is a strip behind a window, which the
// animation moves; on paper, for who wants all of it, and for who wants nothing to move, the
// pictures stand below one another.
const pageCSS = `body{font:14px/20px system-ui,sans-serif;margin:16px;color:#222;background:#fff}
h1{font-size:18px;margin:0 0 4px}
ol{list-style:none;margin:0;padding:0}
main{margin-top:12px;overflow:hidden}
li p{margin:0;height:20px;overflow:hidden;white-space:nowrap;color:#555}
pre{margin:0 0 12px;padding:4px;font:14px/17px ui-monospace,"DejaVu Sans Mono",Menlo,Consolas,monospace}
pre i{font-style:inherit;display:inline-block;overflow:hidden;vertical-align:top;height:17px}
.w1{width:1ch}.w2{width:2ch}
@media (prefers-color-scheme:dark){body{color:#ddd;background:#181818}li p{color:#aaa}}
`

// Write writes the page, with a title and what there is to say about it.
func (h *HTML) Write(w io.Writer, title, about string) error {
	if len(h.stays) == 0 {
		return errors.New("there is nothing to show")
	}
	style := h.pageStyle()
	sum := sha256.Sum256([]byte(style))
	_, err := fmt.Fprintf(w, `<!DOCTYPE html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'sha256-%s'">
<title>%s</title><style>%s</style></head><body>
<h1>%[2]s</h1><div>%[4]s</div>
<input type="checkbox" id="pause"><label for="pause"> pause</label> &nbsp; <input type="checkbox" id="all"><label for="all"> show all pictures</label>
<main><ol>
%[5]s</ol></main></body></html>
`, base64.StdEncoding.EncodeToString(sum[:]), html.EscapeString(title), style, html.EscapeString(about), h.body.String())
	return err
}

// pageStyle returns the page's sheet: each picture stays its time (CSS Animations 1).
func (h *HTML) pageStyle() string {
	var b strings.Builder
	height := 20 + h.rows*17 + 8 + 12
	b.WriteString(pageCSS)
	b.WriteString(h.rules.String())
	fmt.Fprintf(&b, "main{height:%dpx}li{height:%[1]dpx}pre{width:%dch;height:%dpx}\n", height, h.cols, h.rows*17)
	var whole, now time.Duration
	for i, d := range h.stays {
		if i == len(h.stays)-1 {
			h.stays[i] = max(d, longest)
		}
		whole += h.stays[i]
	}
	fmt.Fprintf(&b, "ol{animation:play %ss step-end infinite}\n@keyframes play{\n", formatNumber(whole.Seconds()))
	for i, d := range h.stays {
		fmt.Fprintf(&b, "%.4f%%{transform:translateY(%dpx)}\n", 100*now.Seconds()/whole.Seconds(), -i*height)
		now += d
	}
	b.WriteString("}\n#pause:checked~main ol{animation-play-state:paused}\n")
	b.WriteString("#all:checked~main{height:auto}#all:checked~main ol{animation:none}#all:checked~main li{height:auto}\n")
	b.WriteString("@media print,(prefers-reduced-motion:reduce){main{height:auto}ol{animation:none}li{height:auto}input,label{display:none}}\n")
	return b.String()
}
