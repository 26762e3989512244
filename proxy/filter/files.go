package filter

import "strings"

// transfer is a key of OSC 1337 that moves files, sets the clipboard or reconfigures the terminal.
type transfer uint8

const (
	noTransfer transfer = iota
	wholeFile
	firstPart
	nextPart
	lastPart
	refused // in any form
)

var transfers = map[string]transfer{
	"file": wholeFile, "multipartfile": firstPart, "filepart": nextPart, "fileend": lastPart,
	"copy": refused, "copytoclipboard": refused, "endcopy": refused, "requestupload": refused,
	"setprofile": refused, "setbackgroundimagefile": refused, "stealfocus": refused, "setkeylabel": refused, "pushkeylabels": refused,
	"popkeylabels": refused, "clearscrollback": refused, "openurl": refused, "reportvariable": refused, "custom": refused,
}

// transfers reports whether an OSC 1337 is to go, which begins with its key: it moves a file and is no picture, sets the
// clipboard, or reconfigures the terminal.
func (h *header) transfers() (bad bool) {
	key, c := h.key()
	if h.more {
		return false
	}
	f := h.s.f
	switch key {
	case noTransfer:
		return false
	case wholeFile:
		return c != '=' || !h.inline(false)
	case firstPart:
		bad = c != '=' || !h.inline(true)
		if !h.more {
			f.parts = !bad
		}
		return bad
	case nextPart:
		return !f.parts
	case lastPart:
		bad, f.parts = !f.parts, false
		return bad
	case refused:
	}
	return true
}

// key reads the key of an OSC 1337, in any case, and what comes after it.
func (h *header) key() (key transfer, next byte) {
	var name [24]byte // longer than all that matter
	for n := 0; ; n++ {
		c := h.peek()
		if h.more || h.ended(c) || c == '=' || c == ':' || c == ';' || c >= 0x80 {
			return transfers[string(name[:n])], c
		}
		if n == len(name) {
			return noTransfer, c
		}
		if name[n] = c; c >= 'A' && c <= 'Z' {
			name[n] |= 0x20
		}
		h.i++
	}
}

// inline reads the arguments of a file, from '=' to ':', or, of one in parts, to the end of the command. It reports whether
// they say that the file is shown and not kept, in a way that no terminal reads otherwise.
func (h *header) inline(many bool) bool {
	shown, kept := false, false
	for start := h.i + 1; ; {
		if h.i++; h.i >= len(h.s.in) || h.i-h.at >= Longest {
			h.more = true
			return false
		}
		c := h.s.in[h.i]
		end := c == ':' && !many || many && (c == bel || c == esc)
		switch {
		case c == ';' || end:
			switch arg := string(h.s.in[start:h.i]); {
			case arg == "inline=1":
				shown = true
			case strings.Contains(strings.ToLower(arg), "inline"):
				kept = true
			}
			start = h.i + 1
		case c < ' ' || c >= del: // what terminals make of it differs
			return false
		}
		if end {
			return shown && !kept
		}
	}
}

// application reads as much of an APC whose text begins at in[i] as tells its fate: of a command of kitty's graphics
// (https://sw.kovidgoyal.net/kitty/graphics-protocol), its keys.
func (s *scan) application(at, i int) sequence {
	if !s.driven {
		return sequence{at: at, end: i, fate: pass, open: unended}
	}
	h := header{s: s, at: at, from: i, i: i}
	if c := h.peek(); h.more || c != 'G' {
		return h.fate(false, otherString)
	}
	h.i++
	var g graphics
	if end := h.graphics(&g); !end {
		return h.fate(false, otherString)
	}
	f := s.f
	bad := g.file || f.chunks && g.bare
	f.chunks = bad && g.goesOn
	return h.fate(bad, otherString)
}

// graphics are the keys of a command, as far as they matter.
type graphics struct {
	file   bool // the data is in a file or in shared memory, or that cannot be told
	goesOn bool // m=1: more comes in the next command
	bare   bool // nothing but that, as in the commands that go on with one

	key, value byte // of the present one
	keys       int  // bytes of its name, and of its value
	values     int
	assigned   bool
}

// graphics reads the keys; end is false if more has to come.
func (h *header) graphics(g *graphics) (end bool) {
	g.bare = true
	for {
		c := h.peek()
		switch {
		case h.more:
			return false
		case c == ';' || h.ended(c) && c != bel && c != st || c >= 0x80 && h.terminated():
			g.close()
			return true
		case h.more:
			return false
		case c == bel:
		case c >= 0x80:
			g.file = true // no key has that
		case c == ',':
			g.close()
		case c == '=' && !g.assigned:
			g.assigned = true
		case c == ' ':
		case g.assigned:
			g.value = c
			g.values++
		default:
			g.key = c
			g.keys++
		}
		h.i++
	}
}

// terminated reports whether ST, in 8 bits or as a code point, stands at in[i]; more is set if that depends on what comes.
func (h *header) terminated() bool {
	in := h.s.in
	switch {
	case in[h.i] == 0xc2 && h.i+1 == len(in):
		h.more = true
		return false
	case in[h.i] == 0xc2:
		return in[h.i+1] == st
	}
	return in[h.i] == st && !h.s.within(h.i)
}

// close ends a key.
func (g *graphics) close() {
	if g.keys > 0 {
		switch g.key {
		case 't':
			g.file = g.file || g.value != 'd' || g.values != 1
		case 'm':
			g.goesOn = g.value != '0'
		}
		g.bare = g.bare && (g.key == 'm' || g.key == 'q')
	}
	g.key, g.value, g.keys, g.values, g.assigned = 0, 0, 0, 0, false
}
