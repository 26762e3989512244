package control_test

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"terminalproxy/protocol"
	"terminalproxy/proxy/control"
)

// play is a machine under the plays of testdata/plays.txt, each of which states a promise. A line is a step: when it happens (after
// t0; 1s+60*33ms is sixty times from 1 s on), what happens, and behind "->" what is so afterwards: in one word what came of
// it or the machine's state, or a fact as name=value. A line with no time begins a new machine, in one of the places or as it is
// configured. What stands behind // says why.
type play struct {
	*control.Machine
	t        *testing.T
	now      time.Time
	epoch    uint64 // at the beginning
	question uint64 // before the step
}

func TestPlays(t *testing.T) {
	data, err := os.ReadFile("testdata/plays.txt")
	require.NoError(t, err)
	for _, one := range strings.Split(string(data), "\n# ")[1:] {
		name, steps, _ := strings.Cut(one, "\n")
		t.Run(name, func(t *testing.T) {
			p := &play{t: t}
			for _, line := range strings.Split(steps, "\n") {
				line, _, _ = strings.Cut(line, "//")
				if words := strings.Fields(line); len(words) > 0 {
					p.line(words, line)
				}
			}
		})
	}
}

func (p *play) line(words []string, line string) {
	n := slices.Index(words, "->")
	if n < 0 {
		n = len(words)
	}
	start, repeat, many := strings.Cut(words[0], "+")
	at, err := time.ParseDuration(start)
	if err != nil {
		p.begin(words[:n])
		return
	}
	times, every := 1, time.Duration(0)
	if many {
		count, step, _ := strings.Cut(repeat, "*")
		times, err = strconv.Atoi(count)
		require.NoError(p.t, err, line)
		every, err = time.ParseDuration(step)
		require.NoError(p.t, err, line)
	}
	for range times {
		p.now, p.question = after(at), p.Question()
		answer := p.step(words[1], append(words[2:n:n], "", "", "", ""))
		for _, want := range words[min(n+1, len(words)):] {
			if fact, value, ok := strings.Cut(want, "="); ok {
				require.Equal(p.t, value, strings.ReplaceAll(p.fact(fact), " ", "_"), line)
			} else if want != answer {
				require.Equal(p.t, want, look(p.Machine, p.now), "%s: it answers %q", line, answer)
			}
		}
		at += every
	}
}

// begin begins a new machine.
func (p *play) begin(words []string) {
	at := slices.IndexFunc(places, func(at place) bool { return at.name == strings.Join(words, " ") })
	if at >= 0 {
		p.Machine = places[at].reach(p.t)
	} else {
		require.Equal(p.t, "machine", words[0], "no place has that name")
		conf := control.Config{Keyboard: !slices.Contains(words, "nobody"), OneProgram: slices.Contains(words, "one-program"), Yield: time.Second}
		conf.Pregrant, conf.For = protocol.Level(option(words, "pregrant")), p.duration(option(words, "for"))
		p.Machine = control.New(conf)
	}
	p.epoch = p.Epoch()
}

// option is the value of name=value.
func option(words []string, name string) string {
	for _, w := range words {
		if value, ok := strings.CutPrefix(w, name+"="); ok {
			return value
		}
	}
	return ""
}

func (p *play) duration(s string) time.Duration {
	if s == "" {
		return 0
	}
	d, err := time.ParseDuration(s)
	require.NoError(p.t, err)
	return d
}

// agent is ada, bert or ID/NAME/KIN.
func agent(word string) control.Agent {
	switch parts := strings.Split(word+"//", "/"); word {
	case "ada":
		return ada
	case "bert":
		return bert
	default:
		return control.Agent{ID: parts[0], Name: parts[1], Kin: parts[2]}
	}
}

func took(yes bool) string { return map[bool]string{true: "take", false: "pass"}[yes] }
func yes(yes bool) string  { return map[bool]string{true: "yes", false: "no"}[yes] }

// outcome is an error in a word.
func outcome(err error) string {
	if no, ok := errors.AsType[*control.NotNow](err); ok {
		return fmt.Sprintf("not:%v:%d%s%s", no.For, no.Times, map[bool]string{true: ":flood"}[no.Flood], map[bool]string{true: ":muted"}[no.Muted])
	}
	for word, of := range map[string]error{
		"busy": control.ErrBusy, "nobody": control.ErrNobody, "none": control.ErrNoGrant, "stale": control.ErrStale, "secret": control.ErrSecret,
		"hidden": control.ErrHidden, "moved": control.ErrMoved,
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

// step has something happen, and says what came of it.
func (p *play) step(what string, args []string) (answer string) {
	m, now := p.Machine, p.now
	switch what {
	case "reclaim":
		return took(m.ReclaimKey(now))
	case "confirm":
		return took(m.Confirm(now))
	case "choose":
		return took(m.Choose(now, args[0][0]))
	case "compose":
		return took(m.Compose(now, control.Heard{From: agent(option(args, "heard")), At: after(p.duration(option(args, "at")))}))
	case "send":
		m.TakeMessage(now)
	case "key":
		m.Key(now)
	case "shown":
		m.Shown(now)
	case "tick":
		m.Tick(now)
	case "request", "own":
		r := control.Request{ID: args[0], Agent: agent(args[1]), Level: protocol.Level(args[2]), For: p.duration(option(args, "for"))}
		if what == "own" {
			m.Own(now, r)
			return ""
		}
		return outcome(m.Request(now, r))
	case "muted":
		return yes(m.Muted(agent(args[0])))
	case "release":
		return yes(m.Release(now, agent(args[0]).ID, protocol.ReasonReleased))
	case "end":
		m.End(now, protocol.Reason(args[0]))
	case "admit": // by default under the epoch of now; @n counts from the play's beginning
		epoch := m.Epoch()
		if n, ok := strings.CutPrefix(args[1], "@"); ok {
			since, err := strconv.Atoi(n)
			require.NoError(p.t, err)
			epoch = p.epoch + uint64(since)
		}
		return outcome(m.Admit(now, agent(args[0]).ID, epoch))
	case "ask": // for a confirmation
		return outcome(m.AskConfirmation(now, control.Confirmation{Keys: "<Enter>", Until: now.Add(cmp.Or(p.duration(args[0]), control.ConfirmFor))}))
	case "withdraw":
		m.WithdrawConfirmation()
	case "guard":
		m.Guard(now, protocol.SecretPrompt(args[0]), false)
	case "hide", "show":
		return yes(m.Hide(now, what == "hide"))
	case "connected", "disconnected":
		m.Connected(now, agent(args[0]).ID, what == "connected")
	case "slept":
		m.Slept(now, p.duration(args[0]))
	case "attached", "detached":
		m.SetAttached(now, what == "attached")
	case "give":
		g := control.RemoteGrant{By: option(args, "by"), Level: protocol.Level(option(args, "level")), For: p.duration(option(args, "for")), Agent: option(args, "agent")}
		if n := option(args, "epoch"); n != "" {
			since, err := strconv.ParseUint(n, 10, 64)
			require.NoError(p.t, err)
			g.Epoch = p.epoch + since
		}
		return outcome(m.Give(now, g))
	case "take-back":
		return yes(m.Reclaim(now, args[0]))
	case "look":
		group, _ := strconv.Atoi(args[0])
		m.Look(control.Front{Group: group, Name: args[1], File: args[2]})
	case "occupy":
		m.Occupy(now, args[0])
	case "vacate":
		m.Vacate(now)
	default:
		require.FailNow(p.t, "no such step", what)
	}
	return ""
}

// fact is a fact about the machine.
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
		return told(p.TakeEvents())
	case "reason":
		return string(p.LastEnd().Reason)
	case "shut":
		return yes(p.LastEnd().Shut)
	case "until":
		return since(s.Until)
	case "next":
		next, _ := p.Next(p.now)
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
		return map[bool]string{true: "same", false: "new"}[p.Question() == p.question]
	case "decision":
		return decision(p.Machine)
	case "secret":
		return string(p.Secret())
	case "mute":
		return map[bool]string{true: "undo:"}[s.Mute.Undo] + s.Mute.Agent
	case "to":
		return s.Message.To.Name
	case "line":
		return s.Line
	case "program":
		return s.Program
	case "away":
		require.Equal(p.t, p.Away(), s.Away != "")
		return s.Away
	}
	facts := map[string]bool{
		"another": s.Another, "asks": s.Asks(), "composing": p.Message() != nil, "hidden": s.Hidden, "pregrant": s.Pregrant, "allowed": p.Allowed(),
		"barred": s.Barred() != nil, "occupied": p.Occupied() && s.Occupied,
	}
	require.Contains(p.t, facts, name)
	return yes(facts[name])
}

// told is what the events of a step say: what became of which requests, and on whose word.
func told(events []control.Event) string {
	var all []string
	for _, e := range events {
		word := string(e.Reason)
		if e.Granted {
			word = "granted"
		}
		word += ":" + strings.Join(e.Requests, ",")
		for add, is := range map[string]bool{"/" + e.By: e.By != "", "/absent": e.Absent} {
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
	switch decided, let := m.Decision(); {
	case !decided:
		return "undecided"
	case let:
		return "allowed"
	}
	return "late"
}
