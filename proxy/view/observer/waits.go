package observer

import (
	"errors"
	"strings"
	"time"

	"terminalproxy/protocol"
	"terminalproxy/proxy/view/snapshot"
)

// OpenWait opens a wait. looking means that the agent waits for the program to wait for input,
// which only repeated checks can find out. refused is called in place of w.Done if there are too
// many waits, or if the wait is open already: [snapshot.ErrWaitOpen].
func (o *Observer) OpenWait(now time.Time, looking bool, w snapshot.Wait, refused func(error)) {
	if looking {
		done := w.Done
		w.Done = func(r snapshot.Result) { delete(o.asking, w.ID); done(r) }
		o.asking[w.ID] = true
	}
	o.privacy.checkPrompt(now)
	if err := o.waits.Add(w, o.waitView(), now); err != nil {
		if looking && !errors.Is(err, snapshot.ErrWaitOpen) {
			delete(o.asking, w.ID)
		}
		refused(err)
	}
}

// NoteTyping notes what an agent is about to type, and whether the program waits for it.
func (o *Observer) NoteTyping(typed []byte, r snapshot.Readiness) { o.waits.NoteTyping(typed, r) }

// CancelWait ends a wait without an answer. It reports false if it is not open.
func (o *Observer) CancelWait(id string) bool {
	delete(o.asking, id)
	return o.waits.Cancel(id)
}

// EndControlWaits ends those waits for a decision about control for which wordFor returns a word,
// the name of the decision.
func (o *Observer) EndControlWaits(wordFor func(id string) string) {
	o.waits.EndControlWaits(wordFor)
}

// CheckExpectation returns why the screen is not as an input expects, or nil if it is. The error is
// for the agent.
func (o *Observer) CheckExpectation(e *protocol.Expect) error {
	return snapshot.CheckExpect(e, o.waitView())
}

// waitView implements [snapshot.View]: waits and conditions examine the screen by it.
type waitView struct{ o *Observer }

func (o *Observer) waitView() waitView { return waitView{o} }

func (v waitView) Rev() uint64             { return v.o.model.Rev() }
func (v waitView) Size() (cols, rows int)  { return v.o.model.Size() }
func (v waitView) RowText(row int) string  { return v.o.rowText(row) }
func (v waitView) RowRev(row int) uint64   { return v.o.rowRev(row) }
func (v waitView) RowWrapped(row int) bool { return v.o.model.RowWrapped(row) }

// FirstLine implements [snapshot.View].
func (v waitView) FirstLine() uint64 { return v.o.firstScreenLine() }

// RowPiece implements [snapshot.View].
func (v waitView) RowPiece(row int) string {
	return v.o.rowText(row) + blanks(v.o.model.RowBlanks(row))
}

// LinesGone implements [snapshot.View].
func (v waitView) LinesGone(since uint64) (lines []string) {
	o, seen := v.o, v.o.sent.findScreen(since)
	if seen == nil || o.privacy.isHidden() {
		return nil
	}
	start, joined := o.firstUnseen(seen), false
	for i, row := range o.pastRows(start, o.model.HistoryLen()) {
		row += blanks(o.model.HistoryBlanks(start + i))
		if joined {
			lines[len(lines)-1] += row
		} else {
			lines = append(lines, row)
		}
		joined = o.model.HistoryWrapped(start + i)
	}
	return lines
}

func blanks(n int) string { return strings.Repeat(" ", n) }

func (v waitView) Title() string      { return v.o.shownTitle() }
func (v waitView) TitleRev() uint64   { return v.o.titleRev }
func (v waitView) Hash() string       { return v.o.screenHash() }
func (v waitView) Foreground() string { return v.o.program.Foreground() }

func (v waitView) Cursor() (row, col int) {
	c := v.o.shownCursor()
	return c.Row, c.Col
}

func (v waitView) ExitStatus() (code int, ok bool) {
	if v.o.exit == nil {
		return 0, false
	}
	return v.o.exit.Code, true
}

// CommandFailed implements [snapshot.View].
func (v waitView) CommandFailed() bool {
	w := &v.o.inputWait
	// with nothing typed since the prompt, that command is the one typed last
	return w.latest.exit != nil && *w.latest.exit != 0 && w.prompt.writes == w.seen.writes
}

func (v waitView) InputWait(now time.Time) string {
	if v.o.exit != nil || v.o.privacy.inGracePeriod(now) {
		return "" // agents may not type what the program waits for now
	}
	return v.o.inputWait.waitReason(now, v.o.model.Rev(), now.Sub(v.o.throttle.LastChange()))
}
