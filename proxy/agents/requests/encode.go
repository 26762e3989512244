package requests

import (
	"strconv"
	"strings"
	"time"

	"terminalproxy/protocol"
	"terminalproxy/proxy/consent/pump"
	"terminalproxy/proxy/terminal/keys"
	"terminalproxy/proxy/terminal/screen"
)

// escapeGap is the pause after an Escape key: after a shorter one, a program takes it and the next
// key for one key. A key that interrupts gets the same pause, or the kernel may discard what
// follows together with what came before.
const escapeGap = 60 * time.Millisecond

// lineEnds turns each end of a line into the Enter key's byte.
var lineEnds = strings.NewReplacer("\r\n", "\r", "\n", "\r")

// encoder makes the bytes of agents' input. Owned by the observer's goroutine.
type encoder struct {
	*Config
	line *Line
	// held is the grant's epoch under which the mouse's left button went down, 0 while it is up.
	held uint64
}

// encodeSteps makes the bytes of an input from step k on, for the program's modes.
func (e *encoder) encodeSteps(in *delivery, k int, modes screen.Modes) ([]pump.Piece, error) {
	km := keyModes(modes)
	var all []pump.Piece
	for i, s := range in.steps[k:] {
		pieces, err := e.encodeStep(in, s.InputPart, modes, km)
		if err != nil {
			return nil, err
		}
		if e.Control.NewestState().Guarded {
			pieces = splitAtActs(pieces)
		}
		pieces[0].Step = k + i + 1
		all = append(all, pieces...)
	}
	return all, rejectNestedProxyKey(e.Program, all)
}

// keyModes returns the modes that change how keys are encoded.
func keyModes(modes screen.Modes) keys.Modes {
	return keys.Modes{
		AppCursor: modes.AppCursor, AppKeypad: modes.AppKeypad,
		Backarrow: modes.Backarrow, KittyFlags: modes.KittyFlags,
		ModifyOtherKeys: modes.ModifyOtherKeys, FormatOtherKeys: modes.FormatOtherKeys == 1,
	}
}

// encodeStep makes the bytes of one step.
func (e *encoder) encodeStep(
	in *delivery, s protocol.InputPart, modes screen.Modes, km keys.Modes,
) ([]pump.Piece, error) {
	switch s.InputKind { //nolint:exhaustive // the others are text
	case protocol.InputKeys:
		drives := e.Control.NewestState().Level == protocol.LevelDrive
		return keyPieces(s.Data, km, e.ReclaimKey, drives)
	case protocol.InputMouse:
		return e.encodeMouse(in, s, modes, km)
	}
	if err := rejectReserved(e.ReclaimKey, s.Data); err != nil {
		return nil, err
	}
	brackets := e.line.usesBracketedPaste(modes)
	switch {
	case s.InputKind == protocol.InputPaste, s.InputKind == protocol.InputLines && brackets:
		return pastePieces(s.Data, brackets)
	case s.InputKind == protocol.InputRaw:
		return textPieces(s.Data)
	}
	return textPieces(lineEnds.Replace(s.Data))
}

// rejectReserved refuses bytes that only a terminal may send: the reclaim key in any encoding,
// which may open the notice of a proxy nested in this session, and answers to queries, which the
// program would take for the terminal's.
func rejectReserved(reclaimKey keys.CtrlKey, data string) error {
	reclaim := keys.Bindings{Reclaim: reclaimKey}.WithDefaults().Reclaim
	var err error
	look := func(u keys.Unit) {
		switch u.Kind {
		case keys.Reclaim, keys.Release:
			err = &refusal{
				protocol.CodeReservedKey,
				"the data holds the reclaim key, which belongs to the user; under level drive " +
					"it can be named as a key: " + reclaim.String(),
			}
		case keys.Reply, keys.Focus:
			answer := strconv.QuoteToASCII(string(u.Bytes))
			err = &refusal{
				protocol.CodeForbidden,
				"the data holds an answer that only the user's terminal gives (" + answer + ")",
			}
		default: // keys and text
		}
	}
	s := keys.NewScanner(keys.Bindings{Reclaim: reclaim})
	s.Scan([]byte(data), look)
	s.Flush(look)
	return err
}

// rejectNestedProxyKey refuses any key that may give control while another proxy runs in this
// session: the agent would answer its own question there. This proxy cannot know that one's key.
func rejectNestedProxyKey(program Program, pieces []pump.Piece) error {
	var all []byte
	for _, p := range pieces {
		all = append(all, p.Bytes...)
	}
	key, found := keys.FindGrantKey(all)
	if !found || program.Foreground() != "proxy" {
		return nil
	}
	return &refusal{
		protocol.CodeReservedKey,
		"another proxy runs in this session, and " + key.Label() +
			" may give control there: only its user presses that",
	}
}

// keyPieces encodes named keys.
func keyPieces(
	names string, modes keys.Modes, reclaimKey keys.CtrlKey, drive bool,
) ([]pump.Piece, error) {
	var pieces []pump.Piece
	for _, name := range strings.Fields(names) {
		press, err := keys.Parse(name)
		if err != nil {
			return nil, &refusal{protocol.CodeBadMessage, err.Error()}
		}
		if press.IsReclaim(reclaimKey, modes) && !drive {
			return nil, &refusal{
				protocol.CodeReservedKey,
				"the key " + name + " is the user's way to take the keyboard back; only a grant " +
					"of level drive may send it to the program",
			}
		}
		b, err := press.Encode(modes)
		if err != nil {
			return nil, &refusal{protocol.CodeBadMessage, err.Error()}
		}
		for range max(1, press.Count) {
			p := keyPiece(b)
			if press.Interrupts() {
				p.Gap = escapeGap
			}
			pieces = append(pieces, p)
		}
	}
	if len(pieces) == 0 {
		return nil, &refusal{
			protocol.CodeBadMessage,
			"no key is named: write names separated by blanks, as in: ctrl-x enter",
		}
	}
	return pieces, nil
}

// keyPiece makes the piece of one key. A lone Escape gets a gap.
func keyPiece(b []byte) pump.Piece {
	p := pump.Piece{Bytes: append([]byte(nil), b...)}
	if len(b) == 1 && b[0] == 0x1b {
		p.Gap = escapeGap
	}
	return p
}

// textPieces cuts text into pieces that end between keys.
func textPieces(text string) ([]pump.Piece, error) {
	var pieces []pump.Piece
	for b := []byte(text); len(b) > 0; {
		n := keys.CutBetweenKeys(b, pump.MaxPiece)
		pieces = append(pieces, keyPiece(b[:n]))
		b = b[n:]
	}
	return pieces, nil
}

// pastePieces cleans a pasted text and brackets it if the program enabled that (DECSET 2004).
func pastePieces(text string, bracketed bool) ([]pump.Piece, error) {
	clean := keys.CleanPaste(text)
	if clean == "" {
		return nil, &refusal{
			protocol.CodeBadMessage,
			"nothing is left to paste: control characters are not pasted",
		}
	}
	pieces, err := textPieces(clean)
	if !bracketed || err != nil {
		return pieces, err
	}
	pieces = append([]pump.Piece{{Bytes: []byte(pasteBegins)}}, pieces...)
	return append(pieces, pump.Piece{Bytes: []byte(pasteEnds)}), nil
}

// The marks of a bracketed paste (xterm ctlseqs, DECSET 2004).
const (
	pasteBegins = "\x1b[200~"
	pasteEnds   = "\x1b[201~"
)

// splitAtActs cuts pieces after each key that a program may act on: what follows may reach another
// program.
func splitAtActs(pieces []pump.Piece) []pump.Piece {
	var cut []pump.Piece
	for _, p := range pieces {
		if p.Description != "" {
			p.Acts = true
			cut = append(cut, p)
			continue
		}
		for b := p.Bytes; len(b) > 0; {
			n, acts := keys.CutAct(b)
			part := pump.Piece{Bytes: b[:n], Acts: acts}
			if b = b[n:]; len(b) == 0 {
				part.Gap = p.Gap
			}
			cut = append(cut, part)
		}
	}
	return cut
}
