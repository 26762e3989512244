package requests

import (
	"cmp"
	"crypto/ed25519"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"terminalproxy/protocol"
	"terminalproxy/proxy/chat"
	"terminalproxy/proxy/consent/control"
	"terminalproxy/proxy/consent/question"
	"terminalproxy/proxy/record"
	"terminalproxy/proxy/terminal/keys"
	"terminalproxy/proxy/view/corpus"
)

// people are all who hear of what a handler does: the program's question "q", the conversation and
// its agent, and the user.
type people struct {
	stagedRecorder
	stagedDesk
	t      *testing.T
	did    []string // in the order in which they heard of it
	typed  string
	at     time.Time // when the last keys were pressed
	fail   error
	answer string // to q
	asked  *protocol.ChatRequest
	done   map[string]func(protocol.ChatClosed)
	told   int
}

func (p *people) note(words ...string) error {
	p.did = append(p.did, strings.Join(words, " "))
	return p.fail
}

// conversation is that of the people.
type conversation struct{ *people }

func (c conversation) Subscribe(after uint64)       { _ = c.note("subscribe after", fmt.Sprint(after)) }
func (c conversation) Unsubscribe()                 { _ = c.note("unsubscribe") }
func (c conversation) Send(by, text string) error   { return c.note(by+":", text) }
func (c conversation) Interrupt(by string) error    { return c.note(by, "interrupts") }
func (c conversation) WaitReason() protocol.Waiting { return "" }
func (c conversation) OpenRequests() []string       { return []string{"t1", "t2"} }

func (c conversation) SendForAgent(by, text string, may chat.MayAct) error {
	return errors.Join(may(), c.Send(by, text))
}

func (c conversation) InterruptForAgent(by string, may chat.MayAct) error {
	return errors.Join(may(), c.Interrupt(by))
}

func (c conversation) Answer(id, by string, a protocol.ChatReply) error {
	if id == "t9" {
		return chat.ErrNoRequest
	}
	return c.note(by, "answers", id, a.Verdict)
}

func (p *people) RecordPrompt(what record.Kind, from control.Agent, by, _, text string) {
	_ = p.note("record", string(what), from.ID+by, text)
}

func (p *people) OpenRequest(q *protocol.ChatRequest, done func(protocol.ChatClosed)) error {
	if p.fail == nil {
		p.asked, p.done[q.ID] = q, done
	}
	return p.fail
}

func (p *people) CloseRequest(id, why string) { p.close(protocol.ChatClosed{ID: id, Why: why}) }

func (p *people) close(c protocol.ChatClosed) {
	done := p.done[c.ID]
	delete(p.done, c.ID)
	done(c)
}

func (p *people) PressKeys(_, at time.Time, by string, keys []byte) error {
	if p.fail == nil {
		require.Equal(p.t, "ada", by)
		p.typed, p.at = p.typed+string(keys), at
	}
	return p.fail
}

func (p *people) FindKey(question string) []byte {
	if question != "q" || p.answer != "" {
		return nil
	}
	return []byte("the asker's key")
}

func (p *people) AnswerElsewhere(_ time.Time, _, by, verdict string, sealed []byte) bool {
	p.answer = strings.Join([]string{by, verdict, string(sealed)}, " ")
	return true
}

// remarks counts what stood over the program.
type remarks struct {
	stagedStatus
	people *people
}

func (r remarks) ShowText(string) { r.people.told++ }

// sizelessTerminal does not know the size of its cells.
type sizelessTerminal struct{ Terminal }

func (sizelessTerminal) CellSize() (width, height int) { return 0, 0 }

// play is a stage with its people. Owner ada signs messages.
type play struct {
	t *testing.T
	*stage
	people people
	ada    ed25519.PrivateKey
	signer protocol.Signer  // who ada is
	no     uint64           // of ada's last message with a number
	made   protocol.Message // last
	kept   protocol.Message
	own    *stagedOwn
	judged control.Agent // by the user's rules
}

func newPlay(t *testing.T, options corpus.Step) *play {
	public, private, err := ed25519.GenerateKey(nil)
	require.NoError(t, err)
	p := &play{t: t, ada: private, signer: protocol.Signer{Name: "ada", Types: options.Option("ada") == "types", Session: options.Option("of")}}
	p.people = people{t: t, done: make(map[string]func(protocol.ChatClosed))}
	p.stage = newStage(func(c *Config) {
		c.Recorder, c.Desk, c.RemoteKeyboard, c.Terminal = &p.people, &p.people, &p.people, sizelessTerminal{}
		c.Chat, c.OutsideRequests = conversation{&p.people}, &p.people
		c.Status = remarks{stagedStatus{s: p.stage}, &p.people}
		c.RemoteKeys, c.RemoteGrant = true, options.Option("gateway") == "trusted"
		c.ReclaimKey, _ = keys.ParseReclaimKey(options.Option("key"))
		c.Owner = func(message, signature []byte) (protocol.Signer, error) {
			if !ed25519.Verify(public, message, signature) {
				return protocol.Signer{}, errors.New("no owner signed it")
			}
			return p.signer, nil
		}
		c.LocalAgent = func(message, signature []byte) (string, error) {
			if !ed25519.Verify(public, message, signature) {
				return "", errors.New("no known signer")
			}
			return "claude", nil
		}
		c.RuleGrant = func(a control.Agent, _ protocol.Level) control.RuleGrant {
			p.judged = a
			return control.RuleGrant{}
		}
		switch options.Option("without") {
		case "keys":
			c.RemoteKeys = false
		case "owners":
			c.Owner = nil
		case "conversation":
			c.Chat, c.OutsideRequests = nil, nil
		}
		if own := options.Option("own"); own != "" {
			p.own = &stagedOwn{attached: own == "attached"}
			c.OwnTerminal = p.own
		}
	})
	p.machine.SetAttached(time.Now(), options.Option("own") != "unattended")
	return p
}

// messages are the kinds of messages that people and agents send.
var messages = map[string]protocol.Message{
	"keys": &protocol.Keys{}, "prompt": &protocol.ChatSend{}, "reply": &protocol.ChatAnswer{}, "interrupt": &protocol.ChatInterrupt{},
	"subscribe": &protocol.ChatSubscribe{}, "unsubscribe": &protocol.ChatUnsubscribe{}, "ask": &protocol.ChatAsk{}, "cancel": &protocol.Cancel{},
	"secret": &protocol.SecretReply{}, "decide": &protocol.ControlDecide{}, "control": &protocol.ControlRequest{}, "release": &protocol.ControlRelease{},
	"close": &protocol.Close{}, "read": &protocol.Read{}, "wait": &protocol.Wait{}, "note": &protocol.Note{},
}

// makeMessage makes a message of words: its kind, and fields as name=text or name:=JSON.
func (p *play) makeMessage(words []string, fields map[string]any) protocol.Message {
	for _, w := range words[1:] {
		name, value, _ := strings.Cut(w, "=")
		fields[name] = value
		if raw, ok := strings.CutSuffix(name, ":"); ok {
			delete(fields, name)
			fields[raw] = json.RawMessage(value)
		}
		if name == "at" {
			d, err := time.ParseDuration(value)
			require.NoError(p.t, err)
			fields[name] = time.Now().Add(d).UnixMilli()
		}
	}
	m := p.made
	if words[0] != "again" {
		require.Contains(p.t, messages, words[0])
		m = messages[words[0]]
	}
	m, _ = reflect.New(reflect.TypeOf(m).Elem()).Interface().(protocol.Message)
	if words[0] == "again" {
		p.copyFields(p.made, m)
	}
	p.copyFields(fields, m)
	return m
}

func (p *play) copyFields(from, to any) {
	b, err := json.Marshal(from)
	require.NoError(p.t, err)
	require.NoError(p.t, json.Unmarshal(b, to))
}

// signMessage signs a message as who says so. A lie makes it one that does not count.
func (p *play) signMessage(m protocol.Message, lie string) {
	started, private, asker := p.Started.UnixMilli(), p.ada, "the asker's key"
	switch lie {
	case "earlier":
		started--
	case "misled":
		asker = "the gateway's key"
	case "stranger":
		_, private, _ = ed25519.GenerateKey(nil)
	}
	var signed []byte
	switch m := m.(type) {
	case *protocol.SecretReply:
		signed = m.Signed(started, []byte(asker))
	case interface{ Signed(startedAt int64) []byte }:
		signed = m.Signed(started)
	}
	signature := base64.StdEncoding.EncodeToString(ed25519.Sign(private, signed))
	p.copyFields(map[string]string{"signatureB64": signature, "proofB64": signature}, m)
}

// message makes the message of a step. Its first word may say who signs it.
func (p *play) message(words []string) protocol.Message {
	fields := map[string]any{"requestId": "r", "sessionId": "sh-1"}
	signs := words[0]
	switch signs {
	case "types", "presses", "pastes", "mouse":
		kind := map[string]protocol.InputKind{"types": protocol.InputText, "presses": protocol.InputKeys, "pastes": protocol.InputPaste, "mouse": protocol.InputMouse}
		fields["kind"] = kind[signs]
		var data []string
		for len(words) > 1 && !strings.Contains(words[1], "=") {
			data, words = append(data, words[1]), words[1:]
		}
		fields["data"] = strings.Join(data, " ")
		words = append([]string{"keys"}, words[1:]...)
	case "ada", "earlier", "misled", "stranger":
		words = words[1:]
	case "again":
		fields = map[string]any{}
		signs = ""
	default:
		signs = ""
	}
	if signs != "" {
		fields["at"], fields["epoch"] = time.Now().UnixMilli(), p.machine.Epoch()
	}
	if words[0] == "keys" || words[0] == "prompt" && signs != "" {
		fields["keyNo"], fields["after"] = p.no+1, p.no
	}
	m := p.makeMessage(words, fields)
	switch m := m.(type) {
	case *protocol.Keys:
		p.no = m.KeyNo
	case *protocol.ChatSend:
		p.no = max(p.no, m.KeyNo)
	}
	if signs != "" {
		p.signMessage(m, signs)
	}
	p.made = m
	return m
}

// step does what a line says, and reports whether that sends a message.
func (p *play) step(s corpus.Step) (sends bool) {
	now, arg := time.Now(), s.Arg(1)
	p.sent = nil
	switch s.Words[0] {
	case "prints":
		p.Observer.Model().Feed([]byte(arg))
	case "fails":
		p.people.fail = map[string]error{
			"": nil, "unread": ErrUnread, "taken": control.ErrTakenBack, "over": chat.ErrOver, "answered": &chat.AnsweredError{By: "bob"}, "no": errors.New("no"),
		}[arg]
	case "knows": // ada
		p.signer.Types, p.signer.Session = true, s.Option("session")
	case "hides", "shows":
		p.machine.SetHidden(now, s.Words[0] == "hides")
	case "asks-password":
		p.machine.NoteSecretPrompt(now, protocol.SecretHard, false)
	case "grants": // before an agent asks
		require.NoError(p.t, p.machine.GrantFromOwner(now, control.RemoteGrant{Level: protocol.Level(arg)}))
	case "reclaims":
		p.machine.ReclaimKey(now.Add(time.Hour)) // opens no menu
	case "ends":
		p.over = true
	case "closes": // the people, a request of another agent
		var c protocol.ChatClosed
		p.copyFields(json.RawMessage(arg), &c)
		c.ID = p.people.asked.ID
		p.people.close(c)
	case "leaves": // the gateway
		p.CancelUnheard()
	case "mutes":
		p.CancelMuted()
	case "forgets": // how often was asked
		p.outsiders.announceLimit.paidUntil = time.Time{}
	case "tires":
		p.outsiders.askLimit.paidUntil = now.Add(askBurst * askEvery)
	case "crowd": // asks
		for n := range maxOpenAsks - maxOpenAsksBy {
			id := fmt.Sprint("crowd ", n)
			p.Handle(p.message([]string{"ask", "requestId=" + id, "agentId=" + id, "agentName=" + id, "tool=Bash"}))
		}
	case "flood": // of requests that are taken back
		for range 2 * announceBurst {
			p.Handle(p.message([]string{"ask", "agentId=a", "agentName=sub", "tool=Bash"}))
			p.outsiders.withdrawRequests("r", "taken back")
			p.actions.awaitIdle()
		}
	case "pastes-most": // of what a paste may hold
		for range protocol.MaxPaste / protocol.MaxKeys {
			p.Handle(p.message([]string{"pastes", strings.Repeat("x", protocol.MaxKeys), "more:=true"}))
		}
	case "keeps": // the last message
		p.kept = p.made
	case "repeats": // the kept one, for the present epoch
		p.made, sends = p.kept, true
		p.copyFields(map[string]uint64{"epoch": p.machine.Epoch()}, p.kept)
		p.signMessage(p.kept, "")
		p.Handle(p.kept)
	case "lost": // on its way
		p.message(s.Words[1:])
	default:
		p.Handle(p.message(s.Words))
		sends = true
	}
	p.actions.awaitIdle()
	return sends
}

// state describes control.
func (p *play) state() string {
	st := p.machine.State(time.Now())
	words := []string{map[control.Phase]string{control.Observing: "observing", control.Asked: "asked", control.Granted: "granted"}[st.Phase]}
	if st.Pregrant {
		words = append(words, "promised by", st.RemotePregrant.By)
	}
	if st.Hidden {
		words = append(words, "hidden")
	}
	if st.MutedNames != "" {
		words = append(words, "mutes", st.MutedNames)
	}
	return strings.Join(words, " ")
}

// answers describes the messages that the handler has sent, and returns the text of the last refusal.
func (p *play) answers() (all, says string) {
	var each []string
	for _, m := range p.sent {
		switch m := m.(type) {
		case *protocol.Error:
			require.Equal(p.t, protocol.RequestID(p.made), m.RequestID)
			each, says = append(each, string(m.Code)), m.Message
		case *protocol.ChatAskResult:
			each = append(each, strings.Join(strings.Fields(m.RequestID+" "+m.By+" "+m.Answer.Verdict+" "+m.Why), " "))
		default:
			each = append(each, protocol.KindOf(m))
		}
	}
	return cmp.Or(strings.Join(each, "|"), "nothing"), says
}

// TestPlays plays what people and agents send.
func TestPlays(t *testing.T) {
	corpus.Plays(t, "plays", func(t *testing.T, steps []corpus.Step) {
		p := newPlay(t, corpus.Step{})
		for _, s := range steps {
			if s.Words[0] == "stage" {
				p = newPlay(t, s)
				continue
			}
			sends := p.step(s)
			answer, says := p.answers()
			for _, w := range s.Wants {
				got := p.look(w.Name)
				switch w.Name {
				case "": // the answer
					got, sends = answer, false
				case "says":
					require.Contains(t, says, w.Value, s.Line)
					continue
				}
				require.Equal(t, w.Value, got, s.Line)
			}
			require.True(t, !sends || answer == "done", "%s: %s %s", s.Line, answer, says)
		}
	})
}

// look returns what the people have, by its name, and forgets it if it came at once.
func (p *play) look(name string) (has string) {
	switch name {
	case "typed":
		has, p.people.typed = p.people.typed, ""
	case "ago": // the last keys were typed
		has = time.Since(p.people.at).Round(time.Second).String()
	case "did":
		has, p.people.did = strings.Join(p.people.did, "|"), nil
	case "answer":
		has, p.people.answer = p.people.answer, ""
	case "state":
		has = p.state()
	case "menu":
		has = fmt.Sprint(p.machine.IsCurrent(question.Menu))
	case "by":
		has = p.machine.LastEnd().By
	case "token":
		has = p.judged.Token
	case "open":
		has = fmt.Sprint(len(p.people.done))
	case "told":
		has = fmt.Sprint(p.people.told)
	case "asked":
		has = p.people.asked.By + " " + p.people.asked.Tool + " " + p.people.asked.Why
	case "touched":
		has = fmt.Sprint(p.own.touched)
	case "ended":
		has = fmt.Sprint(p.own.stopped, p.killed)
	}
	return has
}
