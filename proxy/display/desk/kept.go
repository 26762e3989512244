package desk

import (
	"cmp"
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
	// checkEvery is how soon sleep is noticed after it.
	checkEvery = 5 * time.Second
	// keepCols and keepRows are the smallest window that shows each word about them, in the line
	// for the answer and in the sign, whatever an agent does.
	keepCols, keepRows = 40, 4
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
	agent  string // as the user reads it
	page   []byte // locked memory, which holds the answer
	answer []byte
	until  time.Time
	served []asker // that have had it: one that asks again found it wrong
	unwind []func()
	slept  sleep.Watch
}

// keptAnswers holds kept answers, the newest last. The desk's mutex guards it.
type keptAnswers struct {
	all  []*keptAnswer
	tell func(text string) // tells the user
}

// findEnd returns why its time is over, or "". Sleep ends it, too: the clock excludes that.
func (k *keptAnswer) findEnd(now time.Time) (why string) {
	switch {
	case k.slept.SleepSinceLast() > 0:
		return "the computer slept"
	case !now.Before(k.until):
		return fmt.Sprintf("%d minutes are over", keepFor/time.Minute)
	}
	return ""
}

// CountKept returns how many answers are kept, for which program the newest is, and until when.
func (d *Desk) CountKept() (count int, program string, until time.Time) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.kept.dropOver(time.Now())
	if count = len(d.kept.all); count == 0 {
		return 0, "", time.Time{}
	}
	newest := d.kept.all[count-1]
	return count, newest.program, newest.until
}

// ForgetKept forgets the answers that the user gave for a while, and reports whether there was
// one. why completes "no longer kept"; "" is the refuse key.
func (d *Desk) ForgetKept(why string) (had bool) {
	why = cmp.Or(why, "you pressed "+d.conf.Refuse())
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.kept.dropFor(func(*keptAnswer) string { return why })
}

// Close forgets the answers that are kept, at the session's end.
func (d *Desk) Close() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.kept.drop(func(*keptAnswer) bool { return true })
}

// mayKeepLocked reports whether the user may give the answer to the first question for a while.
func (d *Desk) mayKeepLocked() bool {
	if len(d.queue) == 0 || !d.queue[0].lost.IsZero() {
		return false
	}
	_, ok := bindingOf(d.queue[0].ask)
	return ok && d.conf.canShowKept(d.screen)
}

// size is that of the user's screen.
type size struct{ cols, rows int }

// canShowKept reports whether the user can read on such a screen what is kept.
func (c *Config) canShowKept(on size) bool {
	return c.WatchEnd != nil && on.cols >= keepCols && on.rows >= keepRows && c.CanAsk() &&
		c.CanKeep()
}

// unseen is why an answer is no longer kept when the user could not read that it is.
const unseen = "its sign can no longer be shown"

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
	k := &keptAnswer{
		agent: describeAgent(&m.Asker), page: page, served: []asker{askerOf(m)},
		until: time.Now().Add(keepFor),
	}
	k.binding, _ = bindingOf(m)
	k.unwind = append(k.unwind, func() { _ = unix.Munmap(page) })
	stop, isWatched := d.conf.WatchEnd(k.agentPid, k.agentStarted, func() {
		d.mu.Lock()
		defer d.mu.Unlock()
		d.kept.dropOne(k, k.agent+" has ended")
	})
	if isWatched {
		k.unwind = append(k.unwind, stop)
	}
	if unix.Mlock(page) != nil || !isWatched {
		k.wipe()
		return false
	}
	k.answer = page[:copy(page, answer)]
	k.slept.SleepSinceLast() // begins the count
	var check *time.Timer
	check = time.AfterFunc(checkEvery, func() {
		d.mu.Lock()
		defer d.mu.Unlock()
		if d.kept.dropOver(time.Now()); slices.Contains(d.kept.all, k) {
			check.Reset(min(checkEvery, time.Until(k.until)))
		}
	})
	k.unwind = append(k.unwind, func() { check.Stop() })
	d.kept.drop(func(old *keptAnswer) bool { return old.binding == k.binding })
	if len(d.kept.all) == maxKept {
		d.kept.dropOne(d.kept.all[0], "a newer one is")
	}
	d.kept.all = append(d.kept.all, k)
	return true
}

// useKeptLocked answers a question with an answer kept for it, and returns a remark for the user,
// "" if they have to be asked. A program that asks again found the answer wrong: it is forgotten.
func (d *Desk) useKeptLocked(m *protocol.SecretAsk, to hpke.PublicKey) (remark string) {
	d.kept.dropOver(time.Now())
	b, ok := bindingOf(m)
	at := slices.IndexFunc(d.kept.all, func(k *keptAnswer) bool { return k.binding == b })
	if !ok || at < 0 {
		return ""
	}
	k := d.kept.all[at]
	sealed, err := sealAnswer(m, to, k.answer)
	why := ""
	switch {
	case m.Again || slices.Contains(k.served, askerOf(m)):
		why = k.program + " asks again"
	case err != nil:
		why = "it could not be encrypted for " + k.program
	case !d.conf.canShowKept(d.screen):
		why = unseen
	}
	if why != "" {
		d.kept.dropOne(k, why)
		return ""
	}
	k.served = append(k.served, askerOf(m))
	d.conf.Send(&protocol.SecretAnswer{
		RequestID: m.RequestID, SessionID: d.conf.SessionID, Verdict: protocol.SecretGiven,
		SealedB64: sealed, Kept: true,
	})
	d.report(&question{ask: m, came: time.Now()}, usedKept, "")
	use := ""
	if n := len(k.served) - 1; n > 1 { // the user may have missed the others
		use = fmt.Sprintf(" (use %d)", n)
	}
	return fmt.Sprintf("%s used the kept password%s: %s", describeAgent(&m.Asker), use,
		d.quoteCommand(m))
}

// passKeptLocked answers the questions that wait already as it would answer later ones.
func (d *Desk) passKeptLocked() {
	newest := d.kept.all[len(d.kept.all)-1].binding
	d.queue = slices.DeleteFunc(d.queue, func(q *question) bool {
		b, _ := bindingOf(q.ask)
		if b != newest || q.ask.Again || !q.lost.IsZero() {
			return false
		}
		remark := d.useKeptLocked(q.ask, q.to)
		if remark != "" {
			go d.conf.Show(remark) // as in finishLocked
		}
		return remark != ""
	})
}

// dropOver forgets the answers whose time is over.
func (a *keptAnswers) dropOver(now time.Time) {
	a.dropFor(func(k *keptAnswer) string { return k.findEnd(now) })
}

// dropOne forgets a kept answer.
func (a *keptAnswers) dropOne(k *keptAnswer, why string) {
	a.dropFor(func(other *keptAnswer) string {
		if other == k {
			return why
		}
		return ""
	})
}

// dropFor forgets the answers for which findWhy returns a reason, and tells the user that one.
func (a *keptAnswers) dropFor(findWhy func(*keptAnswer) string) (had bool) {
	why, program, before := "", "", len(a.all)
	a.drop(func(k *keptAnswer) bool {
		reason := findWhy(k)
		if reason != "" {
			why, program = reason, k.program
		}
		return reason != ""
	})
	rest := len(a.all)
	if rest == before {
		return false
	}
	text := "the password for " + program + " is"
	if before-rest > 1 {
		text = fmt.Sprintf("%d passwords are", before-rest)
	}
	text += " no longer kept: " + why
	switch rest {
	case 0:
	case 1:
		text += " (1 other still is)"
	default:
		text += fmt.Sprintf(" (%d others still are)", rest)
	}
	a.tell(text)
	return true
}

// drop forgets kept answers, and tells nothing.
func (a *keptAnswers) drop(isMeant func(*keptAnswer) bool) {
	a.all = slices.DeleteFunc(a.all, func(k *keptAnswer) bool {
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
