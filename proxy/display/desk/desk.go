// Package desk asks the user, who is at the session's own terminal, for the secrets that programs
// ask for: a sudo, git or ssh that an agent runs elsewhere. The typed answer reaches neither the
// session's program nor its recording, and leaves the proxy only sealed to the program that asked.
//
// words.go words a question. It waits among others in a [question.Queue], on whose line the user
// types the answer. The package must not depend on how anything is drawn, who may type in the
// session, or how messages travel.
package desk

import (
	"crypto/ecdh"
	"crypto/hpke"
	"slices"
	"time"

	"terminalproxy/protocol"
	"terminalproxy/proxy/consent/question"
)

// lostFor is how long a question stays when the gateway is lost: its program repeats it when it
// reconnects.
const lostFor = 5 * time.Second

// withdrawn is the fate of a question beside the verdicts of the wire.
const withdrawn = "withdrawn"

// Outcome is the end of a question, for the recording.
type Outcome struct {
	Agent, Program, Command, Prompt string
	Chain                           []string
	Fate                            string // a verdict of the protocol's, or withdrawn
	By                              string // the person elsewhere who answered, or ""
	Took                            time.Duration
}

// Config connects a [Desk]. Its functions return at once.
type Config struct {
	SessionID string
	Queue     *question.Queue
	Send      func(protocol.Message)
	// Post runs do on the goroutine that owns the desk and the queue, if that has not ended.
	Post func(do func(now time.Time)) bool
	// CanAsk reports whether a person can read a question here, and answer it.
	CanAsk func() bool
	// CanAskElsewhere reports whether a person who is not here may answer.
	CanAskElsewhere func() bool
	// Show shows the user a text for a moment.
	Show func(text string)
	// Ended receives the outcome of each question.
	Ended func(Outcome)
	// Home is the user's home directory, which texts write as ~.
	Home string
}

// ask is a program that waits for an answer.
type ask struct {
	*protocol.SecretAsk
	to       hpke.PublicKey
	came     time.Time
	lost     time.Time // since when the gateway is, or zero
	question *question.Question
}

// Desk holds the programs that wait. One goroutine owns it.
type Desk struct {
	conf Config
	asks []*ask
}

// New returns a desk without questions.
func New(conf Config) *Desk { return &Desk{conf: conf} }

// Ask puts a question of an agent's program to the user. A question that cannot be asked is
// answered at once.
func (d *Desk) Ask(now time.Time, m *protocol.SecretAsk, agent question.Agent) {
	to, err := publicKey(m.PublicKeyB64)
	text := d.wordQuestion(m, agent)
	same := d.findSame(m, text)
	refuse := func(code protocol.Code, message string) {
		d.conf.Send(&protocol.Error{RequestID: m.RequestID, Code: code, Message: message})
	}
	switch {
	case err != nil:
		refuse(protocol.CodeBadMessage, "publicKeyB64: "+err.Error())
	case !d.conf.CanAsk() && !d.isForPages(m):
		refuse(protocol.CodeUnavailable, "no one is at this session's terminal")
	case same != nil: // it came by another way: the user's text stays
		same.SecretAsk, same.to, same.lost = m, to, time.Time{}
	default:
		if notNow := d.conf.Queue.Admit(now, agent); notNow != nil {
			d.conf.Send(notNow.Refusal(m.RequestID))
			return
		}
		a := &ask{SecretAsk: m, to: to, came: now}
		a.question = question.New(kinds[m.Kind], agent, func(now time.Time, yes bool) {
			d.answer(now, a, yes)
		})
		a.question.Text = text
		a.question.Submit = func(now time.Time, text []byte) bool {
			return a.lost.IsZero() && d.sealAnswer(now, a, text)
		}
		d.asks = append(d.asks, a)
		d.conf.Queue.Add(now, a.question)
	}
}

var kinds = map[string]question.Kind{
	protocol.SecretHidden:  question.Secret,
	protocol.SecretText:    question.Text,
	protocol.SecretConfirm: question.Confirm,
}

// isForPages reports whether a question can be answered without a person at the terminal.
func (d *Desk) isForPages(m *protocol.SecretAsk) bool {
	return m.Watched && d.conf.CanAskElsewhere()
}

func publicKey(b []byte) (hpke.PublicKey, error) {
	public, err := ecdh.P256().NewPublicKey(b)
	if err != nil {
		return nil, err
	}
	return hpke.NewDHKEMPublicKey(public)
}

func (d *Desk) find(isMeant func(*ask) bool) *ask {
	at := slices.IndexFunc(d.asks, isMeant)
	if at < 0 {
		return nil
	}
	return d.asks[at]
}

// findSame returns the question that m repeats: of the same process with the same words, under its
// id or while the gateway is lost. A question that the user has read must not become another one.
func (d *Desk) findSame(m *protocol.SecretAsk, text string) *ask {
	return d.find(func(a *ask) bool {
		return (a.RequestID == m.RequestID || !a.lost.IsZero()) &&
			a.Asker.Pid == m.Asker.Pid && a.Asker.Started == m.Asker.Started &&
			a.Prompt == m.Prompt && a.Kind == m.Kind && a.question.Text == text
	})
}

// Withdraw removes a question whose program no longer waits.
func (d *Desk) Withdraw(now time.Time, requestID string) {
	d.dropWhere(now, func(a *ask) bool { return a.RequestID == requestID })
}

// LoseGateway notes that the gateway is lost. The questions wait for a moment, because the programs
// repeat them through the next gateway.
func (d *Desk) LoseGateway(now time.Time) {
	for _, a := range d.asks {
		if a.lost.IsZero() {
			a.lost = now
		}
	}
	if len(d.asks) > 0 {
		time.AfterFunc(lostFor, func() { d.conf.Post(d.dropLost) })
	}
}

func (d *Desk) dropLost(now time.Time) {
	d.dropWhere(now, func(a *ask) bool { return !a.lost.IsZero() && now.Sub(a.lost) >= lostFor })
}

// Leave answers the questions because the user has left the terminal. Questions that an owner's
// page has stay.
func (d *Desk) Leave(now time.Time) {
	isHere := func(a *ask) bool { return !d.isForPages(a.SecretAsk) }
	for _, a := range d.asks {
		if isHere(a) {
			d.conf.Send(&protocol.Error{
				RequestID: a.RequestID, Code: protocol.CodeUnavailable,
				Message: "the user has left this session's terminal",
			})
		}
	}
	d.dropWhere(now, isHere)
	if c := d.conf.Queue.Current(); c != nil && c.Typing {
		d.conf.Queue.CloseLine(now)
	}
}

// dropWhere drops questions without an answer, and says so if the user was asked.
func (d *Desk) dropWhere(now time.Time, isMeant func(*ask) bool) {
	for _, a := range slices.Clone(d.asks) {
		if !isMeant(a) {
			continue
		}
		reason := a.Asker.Program + " no longer waits"
		if d.conf.Queue.ShownSince(a.question) != (time.Time{}) && !a.question.Typing {
			d.conf.Show(reason)
		}
		d.conf.Queue.End(now, a.question, question.Withdrawn, reason+": nothing is sent")
		d.forget(now, a, withdrawn, "")
	}
}

// forget removes a question that has ended, and reports it.
func (d *Desk) forget(now time.Time, a *ask, fate, by string) {
	d.asks = slices.DeleteFunc(d.asks, func(o *ask) bool { return o == a })
	d.conf.Ended(Outcome{
		Agent: a.question.Agent.Name, Program: a.Asker.Program, Command: a.Asker.Command,
		Prompt: a.Prompt, Chain: a.Asker.Chain, Fate: fate, By: by, Took: now.Sub(a.came),
	})
}

// answer carries out the user's answer to a question by one of the two keys.
func (d *Desk) answer(now time.Time, a *ask, yes bool) {
	if yes {
		d.sealAnswer(now, a, []byte("yes"))
	} else {
		d.sendAnswer(now, a, protocol.SecretRefused, nil, "")
	}
}

// sealAnswer seals a text to the program that asked. It always returns true.
func (d *Desk) sealAnswer(now time.Time, a *ask, text []byte) bool {
	verdict := protocol.SecretGiven
	sealed, err := hpke.Seal(a.to, hpke.HKDFSHA256(), hpke.AES128GCM(), a.SealInfo(), text)
	if err != nil { // a valid key cannot fail
		verdict = protocol.SecretRefused
	}
	d.sendAnswer(now, a, verdict, sealed, "")
	return true
}

func (d *Desk) sendAnswer(now time.Time, a *ask, verdict string, sealed []byte, by string) {
	d.forget(now, a, verdict, by)
	d.conf.Send(&protocol.SecretAnswer{
		RequestID: a.RequestID, SessionID: d.conf.SessionID, Verdict: verdict, SealedB64: sealed,
		By: by,
	})
}

// FindKey returns the public key of the asker of a question that waits, or nil.
func (d *Desk) FindKey(requestID string) []byte {
	if a := d.findWaiting(requestID); a != nil {
		return a.PublicKeyB64
	}
	return nil
}

func (d *Desk) findWaiting(requestID string) *ask {
	return d.find(func(a *ask) bool { return a.RequestID == requestID && a.lost.IsZero() })
}

// AnswerElsewhere answers a question for a person elsewhere, if it still waits, and informs the
// user here. An answer that the user is typing is dropped.
func (d *Desk) AnswerElsewhere(
	now time.Time, requestID, by, verdict string, sealed []byte,
) (waited bool) {
	a := d.findWaiting(requestID)
	if a == nil {
		return false
	}
	how, text := question.Answered, by+" answered "+a.Asker.Program
	if verdict == protocol.SecretRefused {
		how, text = question.Refused, by+" refused "+a.Asker.Program
	}
	d.conf.Queue.End(now, a.question, how, text+": nothing is sent")
	d.sendAnswer(now, a, verdict, sealed, by)
	d.conf.Show(text)
	return true
}
