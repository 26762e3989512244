package observer

import (
	"errors"
	"time"

	"terminalproxy/protocol"
	"terminalproxy/proxy/snapshot"
)

// Wait opens a wait. looking says that it is for the program to wait for input, which nothing but looking can tell. refused is
// called in place of w.Done where there are too many, or it is open already: [snapshot.ErrWaitOpen].
func (o *Observer) Wait(now time.Time, looking bool, w snapshot.Wait, refused func(error)) {
	if looking {
		done := w.Done
		w.Done = func(r snapshot.Result) { delete(o.asking, w.ID); done(r) }
		o.asking[w.ID] = true
	}
	o.privacy.look(now)
	if err := o.waits.Add(w, o.view(), now); err != nil {
		if looking && !errors.Is(err, snapshot.ErrWaitOpen) {
			delete(o.asking, w.ID)
		}
		refused(err)
	}
}

// CancelWait ends a wait without an answer. It reports false where none is open.
func (o *Observer) CancelWait(id string) bool {
	delete(o.asking, id)
	return o.waits.Cancel(id)
}

// DecideWaits ends those waits for a decision about control that match accepts; word says how it was decided.
func (o *Observer) DecideWaits(match func(id string) bool, word string) { o.waits.Decide(match, word) }

// Expect says why what an input expects of the screen does not hold, nil if it does. The error is for the agent.
func (o *Observer) Expect(e *protocol.Expect) error { return snapshot.CheckExpect(e, o.view()) }

// view is the observer as the waits and conditions see it.
type view struct{ o *Observer }

func (o *Observer) view() view { return view{o} }

func (v view) Rev() uint64             { return v.o.model.Rev() }
func (v view) Size() (cols, rows int)  { return v.o.model.Size() }
func (v view) RowText(row int) string  { return v.o.rowText(row) }
func (v view) RowRev(row int) uint64   { return v.o.rowRev(row) }
func (v view) RowWrapped(row int) bool { return v.o.model.RowWrapped(row) }

// Left implements [snapshot.View].
func (v view) Left(since uint64) (lines []string) {
	o, seen := v.o, v.o.sent.at(since)
	if seen == nil || o.privacy.isHidden() {
		return nil
	}
	start, joined := o.unseen(seen), false
	for i, row := range o.pastRows(start, o.model.HistoryLen()) {
		if joined {
			lines[len(lines)-1] += row
		} else {
			lines = append(lines, row)
		}
		joined = o.model.HistoryWrapped(start + i)
	}
	return lines
}

func (v view) Title() string      { return v.o.title() }
func (v view) TitleRev() uint64   { return v.o.titleRev }
func (v view) Hash() string       { return v.o.hash() }
func (v view) Foreground() string { return v.o.program.Foreground() }

func (v view) Cursor() (row, col int) {
	c := v.o.cursor()
	return c.Row, c.Col
}

func (v view) Exited() (code int, yes bool) {
	if v.o.exit == nil {
		return 0, false
	}
	return v.o.exit.Code, true
}

func (v view) Waiting(now time.Time) string {
	if v.o.exit != nil || v.o.privacy.lingers(now) {
		return "" // what the program waits for now cannot be typed
	}
	return v.o.inputWait.word(now, v.o.model.Rev(), now.Sub(v.o.throttle.LastChange()))
}
