package screen

// Modes holds the modes that a program can set and that matter for typing into a terminal, drawing
// it or restoring it. The field comments name the sequences: "SM n" is CSI n h, "DECSET n" is CSI ?
// n h.
type Modes struct {
	KeyboardLock    bool // KAM, SM 2
	Insert          bool // IRM, SM 4
	LocalEchoOff    bool // SRM, SM 12: set means that the terminal does not echo, the normal state
	NewLine         bool // LNM, SM 20
	AppCursor       bool // DECCKM, DECSET 1
	Reverse         bool // DECSCNM, DECSET 5
	Origin          bool // DECOM, DECSET 6
	AutoWrap        bool // DECAWM, DECSET 7
	AutoRepeat      bool // DECARM, DECSET 8
	CursorBlink     bool // DECSET 12
	CursorVisible   bool // DECTCEM, DECSET 25
	ReverseWrap     bool // DECSET 45
	AppKeypad       bool // DECNKM, DECSET 66, ESC =
	Backarrow       bool // DECBKM, DECSET 67
	LeftRight       bool // DECLRMM, DECSET 69
	Focus           bool // DECSET 1004
	AlternateScroll bool // DECSET 1007
	BracketedPaste  bool // DECSET 2004
	Sync            bool // synchronised output, DECSET 2026
	Graphemes       bool // grapheme clusters decide on columns, DECSET 2027
	ColorScheme     bool // reports of light and dark, DECSET 2031
	Win32Input      bool // DECSET 9001

	MouseProtocol uint16 // 0, or DECSET 9, 1000, 1001, 1002, 1003
	MouseEncoding uint16 // 0, or DECSET 1005, 1006, 1015, 1016

	KittyFlags      uint8 // kitty keyboard protocol, of the shown screen
	ModifyOtherKeys uint8 // XTMODKEYS 4, CSI > 4 ; n m
	FormatOtherKeys uint8 // XTFMTKEYS 4, CSI > 4 ; n f
}

// privateModes are modes without meaning to an observer.
type privateModes struct {
	allowColumns bool // DECSET 40: DECCOLM is obeyed
	keepOnColumn bool // DECNCSM, DECSET 95: DECCOLM does not clear
	columns132   bool // DECCOLM, DECSET 3
	cursorShape  int
	protectISO   bool // the last of SPA and DECSCA was SPA
	rectExtent   bool // DECSACE: rectangles of DECCARA and DECRARA are rectangles and not streams
	saved        map[int]bool
}

func defaultModes() Modes {
	return Modes{LocalEchoOff: true, AutoWrap: true, AutoRepeat: true, CursorVisible: true}
}

// ansiMode returns the mode of SM n, or nil.
func (m *Modes) ansiMode(n int) *bool {
	switch n {
	case 2:
		return &m.KeyboardLock
	case 4:
		return &m.Insert
	case 12:
		return &m.LocalEchoOff
	case 20:
		return &m.NewLine
	}
	return nil
}

// decMode returns the mode of DECSET n if it is a plain switch, or nil.
func (m *Modes) decMode(n int) *bool {
	switch n {
	case 1:
		return &m.AppCursor
	case 5:
		return &m.Reverse
	case 6:
		return &m.Origin
	case 7:
		return &m.AutoWrap
	case 8:
		return &m.AutoRepeat
	case 12:
		return &m.CursorBlink
	case 25:
		return &m.CursorVisible
	case 45:
		return &m.ReverseWrap
	case 66:
		return &m.AppKeypad
	case 67:
		return &m.Backarrow
	case 69:
		return &m.LeftRight
	case 1004:
		return &m.Focus
	case 1007:
		return &m.AlternateScroll
	case 2004:
		return &m.BracketedPaste
	case 2026:
		return &m.Sync
	case 2027:
		return &m.Graphemes
	case 2031:
		return &m.ColorScheme
	case 9001:
		return &m.Win32Input
	}
	return nil
}

// decMode returns the switch of DECSET n, be it an observer's business or not, or nil.
func (t *terminal) decMode(n int) *bool {
	switch n {
	case 3:
		return &t.private.columns132
	case 40:
		return &t.private.allowColumns
	case 95:
		return &t.private.keepOnColumn
	}
	return t.modes.decMode(n)
}

// SM sets ANSI modes (ECMA-48 8.3.125).
func (t *terminal) SM() { t.setANSI(true) }

// RM resets ANSI modes (ECMA-48 8.3.106).
func (t *terminal) RM() { t.setANSI(false) }

func (t *terminal) setANSI(on bool) {
	for i := range t.parse.params.count() {
		if m := t.modes.ansiMode(t.parse.params.at(i, 0)); m != nil {
			*m = on
		}
	}
	t.updatePlain()
}

// DECSET sets private modes (ctlseqs, CSI ? Pm h).
func (t *terminal) DECSET() { t.setPrivate(true) }

// DECRST resets private modes (ctlseqs, CSI ? Pm l).
func (t *terminal) DECRST() { t.setPrivate(false) }

func (t *terminal) setPrivate(on bool) {
	for i := range t.parse.params.count() {
		t.setDEC(t.parse.params.at(i, 0), on)
	}
}

// setDEC sets one private mode with everything that comes with it.
func (t *terminal) setDEC(n int, on bool) {
	if n == 3 {
		t.deccolm(on)
		return
	}
	if n == 2027 && t.clusterMode >= ClustersAlways {
		return
	}
	if m := t.decMode(n); m != nil {
		*m = on
	}
	switch n {
	case 6: // "The cursor moves to the home position when DECOM changes" (VT510)
		t.moveHome()
	case 69:
		t.resetSides()
	case 9, 1000, 1001, 1002, 1003:
		t.modes.MouseProtocol = choice(uint16(n), on)
	case 1005, 1006, 1015, 1016:
		t.modes.MouseEncoding = choice(uint16(n), on)
	case 47, 1047, 1048, 1049:
		t.setAlt(n, on)
	}
}

// choice is a group of modes of which one is on: resetting any of them ends them all (ctlseqs).
func choice(n uint16, on bool) uint16 {
	if on {
		return n
	}
	return 0
}

// deccolm is DECCOLM without its main effect: the size of the screen is the user's. What remains is
// that it clears.
func (t *terminal) deccolm(on bool) {
	if !t.private.allowColumns {
		return
	}
	t.private.columns132 = on
	t.modes.LeftRight = false
	t.resetMargins()
	if !t.private.keepOnColumn {
		t.eraseRows(0, t.rows)
		t.sinkClear()
	}
	t.moveHome()
}

// setAlt performs the four modes around the alternate screen (ctlseqs, modes 47, 1047, 1048, 1049).
func (t *terminal) setAlt(n int, on bool) {
	if on && n >= 1048 {
		t.DECSC()
	}
	switch {
	case n == 1048:
	case on:
		t.showAlt(n == 1049)
	default:
		if n == 1047 && t.onAlt() {
			t.eraseRows(0, t.rows)
		}
		t.showMain()
	}
	if !on && n >= 1048 {
		t.DECRC()
	}
}

func (t *terminal) showAlt(erase bool) {
	if t.onAlt() {
		return
	}
	t.flushDirty()
	if t.alt == nil {
		t.alt = t.newGrid(t.cols, t.rows)
	}
	t.switchTo(t.alt)
	t.showsAlt()
	if erase {
		t.eraseRows(0, t.rows)
	}
}

func (t *terminal) showMain() {
	if t.onAlt() {
		t.flushDirty()
		t.switchTo(t.main)
	}
}

func (t *terminal) switchTo(g *grid) {
	t.grid = g
	t.modes.KittyFlags = g.kitty.top()
	t.last.valid = false
	t.touchAll()
	t.sinkClear()
}

// XTSAVE saves private modes (ctlseqs, CSI ? Pm s).
func (t *terminal) XTSAVE() {
	for i := range t.parse.params.count() {
		n := t.parse.params.at(i, 0)
		if set, known := t.decState(n); known {
			if t.private.saved == nil {
				t.private.saved = make(map[int]bool)
			}
			t.private.saved[n] = set
		}
	}
}

// XTRESTORE restores the private modes that XTSAVE saved (ctlseqs, CSI ? Pm r).
func (t *terminal) XTRESTORE() {
	for i := range t.parse.params.count() {
		n := t.parse.params.at(i, 0)
		if on, ok := t.private.saved[n]; ok {
			if set, _ := t.decState(n); set != on {
				t.setDEC(n, on)
			}
		}
	}
}

// decState says whether the private mode n is set, for DECRQM and XTSAVE.
func (t *terminal) decState(n int) (set, known bool) {
	if m := t.decMode(n); m != nil {
		return *m, true
	}
	switch n {
	case 9, 1000, 1001, 1002, 1003:
		return int(t.modes.MouseProtocol) == n, true
	case 1005, 1006, 1015, 1016:
		return int(t.modes.MouseEncoding) == n, true
	case 47, 1047, 1049:
		return t.onAlt(), true
	case 1048:
		return t.grid.saved.valid, true
	}
	return false, false
}

// DECKPAM selects the application keypad (VT510, ESC =).
func (t *terminal) DECKPAM() { t.modes.AppKeypad = true }

// DECKPNM selects the numeric keypad (VT510, ESC >).
func (t *terminal) DECKPNM() { t.modes.AppKeypad = false }

// DECSCUSR sets the shape of the cursor (VT520, CSI Ps SP q).
func (t *terminal) DECSCUSR() {
	if n := t.parse.params.at(0, 0); n <= 6 {
		t.private.cursorShape = n
		t.modes.CursorBlink = n%2 == 1
	}
}

// S7C1T makes replies use seven-bit controls (ECMA-48, ESC SP F): they always do.
func (*terminal) S7C1T() {}

// S8C1T would make replies use eight-bit controls (ESC SP G). In UTF-8 those are two bytes that no
// program expects.
func (*terminal) S8C1T() {}

// DECSTR is the soft reset (VT510, CSI ! p): the modes that confuse the next program, but neither
// screen nor cursor.
func (t *terminal) DECSTR() {
	t.modes.CursorVisible, t.modes.AutoWrap = true, true
	t.modes.Insert, t.modes.Origin, t.modes.AppCursor = false, false, false
	t.modes.AppKeypad, t.modes.KeyboardLock, t.modes.LeftRight = false, false, false
	t.modes.ReverseWrap = false
	t.private.protectISO, t.private.rectExtent = false, false
	t.resetMargins()
	t.setPen(style{})
	t.charsets = charsets{}
	t.grid.saved = savedCursor{}
	t.updatePlain()
}

// RIS is the hard reset (ECMA-48 8.3.105, ESC c): as after power-on, history included.
func (t *terminal) RIS() {
	t.ris()
	t.sinkClear()
}

func (t *terminal) ris() {
	t.showMain()
	t.alt = nil
	t.modes = defaultModes()
	t.setClusters(t.clusterMode)
	t.private = privateModes{}
	t.main.saved, t.main.kitty = savedCursor{}, kittyStack{}
	t.charsets = charsets{}
	t.setPen(style{})
	t.tabs.reset()
	t.resetMargins()
	t.updatePlain()
	t.dirtyTop, t.dirtyBottom = maxSize, -1
	t.eraseRows(0, t.rows)
	t.hist.clear()
	t.x, t.y, t.pending = 0, 0, false
	t.title, t.icon, t.titleStack = "", "", nil
	t.progress = Progress{}
	t.palette = palette{used: t.palette.used}
	t.marks = Marks{Rev: t.tick}
	t.last.valid = false
}
