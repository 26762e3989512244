package requests

import (
	"fmt"
	"slices"
	"time"

	"terminalproxy/protocol"
	"terminalproxy/proxy/consent/control"
	"terminalproxy/proxy/consent/pump"
	"terminalproxy/proxy/display/notice"
	"terminalproxy/proxy/terminal/keys"
)

// maxShownBytes bounds the part of an input that viewers see.
const maxShownBytes = 160

// shownInput is the part of an input that viewers elsewhere see: nothing while the program asks for
// a secret. Owned by the pump's goroutine.
type shownInput struct {
	bytes  []byte
	cut    bool // the rest is left out
	secret bool
}

// typedTally sums up what an agent has typed under the present grant. Owned by the pump's
// goroutine.
type typedTally struct {
	inputs int
	last   string // the newest, as the user may read it
	at     time.Time
}

// maxTallied bounds the text of the last input in a summary, in characters.
const maxTallied = 60

// summarize describes the inputs to the user, behind a sentence, or returns "" if a person or the
// agent ended control.
func (t *typedTally) summarize(e control.Event) string {
	byItself := e.Reason == protocol.ReasonExpired || e.Reason == protocol.ReasonLink
	switch at := t.at.Format("15:04"); {
	case t.inputs == 0, e.Request, !byItself:
		return ""
	case t.inputs == 1:
		return fmt.Sprintf("; it typed at %s: “%s”", at, t.last)
	default:
		return fmt.Sprintf("; %d inputs, the last at %s: “%s”", t.inputs, at, t.last)
	}
}

// noteWritten records bytes of an input right after the program received them.
func (in *delivery) noteWritten(p []byte) {
	in.record.RecordWritten(p)
	l := &in.shown
	l.secret = l.secret || in.Control.AllowsSecret() ||
		in.Control.State(time.Now()).Secret != protocol.SecretNone
	p, _ = cutBrackets(p)
	switch {
	case string(p) == pasteBegins, string(p) == pasteEnds:
	case l.cut || len(l.bytes)+len(p) > maxShownBytes: // pieces are whole keys
		l.cut = true
	default:
		l.bytes = append(l.bytes, p...)
	}
}

// announceTyped shows viewers what an agent typed, once the input is over.
func (in *delivery) announceTyped(r pump.Receipt) {
	if r.Written == 0 {
		return
	}
	tally := &in.all.tally
	tally.inputs, tally.last, tally.at = tally.inputs+1, "a secret", time.Now()
	if in.shown.secret {
		return
	}
	text := in.mouseAct
	if text == "" {
		text = keys.FormatPieces(slices.Clone(in.shown.bytes))
	}
	if in.shown.cut {
		text += "…"
	}
	tally.last = notice.Foreign(text, maxTallied)
	name := in.Control.LastEnd().Agent.Name
	if st := in.Control.State(time.Now()); st.Agent.ID == in.m.AgentID {
		name = st.Agent.Name
	}
	in.Observer.Post(func(now time.Time) {
		in.Observer.NoteAgentTyped(now, name,
			protocol.Clip(in.Observer.Redact(text, -1), protocol.MaxTyped))
	})
}
