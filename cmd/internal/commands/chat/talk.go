package chat

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"sync"
	"syscall"
	"time"

	"terminalproxy/cmd/internal/cli"
	"terminalproxy/cmd/internal/cli/outer"
	"terminalproxy/proxy/chat"
	"terminalproxy/proxy/chat/lock"
	"terminalproxy/proxy/chat/stdio"
)

const (
	statusInterrupted = 130
	you               = "you"
	// questionDelay is how long a question is visible before the line answers it.
	questionDelay = 300 * time.Millisecond
)

// silence is how long an agent may work without output before the user is told.
var silence = 10 * time.Second

// questionQuiet is the time without a key before the line answers a question: keys typed for the
// prompt must not answer it.
var questionQuiet = time.Second

// talk is a conversation with an agent, with the prompts and answers still to send. Owned by the
// goroutine of run.
type talk struct {
	agent      chatAgent
	session    *chat.Session
	view       *chatView
	edit       *editor // nil without a user who types
	json       func(chat.Record) error
	images     []chat.Image // sent with the next prompt
	prompts    []string     // waiting for the end of the turn
	stay       bool         // continue with prompts that the user types
	unattended bool         // no person can answer here

	// answers for the absent user; may be nil
	outerChat        *outer.Conversation
	cancelForwarded  map[string]context.CancelFunc // cancels a forwarded request, by its id
	forwardedAnswers chan forwardedAnswer

	question *question // the one being asked, or nil
	asked    int       // questions so far
	opens    *time.Timer
	silent   *time.Timer // runs only while the agent works

	state   chat.State
	why     string // why the conversation ended
	last    chat.Outcome
	refused bool // a request was refused because the user is absent
	stops   int  // presses of Ctrl+C since the last line or turn
	leaving bool
	resumes bool // this continues an earlier conversation
	own     *lock.Lock
	parts   sync.WaitGroup
}

// talkTo runs the conversation with an agent to its end.
func talkTo(
	ctx context.Context, env *cli.Env, agent chatAgent, in chatOptions, prompts []string,
) (err error) {
	own, err := newChatLock()
	if err != nil {
		return err
	}
	defer own.Release()
	if err := lockChat(own, in.id); err != nil {
		return err
	}
	if _, err := exec.LookPath(in.program); err != nil { // before there is a session to list
		return startError(agent, &stdio.NotInstalledError{
			Program: in.program, Cause: errors.Unwrap(err),
		})
	}
	t := newTalk(env, own, agent, in, prompts)
	if in.nested {
		outer, bad := outer.New(env, outer.SessionID(), agent.name)
		if bad != nil {
			return bad
		}
		defer func() { err = errors.Join(err, outer.Client.Close()) }()
		t.outerChat = outer
	}
	t.session.AnswerWithin(in.within)
	closeJournal, err := keepJournal(t.session, in.journal)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, closeJournal()) }()
	closeAsks, openErr := func() error { return nil }, error(nil)
	if !in.silent {
		closeAsks, openErr = openAskSession(ctx, env, agent.name, t.session)
	}
	defer func() { err = errors.Join(err, closeAsks()) }()
	if err := t.session.Start(); err != nil {
		return startError(agent, err)
	}
	if err := openView(env, t, in.silent); err != nil {
		return errors.Join(err, t.session.Close())
	}
	if t.edit != nil {
		t.view.printHint(startHint(agent.name, t.stay))
	}
	if openErr != nil {
		t.view.printNotice("· %v", openErr)
	}
	err = t.run(ctx)
	if t.edit != nil {
		t.edit.close()
	}
	if err != nil {
		return err
	}
	return reportEnd(env, t)
}

func newTalk(env *cli.Env, own *lock.Lock, agent chatAgent, in chatOptions, prompts []string) *talk {
	return &talk{
		own:              own,
		resumes:          in.resume != "",
		agent:            agent,
		session:          chat.New(agent.name, agent.drive(in)),
		prompts:          prompts,
		images:           in.images,
		stay:             len(prompts) == 0,
		unattended:       in.silent,
		view:             &chatView{text: env.Out, about: env.Err},
		opens:            time.NewTimer(0),
		silent:           time.NewTimer(silence),
		cancelForwarded:  map[string]context.CancelFunc{},
		forwardedAnswers: make(chan forwardedAnswer),
	}
}

// openView shows the conversation as JSON, on a terminal with an editor, or as plain text.
func openView(env *cli.Env, t *talk, silent bool) error {
	switch {
	case env.JSON:
		t.view.about, t.json = io.Discard, recordLines(env.Out)
	case !silent:
		edit, err := newEditor(env.In.(*os.File), env.Out.(*os.File))
		if err != nil {
			return err
		}
		t.edit, t.view.text, t.view.about, t.view.cols = edit, edit.term, edit.term, edit.columns
	}
	return nil
}

// startHint returns the hint that the user can type while the agent starts or works, and how to end
// a conversation that does not end with its prompt.
func startHint(agent string, stay bool) string {
	if stay {
		return "· " + agent + " starts: type at any time, Enter sends; Ctrl+C interrupts, " +
			"Ctrl+D ends"
	}
	return "· type while " + agent + " works, Enter sends the line; Ctrl+C interrupts"
}

// reportEnd reports how the conversation ended.
func reportEnd(env *cli.Env, t *talk) error {
	if !env.JSON && t.state == chat.Ended && t.last != "" && t.session.Conversation() != "" &&
		(t.edit != nil || t.last != chat.Done) {
		fmt.Fprintf(env.Err, "resume it with: gateway chat --with %s --resume %s\n", t.agent.name,
			t.session.Conversation())
	}
	switch {
	case t.stops > 0 || t.last == chat.Interrupted:
		env.Status = statusInterrupted
	case t.state == chat.Failed:
		err := cli.Fail(cli.StatusRefused, "chat: %s did not start: %s", t.agent.name, t.why)
		if t.resumes {
			err = err.WithHint(
				"without --resume a new conversation begins; its id is printed when it ends")
		}
		return err
	case !t.leaving:
		return cli.Fail(cli.StatusRefused, "chat: %s", cmp.Or(t.why, t.agent.name+" ended"))
	case t.refused || t.last == chat.Broken:
		env.Status = cli.StatusRefused
	}
	return nil
}

// run shows the agent's records and sends it the user's lines, until the agent has ended.
func (t *talk) run(ctx context.Context) error {
	records := make(chan chat.Record)
	t.parts.Go(func() { t.forwardRecords(records) }) // ends with the session
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
			err = t.handleRecord(r)
		case l := <-lines:
			t.handleLine(l)
		case p := <-t.forwardedAnswers:
			t.handleForwarded(p)
		case <-stops:
			t.stop()
		case <-t.opens.C:
			t.openQuestion()
		case <-t.silent.C:
			t.view.printNotice("· %s is working: silent for %d s", t.agent.name, silence/time.Second)
		case <-ended: // the first of the signals
			ended = nil
			t.stopAtSignal()
		case sig := <-signals:
			switch heard++; {
			case sig != os.Interrupt:
				t.interruptAndEnd()
			case heard > 1:
				t.stop()
			}
		}
		if err != nil {
			t.endAgent()
			for range records { // to its end
			}
			return err
		}
	}
}

// stopAtSignal ends the agent at its prompt, and otherwise interrupts its work.
func (t *talk) stopAtSignal() {
	t.stopAnswering()
	if t.state == chat.AtPrompt {
		t.interruptAndEnd()
	} else {
		t.stop()
	}
}

// forwardRecords forwards all records.
func (t *talk) forwardRecords(records chan<- chat.Record) {
	defer close(records)
	for last := uint64(0); ; {
		got, lost, err := t.session.Records(context.Background(), last)
		if err != nil || len(got) == 0 {
			return
		}
		if lost > 0 {
			records <- chat.Record{Item: &chat.Item{
				Kind:   chat.Notice,
				Author: t.agent.name,
				Text:   fmt.Sprintf("%d records are left out: there were too many to show", lost),
			}}
		}
		for _, r := range got {
			records <- r
			last = r.Number
		}
	}
}

// watchSilence waits for output of a working agent; not at the prompt, and not without a viewer.
func (t *talk) watchSilence() {
	if t.edit != nil && t.state == chat.Working {
		t.silent.Reset(silence)
	} else {
		t.silent.Stop()
	}
}

// handleRecord shows a record, and starts what follows from it.
func (t *talk) handleRecord(r chat.Record) error {
	defer t.watchSilence()
	var err error
	if t.json != nil {
		err = t.json(r)
	} else {
		t.showRecord(r)
	}
	switch {
	case r.Request != nil && t.unattended && t.outerChat != nil:
		t.forwardRequest(r.Request)
	case r.Request != nil && t.unattended:
		t.refuseRequest(r.Request)
	case r.Request != nil:
		t.nextQuestion()
	case r.Closed != nil:
		t.handleClosed(r.Closed)
	case r.Turn != nil:
		t.last = r.Turn.Outcome
	case r.State != "":
		t.state, t.why = r.State, r.Why
		// it may start at once on text that was typed while it started
		if r.State != chat.Ended && r.State != chat.Failed {
			if err := lockChat(t.own, t.session.Conversation()); err != nil {
				return err
			}
		}
		if r.State == chat.AtPrompt {
			t.sendNextOrFinish()
		}
	}
	return err
}

func (t *talk) showRecord(r chat.Record) {
	switch {
	case r.Item != nil:
		t.view.printItem(t.agent.name, r.Item)
	case r.Piece != nil:
		t.view.printPiece(r.Piece)
	case r.Turn != nil && r.Turn.Outcome == chat.Broken:
		t.view.printNotice("· the turn failed: %s", escapeInvisible(r.Turn.Why))
	case r.Turn != nil && r.Turn.Outcome == chat.Interrupted:
		t.view.printNotice("· interrupted")
	case r.Turn != nil:
		t.view.flush()
	}
}

// sendNextOrFinish sends the next prompt; after the last one it ends the agent.
func (t *talk) sendNextOrFinish() {
	t.stops = 0
	switch {
	case t.leaving:
	case len(t.prompts) > 0:
		next := t.prompts[0]
		t.prompts = t.prompts[1:]
		t.view.printNotice("%s%s", youPrompt, escapeInvisible(next))
		// no turn will follow whose end could trigger the next prompt
		if !t.sendPrompt(next) && t.session.State() == chat.AtPrompt {
			t.refused = true
			t.dropPrompts()
			t.sendNextOrFinish()
		}
	case !t.stay && !t.sendPending():
		t.endAgent()
	}
}

// sendPending reports whether the user typed text that is not sent, and sends the lines that were
// entered.
func (t *talk) sendPending() bool {
	if t.edit == nil {
		return false
	}
	for {
		select {
		case l := <-t.edit.lines:
			t.handleLine(l)
			if t.session.State() != chat.AtPrompt {
				return true
			}
			continue
		default:
		}
		break
	}
	if !t.unattended && t.edit.hasDraft() {
		t.stay = true
		t.view.printNotice(
			"· done, except for your line: Enter sends it, Ctrl+D on an empty line ends the " +
				"conversation")
	}
	return t.stay
}

func (t *talk) sendPrompt(text string) (sent bool) {
	err := t.session.SendImages(you, text, t.images)
	if err != nil {
		t.view.printNotice("· not sent: %v", err)
		if len(t.images) > 0 && t.state != chat.Starting && t.session.ImageRefusal() != nil {
			t.images = nil
			t.view.printNotice("· no image goes with your next line")
		}
		return false
	}
	if len(t.images) > 0 {
		t.view.printNotice("  %s", imagesWith("", t.images))
		t.images = nil
	}
	return true
}

// endAgent ends the agent. Its last output is still shown.
func (t *talk) endAgent() {
	if !t.leaving {
		t.leaving = true
		t.parts.Go(func() { _ = t.session.Close() })
	}
}

// stop handles Ctrl+C: the first one interrupts the turn, the second one ends the agent.
func (t *talk) stop() {
	t.stops++
	switch idle := t.state == chat.AtPrompt; {
	case t.leaving:
	case t.stops > 1 || t.edit == nil && idle:
		t.stops = max(t.stops, 1)
		t.endAgent()
	case idle:
		t.edit.clearLine()
		t.view.printNotice("· Ctrl+C again ends the conversation")
	default:
		t.view.printNotice("· interrupting; Ctrl+C again ends %s", t.agent.name)
		t.dropPrompts()
		t.last = chat.Interrupted
		_ = t.session.Interrupt(you) // if it has ended, its last record will follow
	}
}

// interruptAndEnd handles SIGTERM and SIGHUP: it ends the agent without waiting for the end of the
// turn.
func (t *talk) interruptAndEnd() {
	t.stopAnswering()
	t.stops = max(t.stops, 1)
	if t.state != chat.AtPrompt && !t.leaving {
		t.last = chat.Interrupted
		_ = t.session.Interrupt(you) // if it has ended, its last record will follow
	}
	t.endAgent()
}

// dropPrompts drops the prompts that were to follow.
func (t *talk) dropPrompts() {
	for _, p := range t.prompts {
		t.view.printNotice("· not sent: %s", escapeInvisible(p))
	}
	t.prompts = nil
}

// stopAnswering handles the end of the terminal or of this command: it refuses all later requests
// and sends no further prompt.
func (t *talk) stopAnswering() {
	t.unattended, t.stay, t.outerChat = true, false, nil
	t.dropPrompts()
	for _, r := range t.session.OpenRequests() {
		t.refuseRequest(r)
	}
}

// handleLine handles a line that the user entered.
func (t *talk) handleLine(l typed) {
	if l.question != 0 {
		defer func() { t.edit.handled <- struct{}{} }()
	}
	t.stops = 0
	switch {
	case l.lost:
		t.stopAnswering()
		if t.state == chat.AtPrompt {
			t.endAgent()
		}
	case l.ended:
		t.stay = false
		if t.state == chat.AtPrompt && len(t.prompts) == 0 {
			t.endAgent()
		} else {
			t.view.printNotice("· the conversation ends with this turn")
		}
	case l.question != 0:
		t.handleAnswer(l)
	case l.text != "" && !t.attachesImage(l.text) && !t.applySetting(l.text):
		t.sendPrompt(l.text)
	}
}
