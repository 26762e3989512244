package control_test

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"terminalproxy/protocol"
	"terminalproxy/proxy/consent/control"
	"terminalproxy/proxy/consent/question"
	"terminalproxy/proxy/terminal/keys"
	"terminalproxy/proxy/view/corpus"
)

// play is a machine under the plays of testdata/plays.txt, each of which states a promise. A step
// has a time (after t0; 1s+60*33ms is sixty times from 1 s on), an event, and its result or the
// state afterwards: in one word, or as fact=value. A line without a time begins a new machine, in
// one of the places or as it is configured.
type play struct {
	*control.Machine
	t        *testing.T
	now      time.Time
	epoch    uint64 // at the beginning
	question uint64 // before the step
}

func TestPlays(t *testing.T) {
	corpus.Plays(t, "plays", func(t *testing.T, steps []corpus.Step) {
		p := &play{t: t}
		for _, s := range steps {
			p.line(s)
		}
	})
}

func (p *play) line(s corpus.Step) {
	start, repeat, many := strings.Cut(s.Words[0], "+")
	at, err := time.ParseDuration(start)
	if err != nil {
		p.begin(s)
		return
	}
	times, every := 1, time.Duration(0)
	if many {
		count, step, _ := strings.Cut(repeat, "*")
		times, err = strconv.Atoi(count)
		require.NoError(p.t, err, s.Line)
		every = p.duration(step)
	}
	s.Words = s.Words[1:]
	for range times {
		p.now, p.question = after(at), p.Shown().Turn
		answer := p.step(s)
		for _, want := range s.Wants {
			if want.Name != "" {
				require.Equal(p.t, want.Value, strings.ReplaceAll(p.fact(want.Name), " ", "_"), s.Line)
			} else if want.Value != answer {
				require.Equal(p.t, want.Value, look(p.Machine, p.now), "%s: it answers %q", s.Line, answer)
			}
		}
		at += every
	}
}

// begin begins a new machine.
func (p *play) begin(s corpus.Step) {
	at := slices.IndexFunc(places, func(at place) bool { return at.name == strings.Join(s.Words, " ") })
	if at >= 0 {
		p.Machine = places[at].reach(p.t)
	} else {
		require.Equal(p.t, "machine", s.Words[0], "no place has that name")
		conf := control.Config{Keyboard: !slices.Contains(s.Words, "nobody"), OneProgram: slices.Contains(s.Words, "one-program"), Yield: time.Second}
		conf.Pregrant, conf.For = protocol.Level(s.Option("pregrant")), p.duration(s.Option("for"))
		p.Machine = control.New(conf)
	}
	p.epoch = p.Epoch()
}

func (p *play) duration(s string) time.Duration {
	if s == "" {
		return 0
	}
	d, err := time.ParseDuration(s)
	require.NoError(p.t, err)
	return d
}

// agent returns ada, bert or ID/NAME/KIN/TOKEN.
func agent(word string) control.Agent {
	switch parts := strings.Split(word+"///", "/"); word {
	case "ada":
		return ada
	case "bert":
		return bert
	default:
		return control.Agent{ID: parts[0], Name: parts[1], Identity: parts[2], Token: parts[3]}
	}
}

func took(yes bool) string { return map[bool]string{true: "take", false: "pass"}[yes] }
func yes(yes bool) string  { return map[bool]string{true: "yes", false: "no"}[yes] }

// outcome words an error.
func outcome(err error) string {
	if no, ok := errors.AsType[*question.NotNow](err); ok {
		return fmt.Sprintf("not:%v:%d%s%s", no.For, no.Times, map[bool]string{true: ":flood"}[no.Flood], map[bool]string{true: ":muted"}[no.Muted])
	}
	for word, of := range map[string]error{
		"busy": control.ErrBusy, "nobody": control.ErrNobody, "none": control.ErrNoGrant, "stale": control.ErrStale, "secret": control.ErrSecret,
		"hidden": control.ErrHidden, "alone": control.ErrTakenBack, "moved": control.ErrMoved, "left": control.ErrLeft,
	} {
		if errors.Is(err, of) {
			return word + map[bool]string{true: ":release-it-first"}[strings.Contains(err.Error(), "release it first")]
		}
	}
	if err != nil {
		return strings.ReplaceAll(err.Error(), " ", "_")
	}
	return "yes"
}

// step runs a step, and returns its result.
func (p *play) step(s corpus.Step) (answer string) {
	m, now, what := p.Machine, p.now, s.Words[0]
	switch what {
	case "reclaim":
		return took(m.ReclaimKey(now))
	case "confirm":
		return took(m.NoteGrantKey(now, false))
	case "confirm-in-text":
		return took(m.NoteGrantKey(now, true))
	case "choose":
		return took(m.ChooseInMenu(now, s.Arg(1)[0]))
	case "compose":
		return took(m.OpenMessage(now, control.SeenMessage{From: agent(s.Option("heard")), At: after(p.duration(s.Option("at")))}, func(control.Agent, string) {}))
	case "reply": // to the message on the screen
		return took(m.OpenReply(now, control.SeenMessage{From: agent(s.Arg(1)), At: after(p.duration(s.Option("at")))}, func(control.Agent, string) {}))
	case "send":
		m.AddKey(now, keys.Unit{Kind: keys.Key, Bytes: []byte("x\r")}, false)
	case "key":
		m.NoteKey(now)
	case "elsewhere": // a person types
		at := now
		if typed := s.Option("at"); typed != "" {
			at = after(p.duration(typed))
		}
		return outcome(m.NoteRemoteTyping(now, at))
	case "shown":
		seen(m, now)
	case "tick":
		m.Tick(now)
	case "request", "own":
		r := control.Request{ID: s.Arg(1), Agent: agent(s.Arg(2)), Level: protocol.Level(s.Arg(3)), For: p.duration(s.Option("for")), Reason: s.Option("reason")}
		if rule := s.Option("rule"); rule != "" { // its level, in front of psql
			r.RuleGrant = control.RuleGrant{Rule: "c:1", Level: protocol.Level(rule), For: p.duration(cmp.Or(s.Option("lasts"), "5m")), OneProgram: true}
			r.RuleGrant.Foreground = control.Foreground{Group: 7, Name: "psql", File: cmp.Or(s.Option("file"), "1:1")}
		}
		if what == "own" {
			m.GrantOwnTerminal(now, r)
			return ""
		}
		return outcome(m.Request(now, r))
	case "muted":
		return yes(m.IsMuted(agent(s.Arg(1))))
	case "mute": // remotely, as unmute and refuse
		return outcome(m.MuteAgent(now, s.Arg(1), s.Arg(2)))
	case "unmute":
		return outcome(m.UnmuteAgent(now, s.Arg(1), s.Arg(2), p.epochAt(s.Arg(3))))
	case "refuse":
		return outcome(m.RefuseRequest(now, s.Arg(1), s.Arg(2)))
	case "met": // in a conversation, as refused, allowed and may-ask
		m.NoteAgent(agent(s.Arg(1)))
	case "met-many":
		for n := range 100 {
			m.NoteAgent(control.Agent{ID: fmt.Sprint("x-", n), Name: "x"})
		}
	case "refused", "allowed":
		m.NoteReply(now, agent(s.Arg(1)), what == "refused")
	case "may-ask":
		return outcome(m.AskRefusal(now, agent(s.Arg(1))))
	case "never":
		m.SetForbidden(s.Arg(1), true)
	case "left":
		m.NoteLeft(now)
	case "suspend":
		m.EndSuspended(now)
	case "resume":
		m.OfferToGoOn(now)
	case "release":
		return yes(m.Release(now, agent(s.Arg(1)).ID, protocol.ReasonReleased))
	case "end":
		m.End(now, protocol.Reason(s.Arg(1)))
	case "admit": // by default under the current epoch; @n counts from the play's beginning
		return outcome(m.CheckInput(now, agent(s.Arg(1)).ID, p.epochAt(s.Arg(2))))
	case "ask": // for a confirmation
		return outcome(m.AskConfirmation(now, control.Confirmation{Keys: "<Enter>", Until: now.Add(cmp.Or(p.duration(s.Arg(1)), control.ConfirmFor))}))
	case "withdraw-request":
		m.WithdrawRequest(now, s.Arg(1))
	case "withdraw":
		m.WithdrawConfirmation()
	case "guard":
		m.NoteSecretPrompt(now, protocol.SecretPrompt(s.Arg(1)), false)
	case "hide", "show":
		return yes(m.SetHidden(now, what == "hide"))
	case "connected", "disconnected":
		m.SetConnected(now, agent(s.Arg(1)).ID, what == "connected")
	case "slept":
		m.NoteSleep(now, p.duration(s.Arg(1)))
	case "attached", "detached":
		m.SetAttached(now, what == "attached")
	case "give":
		g := control.RemoteGrant{By: s.Option("by"), Level: protocol.Level(s.Option("level")), For: p.duration(s.Option("for")), Agent: s.Option("agent")}
		if n := s.Option("epoch"); n != "" {
			since, err := strconv.ParseUint(n, 10, 64)
			require.NoError(p.t, err)
			g.Epoch = p.epoch + since
		}
		return outcome(m.GrantFromOwner(now, g))
	case "take-back":
		return yes(m.Reclaim(now, s.Arg(1)))
	case "look":
		group, _ := strconv.Atoi(s.Arg(1))
		m.SetForeground(control.Foreground{Group: group, Name: s.Arg(2), File: s.Arg(3)})
	case "occupy":
		m.OccupyLine(now, s.Arg(1), "")
	case "vacate":
		m.VacateLine(now)
	default:
		require.FailNow(p.t, "no such step", what)
	}
	return ""
}

// epochAt returns the epoch @n, or the current one.
func (p *play) epochAt(word string) uint64 {
	n, ok := strings.CutPrefix(word, "@")
	if !ok {
		return p.Epoch()
	}
	since, err := strconv.Atoi(n)
	require.NoError(p.t, err)
	return p.epoch + uint64(since)
}

// fact returns a fact about the machine.
func (p *play) fact(name string) string {
	s := p.State(p.now)
	since := func(at time.Time) string {
		if at.IsZero() {
			return "none"
		}
		return at.Sub(t0).String()
	}
	switch name {
	case "told":
		return eventWords(p.TakeEvents())
	case "by": // who decided, for people
		var all []string
		for _, e := range p.TakeEvents() {
			all = append(all, e.Decider())
		}
		return strings.Join(all, ",")
	case "reason":
		return string(p.LastEnd().Reason)
	case "shut":
		return yes(p.LastEnd().Blocked)
	case "until":
		return since(s.Until)
	case "next":
		next, _ := p.NextTick(p.now)
		return since(next)
	case "for":
		return s.For.String()
	case "level":
		return string(s.Level)
	case "agent":
		return s.Agent.Name
	case "epoch":
		return fmt.Sprintf("%+d", p.Epoch()-p.epoch)
	case "question":
		return map[bool]string{true: "same", false: "new"}[p.Shown().Turn == p.question]
	case "decision":
		return decision(p.Machine)
	case "secret":
		return string(p.Secret())
	case "since":
		return since(s.Asked)
	case "muted":
		return s.MutedNames + "/" + s.Muted.By
	case "never":
		return s.NeverRule
	case "mute":
		return map[bool]string{true: "undo:"}[s.Mute.Undo] + s.Mute.Agent
	case "to":
		return s.Question.Agent.Name
	case "line":
		return s.Line
	case "program":
		return s.Program
	case "away":
		require.Equal(p.t, p.IsPausedByProgram(), s.OtherProgram != "")
		return s.OtherProgram
	}
	facts := map[string]bool{
		"another": s.Question.Another, "asks": s.Question.Kind > question.Message, "composing": p.IsCurrent(question.Message), "hidden": s.Hidden, "pregrant": s.Pregrant, "allowed": p.AllowsSecret(),
		"barred": s.PauseError() != nil, "occupied": p.IsLineOccupied() && s.Occupied, "again": s.Question.Ignored,
		"announced": p.IsAnnounced(), "guarded": s.Guarded,
	}
	require.Contains(p.t, facts, name)
	return yes(facts[name])
}

// eventWords words the events of a step: the outcome of each request, and who decided.
func eventWords(events []control.Event) string {
	var all []string
	for _, e := range events {
		word := string(e.Reason)
		if e.Granted {
			word = "granted"
		}
		word += ":" + strings.Join(e.Requests, ",")
		for add, is := range map[string]bool{"/" + e.By: e.By != "", "/absent": e.Absent, "/withdrawn": e.Withdrawn} {
			if is {
				word += add
			}
		}
		all = append(all, word+map[bool]string{true: "/request"}[e.Request])
	}
	return strings.Join(all, ";")
}

// decision takes the decision on held input.
func decision(m *control.Machine) string {
	switch decided, let := m.TakeDecision(); {
	case !decided:
		return "undecided"
	case let:
		return "allowed"
	}
	return "late"
}
