package observer

import (
	"slices"
	"time"
)

// Sizes and times of the loop.
const (
	// feedMax is how much is fed between two looks at the waits.
	feedMax = 4 << 10
	// holdMost is how much is held back at most, in bytes: less than what makes the copier wait.
	holdMost = 64 << 10
	// waitingEvery is how often the kernel is asked whether the program waits for input, while somebody wants to know:
	// nothing announces that.
	waitingEvery = 25 * time.Millisecond
)

// post is what was posted, and after how much output.
type post struct {
	after uint64
	do    func(now time.Time)
}

// Post runs do on the observer's goroutine, after what was fed before and before what is fed later: what the user has hidden is
// hidden however far the model is behind. It reports false when the goroutine has ended.
func (o *Observer) Post(do func(now time.Time)) bool {
	ok := o.queue(do)
	if ok {
		o.Wake()
	}
	return ok
}

// queue is Post that wakes nobody.
func (o *Observer) queue(do func(now time.Time)) bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	if !o.stopped {
		o.posts = append(o.posts, post{o.spool.added, do})
	}
	return !o.stopped
}

// Call is Post, and waits until do has run. It must not be called from the observer's own goroutine.
func (o *Observer) Call(do func(now time.Time)) bool {
	ran := make(chan struct{})
	if !o.Post(func(now time.Time) { do(now); close(ran) }) {
		return false
	}
	select {
	case <-ran:
		return true
	case <-o.done:
		select {
		case <-ran:
			return true
		default:
			return false
		}
	}
}

// Stop makes Run return when everything fed and posted before is done.
func (o *Observer) Stop() {
	o.mu.Lock()
	o.stopped = true
	o.mu.Unlock()
	o.Wake()
	<-o.done
}

// Wake has the observer take what it was fed.
func (o *Observer) Wake() {
	select {
	case o.notify <- struct{}{}:
	default:
	}
}

// Run is the observer's goroutine, until Stop. It has a timer only while something is pending: an idle session costs nothing.
func (o *Observer) Run() {
	defer close(o.done)
	timer := time.NewTimer(time.Hour)
	timer.Stop()
	for {
		select {
		case <-o.notify:
		case now := <-timer.C:
			if at, ok := o.late(); ok && now.Before(at) { // nothing has settled while output waits
				timer.Reset(at.Sub(now))
				continue
			}
		}
		if o.work() {
			o.waits.Stop()
			return
		}
		o.serve(time.Now())
		o.relax()
		timer.Stop()
		if at, ok := o.next(); ok {
			timer.Reset(max(0, time.Until(at)))
		}
	}
}

// work feeds the model, and does what was posted, in the order in which both came, until there is no more of either. It reports
// whether that was the end.
func (o *Observer) work() (ended bool) {
	for fed := 0; ; {
		o.mu.Lock()
		ended = o.stopped
		held := !ended && o.held()
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
			b = o.spool.take(limit)
		}
		o.mu.Unlock()
		switch {
		case do != nil:
			do(time.Now())
		case b != nil:
			o.digest(b)
			fed += len(b)
		default:
			if fed >= spentFrom && o.agents != nil {
				o.agents.Session.Spent()
			}
			return ended
		}
	}
}

// digest feeds the model a piece of the spool.
func (o *Observer) digest(b []byte) {
	o.taken += uint64(len(b))
	o.Digest(b)
	o.mu.Lock()
	o.spool.fed(b)
	o.mu.Unlock()
}

// held reports whether what was fed is held back, and forgets that it was when it no longer is. The lock is held.
func (o *Observer) held() bool {
	if o.spool.size <= holdMost && time.Now().Before(o.heldUntil) {
		return true
	}
	o.heldUntil = time.Time{}
	return false
}

// feed feeds the model with all that is there.
func (o *Observer) feed() {
	for {
		o.mu.Lock()
		b := o.spool.take(^uint64(0))
		o.mu.Unlock()
		if b == nil {
			return
		}
		o.digest(b)
	}
}

// Hold keeps what is fed from now on from the model until then; the zero time is the end of it. It belongs to who has asked the
// terminal for something that the model has to know before.
func (o *Observer) Hold(until time.Time) { o.heldUntil = until }

// Digest feeds the model at once. With waits open it looks at them every few KiB, so that what flashes by is seen.
func (o *Observer) Digest(p []byte) {
	for len(p) > 0 {
		n := len(p)
		if o.waits.Len() > 0 {
			n = min(n, feedMax)
		}
		if o.privacy != nil {
			o.privacy.feed(time.Now(), p[:n])
		} else {
			o.model.Feed(p[:n])
		}
		if o.conf.Recorder != nil {
			o.conf.Recorder.Fed(p[:n])
		}
		p = p[n:]
		if o.agents != nil {
			o.Moved(time.Now())
			o.agents.Session.Printed()
		}
		if replies := o.model.TakeReplies(); len(replies) > 0 && o.conf.Queried != nil {
			o.conf.Queried(replies)
		}
	}
}

// Moved looks at what has become of the screen, where agents observe it.
func (o *Observer) Moved(now time.Time) {
	session, modes := o.agents.Session, o.model.Modes()
	o.hold(now, modes.Sync)
	if x10 := modes.MouseProtocol != 0 && modes.MouseEncoding == 0; x10 != o.x10 {
		o.x10 = x10
		session.MouseReports(x10)
	}
	if titles := o.model.TitleSets(); titles != o.titles {
		o.titles, o.titleRev = titles, o.model.Rev()
		session.Retitled()
	}
	if alt := o.model.Alt(); alt != o.alt {
		o.alt = alt
		session.Retitled() // what was not possible on the other screen may be now
	}
	o.inputWait.hear(o.model.Marks())
	rev := o.model.Rev()
	changed := rev != o.rev
	if changed {
		o.rev = rev
		o.changed(now)
		if !o.blankUntil.IsZero() && !o.isBlank() {
			o.begins(time.Time{})
		}
	}
	o.agents.Session.Line().Moved(now)
	// Without waits too: a later one asks what was printed after a revision of now.
	if changed || o.waits.Len() > 0 {
		o.waits.Check(o.view(), now)
	}
}

// serve does what is due.
func (o *Observer) serve(now time.Time) {
	if o.agents == nil {
		return
	}
	if at, ok := o.privacy.next(); ok && !now.Before(at) || o.throttle.Due(now) {
		o.privacy.look(now)
	}
	if o.waits.Len() > 0 {
		o.waits.Check(o.view(), now)
	}
	o.agents.Session.Line().Serve(now)
	if o.throttle.Due(now) {
		o.throttle.Sent(now)
		o.agents.Session.Publish(o.Frame(now), o.content())
	}
	o.viewed(now)
}

// next is when the loop has to look again though nothing happens.
func (o *Observer) next() (at time.Time, ok bool) {
	if o.agents == nil {
		return time.Time{}, false
	}
	at, ok = o.throttle.Next()
	if t, more := o.waits.Next(); more && (!ok || t.Before(at)) {
		at, ok = t, true
	}
	if t, more := o.privacy.next(); more && (!ok || t.Before(at)) {
		at, ok = t, true
	}
	if o.viewing.rhythm != nil {
		if t, more := o.viewing.rhythm.Next(); more && (!ok || t.Before(at)) {
			at, ok = t, true
		}
	}
	if t, more := o.agents.Session.Line().Next(); more && (!ok || t.Before(at)) {
		at, ok = t, true
	}
	if !o.heldUntil.IsZero() && (!ok || o.heldUntil.Before(at)) {
		at, ok = o.heldUntil, true
	}
	if len(o.asking) > 0 {
		if t := o.inputWait.next(time.Now(), o.model.Rev()); !ok || t.Before(at) {
			at, ok = t, true
		}
	}
	return at, ok
}

// Resize tells the model that the terminal has another size.
func (o *Observer) Resize(now time.Time, cols, rows int) {
	o.feed() // what is held back was printed for the old size
	o.model.Resize(cols, rows)
	if o.agents != nil {
		o.privacy.resized(now)
		o.Moved(now)
	}
}
