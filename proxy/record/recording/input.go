package recording

import (
	"cmp"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"terminalproxy/protocol"
	"terminalproxy/proxy/consent/control"
	"terminalproxy/proxy/record"
	"terminalproxy/proxy/terminal/keys"
)

// Input follows one input of an agent from its screen to its receipt. A nil one records nothing.
type Input struct {
	r     *Recording
	m     *protocol.Input
	epoch uint64 // 0 if the agent has no grant and names no epoch
	began time.Time
	bytes []byte                      // written to the program
	scene atomic.Pointer[sceneBefore] // set by the observer, perhaps while the pump drops the input
}

// sceneBefore is the screen before an input.
type sceneBefore struct {
	picture record.Picture
	rev     uint64
	program string
}

// Input begins to follow m.
func (r *Recording) Input(m *protocol.Input, epoch uint64) *Input {
	if r == nil {
		return nil
	}
	if st := r.conf.Control.NewestState(); m.Epoch == 0 &&
		(st.Phase != control.Granted || st.Agent.ID != m.AgentID) {
		epoch = 0
	}
	return &Input{r: r, m: m, epoch: epoch}
}

// RecordScreen keeps the present screen as agents see it. It runs on the observer's goroutine.
func (t *Input) RecordScreen(now time.Time) {
	if t == nil {
		return
	}
	f := t.r.conf.Observer.Frame(now)
	t.scene.Store(&sceneBefore{
		picture: record.Picture{
			Cols:  f.Screen.Cols,
			Rows:  f.Screen.Rows,
			Row:   f.Screen.Cursor.Row,
			Col:   f.Screen.Cursor.Col,
			Title: f.Screen.Title,
			Alt:   f.Screen.Alt,
			Lines: f.Screen.Lines,
		},
		rev: f.Seq, program: t.r.conf.Program.Foreground(),
	})
}

// RecordWritten records bytes written to the program. It runs on the pump's goroutine.
func (t *Input) RecordWritten(p []byte) {
	if t == nil {
		return
	}
	if t.began.IsZero() {
		t.began = time.Now()
	}
	t.bytes = append(t.bytes, p...)
	t.r.AgentInput(record.Author{
		Agent:   t.agentName(),
		ID:      t.m.AgentID,
		Grant:   t.epoch,
		Request: t.m.RequestID,
	}, p)
}

func (t *Input) agentName() string {
	t.r.mu.Lock()
	defer t.r.mu.Unlock()
	if name := t.r.names[t.m.AgentID]; name != "" {
		return name
	}
	return "agent"
}

// RecordReceipt records the result of an input from its receipt. It runs on the pump's goroutine.
func (t *Input) RecordReceipt(receipt *protocol.InputResult, does string, allowed bool) {
	if t == nil {
		return
	}
	e := record.Entry{
		Kind:    record.Input,
		Agent:   &record.Agent{ID: t.m.AgentID, Name: t.agentName()},
		Epoch:   t.epoch,
		Request: t.m.RequestID,
		Form:    inputKinds(t.m),
		Bytes:   t.bytes,
		Text:    record.Readable(t.bytes),
		Written: receipt.WrittenBytes,
		Dropped: receipt.DroppedBytes,
		Fate:    string(receipt.Status),
		Reason:  string(receipt.Reason),
	}
	switch {
	case allowed && len(t.bytes) > 0:
		e.Why = "the user let it through"
	case t.r.holdsReclaimKey(t.bytes):
		e.Why = "with the reclaim key, for the program"
	}
	wanted := wantedText(t.m, does)
	if does != "" || string(t.bytes) != wanted {
		e.Asked = wanted
	}
	if !t.began.IsZero() {
		began := t.began.UTC().Truncate(time.Microsecond)
		e.Began = &began
	}
	if seen := t.scene.Load(); seen != nil {
		e.Picture, e.Rev, e.Program = &seen.picture, seen.rev, seen.program
	}
	// the program did not read the rest, which only Asked keeps
	if n := receipt.WrittenBytes; n < len(t.bytes) {
		e.Bytes, e.Asked = t.bytes[:n], wanted
		e.Text = record.Readable(e.Bytes)
	}
	t.r.AddEntry(e)
}

// inputKinds returns the kinds of an input's parts.
func inputKinds(m *protocol.Input) string {
	var kinds []string
	for _, p := range m.All() {
		kinds = append(kinds, cmp.Or(string(p.InputKind), "raw"))
	}
	return strings.Join(kinds, ", then ")
}

// wantedText returns what an agent sent: the act of the mouse in words, names of keys, text.
func wantedText(m *protocol.Input, does string) string {
	var all []string
	for _, p := range m.All() {
		switch {
		case p.InputKind == protocol.InputMouse:
			all = append(all, does)
		case len(m.Parts) > 1 && p.InputKind != protocol.InputKeys:
			all = append(all, strconv.Quote(p.Data))
		default:
			all = append(all, p.Data)
		}
	}
	return strings.Join(all, ", then ")
}

// RecordFlush records that the last n bytes of an input recorded as typed were taken back unread.
// It runs on the pump's goroutine.
func (t *Input) RecordFlush(written, n int, why protocol.Code) {
	if t == nil {
		return
	}
	t.r.AddEntry(record.Entry{
		Kind:    record.Flushed,
		Agent:   &record.Agent{ID: t.m.AgentID, Name: t.agentName()},
		Epoch:   t.epoch,
		Request: t.m.RequestID,
		Written: written - n,
		Dropped: n,
		Reason:  string(why),
	})
}

// holdsReclaimKey reports whether an agent typed the reclaim key, as it may under level drive.
func (r *Recording) holdsReclaimKey(typed []byte) (yes bool) {
	look := func(u keys.Unit) { yes = yes || u.Kind == keys.Reclaim }
	s := keys.NewScanner(keys.Bindings{Reclaim: r.conf.ReclaimKey})
	s.Scan(typed, look)
	s.Flush(look)
	return yes
}
