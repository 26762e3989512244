package screen

import (
	"encoding/hex"
	"fmt"
	"strconv"
	"strings"
)

// What the terminal is.
const (
	// da1 is a VT420 with 132 columns, selective erase, user windows, horizontal scrolling, colour,
	// rectangles (VT510; the same classes that xterm claims, less what needs a printer).
	da1       = "\x1b[?64;1;6;18;21;22;28c"
	da2       = "\x1b[>41;1;0c"                 // which terminal and version (VT510)
	da3       = "\x1bP!|00000000\x1b\\"         // the unit's number (VT510)
	xtversion = "\x1bP>|terminalproxy(1)\x1b\\" // the terminal's name (ctlseqs, CSI > q)
)

// answer returns an operation that answers s, unless a parameter asks for something else.
func answer(s string) op {
	return func(t *terminal) {
		if t.parse.params.at(0, 0) == 0 {
			t.reply(s)
		}
	}
}

// DSR reports that all is well, or the cursor's position (ECMA-48 8.3.35).
func (t *terminal) DSR() {
	switch t.parse.params.at(0, 0) {
	case 5:
		t.reply("\x1b[0n")
	case 6:
		t.reply(fmt.Sprintf("\x1b[%d;%dR", t.originRow()+1, t.originCol()+1))
	}
}

// DECDSR are DEC's status reports (VT510, CSI ? Ps n), as a terminal without printer, locator or
// second session.
func (t *terminal) DECDSR() {
	if n := t.parse.params.at(0, 0); n == 6 {
		t.reply(fmt.Sprintf("\x1b[?%d;%dR", t.originRow()+1, t.originCol()+1))
	} else {
		t.reply(decStatus[n])
	}
}

// decStatus are the answers to DECDSR that never change.
var decStatus = map[int]string{
	15:  "\x1b[?13n",
	25:  "\x1b[?20n",
	26:  "\x1b[?27;1;0;0n",
	53:  "\x1b[?53n",
	55:  "\x1b[?53n",
	56:  "\x1b[?57;0n",
	996: "\x1b[?997;1n", // dark
}

// DECRQM asks for an ANSI mode (VT510, CSI Pa $ p).
func (t *terminal) DECRQM() {
	n := t.parse.params.at(0, 0)
	m := t.modes.ansiMode(n)
	t.replyMode("", n, m != nil && *m, m != nil)
}

// DECRQMPrivate asks for a private mode (VT510, CSI ? Pd $ p).
func (t *terminal) DECRQMPrivate() {
	n := t.parse.params.at(0, 0)
	set, known := t.decState(n)
	t.replyMode("?", n, set, known)
}

// replyMode sends DECRPM: 0 for an unknown mode, 1 set, 2 reset.
func (t *terminal) replyMode(marker string, n int, set, known bool) {
	state := 0
	switch {
	case set:
		state = 1
	case known:
		state = 2
	}
	t.reply(fmt.Sprintf("\x1b[%s%d;%d$y", marker, n, state))
}

// The size of a character in pixels that XTWINOPS reports: there is no font here.
const (
	CellWidth  = 8
	CellHeight = 16
)

// XTWINOPS are window operations (ctlseqs, CSI Ps ; Ps ; Ps t). A program cannot resize us, and
// titles are never reported: the answer would be typed into whatever reads next. What remains are
// sizes and the title stack.
func (t *terminal) XTWINOPS() {
	switch t.parse.params.at(0, 0) {
	case 14:
		t.reply(fmt.Sprintf("\x1b[4;%d;%dt", t.rows*CellHeight, t.cols*CellWidth))
	case 16:
		t.reply(fmt.Sprintf("\x1b[6;%d;%dt", CellHeight, CellWidth))
	case 18:
		t.reply(fmt.Sprintf("\x1b[8;%d;%dt", t.rows, t.cols))
	case 22:
		t.pushTitle()
	case 23:
		t.popTitle()
	}
}

// DECREQTPARM reports terminal parameters (VT100).
func (t *terminal) DECREQTPARM() {
	if n := t.parse.params.at(0, 0); n < 2 {
		t.reply(fmt.Sprintf("\x1b[%d;1;1;128;128;1;0x", n+2))
	}
}

// performDCS performs a device control string; its first bytes are what selected it.
func (t *terminal) performDCS(s []byte) {
	text := string(s)
	if q, ok := strings.CutPrefix(text, "$q"); ok {
		t.DECRQSS(q)
	} else if q, ok := strings.CutPrefix(text, "+q"); ok {
		t.XTGETTCAP(q)
	}
}

// DECRQSS reports a setting as the sequence that would set it (VT510, DCS $ q).
func (t *terminal) DECRQSS(setting string) {
	var s string
	switch setting {
	case "m":
		s = string(t.pen.appendSGR(nil))
	case "r":
		s = fmt.Sprintf("%d;%d", t.top+1, t.bottom+1)
	case "s":
		s = fmt.Sprintf("%d;%d", t.left+1, t.right+1)
	case " q":
		s = strconv.Itoa(t.private.cursorShape)
	case "\"q":
		s = strconv.Itoa(int(t.pen.attrs & Protected / Protected))
	case "\"p":
		s = "64;1"
	case "t":
		s = strconv.Itoa(t.rows)
	case "*x":
		s = "1"
		if t.private.rectExtent {
			s = "2"
		}
	default:
		t.replyDCS("0$r")
		return
	}
	t.replyDCS("1$r" + s + setting)
}

// XTGETTCAP reports terminfo capabilities, names and values in hexadecimal (ctlseqs, DCS + q).
func (t *terminal) XTGETTCAP(list string) {
	for _, name := range strings.Split(list, ";") {
		raw, err := hex.DecodeString(name)
		value, ok := map[string]string{
			"TN":     "xterm-256color",
			"Co":     "256",
			"colors": "256",
			"RGB":    "8",
		}[string(raw)]
		if err != nil || !ok {
			t.replyDCS("0+r" + cleanHex(name))
			continue
		}
		t.replyDCS("1+r" + name + "=" + strings.ToUpper(hex.EncodeToString([]byte(value))))
	}
}

// cleanHex returns name if it is hexadecimal: nothing else is ever echoed.
func cleanHex(name string) string {
	if _, err := hex.DecodeString(name); err != nil || len(name) > 128 {
		return ""
	}
	return name
}
