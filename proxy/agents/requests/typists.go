package requests

import (
	"errors"
	"strings"
	"time"

	"terminalproxy/protocol"
	"terminalproxy/proxy/consent/control"
	"terminalproxy/proxy/terminal/keys"
)

// ErrUnread is the error of [RemoteKeyboard] if it cannot accept keys now.
var ErrUnread = errors.New(
	"the program has not read the input before this, or someone pastes at the terminal: look, " +
		"and type again",
)

// typists types for owners who are elsewhere.
type typists struct {
	*Config
	verifier *verifier
	line     *Line
	reclaim  func(now time.Time, by string)
	byName   map[string]*typist // owned by the pump's goroutine
}

// typist is an owner who types from elsewhere. Owned by the pump's goroutine.
type typist struct {
	last  uint64 // the highest number seen
	whole uint64 // the number of the newest message, 0 if that was refused
	paste []byte // the parts of an unfinished paste
	held  bool   // the mouse's left button is down
}

// handleKeys types a person's keys, which an owner signed elsewhere. They count as the user's own.
// After a refusal all keys are refused until the owner starts over: a gap could change the meaning
// of the rest.
func (a *typists) handleKeys(m *protocol.Keys) {
	signer, reason := a.verifier.verifySigner(time.Now(), m.At, m.Signed(a.Started.UnixMilli()),
		m.SignatureB64)
	if reason == nil && !a.RemoteKeys && !signer.Types {
		reason = &refusal{
			protocol.CodeForbidden,
			"this terminal takes no keys from pages: open the page with gateway open --role " +
				"owner --type on its own machine, or start the program with proxy --agent " +
				"--allow-remote-keys",
		}
	}
	if reason != nil {
		sendRefusal(a.Link, m.RequestID, reason)
		return
	}
	ok := a.Observer.Post(func(time.Time) {
		shown := shownFor(a.Config, m.InputKind)
		if !a.Pump.Post(func(now time.Time) { a.typeNext(now, signer.Name, m, shown) }) {
			sendExited(a.Link, m.RequestID)
		}
	})
	if !ok {
		sendExited(a.Link, m.RequestID)
	}
}

// typeNext types an owner's next message. It runs on the pump's goroutine.
func (a *typists) typeNext(now time.Time, by string, m *protocol.Keys, shown shownScreen) {
	t := a.findTypist(by)
	reason := t.checkSequence(m)
	if reason == nil {
		if m.After == 0 {
			a.Log.Info("someone types from elsewhere", "by", by)
		}
		if reason = a.typeMessage(now, by, t, m, shown); reason == nil {
			t.whole = m.KeyNo
		}
	}
	if reason != nil {
		sendRefusal(a.Link, m.RequestID, reason)
		return
	}
	// If the keys held the reclaim key, the unread input is taken back a turn later.
	if !a.Pump.Post(func(time.Time) { a.Link.Send(&protocol.Done{RequestID: m.RequestID}) }) {
		sendExited(a.Link, m.RequestID)
	}
}

// findTypist returns the typist of that name.
func (a *typists) findTypist(name string) *typist {
	t := a.byName[name]
	if t == nil {
		t = new(typist)
		a.byName[name] = t
	}
	return t
}

// checkSequence refuses a message out of sequence.
func (t *typist) checkSequence(m *protocol.Keys) *refusal {
	if m.KeyNo <= t.last {
		return &refusal{
			protocol.CodeForbidden,
			"these keys came before, or out of order: nothing was typed",
		}
	}
	before := t.whole
	t.last, t.whole = m.KeyNo, 0
	switch {
	case m.After == 0:
		t.paste = nil
	case m.After != before:
		return &refusal{
			protocol.CodeForbidden,
			"earlier input did not arrive, so nothing was typed: look at the screen, and type " +
				"again",
		}
	}
	return nil
}

// typeMessage types a message whose turn it is.
func (a *typists) typeMessage(
	now time.Time, by string, t *typist, m *protocol.Keys, shown shownScreen,
) *refusal {
	if a.Control.State(now).Hidden {
		return &refusal{protocol.CodeBlackout, "the screen is hidden: show it first, then type"}
	}
	if m.InputKind != protocol.InputPaste {
		t.paste = nil
	} else if len(t.paste)+len(m.Data) > protocol.MaxPaste {
		t.paste = nil
		return &refusal{protocol.CodeTooLarge, "the paste is too large: put it into a file"}
	}
	if m.More {
		t.paste = append(t.paste, m.Data...)
		return nil
	}
	b, reclaims, err := a.encodeKeys(t, m, shown)
	if err == nil && reclaims {
		a.reclaim(now, by)
		return nil
	}
	if err == nil && len(b) > 0 {
		err = a.RemoteKeyboard.PressKeys(now, time.UnixMilli(m.At), by, b)
	}
	switch {
	case errors.Is(err, ErrUnread), errors.Is(err, control.ErrTakenBack):
		return &refusal{protocol.CodeBusy, err.Error()}
	case err != nil:
		return &refusal{protocol.CodeBadMessage, err.Error()}
	}
	return nil
}

// encodeKeys returns a person's keys as their own terminal would send them in these modes. reclaims
// reports whether the reclaim key is among them.
func (a *typists) encodeKeys(
	t *typist, m *protocol.Keys, shown shownScreen,
) (b []byte, reclaims bool, err error) {
	switch m.InputKind {
	case protocol.InputKeys:
		for _, name := range strings.Fields(m.Data) {
			press, err := keys.Parse(name)
			if err != nil {
				return nil, false, err
			}
			km := keyModes(shown.Modes)
			press = press.NearestSupported(km)
			reclaims = reclaims || press.IsReclaim(a.ReclaimKey, km)
			one, err := press.Encode(km)
			if err != nil {
				return nil, false, err
			}
			for range max(1, press.Count) {
				b = append(b, one...)
			}
		}
	case protocol.InputPaste:
		b = []byte(keys.CleanPaste(string(append(t.paste, m.Data...))))
		t.paste = nil
		if len(b) > 0 && a.line.usesBracketedPaste(shown.Modes) {
			b = append(append([]byte(pasteBegins), b...), pasteEnds...)
		}
	case protocol.InputMouse:
		b, err = encodePersonMouse(t, m.Data, shown)
		return b, false, err
	default:
		b = []byte(keys.CleanPaste(m.Data))
	}
	if len(b) == 0 {
		return nil, false, errors.New(
			"nothing is left to type: control characters are named as keys",
		)
	}
	return b, reclaims, nil
}

// rejectReplay refuses a prompt whose number is not above those of all keys and prompts of this
// owner.
func (a *typists) rejectReplay(by string, number uint64) error {
	t := a.findTypist(by)
	if number <= t.last {
		return &refusal{
			protocol.CodeForbidden,
			"this prompt came before, or out of order: nothing was said",
		}
	}
	t.last = number
	return nil
}
