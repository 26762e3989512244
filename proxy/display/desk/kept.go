package desk

import (
	"crypto/hpke"
	"fmt"
	"os"
	"slices"
	"time"

	"golang.org/x/sys/unix"

	"terminalproxy/protocol"
	"terminalproxy/proxy/consent/sleep"
)

// Bounds of kept answers.
const (
	keepFor = 15 * time.Minute
	maxKept = 4
)

// binding names the use of a kept answer. A question that differs in any of it goes to the user.
type binding struct {
	agentPid             int
	agentStarted         int64
	program, target, dir string
	prompt               string // a program asks for a one-time code in other words
}

// bindingOf returns the binding of a question. ok is false for a question whose answer is never
// kept: for a new host, a name, an agent known only by its command line, or an unclear target.
func bindingOf(m *protocol.SecretAsk) (b binding, ok bool) {
	a := &m.Asker
	b = binding{a.AgentPid, a.AgentStarted, a.Program, a.Target, a.Cwd, m.Prompt}
	return b, m.Kind == protocol.SecretHidden && a.Proven && a.AgentPid > 0 &&
		a.AgentStarted > 0 && a.Target != "" && a.Cwd != ""
}

// asker names a process for good: a later one with its number started later.
type asker struct {
	pid     int
	started int64
}

func askerOf(m *protocol.SecretAsk) asker { return asker{m.Asker.Pid, m.Asker.Started} }

// keptAnswer is an answer that the user gave for a while.
type keptAnswer struct {
	binding
	page   []byte // locked memory, which holds the answer
	answer []byte
	until  time.Time
	served []asker // that have had it: one that asks again found it wrong
	unwind []func()
	slept  sleep.Watch
}

// keptAnswers holds kept answers, the newest last. The desk's mutex guards it.
type keptAnswers []*keptAnswer

// isStale reports whether its time is over. Sleep ends it, too: the clock excludes that.
func (k *keptAnswer) isStale(now time.Time) bool {
	return !now.Before(k.until) || k.slept.SleepSinceLast() > 0
}

// CountKept returns how many answers are kept, for which program the newest is, and until when.
func (d *Desk) CountKept() (count int, program string, until time.Time) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.kept.dropStale(time.Now())
	if count = len(d.kept); count == 0 {
		return 0, "", time.Time{}
	}
	newest := d.kept[count-1]
	return count, newest.program, newest.until
}

// ForgetKept forgets the answers that the user gave for a while, and reports whether there was
// one.
func (d *Desk) ForgetKept() (had bool) {
	d.mu.Lock()
	had = len(d.kept) > 0
	d.kept.drop(func(*keptAnswer) bool { return true })
	d.mu.Unlock()
	if had {
		d.conf.Show("the password is no longer kept")
		d.conf.Repaint()
	}
	return had
}

// Close forgets the answers that are kept, at the session's end.
func (d *Desk) Close() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.kept.drop(func(*keptAnswer) bool { return true })
}

// mayKeepLocked reports whether the user may give the answer to the first question for a while.
func (d *Desk) mayKeepLocked() bool {
	if len(d.queue) == 0 || !d.queue[0].lost.IsZero() || d.conf.WatchEnd == nil {
		return false
	}
	_, ok := bindingOf(d.queue[0].ask)
	return ok && d.conf.CanAsk() && d.conf.CanKeep()
}

// keepLocked keeps an answer to the first question, and reports whether it does. It needs memory
// that stays in place, and an agent that runs.
func (d *Desk) keepLocked(answer []byte) bool {
	if !d.mayKeepLocked() {
		return false
	}
	page, err := unix.Mmap(-1, 0, os.Getpagesize(), unix.PROT_READ|unix.PROT_WRITE,
		unix.MAP_ANON|unix.MAP_PRIVATE)
	if err != nil {
		return false
	}
	m := d.queue[0].ask
	k := &keptAnswer{page: page, served: []asker{askerOf(m)}, until: time.Now().Add(keepFor)}
	k.binding, _ = bindingOf(m)
	k.unwind = append(k.unwind, func() { _ = unix.Munmap(page) })
	drop := func() { d.dropKept(k) }
	stop, isWatched := d.conf.WatchEnd(k.agentPid, k.agentStarted, drop)
	if isWatched {
		k.unwind = append(k.unwind, stop)
	}
	if unix.Mlock(page) != nil || !isWatched {
		k.wipe()
		return false
	}
	k.answer = page[:copy(page, answer)]
	k.slept.SleepSinceLast() // begins the count
	end := time.AfterFunc(keepFor, drop)
	k.unwind = append(k.unwind, func() { end.Stop() })
	d.kept.drop(func(old *keptAnswer) bool { return old.binding == k.binding })
	if len(d.kept) == maxKept {
		oldest := d.kept[0]
		d.kept.drop(func(old *keptAnswer) bool { return old == oldest })
	}
	d.kept = append(d.kept, k)
	return true
}

// useKeptLocked answers a question with an answer kept for it, and returns a remark for the user,
// "" if they have to be asked. A program that asks again found the answer wrong: it is forgotten.
func (d *Desk) useKeptLocked(m *protocol.SecretAsk, to hpke.PublicKey) (remark string) {
	d.kept.dropStale(time.Now())
	b, ok := bindingOf(m)
	at := slices.IndexFunc(d.kept, func(k *keptAnswer) bool { return k.binding == b })
	if !ok || at < 0 {
		return ""
	}
	k := d.kept[at]
	sealed, err := sealAnswer(m, to, k.answer)
	if err != nil || m.Again || slices.Contains(k.served, askerOf(m)) ||
		!d.conf.CanAsk() || !d.conf.CanKeep() {
		d.kept.drop(func(other *keptAnswer) bool { return other == k })
		return ""
	}
	k.served = append(k.served, askerOf(m))
	d.conf.Send(&protocol.SecretAnswer{
		RequestID: m.RequestID, SessionID: d.conf.SessionID, Verdict: protocol.SecretGiven,
		SealedB64: sealed,
	})
	d.report(&question{ask: m, came: time.Now()}, usedKept, "")
	return fmt.Sprintf("%s used the kept password: %s", describeAgent(&m.Asker), d.quoteCommand(m))
}

func (d *Desk) dropKept(k *keptAnswer) {
	d.mu.Lock()
	d.kept.drop(func(other *keptAnswer) bool { return other == k })
	d.mu.Unlock()
	d.conf.Repaint()
}

func (a *keptAnswers) dropStale(now time.Time) {
	a.drop(func(k *keptAnswer) bool { return k.isStale(now) })
}

func (a *keptAnswers) drop(isMeant func(*keptAnswer) bool) {
	*a = slices.DeleteFunc(*a, func(k *keptAnswer) bool {
		if !isMeant(k) {
			return false
		}
		k.wipe()
		return true
	})
}

// wipe forgets the answer, and stops the waits for its end.
func (k *keptAnswer) wipe() {
	clear(k.page)
	for _, undo := range slices.Backward(k.unwind) {
		undo()
	}
	k.page, k.answer, k.unwind = nil, nil, nil
}
