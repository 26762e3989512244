package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"sync"
	"syscall"
	"time"

	"terminalproxy/proxy/chat"
	"terminalproxy/proxy/chat/lock"
)

const (
	statusInterrupted = 130
	you               = "you"
	// questionDelay is how long a question is on the screen before it takes the line.
	questionDelay = 300 * time.Millisecond
)

// silence is how long an agent may work without a sign until that is said.
var silence = 10 * time.Second

// questionQuiet is how long no key was pressed when a question takes the line: what is typed on must not answer it.
var questionQuiet = time.Second

// talk is a conversation with an agent, and what is to come of it. It belongs to the goroutine of run.
type talk struct {
	agent   chatAgent
	session *chat.Session
	view    *chatView
	edit    *editor // nil: nobody types
	json    func(chat.Record) error
	images  []chat.Image // that go with the next prompt
	prompts []string     // that wait for the end of the turn
	stay    bool         // for prompts that the user types
	nobody  bool         // who could answer here

	around  *around                       // whose people answer in place of the one who is not here, nil for nobody
	passing map[string]context.CancelFunc // what they were asked, by the request's id
	heard   chan passed

	question *question // that is asked, nil for none
	asked    int       // questions so far
	opens    *time.Timer
	silent   *time.Timer // runs only while the agent works

	state   chat.State
	why     string // it ended
	last    chat.Outcome
	refused bool // a request, since nobody could be asked
	stops   int  // Ctrl+C, since the last line or the last turn
	leaving bool
	resumes bool // a conversation that was
	own     *lock.Lock
	parts   sync.WaitGroup
}

// talkTo talks to an agent until there is no more to say.
func (a *app) talkTo(ctx context.Context, agent chatAgent, in chatFlags, prompts []string) (err error) {
	own, err := newChatLock()
	if err != nil {
		return err
	}
	defer own.Release()
	if err := lockChat(own, in.id); err != nil {
		return err
	}
	if !in.silent {
		in.terminals = a.terminalsFor(ctx, agent.name)
		defer func() { err = errors.Join(err, in.terminals.close()) }()
	}
	t := &talk{
		own: own, resumes: in.resume != "",
		agent: agent, session: chat.New(agent.name, agent.drive(in)), prompts: prompts, images: in.images, stay: len(prompts) == 0, nobody: in.silent,
		view: &chatView{text: a.out, about: a.err}, opens: time.NewTimer(0), silent: time.NewTimer(silence), passing: map[string]context.CancelFunc{}, heard: make(chan passed),
	}
	if in.nested {
		outer, bad := a.newAround(sessionAround(), agent.name)
		if bad != nil {
			return bad
		}
		defer func() { err = errors.Join(err, outer.client.Close()) }()
		t.around = outer
	}
	if in.terminals != nil {
		in.terminals.outer = t.session
	}
	t.session.AnswerWithin(in.within)
	closeJournal, err := keepJournal(t.session, in.journal)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, closeJournal()) }()
	noRoom := in.terminals.openRoom(ctx)
	if err := t.session.Start(); err != nil {
		return notStarted(agent, err)
	}
	switch {
	case a.json:
		t.view.about, t.json = io.Discard, recordLines(a.out)
	case !in.silent:
		edit, err := newEditor(a.in.(*os.File), a.out.(*os.File))
		if err != nil {
			return errors.Join(err, t.session.Close())
		}
		t.edit, t.view.text, t.view.about, t.view.cols = edit, edit.term, edit.term, edit.columns
	}
	if t.edit != nil {
		t.view.hint(startHint(agent.name, t.stay))
	}
	if noRoom != nil {
		t.view.say("· %v", noRoom)
	}
	err = t.run(ctx)
	if t.edit != nil {
		t.edit.close()
	}
	if err != nil {
		return err
	}
	return a.talked(t)
}

// startHint says once that the user can type while the agent starts or works, and how the conversation ends if that is not the prompt's end.
func startHint(agent string, stay bool) string {
	if stay {
		return "· " + agent + " starts: type at any time, Enter sends; Ctrl+C interrupts, Ctrl+D ends"
	}
	return "· type while " + agent + " works, Enter sends the line; Ctrl+C interrupts"
}

// talked is how the conversation ended.
func (a *app) talked(t *talk) error {
	if !a.json && t.state == chat.Ended && t.last != "" && t.session.Conversation() != "" && (t.edit != nil || t.last != chat.Done) {
		fmt.Fprintf(a.err, "go on with: gateway chat --with %s --resume %s\n", t.agent.name, t.session.Conversation())
	}
	switch {
	case t.stops > 0 || t.last == chat.Interrupted:
		a.status = statusInterrupted
	case t.state == chat.Failed:
		err := fail(statusRefused, "chat: %s did not start: %s", t.agent.name, t.why)
		if t.resumes {
			err = err.hinted("without --resume a new conversation begins; the id of one is printed when it ends")
		}
		return err
	case !t.leaving:
		return fail(statusRefused, "chat: %s", cmp.Or(t.why, t.agent.name+" ended"))
	case t.refused || t.last == chat.Broken:
		a.status = statusRefused
	}
	return nil
}

// run shows what comes and passes on what is typed, until the agent is gone.
func (t *talk) run(ctx context.Context) error {
	records := make(chan chat.Record)
	t.parts.Go(func() { t.follow(records) }) // ends with the session
	signals := make(chan os.Signal, 4)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	defer signal.Stop(signals)
	defer t.parts.Wait()
	var lines <-chan typed
	var stops <-chan struct{}
	if t.edit != nil {
		lines, stops = t.edit.lines, t.edit.stops
	}
	ended, heard := ctx.Done(), 0
	for {
		var err error
		select {
		case r, more := <-records:
			if !more {
				return nil
			}
			err = t.record(r)
		case l := <-lines:
			t.line(l)
		case p := <-t.heard:
			t.hears(p)
		case <-stops:
			t.stop()
		case <-t.opens.C:
			t.openQuestion()
		case <-t.silent.C:
			t.view.say("· %s works: nothing for %d s", t.agent.name, silence/time.Second)
		case <-ended: // of the signals this is the first
			ended = nil
			t.hangUp()
			if t.state == chat.AtPrompt {
				t.end()
			} else {
				t.stop()
			}
		case sig := <-signals:
			switch heard++; {
			case sig != os.Interrupt:
				t.end()
			case heard > 1:
				t.stop()
			}
		}
		if err != nil {
			t.leave()
			for range records { // to its end
			}
			return err
		}
	}
}

// follow passes on all records.
func (t *talk) follow(records chan<- chat.Record) {
	defer close(records)
	for last := uint64(0); ; {
		got, lost, err := t.session.Records(context.Background(), last)
		if err != nil || len(got) == 0 {
			return
		}
		if lost > 0 {
			records <- chat.Record{Item: &chat.Item{
				Kind: chat.Notice, Author: t.agent.name, Text: fmt.Sprintf("%d records were too many to show", lost),
			}}
		}
		for _, r := range got {
			records <- r
			last = r.Number
		}
	}
}

// watchSilence waits for the next sign of an agent that works, and for none at the prompt, or where nobody looks.
func (t *talk) watchSilence() {
	if t.edit != nil && t.state == chat.Working {
		t.silent.Reset(silence)
	} else {
		t.silent.Stop()
	}
}

// record shows what came, and goes on.
func (t *talk) record(r chat.Record) error {
	defer t.watchSilence()
	var err error
	if t.json != nil {
		err = t.json(r)
	} else {
		t.show(r)
	}
	switch {
	case r.Request != nil && t.nobody && t.around != nil:
		t.pass(r.Request)
	case r.Request != nil && t.nobody:
		t.refuse(r.Request)
	case r.Request != nil:
		t.nextQuestion()
	case r.Closed != nil:
		t.closed(r.Closed)
	case r.Turn != nil:
		t.last = r.Turn.Outcome
	case r.State != "":
		t.state, t.why = r.State, r.Why
		if r.State != chat.Ended && r.State != chat.Failed { // it may go to work at once, on what was typed while it started
			if err := lockChat(t.own, t.session.Conversation()); err != nil {
				return err
			}
		}
		if r.State == chat.AtPrompt {
			t.idle()
		}
	}
	return err
}

func (t *talk) show(r chat.Record) {
	switch {
	case r.Item != nil:
		t.view.item(t.agent.name, r.Item)
	case r.Piece != nil:
		t.view.piece(r.Piece)
	case r.Turn != nil && r.Turn.Outcome == chat.Broken:
		t.view.say("· the turn failed: %s", exactly(r.Turn.Why))
	case r.Turn != nil && r.Turn.Outcome == chat.Interrupted:
		t.view.say("· interrupted")
	case r.Turn != nil:
		t.view.flush()
	}
}

// idle sends the next prompt, or ends what has no more.
func (t *talk) idle() {
	t.stops = 0
	switch {
	case t.leaving:
	case len(t.prompts) > 0:
		next := t.prompts[0]
		t.prompts = t.prompts[1:]
		t.view.say("%s%s", youPrompt, exactly(next))
		if !t.send(next) && t.session.State() == chat.AtPrompt { // no turn comes that could end
			t.refused = true
			t.dropPrompts()
			t.idle()
		}
	case !t.stay && !t.unsent():
		t.leave()
	}
}

// unsent reports whether the user typed something that is not sent, and sends what was entered.
func (t *talk) unsent() bool {
	if t.edit == nil {
		return false
	}
	for {
		select {
		case l := <-t.edit.lines:
			t.line(l)
			if t.session.State() != chat.AtPrompt {
				return true
			}
			continue
		default:
		}
		break
	}
	if !t.nobody && t.edit.halfTyped() {
		t.stay = true
		t.view.say("· done, but for your line: Enter sends it, Ctrl+D on an empty line ends the conversation")
	}
	return t.stay
}

func (t *talk) send(text string) (sent bool) {
	err := t.session.SendImages(you, text, t.images)
	if err != nil {
		t.view.say("· not sent: %v", err)
		if len(t.images) > 0 && t.state != chat.Starting && t.session.ImageRefusal() != nil {
			t.images = nil
			t.view.say("· no image goes with your next line")
		}
		return false
	}
	if len(t.images) > 0 {
		t.view.say("  %s", imagesWith("", t.images))
		t.images = nil
	}
	return true
}

// leave ends the agent. What it says last is still shown.
func (t *talk) leave() {
	if !t.leaving {
		t.leaving = true
		t.parts.Go(func() { _ = t.session.Close() })
	}
}

// stop is a Ctrl+C: the first interrupts, the second ends.
func (t *talk) stop() {
	t.stops++
	switch idle := t.state == chat.AtPrompt; {
	case t.leaving:
	case t.stops > 1 || t.edit == nil && idle:
		t.stops = max(t.stops, 1)
		t.leave()
	case idle:
		t.edit.clear()
		t.view.say("· Ctrl+C again ends the conversation")
	default:
		t.view.say("· interrupting; Ctrl+C again ends %s", t.agent.name)
		t.dropPrompts()
		t.last = chat.Interrupted
		_ = t.session.Interrupt(you) // it is gone: its end is on the way
	}
}

// end is what SIGTERM and SIGHUP ask for: the agent need not end its turn, and nobody presses Ctrl+C again.
func (t *talk) end() {
	t.hangUp()
	t.stops = max(t.stops, 1)
	if t.state != chat.AtPrompt && !t.leaving {
		t.last = chat.Interrupted
		_ = t.session.Interrupt(you) // it is gone: its end is on the way
	}
	t.leave()
}

// dropPrompts forgets the prompts that were to follow.
func (t *talk) dropPrompts() {
	for _, p := range t.prompts {
		t.view.say("· not sent: %s", exactly(p))
	}
	t.prompts = nil
}

// hangUp is the end of the terminal, or of us: from now on nobody answers, and no more is sent.
func (t *talk) hangUp() {
	t.nobody, t.stay, t.around = true, false, nil
	t.dropPrompts()
	for _, r := range t.session.Open() {
		t.refuse(r)
	}
}

// line is what the user entered.
func (t *talk) line(l typed) {
	if l.question != 0 {
		defer func() { t.edit.looked <- struct{}{} }()
	}
	t.stops = 0
	switch {
	case l.lost:
		t.hangUp()
		if t.state == chat.AtPrompt {
			t.leave()
		}
	case l.ended:
		t.stay = false
		if t.state == chat.AtPrompt && len(t.prompts) == 0 {
			t.leave()
		} else {
			t.view.say("· the conversation ends with this turn")
		}
	case l.question != 0:
		t.answered(l)
	case l.text != "" && !t.attachesImage(l.text) && !t.sets(l.text):
		t.send(l.text)
	}
}
