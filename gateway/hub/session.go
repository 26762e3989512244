package hub

import (
	"crypto/sha256"
	"crypto/subtle"
	"fmt"
	"strings"
	"time"

	"terminalproxy/protocol"
)

// sendToProxy sends m to the session's proxy, if it is connected. m may be nil.
func (s *session) sendToProxy(m protocol.Message) {
	if s.owner != nil && m != nil {
		s.owner.out.put(m)
	}
}

// setProxy makes a proxy's connection the session's owner; nil removes it.
func (s *session) setProxy(p *Peer) {
	if s.owner != nil {
		delete(s.owner.ownSessions, s)
	}
	if s.owner = p; p != nil {
		p.ownSessions[s] = struct{}{}
	}
}

// matchesResumeKey compares with the session's resume key. A session without one cannot be taken
// over.
func (s *session) matchesResumeKey(resumeKey string) bool {
	sum := sha256.Sum256([]byte(resumeKey))
	return s.hasResumeKey && subtle.ConstantTimeCompare(sum[:], s.resume[:]) == 1
}

// isRemoteSecret reports whether m asks for a secret in a session whose proxy is not the user's own
// process on this machine. Another person could answer there.
func (s *session) isRemoteSecret(m protocol.Message) bool {
	if _, asks := m.(*protocol.SecretAsk); !asks {
		return false
	}
	return s.owner == nil || !s.owner.member.Local
}

// addAsker records an agent that asked for control or wrote to the user.
func (s *session) addAsker(agentID string) {
	if len(s.askers) < maxAskers {
		s.askers[agentID] = true
	}
}

// infoOf returns the public part of a session: without the resume key, and bounded in size.
func infoOf(m *protocol.SessionOpen) protocol.SessionInfo {
	const most = 2048
	args, room := make([]string, 0, len(m.Args)), most
	for _, a := range m.Args {
		if room -= len(a); room < 0 {
			args = append(args, "…")
			break
		}
		args = append(args, a)
	}
	return protocol.SessionInfo{
		SessionID: m.SessionID, Name: m.Name, Command: shorten(m.Command, most), Args: args,
		Cwd:  shorten(m.Cwd, most),
		Cols: m.Cols, Rows: m.Rows, Pid: m.Pid, StartedAt: m.StartedAt,
		ParentSessionID: m.ParentSessionID,
		Headless:        m.Headless, State: protocol.StateRunning,
	}
}

func shorten(s string, most int) string {
	if len(s) <= most {
		return s
	}
	return strings.ToValidUTF8(s[:most], "") + "…"
}

// idleMs returns the time since the last visible change, in milliseconds.
func (s *session) idleMs() int64 {
	if s.newest == nil {
		return 0
	}
	return s.newest.IdleMs + time.Since(s.newestAt).Milliseconds()
}

// datedCopy is a snapshot with its times as of one moment.
type datedCopy struct {
	m, of  *protocol.Snapshot
	hidden *protocol.Hidden
	at     time.Time
}

// sameFor is how long subscribers share one dated copy, so its times are at most that old.
const sameFor = 10 * time.Millisecond

// currentSnapshot returns the newest snapshot with times as of now, or nil. All receivers share one
// message.
func (s *session) currentSnapshot() *protocol.Snapshot {
	if s.newest == nil {
		return nil
	}
	if n := &s.current; n.of != s.newest || n.hidden != s.blackout || time.Since(n.at) >= sameFor {
		out := *s.newest
		out.IdleMs, out.Blackout = s.idleMs(), s.currentBlackout()
		*n = datedCopy{m: out.Share(s.newest), of: s.newest, hidden: s.blackout, at: time.Now()}
	}
	return s.current.m
}

// currentBlackout returns a copy with the duration as of now.
func (s *session) currentBlackout() *protocol.Hidden {
	if s.blackout == nil {
		return nil
	}
	w := *s.blackout
	w.SinceMs += time.Since(s.blackoutAt).Milliseconds()
	return &w
}

// lastFrame returns the last screen of an ended session.
func (s *session) lastFrame() *protocol.Frame {
	f := &protocol.Frame{
		Seq: s.info.Seq, Keyboard: s.keyboard, IdleMs: s.idleMs(), Settled: true,
		Activity: &protocol.Activity{
			State: protocol.StateExited, Evidence: []string{"exit"}, SinceMs: s.idleMs(),
			ExitCode: &s.info.ExitCode, Signal: s.info.Signal,
		},
		Blackout: s.currentBlackout(),
	}
	if s.newest != nil && s.newest.Screen != nil {
		f.Screen, f.Redactions, f.HiddenText = *s.newest.Screen, s.newest.Redactions, s.newest.HiddenText
		if s.past != nil {
			f.Line, f.Screen.Scrollback = s.past.NextLine, int(s.past.NextLine-s.past.Oldest()) //nolint:gosec // rows of a message
		}
		return f
	}
	f.Screen = protocol.Screen{
		Cols: s.info.Cols, Rows: s.info.Rows, Lines: make([]string, s.info.Rows),
	}
	return f
}

// exitText describes how the program ended.
func (s *session) exitText() string {
	how := fmt.Sprintf("ended with exit status %d", s.info.ExitCode)
	if s.info.Signal != "" {
		how = "was ended by " + s.info.Signal
	}
	return fmt.Sprintf("the program of session %s %s; what it printed can be read", s.key.id, how)
}
