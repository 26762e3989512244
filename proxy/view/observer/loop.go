package observer

import (
	"slices"
	"time"
)

// Sizes and times of the loop.
const (
	// feedMax is the most output fed between two checks of the waits, in bytes.
	feedMax = 4 << 10
	// maxHeld bounds the held-back output in bytes: less than what makes the copier wait.
	maxHeld = 64 << 10
	// waitingEvery is the interval of asking the kernel whether the program waits for input, while
	// an agent needs to know: no event announces that.
	waitingEvery = 25 * time.Millisecond
)

// post is a posted function, and the amount of output that comes before it.
type post struct {
	after uint64
	do    func(now time.Time)
}

// Post runs do on the observer's goroutine, after what was fed before and before any later output:
// what the user has hidden is hidden however far the model is behind. It reports false if the
// goroutine has ended.
func (i *inlet) Post(do func(now time.Time)) bool {
	ok := i.enqueuePost(do)
	if ok {
		i.Wake()
	}
	return ok
}

// enqueuePost is Post without the wake-up.
func (i *inlet) enqueuePost(do func(now time.Time)) bool {
	i.mu.Lock()
	defer i.mu.Unlock()
	if !i.stopped {
		i.posts = append(i.posts, post{i.spool.added, do})
	}
	return !i.stopped
}

// Call is Post, and waits until do has run. It must not be called on the observer's goroutine.
func (i *inlet) Call(do func(now time.Time)) bool {
	ran := make(chan struct{})
	if !i.Post(func(now time.Time) { do(now); close(ran) }) {
		return false
	}
	select {
	case <-ran:
		return true
	case <-i.done:
		select {
		case <-ran:
			return true
		default:
			return false
		}
	}
}

// Stop makes Run return once everything fed and posted before is done.
func (i *inlet) Stop() {
	i.mu.Lock()
	i.stopped = true
	i.mu.Unlock()
	i.Wake()
	<-i.done
}

// Wake makes Run process what was fed and posted.
func (i *inlet) Wake() {
	select {
	case i.notify <- struct{}{}:
	default:
	}
}

// Run is the observer's goroutine, until Stop. It has a timer only while something is pending, so
// an idle session costs no time.
func (o *Observer) Run() {
	defer close(o.done)
	timer := time.NewTimer(time.Hour)
	timer.Stop()
	for {
		select {
		case <-o.notify:
		case now := <-timer.C:
			// The screen has not settled while output waits.
			if at, ok := o.feedDeadline(); ok && now.Before(at) {
				timer.Reset(at.Sub(now))
				continue
			}
		}
		if o.runPending() {
			o.waits.Stop()
			return
		}
		o.runDue(time.Now())
		o.updateLag()
		timer.Stop()
		if at, ok := o.nextDeadline(); ok {
			timer.Reset(max(0, time.Until(at)))
		}
	}
}

// runPending feeds the model and runs what was posted, in order of arrival, until both are done. It
// reports whether the observer was stopped.
func (o *Observer) runPending() (ended bool) {
	for fed := 0; ; {
		o.mu.Lock()
		ended = o.stopped
		held := !ended && o.isHeldLocked()
		limit := ^uint64(0)
		var do func(now time.Time)
		if len(o.posts) > 0 {
			if limit = o.posts[0].after - min(o.taken, o.posts[0].after); held || limit == 0 {
				do = o.posts[0].do
				o.posts = slices.Delete(o.posts, 0, 1)
			}
		}
		var b []byte
		if do == nil && !held {
			b = o.spool.takePiece(limit)
		}
		o.mu.Unlock()
		switch {
		case do != nil:
			do(time.Now())
		case b != nil:
			o.feedPiece(b)
			fed += len(b)
		default:
			if fed >= spentFrom && o.agents != nil {
				o.agents.Session.NoteMemoryUse()
			}
			return ended
		}
	}
}

func (o *Observer) feedPiece(b []byte) {
	o.taken += uint64(len(b))
	o.FeedNow(b)
	o.mu.Lock()
	o.spool.recycle(b)
	o.mu.Unlock()
}

// isHeldLocked reports whether output is held back, and clears the hold once it is over.
func (i *inlet) isHeldLocked() bool {
	if i.spool.size <= maxHeld && time.Now().Before(i.heldUntil) {
		return true
	}
	i.heldUntil = time.Time{}
	return false
}

// feedAll feeds the model with all of the spool.
func (o *Observer) feedAll() {
	for {
		o.mu.Lock()
		b := o.spool.takePiece(^uint64(0))
		o.mu.Unlock()
		if b == nil {
			return
		}
		o.feedPiece(b)
	}
}

// HoldOutput withholds all later output from the model until a time; the zero time ends that. The
// caller has asked the terminal for something that must reach the model first.
func (i *inlet) HoldOutput(until time.Time) { i.heldUntil = until }

// FeedNow feeds the model at once. While waits are open it checks them every few KiB, so that they
// see what flashes by.
func (o *Observer) FeedNow(p []byte) {
	for len(p) > 0 {
		n := len(p)
		if o.waits.Len() > 0 {
			n = min(n, feedMax)
		}
		if o.privacy != nil {
			o.privacy.feedModel(time.Now(), p[:n])
		} else {
			o.model.Feed(p[:n])
		}
		if o.conf.Recorder != nil {
			o.conf.Recorder.RecordOutput(p[:n])
		}
		p = p[n:]
		if o.agents != nil {
			o.NoteScreenChange(time.Now())
			o.agents.Session.NoteOutput()
		}
		if replies := o.model.TakeReplies(); len(replies) > 0 && o.conf.Queried != nil {
			o.conf.Queried(replies)
		}
	}
}

// NoteScreenChange follows a change of the screen, if agents may observe it.
func (o *Observer) NoteScreenChange(now time.Time) {
	session, modes := o.agents.Session, o.model.Modes()
	o.setDrawing(now, modes.Sync)
	if x10 := modes.MouseProtocol != 0 && modes.MouseEncoding == 0; x10 != o.x10 {
		o.x10 = x10
		session.SetMouseReports(x10)
	}
	if titles := o.model.TitleSets(); titles != o.titles {
		o.titles, o.titleRev = titles, o.model.Rev()
		session.NoteTitleChange()
	}
	if alt := o.model.Alt(); alt != o.alt {
		o.alt = alt
		session.NoteTitleChange() // what was impossible on the other screen may be possible now
	}
	o.inputWait.setMarks(o.model.Marks())
	rev := o.model.Rev()
	changed := rev != o.rev
	if changed {
		o.rev = rev
		o.markChanged(now)
		if !o.blankUntil.IsZero() && !o.isBlank() {
			o.setStartTime(time.Time{})
		}
	}
	o.agents.Session.Line().NoteScreenChange(now)
	// Without open waits too: a later one may ask what was printed since this revision.
	if changed || o.waits.Len() > 0 {
		o.waits.EvaluateAll(o.waitView(), now)
	}
}

// runDue does the work due now.
func (o *Observer) runDue(now time.Time) {
	if o.agents == nil {
		return
	}
	// Without a subscriber, a snapshot of a screen that may change the next moment has no reader:
	// reads are answered from the model.
	o.throttle.SetPatient(!o.subscribed.Load())
	if at, ok := o.privacy.nextCheck(); ok && !now.Before(at) || o.throttle.Due(now) {
		o.privacy.checkPrompt(now)
	}
	if o.waits.Len() > 0 {
		o.waits.EvaluateAll(o.waitView(), now)
	}
	o.agents.Session.Line().Serve(now)
	if o.throttle.Due(now) {
		o.throttle.NoteSent(now)
		o.agents.Session.Publish(o.Frame(now), o.rollingText())
	}
	o.sendRows(now)
}

// nextDeadline returns when the loop has to run again although nothing happens.
func (o *Observer) nextDeadline() (at time.Time, ok bool) {
	if o.agents == nil {
		return time.Time{}, false
	}
	at, ok = o.throttle.Next()
	if t, more := o.waits.Next(); more && (!ok || t.Before(at)) {
		at, ok = t, true
	}
	if t, more := o.privacy.nextCheck(); more && (!ok || t.Before(at)) {
		at, ok = t, true
	}
	if o.viewing.rhythm != nil {
		if t, more := o.viewing.rhythm.Next(); more && (!ok || t.Before(at)) {
			at, ok = t, true
		}
	}
	if t, more := o.agents.Session.Line().NextServe(); more && (!ok || t.Before(at)) {
		at, ok = t, true
	}
	if !o.heldUntil.IsZero() && (!ok || o.heldUntil.Before(at)) {
		at, ok = o.heldUntil, true
	}
	if len(o.asking) > 0 || o.waits.HoldsEcho() {
		if t := o.inputWait.nextCheck(time.Now(), o.model.Rev()); !ok || t.Before(at) {
			at, ok = t, true
		}
	}
	return at, ok
}

// Resize gives the model another size.
func (o *Observer) Resize(now time.Time, cols, rows int) {
	o.feedAll() // held-back output was printed for the old size
	o.model.Resize(cols, rows)
	if o.agents != nil {
		o.privacy.relocateField(now)
		o.NoteScreenChange(now)
	}
}
