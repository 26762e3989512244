package keys

// params are the parameters of a control sequence as its sender wrote them:
// ECMA-48 fields between semicolons, with sub-fields between colons.
type params struct {
	prefix byte // one of < = > ? or 0
	inter  byte // the intermediate byte, 0 without one
	n      int  // fields
	v      [6][3]int32
}

// csiBody returns the bytes between the introducer and the final byte.
func csiBody(u []byte) []byte {
	if u[0] == csi {
		return u[1 : len(u)-1]
	}
	return u[2 : len(u)-1]
}

// parseBody reads the parameters of a sequence. An absent value is 0. It skips fields and
// sub-fields beyond those that keys and replies have.
func (q *params) parseBody(body []byte) {
	if len(body) == 0 {
		return
	}
	if c := body[0]; c >= '<' && c <= '?' {
		q.prefix = c
		body = body[1:]
	}
	q.n = 1
	sub := 0
	for _, c := range body {
		switch {
		case c >= '0' && c <= '9':
			if q.n <= len(q.v) && sub < len(q.v[0]) {
				v := &q.v[q.n-1][sub]
				*v = min(*v*10+int32(c-'0'), 1<<24)
			}
		case c == ':':
			sub++
		case c == ';':
			q.n++
			sub = 0
		case c < 0x30:
			q.inter = c
		default:
			// a private byte in the middle, which no sender writes
			q.prefix = c
		}
	}
}

// openCSI notes that a control sequence begins.
func (s *Scanner) openCSI() {
	s.state, s.params, s.number = inCSI, 0, true
}

// stepCSI reads a byte of a control sequence: parameters and intermediates up to a final byte. Any
// other byte aborts it.
func (s *Scanner) stepCSI(c byte) verdict {
	switch {
	case c >= 0x20 && c < 0x40:
		if c == '$' && s.number && s.params > 0 && s.state == inCSI {
			return done // rxvt: CSI 3 $ is Shift+Delete; no answer has one number before $
		}
		if s.state == longCSI {
			return more
		}
		if s.params++; s.params > maxParams {
			s.state = longCSI
			return piece
		}
		s.number = s.number && c >= '0' && c <= '9'
		return more
	case c >= 0x40 && c < 0x7f:
		return s.finalCSI(c)
	}
	return abort
}

// finalCSI ends a control sequence, unless the final byte announces more: the
// three bytes of an X10 mouse report, or the letter of a Linux console F1 to F5.
func (s *Scanner) finalCSI(c byte) verdict {
	if s.paste || s.params > 0 {
		return done
	}
	switch {
	case c == 'M' && s.x10:
		s.state, s.need = inX10, 3
		return more
	case c == '[':
		s.state = inSS3
		return more
	}
	return done
}

// classifyCSI returns the kind of a complete control sequence.
func (s *Scanner) classifyCSI(u []byte) Kind {
	final, body := u[len(u)-1], csiBody(u)
	if s.paste {
		return s.classifyPasted(final, body)
	}
	switch final {
	case 'I', 'O':
		if len(body) == 0 {
			return Focus
		}
		return Key
	case 'A', 'B', 'C', 'D', 'F', 'H', 'P', 'Q', 'Z':
		return Key
	}
	var q params
	q.parseBody(body)
	switch final {
	case 'u', '_', '~':
		return s.classifyKey(final, &q)
	case 'M', 'm':
		return classifyMouse(final, &q)
	case 'R':
		return s.classifyCPR(&q)
	}
	if q.isReply(final) {
		return Reply
	}
	return Key
}

// classifyPasted recognises the sequences that count inside a paste: its end, and the reclaim key,
// because a terminal that never sends the end must not lock the user out.
func (s *Scanner) classifyPasted(final byte, body []byte) Kind {
	if final != 'u' && final != '_' && final != '~' {
		return Paste
	}
	var q params
	q.parseBody(body)
	if k := s.classifyKey(final, &q); k == Reclaim || k == Release || k == PasteEnd {
		return k
	}
	return Paste
}

// classifyKey classifies the three forms in which terminals report keys by numbers.
func (s *Scanner) classifyKey(final byte, q *params) Kind {
	if q.inter != 0 {
		return Key
	}
	if q.prefix != 0 {
		if final == 'u' && q.prefix == '?' {
			return Reply // the kitty flags
		}
		return Key
	}
	switch {
	case final == 'u':
		return s.reportKind(q.v[0][0], q.v[0][2], q.v[1][0], q.v[1][1])
	case final == '_':
		return s.winKind(q)
	case q.n == 3 && q.v[0][0] == 27:
		return s.reportKind(q.v[2][0], 0, q.v[1][0], q.v[1][1])
	case q.n == 1 && q.v[0][0] == 200:
		s.paste = true
		return PasteStart
	case q.n == 1 && q.v[0][0] == 201:
		s.paste = false
		return PasteEnd
	}
	return Key
}

// The events of a key report other than a press (kitty keyboard protocol).
const repeated, released = 2, 3

// reportKind classifies a key report of the kitty protocol or modifyOtherKeys, by the key's code,
// its code on the standard layout, the modifier parameter and the event.
func (s *Scanner) reportKind(code, base, mods, event int32) Kind {
	mods = max(mods, 1) - 1
	if event > released {
		return Key
	}
	reclaims := s.reclaim.matchesReport(code, base, mods)
	confirms := s.grant.confirmsGrant(code, base, mods)
	kind := pressKind(&s.down, code, reclaims, event == released, confirms && event < repeated)
	if kind == Key && confirms && event == repeated {
		return ConfirmRepeat
	}
	return kind
}

// winKind classifies a win32-input-mode record: CSI Vk ; Sc ; Uc ; Kd ; Cs ; Rc _.
func (s *Scanner) winKind(q *params) Kind {
	vk, uc, down, state := q.v[0][0], q.v[2][0], q.v[3][0], q.v[4][0]
	if down > 1 {
		return Key
	}
	reclaims := s.reclaim.matchesWin(vk, uc, state)
	confirms := s.grant.confirmsWin(vk, uc, down, state)
	return pressKind(&s.winDown, vk, reclaims, down == 0, confirms)
}

// pressKind returns the kind of a key report. held is the number of the reclaim key that is down, 0
// if it is up.
func pressKind(held *int32, code int32, reclaims, up, confirms bool) Kind {
	switch {
	case reclaims && up:
		*held = 0
		return Release
	case reclaims:
		*held = code
		return Reclaim
	case code == *held && code != 0:
		// The same key without its modifiers: it goes up after Ctrl, or is pressed again.
		*held = 0
		if up {
			return Release
		}
	case confirms:
		return Confirm
	}
	return Key
}

// typesNothing reports whether a control sequence is a key that goes up, or a modifier alone (kitty
// keyboard protocol, win32-input-mode).
func typesNothing(u []byte) bool {
	var q params
	q.parseBody(csiBody(u))
	if q.prefix != 0 || q.inter != 0 {
		return false
	}
	switch code := q.v[0][0]; u[len(u)-1] {
	case 'u':
		const capsLock, numLock = 57358, 57360
		return q.v[1][1] == released || code >= capsLock && code <= numLock || isModifier(code)
	case '_':
		const shift, menu, capital, leftWin, rightWin, numLock, scroll = 16, 18, 20, 91, 92, 144, 145
		return q.v[3][0] == 0 || code >= shift && code <= menu || code == capital ||
			code == leftWin || code == rightWin || code == numLock || code == scroll
	case '~', 'A', 'B', 'C', 'D', 'E', 'F', 'H', 'P', 'Q', 'S':
		return q.v[1][1] == released
	}
	return false
}

// isModifier reports whether a code of the kitty protocol is a key that is held with others.
func isModifier(code int32) bool {
	const leftShift, level5 = 57441, 57454
	return code >= leftShift && code <= level5
}

// classifyCPR distinguishes a cursor position report from F3 with modifiers, which xterm sends in
// the same form.
func (s *Scanner) classifyCPR(q *params) Kind {
	switch {
	case q.prefix == '?' && q.inter == 0:
		return Reply
	case q.prefix == 0 && q.inter == 0 && q.n == 2 && s.cpr > 0:
		s.cpr--
		return Reply
	}
	return Key
}

// isReply reports whether a sequence is an answer of the terminal.
func (q *params) isReply(final byte) bool {
	switch final {
	case 'c': // DA1, DA2
		return q.inter == 0 && (q.prefix == '?' || q.prefix == '>')
	case 'n', 't': // DSR; window reports, in-band resize
		return q.inter == 0 && q.n > 0 && (q.prefix == 0 || q.prefix == '?')
	case 'y': // DECRPM, private and ANSI
		return q.inter == '$' && q.n == 2 && (q.prefix == 0 || q.prefix == '?')
	case 'm': // XTQMODKEYS
		return q.inter == 0 && q.prefix == '>'
	case 'S': // XTSMGRAPHICS
		return q.inter == 0 && q.prefix == '?'
	}
	return false
}

// classifyMouse classifies the reports of modes 1006 and 1016 (CSI < b ; x ; y M) and 1015 (CSI b ;
// x ; y M, the button plus 32).
func classifyMouse(final byte, q *params) Kind {
	switch {
	case q.prefix == '<' && q.inter == 0 && q.n == 3:
		return mouseKind(q.v[0][0])
	case q.prefix == 0 && q.inter == 0 && q.n == 3 && final == 'M':
		return mouseKind(q.v[0][0] - 32)
	case final == 'm' && q.isReply(final):
		return Reply
	}
	return Key
}

// mouseKind classifies a mouse report by its button field: the motion bit with "no button", without
// the bits for wheels and further buttons, is bare movement.
func mouseKind(b int32) Kind {
	const button, motion, extra = 3, 32, 64 | 128
	if b&motion != 0 && b&button == button && b&extra == 0 {
		return Motion
	}
	return Mouse
}
