package requests

import (
	"bytes"
	"slices"

	"terminalproxy/proxy/consent/line"
	"terminalproxy/proxy/consent/pump"
	"terminalproxy/proxy/terminal/keys"
)

// bracketText wraps text with bytes from 0x80 on in paste brackets, if a line editor may take such
// bytes for Meta keys and asks for brackets. The text has no Escape, so it cannot end a paste. Each
// pair of brackets stays in one piece, so neither a key of the user nor the end of a grant can
// leave a paste open.
func (j *judgement) bracketText(pieces []pump.Piece) []pump.Piece {
	if j.prompt != line.Editor || line.TakesUTF8(j.facts, j.prompt) ||
		!line.TakesPasteAsText(j.facts) {
		return pieces
	}
	first := firstStep(pieces)
	if pieces[0].Step != 0 && len(first) > 1 && string(first[0].Bytes) == pasteBegins ||
		!slices.ContainsFunc(first, hasNonASCII) {
		return pieces
	}
	var out []pump.Piece
	for _, p := range first {
		out = append(out, bracketPiece(p)...)
	}
	return append(out, pieces[len(first):]...)
}

// hasNonASCII reports whether a piece types bytes from 0x80 on.
func hasNonASCII(p pump.Piece) bool {
	return p.Description == "" && slices.ContainsFunc(p.Bytes, func(b byte) bool { return b >= 0x80 })
}

// hasUnbracketedNonASCII is hasNonASCII for text outside brackets.
func hasUnbracketedNonASCII(p pump.Piece) bool {
	_, ok := cutBrackets(p.Bytes)
	return !ok && hasNonASCII(p)
}

// bracketPiece cuts a piece into bracketed text and keys.
func bracketPiece(p pump.Piece) (out []pump.Piece) {
	if !hasUnbracketedNonASCII(p) {
		return []pump.Piece{p}
	}
	const room = pump.MaxPiece - len(pasteBegins) - len(pasteEnds)
	for b := p.Bytes; len(b) > 0; {
		n := keys.TextLen(b)
		part := pump.Piece{Acts: p.Acts}
		if n == 0 {
			n = keys.CutBetweenKeys(b, 1)
			part.Bytes = b[:n]
		} else {
			n = keys.CutBetweenKeys(b[:n], room)
			part.Bytes = slices.Concat([]byte(pasteBegins), b[:n], []byte(pasteEnds))
		}
		out, b = append(out, part), b[n:]
	}
	out[0].Step, out[len(out)-1].Gap = p.Step, p.Gap
	return out
}

// cutBrackets returns the text of a bracketed paste that fits one piece.
func cutBrackets(b []byte) (text []byte, ok bool) {
	text, begins := bytes.CutPrefix(b, []byte(pasteBegins))
	text, ends := bytes.CutSuffix(text, []byte(pasteEnds))
	if !begins || !ends || keys.TextLen(text) < len(text) {
		return b, false
	}
	return text, true
}

// withoutBrackets unwraps each piece that is a bracketed paste.
func withoutBrackets(pieces [][]byte) [][]byte {
	out := make([][]byte, len(pieces))
	for i, p := range pieces {
		out[i], _ = cutBrackets(p)
	}
	return out
}
