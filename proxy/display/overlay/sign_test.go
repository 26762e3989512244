package overlay

import (
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"terminalproxy/protocol"
	"terminalproxy/proxy/consent/control"
)

// The sign says who, what, for how long, and who else asks.
func TestTheWordsOfTheSignR69(t *testing.T) {
	now := time.Now()
	for _, c := range []struct {
		want  string
		state control.State
	}{
		{` claude drives · Ctrl+\ `, control.State{Level: protocol.LevelDrive}},
		{` claude types · Ctrl+\ `, control.State{Level: protocol.LevelType}},
		{` claude drives 10 min · Ctrl+\ `, control.State{Level: protocol.LevelDrive, Until: now.Add(10 * time.Minute)}},
		{` claude drives 9 min · Ctrl+\ `, control.State{Level: protocol.LevelDrive, Until: now.Add(8*time.Minute + time.Second)}},
		{` claude drives <1 min · Ctrl+\ `, control.State{Level: protocol.LevelDrive, Until: now.Add(time.Second)}},
		{` claude drives 1 h 30 min · Ctrl+\ `, control.State{Level: protocol.LevelDrive, Until: now.Add(90 * time.Minute)}},
		{` claude paused 10 min · Ctrl+\ `, control.State{Level: protocol.LevelDrive, Paused: true, Until: now.Add(10 * time.Minute)}},
		{` claude waits for vim · Ctrl+\ `, control.State{Level: protocol.LevelDrive, Program: "vim", OtherProgram: "sh"}},
		{` claude drives · codex asks · Ctrl+\ `, control.State{Level: protocol.LevelDrive, Asking: 1, NewestAsking: control.Request{Agent: control.Agent{Name: "codex"}}}},
	} {
		s := New(Config{Line: true, Reclaim: `Ctrl+\`, Grant: `Ctrl+G`, Repaint: func() {}})
		defer s.Close()
		c.state.Phase, c.state.Agent = control.Granted, control.Agent{ID: "a", Name: "claude"}
		s.ShowState(c.state)
		require.Equal(t, c.want, s.signForms(now)[0])
	}
	s := New(Config{Line: true, Reclaim: `Ctrl+\`, Grant: `Ctrl+G`, Repaint: func() {}})
	require.Empty(t, s.signForms(now), "nobody drives")
	s.ShowState(control.State{Phase: control.Asked, Agent: control.Agent{ID: "a", Name: "claude"}})
	require.Empty(t, s.signForms(now))
	s = New(Config{Reclaim: `Ctrl+\`, Grant: `Ctrl+G`, Repaint: func() {}})
	s.ShowState(control.State{Phase: control.Granted})
	require.Empty(t, s.signForms(now), "no line is wanted")
}

// It does not wake at all without a grant, or if the grant has no end.
func TestTheSignWakesOnceAMinuteR69(t *testing.T) {
	for want, state := range map[int]control.State{
		9: {Phase: control.Granted, Until: time.Now().Add(10 * time.Minute)}, 0: {Phase: control.Granted}, -1: {},
	} {
		synctest.Test(t, func(t *testing.T) {
			var wakes atomic.Int64
			var s *Status
			s = New(Config{Line: true, Reclaim: `Ctrl+\`, Grant: `Ctrl+G`, Repaint: func() { wakes.Add(1); go s.signForms(time.Now()) }})
			defer s.Close()
			if !state.Until.IsZero() {
				state.Until = time.Now().Add(10 * time.Minute)
			}
			s.ShowState(state)
			synctest.Wait()
			wakes.Store(0)
			time.Sleep(9*time.Minute + 59*time.Second)
			synctest.Wait()
			require.EqualValues(t, max(want, 0), wakes.Load())
		})
	}
}

// It goes for a second.
func TestTheSignOverTextGoesForAKeyR69(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var repaints atomic.Int64
		s := New(Config{Line: true, Reclaim: `Ctrl+\`, Grant: `Ctrl+G`, Repaint: func() { repaints.Add(1) }})
		defer s.Close()
		s.ShowState(control.State{Phase: control.Granted, Agent: control.Agent{ID: "a", Name: "claude"}})
		s.DismissRemark()
		require.True(t, s.maySignCover(time.Now(), false))
		require.True(t, s.maySignCover(time.Now(), true))
		repaints.Store(0)
		s.DismissRemark()
		require.EqualValues(t, 1, repaints.Load())
		require.False(t, s.maySignCover(time.Now(), true))
		require.True(t, s.maySignCover(time.Now(), false), "elsewhere it is in nobody's way")
		s.maySignCover(time.Now(), true)
		time.Sleep(hideFor)
		synctest.Wait()
		require.EqualValues(t, 2, repaints.Load())
		require.True(t, s.maySignCover(time.Now(), true))
	})
}

// It is told once, not with each key, and never replaces another remark.
func TestAPagesTypingIsAnnounced(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var painted atomic.Int32
		s := New(Config{Line: true, Reclaim: `Ctrl+\`, Grant: `Ctrl+G`, Repaint: func() { painted.Add(1) }})
		defer s.Close()
		line := func() string {
			line, _, _, _ := s.composeNow(time.Now(), 80, 24, "")
			return line
		}
		for range 50 {
			s.ShowRemoteTyping("ada")
			time.Sleep(10 * time.Millisecond)
		}
		require.Contains(t, line(), `ada types from a page; Ctrl+\ keeps pages out for 10 s`)
		require.EqualValues(t, 1, painted.Load())
		time.Sleep(RemarkFor)
		s.ShowRemoteTyping("ada")
		time.Sleep(NoteFor - time.Second)
		require.Contains(t, line(), "ada types")
		time.Sleep(time.Second)
		require.Empty(t, line())
		s.ShowText("time is up")
		s.ShowRemoteTyping("ada")
		require.Contains(t, line(), "time is up")
	})
}

// The remark says by which rule an agent drives.
func TestTheSignSaysWhereAnAgentMayNever(t *testing.T) {
	s := New(Config{Line: true, Reclaim: `Ctrl+\`, Grant: `Ctrl+G`, Repaint: func() {}})
	defer s.Close()
	s.ShowState(control.State{Phase: control.Granted, Agent: control.Agent{ID: "a", Name: "ada"}, OtherProgram: "ssh", NeverRule: "config.toml:7"})
	require.Equal(t, ` ada waits: never in ssh · Ctrl+\ `, s.signForms(time.Now())[0])
	require.Equal(t, "[ada waits: never in ssh]", s.titleTag(time.Now()))
	s.ShowControlChange(control.Event{Granted: true, Rule: "config.toml:3", Agent: control.Agent{Name: "ada"}, Level: protocol.LevelDrive}, "", "", "")
	require.Contains(t, line(s, 120, 24), "ada drives until you take it back by your rule at config.toml:3")
}
