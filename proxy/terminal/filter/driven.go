package filter

// The tables of sequences that are dropped while an agent drives. Sources: "XTerm Control
// Sequences" (ctlseqs), the manuals of urxvt, Konsole, iTerm2, ConEmu, mintty, foot and kitty, and
// of the VT420 and VT510.

// oscCommands holds OSC commands by number.
var oscCommands = map[int]string{
	0: "titles", 1: "the icon's title", 2: "the window's title", 3: "an X property of the window",
	20: "a file as background (urxvt)",
	30: "the tab's title (Konsole)", 46: "a log file", 50: "the font, or a profile (Konsole)",
	52: "the clipboard",
	55: "the screen into a file (urxvt)", 176: "the window's class (foot)",
	440: "a sound file (mintty)", 701: "the locale (urxvt, mintty)",
	710: "the font (urxvt)", 711: "the bold font", 712: "the italic font",
	713: "the bold italic font", 5113: "files (kitty)",
	5522: "the clipboard (kitty)", 7721: "the clipboard (mintty)", 7770: "the font's size (mintty)",
	7773: "the icon from a file (mintty)",
	7777: "the font's and the window's size (mintty)", huge: "any of these modulo a power of two",
}

// conEmuCommands holds the commands of ConEmu's OSC 9 by the number that follows. Only 7 needs no
// further text.
var conEmuCommands = map[int]string{
	1: "pauses", 2: "a message box", 3: "the tab's title", 6: "a macro of the terminal",
	7: "a process", 8: "variables of its environment", huge: "any of these",
}

// control is a family of control sequences.
type control struct {
	final, marker, inter rune // 0 if absent
	from, to             int  // its first parameter
}

// anyParam stands for any parameter.
const anyParam = huge + 1

// reconfiguringControls are the control sequences, by their final byte. A blank stands for the
// intermediate of the bell's volume.
var reconfiguringControls = []control{
	{final: 't', from: 1, to: 10},                    // moves, resizes, iconifies the window
	{final: 't', from: 20, to: 21},                   // types its title back
	{final: 't', from: 24, to: anyParam},             // DECSLPP: resizes it
	{final: 't', marker: '>', from: 0, to: anyParam}, // XTSMTITLE: how titles are read and reported
	{final: 'T', marker: '>', from: 0, to: anyParam}, // XTRMTITLE
	{final: 't', inter: ' ', from: 0, to: anyParam},  // DECSWBV: the warning bell's volume
	{final: 'u', inter: ' ', from: 0, to: anyParam},  // DECSMBV: the margin bell's
	{final: '|', inter: '$', from: 0, to: anyParam},  // DECSCPP: resizes the window
	{final: '|', inter: '*', from: 0, to: anyParam},  // DECSNLS
	{final: 'y', inter: '*', from: 0, to: anyParam},  // DECRQCRA: reads the screen back
	{final: 'z', inter: '*', from: 0, to: anyParam},  // DECINVM: runs a macro
}

// isReconfiguring reports whether a control sequence is in the table, or prints (MC 4 and 5).
func (p *params) isReconfiguring(final rune) bool {
	if final == 'i' {
		return p.print && p.inter == 0
	}
	for _, c := range reconfiguringControls {
		inter := p.inter
		if c.inter == ' ' && p.blank {
			inter = ' '
		}
		if c.final == final && c.marker == p.marker && c.inter == inter && c.from <= p.first && p.first <= c.to {
			return true
		}
	}
	return false
}

// reconfiguringDCS are DCS by their final byte.
var reconfiguringDCS = []struct {
	final, inter rune
	param        int // the only one, or every
}{
	{'|', 0, anyParam},   // DECUDK: what function keys type
	{'{', 0, anyParam},   // DECDLD: what characters look like
	{'z', '!', anyParam}, // DECDMAC: a macro
	{'p', '+', anyParam}, // XTSETTCAP: what keys send
	{'p', 0, 1000},       // tmux's control mode: iTerm2 gives the terminal to what follows
	{'p', 0, huge},
}

// isReconfiguring reports whether a DCS is in the table.
func (h *header) isReconfiguring() bool {
	inter, value, first := rune(0), 0, -1
	for h.i-h.at < Longest {
		c, size := h.s.charAt(h.i)
		switch folded := foldChar(c); {
		case size == 0:
			h.more = true
			return false
		case c == esc || c == bel || c == can || c == sub || c == st:
			return false
		case c < ' ' || c == del || c >= 0x80 && c < 0xa0: // skipped
		case folded >= '0' && folded <= '9':
			value = min(value*10+int(folded-'0'), huge)
		case folded == ';' || folded == ':':
			if first < 0 {
				first = value
			}
			value = 0
		case folded > ' ' && folded < '0':
			inter = folded
		case folded >= '@' && folded < del:
			if first < 0 {
				first = value
			}
			for _, d := range reconfiguringDCS {
				// some terminals read it as a sign
				sign := d.inter == 0 && inter == '+' && folded == '|'
				if d.final == folded && (d.inter == inter || sign) && (d.param == anyParam || d.param == first) {
					return true
				}
			}
			return false
		}
		h.i += size
	}
	return false
}

// withoutENQ returns p without ENQ. ENQ makes the terminal type its answerback message, even within
// a sequence.
func (f *Filter) withoutENQ(p []byte) []byte {
	f.plain = f.plain[:0]
	for _, c := range p {
		if c != enq {
			f.plain = append(f.plain, c)
		}
	}
	return f.plain
}
