package proxy

import (
	"context"
	"time"

	"terminalproxy/proxy/talk"
)

// wireTalk plugs the conversation, if there is one.
func (s *session) wireTalk(agent *AgentConfig) {
	if agent.Chat == nil {
		return
	}
	s.talk = talk.New(talk.Config{
		SessionID: s.id, Chat: agent.Chat.Session, Link: s.link, Log: s.log,
		Redact: func(text string) string { return s.observer.Redact(text, -1) },
	})
}

// startTalk begins the conversation, when the program runs.
func (s *session) startTalk() {
	if s.talk == nil {
		return
	}
	if err := s.talk.Start(); err != nil { // its state tells who follows
		s.log.Warn("the conversation did not start", "error", err)
	}
}

// endTalk ends it, when the program has ended.
func (s *session) endTalk() {
	if s.talk == nil {
		return
	}
	back, stop := context.WithTimeout(context.Background(), linkPatience)
	defer stop()
	s.link.Await(back)
	s.talk.Close()
}

// followed says that there is a way to those who may follow the conversation.
func (s *session) followed() {
	if s.talk != nil {
		s.talk.Reached()
	}
}

// unfollowed says that the way to those who follow the conversation was lost. They come again.
func (s *session) unfollowed() {
	if s.talk != nil {
		s.talk.Unsubscribe()
	}
}

// hidesTalk says that the user hides the screen, or shows it.
func (s *session) hidesTalk(now time.Time, on bool) {
	if s.talk != nil {
		s.talk.Hide(now, on)
	}
}
