package copier

import "time"

// pausePatience is how long PauseCopying and SetWatchdog wait for a copier whose screen takes no
// output.
const pausePatience = 2 * time.Second

// PauseCopying makes the copier write the program's earlier output, restore the terminal and wait.
// Then the caller has the terminal. resume continues the copying, and returns once the terminal is
// in the state that the program left. front is false if another program keeps the terminal: then
// output is written, but the overlay is not drawn. ok is false if the copier cannot be paused: the
// screen takes no output, or Run has returned. One goroutine, other than the copier's, calls
// PauseCopying and SetWatchdog.
func (c *Copier) PauseCopying() (resume func(front bool), ok bool) {
	reached, back, done := make(chan struct{}), make(chan bool), make(chan struct{})
	ok = c.callBetween(reached, func() {
		c.copyStopped()
		c.releaseTerminal()
		close(reached)
		front := <-back
		if c.terminalTaken = !front; front {
			c.takeTerminal()
		}
		close(done)
	})
	return func(front bool) { back <- front; <-done }, ok
}

// ChangeTerminal makes the copier restore the terminal as PauseCopying does, and then calls move,
// during which it writes nothing. If move returns true, the copier has a new terminal, which
// already shows the program; otherwise it has no terminal. The program's output waits meanwhile.
// ok is false as for PauseCopying; see also DropWrites. Afterwards the copier has no watchdog.
func (c *Copier) ChangeTerminal(move func() (there bool)) (ok bool) {
	reached, done := make(chan struct{}), make(chan struct{})
	ok = c.callBetween(reached, func() {
		c.copyStopped()
		c.releaseTerminal()
		close(reached)
		c.exit.watchdog = nil
		c.dead = false
		c.dropWrites.Store(false)
		c.terminalTaken = !move()
		if c.overlay != nil {
			c.overlay.NoteTextsGone()
		}
		c.dirty.Store(true)
		close(done)
	})
	if ok {
		<-done
	}
	return ok
}

// DropWrites drops all writes until ChangeTerminal, because the terminal is gone, used by another
// program, or takes no output. It may be called on any goroutine.
func (c *Copier) DropWrites() { c.dropWrites.Store(true); c.poll.Wake() }

// ModesAround returns the bytes that set the program's modes on a fresh terminal, around picture,
// which draws its screen. The function given to ChangeTerminal calls it.
func (c *Copier) ModesAround(picture []byte) []byte {
	return c.exit.modes.AppendAround(nil, picture)
}

// SetWatchdog gives w the exit sequence, now and whenever it changes. It reports false, without
// calling w, if the copier cannot do that, as for PauseCopying.
func (c *Copier) SetWatchdog(w Watchdog) bool {
	reached := make(chan struct{})
	return c.callBetween(reached, func() {
		c.exit.watchdog = w
		c.exit.setExit()
		close(reached)
	})
}

// callBetween makes the copier call f between two chunks, and waits until f has closed reached. It
// reports false if the copier does not get there.
func (c *Copier) callBetween(reached <-chan struct{}, f func()) bool {
	c.pendingCall.Store(&f)
	c.poll.Wake()
	wait := time.NewTimer(pausePatience)
	defer wait.Stop()
	select {
	case <-reached:
		return true
	case <-c.done:
	case <-wait.C:
		if c.pendingCall.Swap(nil) != nil {
			return false
		}
	}
	select { // f may have run at the last moment
	case <-reached:
		return true
	case <-c.done:
		return false
	}
}

// releaseTerminal restores the terminal for another program.
func (c *Copier) releaseTerminal() {
	c.hideOverlay()
	c.writeWithheld(c.filter.KeepColors(false))
	if c.exit.on {
		c.write(c.exit.appendReset(nil))
	}
	if c.overlay != nil {
		c.overlay.NoteTitleRestored()
	}
	if c.exit.watchdog != nil {
		c.exit.watchdog.SetExit(nil, nil)
	}
}

// takeTerminal takes the terminal again after releaseTerminal.
func (c *Copier) takeTerminal() {
	c.exit.setExit()
	if c.exit.on {
		c.write(c.exit.modes.AppendSet(nil))
	}
	if c.overlay != nil {
		c.write(c.overlay.RestoreProgram(c.exit.modes.Alt()))
	}
	c.dirty.Store(true)
}

// ExitSequence returns the bytes that restore the terminal at the end: they remove the overlay,
// then reset the modes that the program left on, and the title. It may be called after Run has
// returned.
func (c *Copier) ExitSequence() []byte {
	var seq []byte
	if c.overlay != nil {
		seq = c.overlay.RemoveTexts(c.resized.Load())
	}
	return c.exit.appendReset(seq)
}
