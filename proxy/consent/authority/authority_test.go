package authority

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"terminalproxy/protocol"
	"terminalproxy/proxy/consent/control"
)

// stagedSession is a session around an authority.
type stagedSession struct {
	front control.Foreground
	asks  bool // for a secret
	never string
	// message is set while an agent's message is on the screen.
	message bool
	said    []string
	told    func(e control.Event)
}

func (s *stagedSession) ForegroundProgram() control.Foreground  { s.say("front?"); return s.front }
func (s *stagedSession) NeverRule(control.Agent) (string, bool) { return s.never, s.never != "" }
func (s *stagedSession) AsksForSecret() bool                    { return s.asks }
func (s *stagedSession) DialogError(string) error               { return nil }
func (s *stagedSession) OpenReply(time.Time) bool               { return s.message }
func (s *stagedSession) NoteSecretSeen()                        { s.say("secret seen") }
func (s *stagedSession) NoteSecretDismissed()                   { s.say("secret dismissed") }
func (s *stagedSession) NoteLineShared()                        { s.say("line shared") }
func (s *stagedSession) NoteTyped()                             { s.say("typed") }
func (s *stagedSession) NoteTypedElsewhere(by string)           { s.say("typed by " + by) }

func (s *stagedSession) StateChanged(control.State) { s.say("state") }

func (s *stagedSession) ControlChanged(e control.Event) {
	s.say("control")
	if s.told != nil {
		s.told(e)
	}
}

func (s *stagedSession) say(what string) { s.said = append(s.said, what) }

// heard returns what the session was asked and told since the last time.
func (s *stagedSession) heard() []string {
	said := s.said
	s.said = nil
	return said
}

// driven is an authority under which agent a drives.
func driven(t *testing.T, s *stagedSession, oneProgram bool) (a *Authority, now time.Time) {
	t.Helper()
	a, now = New(control.Config{Keyboard: true, OneProgram: oneProgram}, s), time.Now()
	require.NoError(t, a.Request(now, control.Request{ID: "r", Agent: control.Agent{ID: "a"}, Level: protocol.LevelDrive}))
	a.NoteShown(now, a.Shown().Turn)
	now = now.Add(time.Second)
	require.True(t, a.NoteGrantKey(now, false))
	a.PublishChanges(now, 0, 0)
	s.heard()
	return a, now
}

// The grant key answers a message on the screen, and pauses no agent. In a text it is the program's.
func TestTheGrantKeyAnswersAMessage(t *testing.T) {
	s := &stagedSession{}
	a, now := driven(t, s, false)
	s.message, now = true, now.Add(time.Minute)
	require.True(t, a.NoteGrantKey(now, false))
	require.False(t, a.State(now).Paused)
	require.False(t, a.NoteGrantKey(now, true))
}

// The line settings are checked before each piece, and the user's key lets the agent go on.
func TestAnUnannouncedPromptStopsInputR26(t *testing.T) {
	s := &stagedSession{}
	a, now := driven(t, s, false)
	require.NoError(t, a.CheckInput(now, "a", a.Epoch()))
	s.asks, now = true, now.Add(time.Minute)
	require.ErrorIs(t, a.CheckInput(now, "a", a.Epoch()), control.ErrSecret)
	require.Equal(t, []string{"secret seen"}, s.heard())
	require.ErrorIs(t, a.State(now).PauseError(), control.ErrSecret)
	a.NoteShown(now, a.Shown().Turn)
	require.True(t, a.NoteGrantKey(now.Add(time.Second), false))
	require.Equal(t, []string{"secret dismissed"}, s.heard())
	require.NoError(t, a.CheckInput(now.Add(time.Second), "a", a.Epoch()))
}

// The authority checks the program in front only for a grant that is limited to one program.
func TestAGrantForOneProgramChecksTheForeground(t *testing.T) {
	s := &stagedSession{front: control.Foreground{Group: 7, Name: "vim"}}
	a, now := driven(t, s, true)
	require.NoError(t, a.CheckInput(now, "a", a.Epoch()))
	require.Equal(t, []string{"front?"}, s.heard())
	s.front = control.Foreground{Group: 8, Name: "sh"}
	_ = a.CheckInput(now, "a", a.Epoch())
	require.True(t, a.IsPausedByProgram())
	s.front.Group, s.front.Name = 7, "vim"
	a.Tick(now)
	require.False(t, a.IsPausedByProgram(), "nothing announces that it is back")

	a, now = driven(t, s, false)
	require.NoError(t, a.CheckInput(now, "a", a.Epoch()))
	a.Tick(now)
	require.Empty(t, s.heard())
}

// The authority is told of the user's keys for the program, and of the key that shares the line.
func TestTheUsersKeysAreReported(t *testing.T) {
	s := &stagedSession{}
	a, now := driven(t, s, false)
	now = now.Add(time.Minute)
	a.OccupyLine(now, "ls", "")
	a.NoteShown(now, a.Shown().Turn)
	require.True(t, a.NoteGrantKey(now.Add(time.Second), false))
	require.Equal(t, []string{"line shared"}, s.heard())
	a.NoteKey(now.Add(2 * time.Second))
	require.Equal(t, []string{"typed"}, s.heard())
	a.ReclaimKey(now.Add(3 * time.Second))
	a.PublishChanges(now.Add(3*time.Second), 2, 5)
	require.Equal(t, []string{"control", "state"}, s.heard())
	require.Equal(t, 5, a.LastEnd().Unsubmitted)
	require.False(t, a.NoteGrantKey(now.Add(time.Minute), false))
	require.Equal(t, []string{"typed"}, s.heard(), "the key is the program's")
}

// A grant that ran out while the computer slept ends before the next piece of an agent's input, and
// before the user's key could give more.
func TestAWokenComputerWritesNothingR70(t *testing.T) {
	slept := time.Hour // long ago
	made := func() *Authority {
		a := New(control.Config{Keyboard: true}, &stagedSession{})
		a.slept.total = func() time.Duration { return slept }
		return a
	}
	now := time.Now()
	ask := control.Request{ID: "r", Agent: control.Agent{ID: "a"}, Level: protocol.LevelDrive}
	granted := func() *Authority {
		a := made()
		slept += time.Hour // while no one asked: that is not a grant's time
		require.NoError(t, a.Request(now, ask))
		a.NoteShown(now, a.Shown().Turn)
		require.True(t, a.NoteGrantKey(now.Add(time.Second), false))
		require.NoError(t, a.CheckInput(now.Add(time.Minute), "a", a.Epoch()))
		return a
	}
	later := now.Add(time.Minute)
	for name, look := range map[string]func(a *Authority) bool{
		"a piece of input": func(a *Authority) bool { return a.CheckInput(later, "a", a.Epoch()) == nil },
		"the pump's turn":  func(a *Authority) bool { a.Tick(later); return a.IsDriven() },
	} {
		a := granted()
		slept += 5 * time.Minute
		require.True(t, look(a), "%s: there is some left", name)
		slept += 5 * time.Minute
		require.False(t, look(a), name)
		require.Equal(t, protocol.ReasonExpired, a.LastEnd().Reason)
	}
	a := granted()
	next, ok := a.NextTick(later)
	require.True(t, ok)
	require.Equal(t, later.Add(wakeEvery), next, "so that the user sees it soon")

	a = made()
	require.NoError(t, a.Request(now, ask))
	a.NoteShown(now, a.Shown().Turn)
	slept += time.Hour
	a.NoteGrantKey(later, false)
	require.False(t, a.IsDriven(), "the question was over in the night")
	_, ok = a.NextTick(later)
	require.False(t, ok, "an idle session is not woken")
}

// An agent that types as soon as it hears of its grant types under it.
func TestAGrantIsInForceWhenItIsReported(t *testing.T) {
	s := &stagedSession{}
	a := New(control.Config{Keyboard: true}, s)
	told := 0
	s.told = func(e control.Event) {
		told++
		require.Equal(t, e.Granted, a.NewestState().Phase == control.Granted)
		if e.Granted {
			require.Equal(t, e.Epoch, a.NewestState().Epoch)
		}
	}
	now := time.Now()
	require.NoError(t, a.Request(now, control.Request{ID: "r", Agent: control.Agent{ID: "a"}, Level: protocol.LevelDrive}))
	a.PublishChanges(now, 0, 0)
	a.NoteShown(now, a.Shown().Turn)
	a.NoteGrantKey(now.Add(time.Second), false)
	a.PublishChanges(now, 0, 0)
	a.ReclaimKey(now.Add(time.Second))
	a.PublishChanges(now, 0, 0)
	require.Equal(t, 2, told)
}

// A grant pauses in front of a program that a rule forbids, and a request there is refused without
// a question.
func TestNeverIsLookedAtBeforeEveryPiece(t *testing.T) {
	s := &stagedSession{front: control.Foreground{Group: 7, Name: "ssh"}}
	a, now := driven(t, s, false)
	require.NoError(t, a.CheckInput(now, "a", a.Epoch()))
	s.never = "c:9"
	require.NoError(t, a.CheckInput(now, "a", a.Epoch()))
	require.True(t, a.IsPausedByProgram(), "the pump holds it")
	require.Equal(t, "ssh", a.State(now).OtherProgram)
	require.ErrorContains(t, a.Request(now, control.Request{ID: "2", Agent: control.Agent{ID: "a"}, Level: protocol.LevelType}), "the user's rule (c:9) never")
	s.never = ""
	a.Tick(now)
	require.False(t, a.IsPausedByProgram())
}

// The program is checked when the announcement is over.
func TestAnAnnouncedProgramIsLookedAt(t *testing.T) {
	for group, given := range map[int]bool{7: true, 8: false} {
		front := control.Foreground{Group: 7, Name: "psql", File: "1:1"}
		s := &stagedSession{front: front}
		a, now := New(control.Config{Keyboard: true}, s), time.Now()
		require.NoError(t, a.Request(now, control.Request{
			ID: "r", Agent: control.Agent{ID: "a", Token: "a"}, Level: protocol.LevelDrive,
			RuleGrant: control.RuleGrant{Rule: "c:1", Level: protocol.LevelDrive, For: time.Minute, OneProgram: true, Foreground: front},
		}))
		require.True(t, a.IsAnnounced())
		a.NoteShown(now, a.Shown().Turn)
		s.front.Group = group
		a.Tick(now.Add(control.AnnounceFor))
		require.Equal(t, given, a.IsDriven())
	}
}

// program is a program that a grant is limited to, with what its comeback needs.
type program struct {
	waits        bool
	looks, anews int
}

func (p *program) IsBack(time.Time) bool { p.looks++; return p.waits }
func (p *program) Reset()                { p.anews++ }

// A program is back when it waits for input, and never while it does not have the terminal.
func TestAProgramComesBack(t *testing.T) {
	s := &stagedSession{front: control.Foreground{Group: 7, Name: "ssh"}}
	a, now := driven(t, s, false)
	p := &program{}
	back := a.ComebackTest(p)
	require.False(t, back(now))
	require.Equal(t, program{looks: 1}, *p)
	p.waits = true
	require.True(t, back(now))
	require.Equal(t, program{waits: true, looks: 2, anews: 1}, *p)
	s.never = "c:9"
	require.False(t, back(now))
	require.Equal(t, program{waits: true, looks: 2, anews: 2}, *p, "it is elsewhere: nobody looks at it")
}
