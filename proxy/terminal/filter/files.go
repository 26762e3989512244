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
	"setprofile": refused, "setbackgroundimagefile": refused, "stealfocus": refused,
	"setkeylabel": refused, "pushkeylabels": refused,
	"popkeylabels": refused, "clearscrollback": refused, "openurl": refused,
	"reportvariable": refused, "custom": refused,
}

// isBadTransfer reports whether an OSC 1337, read from its key on, must be dropped: it moves a file
// other than a picture, sets the clipboard, or reconfigures the terminal.
func (h *header) isBadTransfer() (bad bool) {
	key, c := h.readTransferKey()
	if h.more {
		return false
	}
	f := h.s.f
	switch key {
	case noTransfer:
		return false
	case wholeFile:
		return c != '=' || !h.isShownInline(false)
	case firstPart:
		bad = c != '=' || !h.isShownInline(true)
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

// readTransferKey reads the key of an OSC 1337, in any letter case, and the character after it.
func (h *header) readTransferKey() (key transfer, next byte) {
	var name [24]byte // longer than all that matter
	for n := 0; ; n++ {
		c := h.peekChar()
		if h.more || h.endsString(c) || c == '=' || c == ':' || c == ';' || c >= 0x80 {
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

// isShownInline reads the arguments of a file, from '=' to ':', or to the end of the command for a
// file in parts. It reports whether every terminal reads them as: show the file and do not keep it.
func (h *header) isShownInline(many bool) bool {
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
		case c < ' ' || c >= del: // terminals interpret it differently
			return false
		}
		if end {
			return shown && !kept
		}
	}
}

// parseAPC reads an APC, whose text begins at in[i], until its fate is known: of a command of
// kitty's graphics (https://sw.kovidgoyal.net/kitty/graphics-protocol), its keys.
func (s *scan) parseAPC(at, i int) sequence {
	if !s.driven {
		return sequence{at: at, end: i, fate: pass, open: unended}
	}
	h := header{s: s, at: at, from: i, i: i}
	if c := h.peekChar(); h.more || c != 'G' {
		return h.decideFate(false, otherString)
	}
	h.i++
	var g graphics
	if end := h.readGraphicsKeys(&g); !end {
		return h.decideFate(false, otherString)
	}
	f := s.f
	bad := g.file || f.chunks && g.bare
	f.chunks = bad && g.goesOn
	return h.decideFate(bad, otherString)
}

// graphics holds the keys of a command that decide its fate.
type graphics struct {
	file   bool // the data is in a file or in shared memory, or that cannot be told
	goesOn bool // m=1: the next command continues this one
	bare   bool // it has no other key, as a command that continues one

	key, value byte // of the present one
	keys       int  // bytes of its name, and of its value
	values     int
	assigned   bool
}

// readGraphicsKeys reads the keys of a command; end is false if more has to come.
func (h *header) readGraphicsKeys(g *graphics) (end bool) {
	g.bare = true
	for {
		c := h.peekChar()
		switch {
		case h.more:
			return false
		case c == ';' || h.endsString(c) && c != bel && c != st || c >= 0x80 && h.isAtST():
			g.endKey()
			return true
		case h.more:
			return false
		case c == bel:
		case c >= 0x80:
			g.file = true // no key has that
		case c == ',':
			g.endKey()
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

// isAtST reports whether ST, in 8 bits or as a code point, stands at in[i]. It sets more if that
// depends on bytes to come.
func (h *header) isAtST() bool {
	in := h.s.in
	switch {
	case in[h.i] == 0xc2 && h.i+1 == len(in):
		h.more = true
		return false
	case in[h.i] == 0xc2:
		return in[h.i+1] == st
	}
	return in[h.i] == st && !h.s.isContinuation(h.i)
}

func (g *graphics) endKey() {
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
