// Package keys turns key presses into bytes and bytes back into key presses.
//
// The [Scanner] cuts the byte stream of a keyboard into units and finds the reclaim key and the
// grant key in every encoding that terminals use for them: the C0 byte, the kitty keyboard
// protocol's CSI u, xterm's modifyOtherKeys (CSI 27 ~) and win32-input-mode (CSI _). The encoder
// ([Parse], [Press.Encode]) goes the other way: from the name of a key to the bytes that a terminal
// would send for it in the modes that the program has turned on.
//
// The package is pure: no I/O, no clock, no notion of who may type. One goroutine owns a Scanner;
// functions share no state.
//
// Byte values and sequence shapes follow ECMA-48, XTerm Control Sequences (ctlseqs) and the kitty
// keyboard protocol.
package keys

// Kind classifies a unit of keyboard input.
type Kind uint8

const (
	// Key is a key press, or plain text: everything that a person types.
	Key Kind = iota
	// Reclaim is a press (or repeat) of the reclaim key, in any encoding.
	Reclaim
	// Release is the reclaim key going up, if the terminal reports that.
	Release
	// Confirm is a press of the grant key, in any encoding. It is recognised in ground state only:
	// never in a paste, never inside or at the end of a sequence that a program could have asked
	// the terminal for.
	Confirm
	// ConfirmRepeat is the grant key still held, if the terminal reports that: the press decides.
	ConfirmRepeat
	// Idle is a key that types nothing: a key going up, or a modifier such as Ctrl.
	Idle
	// Reply is the terminal's answer to a query of the program. A string
	// (OSC, DCS, APC) longer than [MaxHeld] comes in several pieces.
	Reply
	// Focus means that the terminal window gained or lost the focus.
	Focus
	// Mouse is a mouse report with a button or a wheel in it.
	Mouse
	// Motion is a mouse report of bare movement, without a button.
	Motion
	// PasteStart opens a bracketed paste (CSI 200 ~).
	PasteStart
	// Paste is a piece of a paste's text.
	Paste
	// PasteEnd closes a bracketed paste (CSI 201 ~). It is reported even without a start: it
	// belongs to a paste that was given up.
	PasteEnd
)

var kindNames = [...]string{
	"key", "reclaim", "release", "confirm", "confirm repeat", "idle", "reply", "focus", "mouse",
	"motion",
	"paste start", "paste", "paste end",
}

// String names the kind, for logs and tests.
func (k Kind) String() string {
	if int(k) >= len(kindNames) {
		return "unknown"
	}
	return kindNames[k]
}

// Unit is one piece of keyboard input that must not be torn apart or
// interleaved with other input, or a run of plain text.
type Unit struct {
	Kind Kind
	// Bytes holds the unit as received. It aliases the scanned input or the scanner's own buffer,
	// and is valid only during the callback.
	Bytes []byte
}
