package proxy

import (
	"time"

	"terminalproxy/protocol"
	"terminalproxy/proxy/control"
	"terminalproxy/proxy/secretprompt"
)

// wirePrivacy plugs what keeps secrets from agents between the screen loop, the pump and the link.
func (s *session) wirePrivacy(text *textGate) {
	p := &privacy{
		l: s.loop, text: text, mute: s.piped(), line: s.child.Line, typed: s.writes.Load,
		program: s.child.Chain, arguments: s.child.Arguments, keyed: s.detector.typed.now,
		alone:    s.alone,
		driven:   func() bool { return s.authority.state().Phase == control.Granted },
		announce: func(m *protocol.Blackout) { m.SessionID = s.id; s.link.Send(m) },
		record: func(on bool, why string) {
			if s.recording != nil {
				s.recording.Blackout(on, why)
			}
		},
		asked: func(kind secretprompt.Kind, allow bool) {
			s.pump.Post(func(now time.Time) { s.authority.Guard(now, secretOf[kind], allow) })
		},
	}
	s.loop.privacy = p
	s.authority.secret = func() bool {
		line, err := s.child.Line()
		return secretprompt.Judge(secretprompt.Facts{Known: err == nil, Line: secretprompt.Line(line), Mute: p.mute}) == secretprompt.Hard
	}
	s.authority.spotted = func() { s.loop.post(p.spot) }
	s.authority.allowed = func() { s.loop.post(p.dismiss) }
	s.detector.choose = func(letter byte) bool { return s.authority.Choose(time.Now(), letter) == control.Take }
}

var secretOf = [...]control.Secret{secretprompt.Off: control.NoSecret, secretprompt.Soft: control.SoftSecret, secretprompt.Hard: control.HardSecret}

// observed says whether a gateway is reached, through which agents look.
func (s *session) observed(yes bool) {
	s.status.Observed(yes)
	s.loop.privacy.reached.Store(yes)
	s.loop.signal() // it may have to look at the line settings again
}
