package copier

import "time"

// parkPatience is how long the copier may be busy with a screen that takes no output before Park and Guard give up.
const parkPatience = 2 * time.Second

// Park has the copier copy what the program wrote before, give the terminal back and wait. Then the terminal is the caller's.
// resume has it go on and returns when the terminal is as the program had it; front is false while the terminal stays
// another's: the program writes, and nothing of ours is drawn. ok is false where the copier cannot be parked: the screen takes
// no output, or Run has returned. Park and Guard belong to one goroutine, and not to the copier's.
func (c *Copier) Park() (resume func(front bool), ok bool) {
	reached, back, done := make(chan struct{}), make(chan bool), make(chan struct{})
	ok = c.do(reached, func() {
		c.catchUp()
		c.giveBack()
		close(reached)
		front := <-back
		if c.away = !front; front {
			c.takeUp()
		}
		close(done)
	})
	return func(front bool) { back <- front; <-done }, ok
}

// Move has the copier give the terminal back as for Park, and then calls move, in which nobody else writes: there is another terminal when
// that returns true, on which the program is shown already, and none otherwise. What the program prints meanwhile waits. ok is false as for
// Park; see also Cut. It has no watchdog then.
func (c *Copier) Move(move func() (there bool)) (ok bool) {
	reached, done := make(chan struct{}), make(chan struct{})
	ok = c.do(reached, func() {
		c.catchUp()
		c.giveBack()
		close(reached)
		c.exit.watchdog = nil
		c.dead = false
		c.cut.Store(false)
		c.away = !move()
		if c.overlay != nil {
			c.overlay.Forget()
		}
		c.dirty.Store(true)
		close(done)
	})
	if ok {
		<-done
	}
	return ok
}

// Cut has what is written go nowhere until Move: the terminal is gone, or somebody else's, or takes nothing. It may be called from any
// goroutine.
func (c *Copier) Cut() { c.cut.Store(true); c.poll.Wake() }

// Around is what brings the program's modes to a fresh terminal together with picture, which shows its screen. It is for Move's function.
func (c *Copier) Around(picture []byte) []byte { return c.exit.modes.AppendAround(nil, picture) }

// Guard has w told the exit sequence, now and whenever it changes. It reports false, and w is told nothing, where the copier
// cannot take it, as for Park.
func (c *Copier) Guard(w Watchdog) bool {
	reached := make(chan struct{})
	return c.do(reached, func() {
		c.exit.watchdog = w
		c.exit.tell()
		close(reached)
	})
}

// do has the copier call f between two chunks, and waits until f has closed reached. It reports false if it does not come to
// that.
func (c *Copier) do(reached <-chan struct{}, f func()) bool {
	c.asked.Store(&f)
	c.poll.Wake()
	wait := time.NewTimer(parkPatience)
	defer wait.Stop()
	select {
	case <-reached:
		return true
	case <-c.done:
	case <-wait.C:
		if c.asked.Swap(nil) != nil {
			return false
		}
	}
	select { // it came at the last moment, or Run has returned
	case <-reached:
		return true
	case <-c.done:
		return false
	}
}

// giveBack gives the terminal to another program.
func (c *Copier) giveBack() {
	c.hide()
	c.release(c.filter.KeepColors(false))
	if c.exit.on {
		c.write(c.exit.append(nil))
	}
	if c.overlay != nil {
		c.overlay.Untitled()
	}
	if c.exit.watchdog != nil {
		c.exit.watchdog.SetExit(nil, nil)
	}
}

// takeUp is the way back.
func (c *Copier) takeUp() {
	c.exit.tell()
	if c.exit.on {
		c.write(c.exit.modes.AppendSet(nil))
	}
	if c.overlay != nil {
		c.write(c.overlay.Resume(c.exit.modes.Alt()))
	}
	c.dirty.Store(true)
}

// ExitSequence is what gives the terminal back at the end: it takes away what the proxy shows, then resets the modes that the
// program left on, and the title. It may be called when Run has returned.
func (c *Copier) ExitSequence() []byte {
	var seq []byte
	if c.overlay != nil {
		seq = c.overlay.Hide(c.moved.Load())
	}
	return c.exit.append(seq)
}
