package proxy

import (
	"crypto/rand"
	"os"
	"path/filepath"
	"strings"
	"time"

	"terminalproxy/protocol"
	"terminalproxy/proxy/chat/stdio"
	"terminalproxy/proxy/consent/control"
	"terminalproxy/proxy/consent/names"
	"terminalproxy/proxy/display/notice"
	"terminalproxy/proxy/display/overlay"
	"terminalproxy/proxy/link"
	"terminalproxy/proxy/terminal/child"
)

// SessionVariable names the environment variable that tells a program inside a session the
// session's id.
const SessionVariable = "TERMINALPROXY_SESSION"

func (s *session) assignIdentity() {
	agent := s.conf.Agent
	if agent == nil {
		return
	}
	named := *agent
	if named.Name == "" {
		named.Name = filepath.Base(s.conf.Command)
	}
	s.conf.Agent = &named
	s.id = names.NewSessionID(named.Name)
	s.resumeKey = strings.ToLower(rand.Text() + rand.Text())[:32]
}

// programDir returns the directory in which the program starts.
func (s *session) programDir() string {
	if s.conf.headless != nil {
		return s.conf.headless.Dir
	}
	dir, err := os.Getwd()
	if err != nil {
		return ""
	}
	return dir
}

// programEnvironment returns our environment without the gateway's secrets and with the session's
// id, by which a proxy inside notices that it is inside.
func (s *session) programEnvironment() []string {
	if s.conf.Agent == nil {
		return nil
	}
	var env []string
	if h := s.conf.headless; h != nil {
		env = h.Environment()
	} else {
		env = child.WithoutVariable(os.Environ(), "PROXY_TOKEN_FILE")
	}
	if chat := s.conf.Agent.Chat; chat != nil {
		env = child.WithVariables(stdio.DropAgentVariables(env), chat.Env...)
	}
	return child.WithVariables(env, SessionVariable+"="+s.id)
}

// openMessage publishes the session.
func (s *session) openMessage() protocol.Message {
	cols, rows := s.terminalSize()
	return &protocol.SessionOpen{
		ID:              protocol.NewID(),
		SessionID:       s.id,
		Name:            s.conf.Agent.Name,
		Command:         s.conf.Command,
		Args:            s.shownArguments(),
		Cwd:             s.observer.Redact(s.programDir(), -1),
		Cols:            cols,
		Rows:            rows,
		Pid:             s.child.Pid(),
		StartedAt:       s.started.UnixMilli(),
		ParentSessionID: s.conf.Agent.Parent,
		Headless:        s.conf.headless != nil,
		ResumeKey:       s.resumeKey,
		AgentID:         s.starterID(),
		Chat:            s.talk != nil,
		Asks:            s.conf.Agent.Chat != nil,
	}
}

// starterID returns the id of the agent that started the session, "" for a user's session.
func (s *session) starterID() string {
	if s.conf.headless == nil {
		return ""
	}
	return s.conf.headless.Agent().ID
}

// shownArguments returns the program's arguments as agents see them.
func (s *session) shownArguments() []string {
	return redactArguments(s.conf.Command, s.conf.Args, func(text string) string {
		return s.observer.Redact(text, -1)
	})
}

// redactArguments masks the arguments of a program one by one. The value of a flag is also judged
// together with that, as "--password secret" is one thing in two arguments.
func redactArguments(command string, args []string, redact func(string) string) []string {
	out := make([]string, len(args))
	for i, arg := range args {
		out[i] = redact(arg)
		if i == 0 || out[i] != arg || !strings.HasPrefix(args[i-1], "-") ||
			strings.HasPrefix(arg, "-") {
			continue
		}
		for _, lead := range []string{
			args[i-1] + "=",
			filepath.Base(command) + " " + args[i-1] + " ",
		} {
			if value, ok := strings.CutPrefix(redact(lead+arg), lead); ok && value != arg {
				out[i] = value
				break
			}
		}
	}
	return out
}

// linkConfig plugs the link.
func (s *session) linkConfig(agent *AgentConfig) link.Config {
	conf := link.Config{
		Dial:   agent.Dial,
		Join:   agent.Join,
		URL:    agent.URL,
		Header: agent.Header,
		Log:    s.log,
		Hello:  s.helloMessages,
		Handle: s.handleMessage,
		Others: agent.Others,
		Moved:  s.announceGateway,
		Skipped: func(gateway string, why error) {
			s.status.ShowRemark(notice.Clean(gateway+" is skipped: "+why.Error(), 200),
				overlay.TroubleFor)
		},
		Urgent: func() bool { return s.authority.NewestState().Phase == control.Granted },
		Up:     func() { s.setReached(true); s.talk.SendState(); s.welcome() },
		Trouble: func(err error) {
			s.setReached(false)
			s.status.ShowRemark(
				"agents cannot see this session (trying again): "+notice.Clean(err.Error(), 200),
				overlay.TroubleFor,
			)
		},
		Down: func() {
			s.observer.SetGatewayReached(false)
			s.observer.SetSubscribed(false)
			s.events.NoteUnreached()
			s.talk.Unsubscribe()
			s.requests.CancelUnheard()
			s.observer.Post(func(now time.Time) { s.observer.SetViewed(now, false) })
			s.pump.Post(func(now time.Time) {
				s.authority.End(now, protocol.ReasonLink)
				s.desk.LoseGateway(now)
			})
		},
	}
	if s.conf.headless != nil {
		conf = s.hostedLink(conf)
	}
	return conf
}

// announceGateway tells the user that agents observe through another gateway now.
func (s *session) announceGateway(to string, together bool) {
	if together {
		s.status.ShowText("agents see this session at " + to + " now")
		return
	}
	s.status.ShowRemark(
		"agents see this session at "+to+" now, as a new one: that gateway knows nothing of "+
			"the one before", overlay.TroubleFor,
	)
}

// helloMessages returns what a gateway is told first. Until it says otherwise, a subscriber is
// assumed.
func (s *session) helloMessages() []protocol.Message {
	s.observer.SetSubscribed(true)
	return []protocol.Message{s.openMessage()}
}

// handleMessage handles a message from the gateway.
func (s *session) handleMessage(m protocol.Message) {
	noteMemoryUse()
	s.events.Handle(m)
	s.requests.Handle(m)
}

// setReached notes whether a gateway is reached.
func (s *session) setReached(yes bool) {
	s.status.SetObserved(yes)
	s.observer.SetGatewayReached(yes)
}

// welcome tells the user in the first sessions, once agents can look, that this one is shared.
// Counting waits for the disk, so it has a goroutine of its own, which nothing waits for.
func (s *session) welcome() {
	agent := s.conf.Agent
	if agent.CountStart == nil || agent.NoNotice || s.conf.headless != nil || !s.term.HasScreen() {
		return
	}
	s.welcomed.Do(func() {
		go func() {
			if agent.CountStart() {
				s.status.ShowWelcome()
			}
		}()
	})
}
