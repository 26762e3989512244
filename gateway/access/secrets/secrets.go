// Package secrets puts a program's question for a password to the user, for a sudo, git or ssh that
// an agent runs in its own shell. The kernel identifies the program, and a policy decides whether
// it may ask. The answer is sealed to the program's helper: neither this gateway nor any other
// process can read it.
//
// process.go contains the policy, process_linux.go reads the facts from the kernel, describe.go
// describes them to the user, limits.go bounds how often a program may ask, seal.go has the key of
// a question, and ask.go the helper's side. Nothing runs here until a program asks.
package secrets

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"net"
	"net/http"
	"os"
	"slices"
	"sort"
	"time"

	"terminalproxy/gateway/client"
	"terminalproxy/protocol"
)

// Paths of the two steps of a question, on one connection over the local socket. In the first one
// the helper identifies itself; before the second it protects its memory from other processes.
const (
	PathHello = "/v1/secret/hello"
	PathAsk   = "/v1/secret/ask"
)

// Timeout is how long a question stays open. Agents give their commands two minutes.
const Timeout = 110 * time.Second

const (
	maxQuestion = 16 << 10 // bytes of a question's body
	// sessionPatience is how long sessions may take to connect to a gateway that has just started,
	// and sessionPoll how often the list is read meanwhile.
	sessionPatience = 2 * time.Second
	sessionPoll     = 50 * time.Millisecond
)

// The refusals of a question without an answer.
const (
	// Unattended is for a user who cannot be asked.
	Unattended Refusal = "no one is there to answer (no shared terminal is open): ask the " +
		"user to open one with `proxy --agent bash`, or to run the command"
	refusedLate Refusal = "the user did not answer in time: ask them before you try again"
)

// refusedFor is for a program that the user refused.
func refusedFor(program string) Refusal {
	return Refusal("the user refused the answer for " + program +
		". Do not try again or another way; say what you wanted to do")
}

// introduction is the body of the first step. Client is that of a [Question].
type introduction struct {
	Client int `json:"client,omitempty"`
}

// question is the body of the second step.
type question struct {
	RequestID    string `json:"requestId"`
	Prompt       string `json:"prompt"`
	Kind         string `json:"kind"`
	PublicKeyB64 []byte `json:"publicKeyB64"`
}

// reply is the body of an answer to either step. Error is a Refusal.
type reply struct {
	Error     string `json:"error,omitempty"`
	Program   string `json:"program,omitempty"` // the one that asks; in the first step
	Agent     string `json:"agent,omitempty"`   // the one that runs it; in the first step
	Verdict   string `json:"verdict,omitempty"`
	SealedB64 []byte `json:"sealedB64,omitempty"`
}

// Config connects a [Broker].
type Config struct {
	Log *slog.Logger
	// Join returns a client that may put questions to sessions, for one question.
	Join func() *client.Client
	// Clients returns the connected agents of this machine by process.
	Clients func() map[int]Client
}

// Broker puts questions to the user. It is safe for concurrent use.
type Broker struct {
	Config
	files  []os.FileInfo // more files that a helper may run
	limits limits
}

// New returns a broker.
func New(c Config) *Broker { return &Broker{Config: c} }

// Asker is a helper that has identified itself, until its connection ends.
type Asker struct {
	conn    *net.UnixConn
	facts   *facts
	program string
}

// ServeHello serves the first step. It returns the helper of the connection, or nil after a
// refusal.
func (b *Broker) ServeHello(w http.ResponseWriter, r *http.Request, conn *net.UnixConn) *Asker {
	var in introduction
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxQuestion))
	if err == nil {
		err = json.Unmarshal(body, &in)
	}
	if err != nil {
		b.refuse(w, Refusal("the introduction cannot be read"))
		return nil
	}
	a, err := b.identify(conn, in.Client)
	if err != nil {
		b.refuse(w, err)
		return nil
	}
	_, agent, _ := a.facts.findAgent(findStarters(b.Clients()))
	writeReply(w, http.StatusOK, reply{Program: a.program, Agent: agent.Name})
	return a
}

func (b *Broker) identify(conn *net.UnixConn, client int) (*Asker, error) {
	p, err := openPeer(conn)
	if err != nil {
		return nil, err
	}
	defer p.close()
	f, err := p.readFacts(append(ownFiles(), b.files...), client)
	if err != nil {
		return nil, err
	}
	program, err := f.judge()
	if err != nil {
		return nil, err
	}
	return &Asker{conn: conn, facts: f, program: program}, nil
}

// checkSealed returns an error unless the helper still runs and asks with this key, the kernel
// protects its memory from the user's other processes, and those cannot read its output.
func (a *Asker) checkSealed(key []byte) error {
	p, err := openPeer(a.conn)
	if err != nil {
		return errGone
	}
	defer p.close()
	if err := p.checkSealed(a.facts.asker.started, key); err != nil {
		return err
	}
	if len(findSharers(a.facts.stdout, a.facts.asker.pid, a.facts.receiver().pid)) > 0 {
		return refusedSharers
	}
	return nil
}

// ServeAsk serves the second step: it puts the question to the user and waits for the answer. The
// end of the request's context, and of the helper's connection, withdraws the question.
func (b *Broker) ServeAsk(w http.ResponseWriter, r *http.Request, a *Asker) {
	var q question
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxQuestion))
	if err == nil {
		err = json.Unmarshal(body, &q)
	}
	switch {
	case a == nil:
		b.refuse(w, refusedHelper)
		return
	case err != nil:
		b.refuse(w, Refusal("the question cannot be read"))
		return
	}
	ctx, cancel := context.WithTimeout(r.Context(), Timeout)
	defer cancel()
	answer, err := b.ask(ctx, a, q)
	if err == nil {
		err = a.checkSealed(q.PublicKeyB64)
	}
	if err != nil {
		b.refuse(w, err)
		return
	}
	writeReply(w, http.StatusOK, reply{Verdict: answer.Verdict, SealedB64: answer.SealedB64})
}

// ask puts a question to the user.
func (b *Broker) ask(ctx context.Context, a *Asker, q question) (*protocol.SecretAnswer, error) {
	if err := a.checkSealed(q.PublicKeyB64); err != nil {
		return nil, err
	}
	starters := findStarters(b.Clients())
	m := &protocol.SecretAsk{
		RequestID: q.RequestID, Prompt: q.Prompt, Kind: q.Kind, PublicKeyB64: q.PublicKeyB64,
		Asker: a.facts.describe(a.program, starters),
	}
	program := &a.facts.chain[0]
	m.Asker.Host = clip(findHost(a.program, program.args, q.Prompt), protocol.MaxReason)
	id := identity{program.pid, program.started}
	agent, _, _ := a.facts.findAgent(starters)
	var err error
	m.Again, err = b.limits.admit(
		time.Now(), id, identity{agent.pid, agent.started}, q.Kind, q.Prompt)
	if err != nil {
		return nil, err
	}
	c := b.Join()
	defer func() { _ = c.Close() }()
	answer, err := b.askSessions(ctx, c, a, m)
	if err == nil {
		b.limits.noteAnswer(time.Now(), id, q.Prompt, answer.Verdict != protocol.SecretGiven)
	}
	return answer, err
}

// askSessions tries one session after another until one can ask its user.
func (b *Broker) askSessions(
	ctx context.Context, c *client.Client, a *Asker, m *protocol.SecretAsk,
) (*protocol.SecretAnswer, error) {
	for began := time.Now(); ; {
		for _, id := range a.facts.sessionsToAsk(b.listSessions(ctx, c)) {
			ask := *m
			ask.SessionID = id
			if err := protocol.Check(&ask); err != nil {
				return nil, Refusal("this cannot be asked: " + err.Error())
			}
			got, err := c.Call(ctx, &ask)
			if answer, ok := got.(*protocol.SecretAnswer); ok && err == nil {
				return answer, nil
			}
			switch refused, ok := errors.AsType[*protocol.Error](err); {
			case errors.Is(context.Cause(ctx), context.DeadlineExceeded):
				return nil, refusedLate
			case ctx.Err() != nil:
				return nil, errGone
			case ok && refused.Code == protocol.CodeUnavailable,
				ok && refused.Code == protocol.CodeForbidden, // from an older proxy
				ok && refused.Code == protocol.CodeNoSession:
			case ok:
				return nil, Refusal(refused.Message)
			default:
				return nil, err
			}
		}
		if time.Since(began) > sessionPatience {
			return nil, Unattended
		}
		select {
		case <-ctx.Done():
			return nil, errGone
		case <-time.After(sessionPoll):
		}
	}
}

func (b *Broker) listSessions(ctx context.Context, c *client.Client) []protocol.SessionInfo {
	got, err := c.Call(ctx, &protocol.SessionsList{RequestID: protocol.NewID()})
	list, ok := got.(*protocol.SessionsListResult)
	if err != nil || !ok {
		return nil
	}
	return list.Sessions
}

// sessionsToAsk returns the sessions that may have a person: first those that the asker runs in,
// the nearest first, then the others, the one used last first. Those whose person has detached come
// last: only an owner's page can answer there.
func (f *facts) sessionsToAsk(all []protocol.SessionInfo) (ids []string) {
	all = slices.DeleteFunc(slices.Clone(all), func(s protocol.SessionInfo) bool {
		return s.Headless || s.State != protocol.StateRunning
	})
	detached := func(s protocol.SessionInfo) int { return int(min(1, s.DetachedAt)) }
	distance := func(s protocol.SessionInfo) int {
		at := slices.IndexFunc(f.chain, func(p process) bool { return p.pid == s.Pid })
		if at < 0 {
			return len(f.chain)
		}
		return at
	}
	sort.SliceStable(all, func(i, k int) bool {
		x, y := all[i], all[k]
		return cmp.Or(
			cmp.Compare(detached(x), detached(y)), cmp.Compare(distance(x), distance(y)),
			cmp.Compare(y.UsedAt, x.UsedAt),
		) < 0
	})
	for _, s := range all {
		ids = append(ids, s.SessionID)
	}
	return ids
}

// refuse answers a helper that gets no secret.
func (b *Broker) refuse(w http.ResponseWriter, err error) {
	b.Log.Info("no secret given", "cause", err)
	writeReply(w, http.StatusForbidden, reply{Error: err.Error()})
}

func writeReply(w http.ResponseWriter, status int, body reply) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(body)
}
