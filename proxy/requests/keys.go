package requests

import (
	"errors"
	"strings"
	"time"

	"terminalproxy/protocol"
	"terminalproxy/proxy/control"
	"terminalproxy/proxy/keys"
	"terminalproxy/proxy/screen"
)

// ErrUnread is the error of [Elsewhere] where keys cannot be taken now.
var ErrUnread = errors.New("the program has not read what was typed before, or somebody pastes at the terminal: look, and type again")

// typist is what is known of an owner who types from elsewhere. It belongs to the pump's goroutine.
type typist struct {
	last  uint64 // the greatest number that came
	whole uint64 // that of the newest message, 0 when it was refused
	paste []byte // the pieces of a paste, but for the last one
}

// keys types what an owner signed elsewhere: a person's keys, which stand among the user's own. What cannot be typed is refused, and so
// is what follows it, until the owner begins anew: a part that is missing in the middle could change what the rest means.
func (h *Handler) keys(m *protocol.Keys) {
	who, no := h.signer(time.Now(), m.At, m.Signed(h.Started.UnixMilli()), m.SignatureB64)
	if no == nil && !h.RemoteKeys && !who.Types {
		no = &refusal{protocol.CodeForbidden, "this terminal takes no keys from pages: open the page with gateway open --role owner --type on its own machine, or start the program with proxy --agent --allow-remote-keys"}
	}
	if no != nil {
		h.refuse(m.RequestID, no.code, no.say)
		return
	}
	ok := h.Observer.Post(func(time.Time) {
		modes := h.Observer.Model().Modes()
		if !h.Pump.Post(func(now time.Time) { h.press(now, who.Name, m, modes) }) {
			h.gone(m.RequestID)
		}
	})
	if !ok {
		h.gone(m.RequestID)
	}
}

// press takes the next message of an owner's. It runs on the pump's goroutine.
func (h *Handler) press(now time.Time, by string, m *protocol.Keys, modes screen.Modes) {
	t := h.typists[by]
	if t == nil {
		t = new(typist)
		h.typists[by] = t
	}
	no := t.follows(m)
	if no == nil {
		if m.After == 0 {
			h.Log.Info("somebody types from elsewhere", "by", by)
		}
		if no = h.pressed(now, by, t, m, modes); no == nil {
			t.whole = m.KeyNo
		}
	}
	if no != nil {
		h.refuse(m.RequestID, no.code, no.say)
		return
	}
	// A turn later what was taken back is, where the reclaim key was among the keys.
	if !h.Pump.Post(func(time.Time) { h.Link.Send(&protocol.Done{RequestID: m.RequestID}) }) {
		h.gone(m.RequestID)
	}
}

// follows says why a message is not the next one, nil if it is.
func (t *typist) follows(m *protocol.Keys) *refusal {
	if m.KeyNo <= t.last {
		return &refusal{protocol.CodeForbidden, "these keys came before, or out of their order: nothing was typed"}
	}
	before := t.whole
	t.last, t.whole = m.KeyNo, 0
	switch {
	case m.After == 0:
		t.paste = nil
	case m.After != before:
		return &refusal{protocol.CodeForbidden, "something that was typed before this did not arrive, so nothing was typed: look at the screen, and type again"}
	}
	return nil
}

// pressed types a message, and says why not where it does not.
func (h *Handler) pressed(now time.Time, by string, t *typist, m *protocol.Keys, modes screen.Modes) *refusal {
	if h.Control.State(now).Hidden {
		return &refusal{protocol.CodeBlackout, "the screen is hidden: show it first, and type then"}
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
	b, reclaims, err := h.bytesOf(t, m, modes)
	if err == nil && reclaims {
		h.Reclaim(now, by)
		return nil
	}
	if err == nil {
		err = h.Elsewhere.Press(now, time.UnixMilli(m.At), by, b)
	}
	switch {
	case errors.Is(err, ErrUnread), errors.Is(err, control.ErrAlone):
		return &refusal{protocol.CodeBusy, err.Error()}
	case err != nil:
		return &refusal{protocol.CodeBadMessage, err.Error()}
	}
	return nil
}

// bytesOf are the bytes of a person's keys, as their own terminal would send them in these modes. reclaims says that the reclaim key is
// among them.
func (h *Handler) bytesOf(t *typist, m *protocol.Keys, modes screen.Modes) (b []byte, reclaims bool, err error) {
	switch m.InputKind {
	case protocol.InputKeys:
		for _, name := range strings.Fields(m.Data) {
			press, err := keys.Parse(name)
			if err != nil {
				return nil, false, err
			}
			km := keyModes(modes)
			press = press.Nearest(km)
			reclaims = reclaims || press.IsReclaim(h.ReclaimKey, km)
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
		if len(b) > 0 && h.brackets(modes) {
			b = append(append([]byte(pasteBegins), b...), pasteEnds...)
		}
	default:
		b = []byte(keys.CleanPaste(m.Data))
	}
	if len(b) == 0 {
		return nil, false, errors.New("nothing is left to type: control characters are named as keys")
	}
	return b, reclaims, nil
}
