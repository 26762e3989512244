package requests

import (
	"strconv"
	"strings"
	"time"

	"terminalproxy/protocol"
	"terminalproxy/proxy/input"
	"terminalproxy/proxy/keys"
	"terminalproxy/proxy/screen"
)

// escapeGap is how long an Escape key stands alone: less, and a program takes it and what follows for one key. A key that
// interrupts gets the same, or what follows is thrown away with what came before.
const escapeGap = 60 * time.Millisecond

// lineEnds makes each end of a line what the Enter key sends.
var lineEnds = strings.NewReplacer("\r\n", "\r", "\n", "\r")

// encode makes the bytes of an input from step k on, for the program's modes. It runs on the observer's goroutine.
func (h *Handler) encode(in *typing, k int, modes screen.Modes) ([]input.Piece, error) {
	km := keyModes(modes)
	var all []input.Piece
	for i, s := range in.steps[k:] {
		pieces, err := h.encodeStep(in, s.InputPart, modes, km)
		if err != nil {
			return nil, err
		}
		if h.Control.Newest().Guarded {
			pieces = apart(pieces)
		}
		pieces[0].Step = k + i + 1
		all = append(all, pieces...)
	}
	return all, h.nested(all)
}

// keyModes are the modes of the keyboard.
func keyModes(modes screen.Modes) keys.Modes {
	return keys.Modes{
		AppCursor: modes.AppCursor, AppKeypad: modes.AppKeypad,
		Backarrow: modes.Backarrow, KittyFlags: modes.KittyFlags,
		ModifyOtherKeys: modes.ModifyOtherKeys, FormatOtherKeys: modes.FormatOtherKeys == 1,
	}
}

// encodeStep makes the bytes of one step.
func (h *Handler) encodeStep(in *typing, s protocol.InputPart, modes screen.Modes, km keys.Modes) ([]input.Piece, error) {
	switch s.InputKind { //nolint:exhaustive // the others are text
	case protocol.InputKeys:
		return keyPieces(s.Data, km, h.ReclaimKey, h.Control.Newest().Level == protocol.LevelDrive)
	case protocol.InputMouse:
		return h.point(in, s, modes, km)
	}
	if err := h.reserved(s.Data); err != nil {
		return nil, err
	}
	brackets := h.brackets(modes)
	switch {
	case s.InputKind == protocol.InputPaste, s.InputKind == protocol.InputLines && brackets:
		return pastePieces(s.Data, brackets)
	case s.InputKind == protocol.InputRaw:
		return textPieces(s.Data)
	}
	return textPieces(lineEnds.Replace(s.Data))
}

// reserved refuses bytes that only a terminal may send: the reclaim key in any encoding, which may open another proxy's
// notice further in, and answers to queries, which the program would take for the terminal's.
func (h *Handler) reserved(data string) error {
	reclaim := keys.Bindings{Reclaim: h.ReclaimKey}.WithDefaults().Reclaim
	var err error
	look := func(u keys.Unit) {
		switch u.Kind {
		case keys.Reclaim, keys.Release:
			err = &refusal{protocol.CodeReservedKey, "the data holds the reclaim key, which is the user's; under level drive it can be named as a key: " + reclaim.String()}
		case keys.Reply, keys.Focus:
			err = &refusal{protocol.CodeForbidden, "the data holds an answer that only the user's terminal gives (" + strconv.QuoteToASCII(string(u.Bytes)) + ")"}
		default: // keys and text
		}
	}
	s := keys.NewScanner(keys.Bindings{Reclaim: reclaim})
	s.Scan([]byte(data), look)
	s.Flush(look)
	return err
}

// nested refuses what may give control while another proxy runs inside this session: the agent
// would answer its own question there. Which key it is there cannot be seen from here.
func (h *Handler) nested(pieces []input.Piece) error {
	var all []byte
	for _, p := range pieces {
		all = append(all, p.Bytes...)
	}
	key, found := keys.FindGrantKey(all)
	if !found || h.Program.Foreground() != "proxy" {
		return nil
	}
	return &refusal{protocol.CodeReservedKey, "another proxy runs in this session, and " + key.Label() + " may give control there: only its user presses that"}
}

// keyPieces encodes named keys.
func keyPieces(names string, modes keys.Modes, reclaimKey keys.CtrlKey, drive bool) ([]input.Piece, error) {
	var pieces []input.Piece
	for _, name := range strings.Fields(names) {
		press, err := keys.Parse(name)
		if err != nil {
			return nil, &refusal{protocol.CodeBadMessage, err.Error()}
		}
		if press.IsReclaim(reclaimKey, modes) && !drive {
			return nil, &refusal{protocol.CodeReservedKey, "the key " + name + " is the user's way to take the keyboard back; only a grant of level drive may send it to the program"}
		}
		b, err := press.Encode(modes)
		if err != nil {
			return nil, &refusal{protocol.CodeBadMessage, err.Error()}
		}
		for range max(1, press.Count) {
			p := piece(b)
			if press.Interrupts() {
				p.Gap = escapeGap
			}
			pieces = append(pieces, p)
		}
	}
	if len(pieces) == 0 {
		return nil, &refusal{protocol.CodeBadMessage, "no key is named: write names separated by blanks, as in: ctrl-x enter"}
	}
	return pieces, nil
}

// piece is one key, with the time an Escape key needs to be seen alone.
func piece(b []byte) input.Piece {
	p := input.Piece{Bytes: append([]byte(nil), b...)}
	if len(b) == 1 && b[0] == 0x1b {
		p.Gap = escapeGap
	}
	return p
}

// textPieces cuts text into pieces that end between keys.
func textPieces(text string) ([]input.Piece, error) {
	var pieces []input.Piece
	for b := []byte(text); len(b) > 0; {
		n := keys.Cut(b, input.PieceMax)
		pieces = append(pieces, piece(b[:n]))
		b = b[n:]
	}
	return pieces, nil
}

// pastePieces cleans what is pasted and brackets it if the program asked for that (DECSET 2004).
func pastePieces(text string, bracketed bool) ([]input.Piece, error) {
	clean := keys.CleanPaste(text)
	if clean == "" {
		return nil, &refusal{protocol.CodeBadMessage, "nothing is left to paste: control characters are not pasted"}
	}
	pieces, err := textPieces(clean)
	if !bracketed || err != nil {
		return pieces, err
	}
	pieces = append([]input.Piece{{Bytes: []byte(pasteBegins)}}, pieces...)
	return append(pieces, input.Piece{Bytes: []byte(pasteEnds)}), nil
}

// The marks of a bracketed paste (xterm ctlseqs, DECSET 2004).
const (
	pasteBegins = "\x1b[200~"
	pasteEnds   = "\x1b[201~"
)

// apart cuts pieces so that each ends with what a program may act on: what follows may be for another program.
func apart(pieces []input.Piece) []input.Piece {
	var cut []input.Piece
	for _, p := range pieces {
		if p.Say != "" {
			p.Acts = true
			cut = append(cut, p)
			continue
		}
		for b := p.Bytes; len(b) > 0; {
			n, acts := keys.CutAct(b)
			part := input.Piece{Bytes: b[:n], Acts: acts}
			if b = b[n:]; len(b) == 0 {
				part.Gap = p.Gap
			}
			cut = append(cut, part)
		}
	}
	return cut
}
