package desk

import (
	"crypto/ecdh"
	"crypto/rand"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"terminalproxy/protocol"
	"terminalproxy/proxy/consent/control"
	"terminalproxy/proxy/consent/question"
	"terminalproxy/proxy/terminal/keys"
)

var (
	driver = question.Agent{ID: "d-1", Name: "dana", Identity: "name dana"}
	ada    = question.Agent{ID: "a-1", Name: "ada", Identity: "name ada", Token: "ada"}
	carl   = question.Agent{ID: "c-1", Name: "carl", Identity: "name carl", Token: "carl"}
	bert   = question.Agent{ID: "b-1", Name: "bert", Identity: "name bert"}
)

// session is control and a desk with one queue, as a session joins them, and one user.
type session struct {
	t *testing.T
	*control.Machine
	desk    *Desk
	now     time.Time
	asked   int
	key     *ecdh.PrivateKey
	decided []bool
	answers []string
	sent    []protocol.Message
	watched bool     // an owner's page has the questions that come now
	away    bool     // no person is here
	outputs []string // texts shown for a moment
	typed   string   // what reached the program
}

func newSession(t *testing.T) *session {
	t.Helper()
	s := &session{t: t, Machine: control.New(control.Config{Keyboard: true}), now: time.Unix(1e9, 0)}
	s.key, _ = ecdh.P256().GenerateKey(rand.Reader)
	s.desk = New(Config{
		SessionID: "s", Queue: &s.Queue,
		Send: func(m protocol.Message) {
			s.sent = append(s.sent, m)
			switch m := m.(type) {
			case *protocol.SecretAnswer:
				s.answers = append(s.answers, m.RequestID+" "+m.Verdict)
			case *protocol.Error:
				s.answers = append(s.answers, m.RequestID+" "+m.Message)
			}
		},
		Post:   func(do func(time.Time)) bool { do(s.now); return true },
		CanAsk: func() bool { return !s.away }, CanAskElsewhere: func() bool { return true },
		Show: func(text string) { s.outputs = append(s.outputs, text) }, Ended: func(Outcome) {},
	})
	return s
}

// pass lets time pass, and the machine notice all that it brings.
func (s *session) pass(d time.Duration) {
	end := s.now.Add(d)
	for {
		next, ok := s.NextTick(s.now)
		if !ok || next.After(end) {
			break
		}
		s.now = next
		s.Tick(next)
	}
	s.now = end
	s.Tick(end)
}

// show draws the present question, and read waits until its key counts.
func (s *session) show() { s.NoteShown(s.now, s.Shown().Turn) }
func (s *session) read() { s.show(); s.pass(2 * time.Second) }

// press feeds keys as the detector and the pump do.
func (s *session) press(text string) {
	scan := keys.NewScanner(keys.Bindings{}.WithDefaults())
	emit := func(u keys.Unit) {
		rest, took := s.AddKey(s.now, u, scan.IsInPaste())
		switch {
		case took:
			s.typed += string(rest)
		case u.Kind == keys.Confirm && s.NoteGrantKey(s.now, false):
		case u.Kind == keys.Reclaim && s.ReclaimKey(s.now):
		case u.Kind == keys.Key:
			s.NoteKey(s.now)
			fallthrough
		default:
			s.typed += string(u.Bytes)
		}
		if _, let := s.TakeDecision(); let {
			s.decided = append(s.decided, let)
		}
	}
	scan.Scan([]byte(text), emit)
	scan.Flush(emit)
}

// given is all that the user has said yes to.
func (s *session) given() string {
	st := s.State(s.now)
	line := s.Shown().Typing && s.Shown().Kind.IsTyped() && s.Shown().Closed == ""
	yes := slices.DeleteFunc(slices.Clone(s.answers), func(a string) bool {
		return !strings.HasSuffix(a, protocol.SecretGiven)
	})
	return fmt.Sprint(st.Phase == control.Granted, st.Agent.ID, st.Pregrant, s.decided, st.Occupied,
		s.AllowsSecret(), line, yes)
}

func (s *session) askSecret(kind string, agent question.Agent) *protocol.SecretAsk {
	s.asked++
	id := fmt.Sprint("s-", s.asked)
	m := &protocol.SecretAsk{
		RequestID: id, SessionID: "s", Kind: kind, Prompt: "x", PublicKeyB64: s.key.PublicKey().Bytes(),
		Asker: protocol.SecretAsker{Program: "sudo", Command: "sudo " + id, Pid: s.asked}, Watched: s.watched,
	}
	s.desk.Ask(s.now, m, agent)
	return m
}

func (s *session) request(agent question.Agent, rule string) {
	r := control.Request{ID: "r-" + agent.ID, Agent: agent, Level: protocol.LevelDrive, Reason: "x"}
	if rule != "" {
		r.RuleGrant = control.RuleGrant{Rule: rule, Level: protocol.LevelDrive, For: time.Minute}
	}
	if err := s.Request(s.now, r); err != nil {
		require.ErrorAs(s.t, err, new(*question.NotNow))
	}
}

// drive lets the driver have the keyboard, long ago.
func (s *session) drive() {
	require.NoError(s.t, s.GrantFromOwner(s.now, control.RemoteGrant{By: "x", Agent: driver.Name}))
	require.NoError(s.t, s.Request(s.now, control.Request{ID: "r", Agent: driver, Level: protocol.LevelDrive}))
	s.pass(time.Minute)
}

// asker is a kind of question: how it is asked, and how it ends without a key. ask returns what end
// is about.
type asker struct {
	kind   question.Kind
	driven bool // the driver has the keyboard
	ask    func(s *session) string
	ends   map[string]func(s *session, id string)
}

func programAsker(kind question.Kind, wire string) asker {
	withdraw := func(s *session, id string) { s.desk.Withdraw(s.now, id) }
	return asker{
		kind: kind,
		ask:  func(s *session) string { return s.askSecret(wire, bert).RequestID },
		ends: map[string]func(s *session, id string){
			"withdrawal": withdraw,
			"death":      withdraw, // the helper's connection ends
			"time": func(s *session, _ string) {
				s.desk.LoseGateway(s.now)
				s.now = s.now.Add(lostFor)
				s.desk.dropLost(s.now)
			},
		},
	}
}

func endControl(s *session, _ string) { s.Release(s.now, driver.ID, protocol.ReasonLink) }

var askers = map[string]asker{
	"menu": {
		kind: question.Menu,
		ask:  func(s *session) string { s.pass(2 * time.Second); s.press("\x1c"); return "" },
		ends: map[string]func(s *session, id string){
			"withdrawal": func(s *session, _ string) { s.press("x") },
			"time":       func(s *session, _ string) { s.pass(question.MenuFor) },
		},
	},
	"message": {
		kind: question.Message,
		ask: func(s *session) string {
			s.pass(2 * time.Second)
			s.press("\x1c")
			s.read()
			require.True(s.t, s.OpenMessage(s.now, control.SeenMessage{}, func(_ question.Agent, text string) { s.outputs = append(s.outputs, text) }))
			return ""
		},
		ends: map[string]func(s *session, id string){
			"withdrawal": func(s *session, _ string) { s.press("\x1b") },
		},
	},
	"keyboard": {
		kind: question.Keyboard,
		ask:  func(s *session) string { s.request(ada, ""); return "" },
		ends: map[string]func(s *session, id string){
			"withdrawal": func(s *session, _ string) { s.WithdrawRequest(s.now, "r-"+ada.ID) },
			"death":      func(s *session, _ string) { s.Release(s.now, ada.ID, protocol.ReasonLink) },
			"time":       func(s *session, _ string) { s.pass(control.AskFor) },
		},
	},
	"another agent's keyboard": {
		kind: question.Keyboard,
		ask:  func(s *session) string { s.request(bert, ""); return "" },
		ends: map[string]func(s *session, id string){
			"withdrawal": func(s *session, _ string) { s.WithdrawRequest(s.now, "r-"+bert.ID) },
		},
	},
	"announcement": {
		kind: question.Keyboard,
		ask:  func(s *session) string { s.request(carl, "c:1"); return "" },
		ends: map[string]func(s *session, id string){
			"withdrawal": func(s *session, _ string) { s.WithdrawRequest(s.now, "r-"+carl.ID) },
		},
	},
	"input": {
		kind: question.Input, driven: true,
		ask: func(s *session) string {
			until := s.now.Add(time.Minute)
			require.NoError(s.t, s.AskConfirmation(s.now, control.Confirmation{Keys: "<Enter>", Until: until}))
			return ""
		},
		ends: map[string]func(s *session, id string){
			"withdrawal": func(s *session, _ string) { s.WithdrawConfirmation() },
			"death":      endControl,
			"time":       func(s *session, _ string) { s.pass(time.Minute) },
		},
	},
	"line": {
		kind: question.Line, driven: true,
		ask: func(s *session) string { s.OccupyLine(s.now, "git pu", `"sh"`); return "" },
		ends: map[string]func(s *session, id string){
			"withdrawal": func(s *session, _ string) { s.VacateLine(s.now) },
			"death":      endControl,
		},
	},
	"prompt": {
		kind: question.Prompt,
		ask:  func(s *session) string { s.NoteSecretPrompt(s.now, protocol.SecretSoft, false); return "" },
		ends: map[string]func(s *session, id string){
			"withdrawal": func(s *session, _ string) { s.NoteSecretPrompt(s.now, protocol.SecretNone, false) },
		},
	},
	"prompt for the driver": {
		kind: question.Prompt, driven: true,
		ask: func(s *session) string { s.NoteSecretPrompt(s.now, protocol.SecretHard, false); return "" },
		ends: map[string]func(s *session, id string){
			"withdrawal": func(s *session, _ string) { s.NoteSecretPrompt(s.now, protocol.SecretNone, false) },
			"death":      endControl,
		},
	},
	"password": programAsker(question.Secret, protocol.SecretHidden),
	"text":     programAsker(question.Text, protocol.SecretText),
	"yes":      programAsker(question.Confirm, protocol.SecretConfirm),
}

// byKeys are the endings by the user.
var byKeys = map[string]func(s *session, id string){
	"answer": func(s *session, _ string) {
		s.press("\x07")
		if s.Shown().Typing {
			s.press("secret\r")
		}
	},
	"refusal": func(s *session, _ string) { s.press("\x1c") },
}

// canFollow reports whether two questions can be asked in a row: the menu and messages only if
// nothing is asked and no agent drives, another agent's keyboard only if none drives, and one input
// at a time.
func canFollow(s *session, first, second asker, waits bool) bool {
	isHeld := func(a asker) bool { return a.kind == question.Input || a.kind == question.Line }
	isOpened := func(a asker) bool { return a.kind == question.Menu || a.kind == question.Message }
	switch {
	case s.IsDriven() && (first.kind == question.Keyboard || isOpened(first) || isOpened(second)):
		return false
	case waits && (isOpened(second) || isHeld(first) && isHeld(second) || first.kind == question.Prompt && second.kind == question.Prompt):
		return false
	}
	return second.kind != question.Message
}

// Whatever question follows whatever other one, however that ended, before or after the next one
// was asked: the grant key gives nothing before what it gives was readable for 1.5 s, and counts
// then. A question that waits never takes the place of one that is shown.
func TestNothingUnreadIsGivenR46R71R72(t *testing.T) {
	const drawn = 20 * time.Millisecond
	tried, counted := 0, 0
	for firstName, first := range askers {
		for secondName, second := range askers {
			for _, waits := range []bool{true, false} {
				ends := map[string]func(s *session, id string){}
				for name, end := range first.ends {
					ends[name] = end
				}
				for name, end := range byKeys {
					ends[name] = end
				}
				for endName, end := range ends {
					for _, at := range []time.Duration{100, 450, 900, 1300, 1500 + 20} {
						at *= time.Millisecond
						about := fmt.Sprintf("%s, ended by %s, then %s (waits: %v), key after %v", firstName, endName, secondName, waits, at)
						s := newSession(t)
						if first.driven || second.driven {
							s.drive()
						}
						if !canFollow(s, first, second, waits) || firstName == secondName && second.kind <= question.Prompt {
							continue
						}
						id := first.ask(s)
						require.True(t, s.IsCurrent(first.kind), about)
						s.show()
						if waits {
							turn := s.Shown().Turn
							second.ask(s)
							require.Equal(t, turn, s.Shown().Turn, about)
						}
						s.pass(2 * time.Second)
						if s.Shown().Kind != first.kind {
							continue // an announced grant
						}
						end(s, id)
						if !waits && (!second.driven || s.IsDriven()) {
							second.ask(s)
						}
						if !s.IsCurrent(second.kind) {
							continue // it waits for an agent that drives, or for the user who types
						}
						start, before := s.now, s.given()
						s.pass(drawn)
						s.show()
						s.pass(start.Add(at).Sub(s.now))
						s.press("\x07")
						tried++
						if at < 1500*time.Millisecond && second.kind != question.Menu {
							require.Equal(t, before, s.given(), about)
						} else if s.given() != before {
							counted++
						}
					}
				}
			}
		}
	}
	require.Greater(t, tried, 3000)
	require.Greater(t, counted, tried/6, "the keys that come later count")
}
