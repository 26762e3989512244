package overlay

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"terminalproxy/protocol"
	"terminalproxy/proxy/consent/control"
)

// The announcement says who, by which token, what, for how long and by which rule; the key that it
// names refuses.
func TestARuleIsAnnounced(t *testing.T) {
	st := control.State{
		Phase: control.Asked, Agent: control.Agent{ID: "a", Name: "ada", Token: "claude"}, Level: protocol.LevelDrive, Reason: "look", For: 5 * time.Minute,
		AskingProgram: "gateway mcp under claude", RuleGrant: control.RuleGrant{Rule: "config.toml:3", OneProgram: true},
	}
	s := &Status{wording: wording{conf: Config{Line: true, Reclaim: `Ctrl+\`, Grant: `Ctrl+G`}, state: st}}
	line := s.lineLocked(time.Now(), 200, 24)
	require.Contains(t, line, "“ada” (token claude, gateway mcp under claude) drives this program in 3 s for 5 min, by your rule at config.toml:3: “look”")
	require.Contains(t, line, `Ctrl+\ refuses`)
	require.NotContains(t, line, "Ctrl+G")
	s.conf.Line = false
	require.Equal(t, `[ada drives this program in 3 s for 5 min: Ctrl+\ refuses]`, s.titleTag(time.Now()))
	s.state.Level, s.state.RuleGrant.OneProgram = protocol.LevelType, false
	require.Equal(t, `[ada types in 3 s for 5 min: Ctrl+\ refuses]`, s.titleTag(time.Now()))
}

// An announcement does not count on a terminal without room for it, or without line and title.
func TestAnUnreadableAnnouncementDoesNotCount(t *testing.T) {
	st := control.State{
		Phase: control.Asked, Agent: control.Agent{ID: "a", Name: "ada", Token: "claude"}, Level: protocol.LevelDrive, Reason: strings.Repeat("look ", 40),
		AskingProgram: "gateway mcp under claude", RuleGrant: control.RuleGrant{Rule: "config.toml:3"}, Question: 4,
	}
	for _, c := range []struct {
		conf       Config
		cols, rows int
		question   uint64
	}{
		{Config{Line: true}, 80, 24, 4},
		{Config{Line: true}, 80, 4, 4},
		{Config{Line: true}, 40, 24, 4},
		{Config{Line: true}, 80, 1, 0},
		{Config{Line: true}, 80, 2, 0},
		{Config{Line: true, Title: true}, 10, 4, 0},
		{Config{Title: true}, 80, 1, 4},
		{Config{}, 80, 24, 0},
	} {
		c.conf.Reclaim, c.conf.Grant = `Ctrl+\`, `Ctrl+G`
		s := &Status{wording: wording{conf: c.conf, state: st}}
		_, _, _, question := s.composeNow(time.Now(), c.cols, c.rows, "")
		require.Equal(t, c.question, question, "%+v", c)
		s.state.RuleGrant = control.RuleGrant{}
		_, _, _, question = s.composeNow(time.Now(), c.cols, c.rows, "")
		require.EqualValues(t, 4, question, "what is only asked gives nothing by itself")
	}
}

// The remark says by which rule an agent drives.
func TestTheSignSaysWhereAnAgentMayNever(t *testing.T) {
	s := New(Config{Line: true, Reclaim: `Ctrl+\`, Grant: `Ctrl+G`, Repaint: func() {}})
	defer s.Close()
	s.ShowState(control.State{Phase: control.Granted, Agent: control.Agent{ID: "a", Name: "ada"}, OtherProgram: "ssh", NeverRule: "config.toml:7"})
	require.Equal(t, ` ada waits: never in ssh · Ctrl+\ `, s.signForms(time.Now())[0])
	require.Equal(t, "[ada waits: never in ssh]", s.titleTag(time.Now()))
	s.ShowControlChange(control.Event{Granted: true, Rule: "config.toml:3", Agent: control.Agent{Name: "ada"}, Level: protocol.LevelDrive}, "", "")
	require.Contains(t, s.lineLocked(time.Now(), 120, 24), "ada drives until you take it back by your rule at config.toml:3")
}
