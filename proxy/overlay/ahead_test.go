package overlay

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"terminalproxy/protocol"
	"terminalproxy/proxy/control"
)

// TestARuleIsAnnounced: who, by which token, what, how long and by which rule; the key that it names is the one that refuses.
func TestARuleIsAnnounced(t *testing.T) {
	st := control.State{
		Phase: control.Asked, Agent: control.Agent{ID: "a", Name: "ada", Token: "claude"}, Level: protocol.LevelDrive, Reason: "look", For: 5 * time.Minute,
		From: "gateway mcp under claude", Ahead: control.Ahead{Rule: "config.toml:3", Bound: true},
	}
	s := &Status{conf: Config{Line: true, Key: `Ctrl+\`}, state: st}
	line := s.sentence(time.Now(), 200, 24)
	require.Contains(t, line, "“ada” (token claude, gateway mcp under claude) drives this program in 3 s for 5 min, by your rule at config.toml:3: “look”")
	require.Contains(t, line, `Ctrl+\ refuses`)
	require.NotContains(t, line, "Ctrl+G")
	s.conf.Line = false
	require.Equal(t, `[ada drives this program in 3 s for 5 min: Ctrl+\ refuses]`, s.tag(time.Now()))
	s.state.Level, s.state.Ahead.Bound = protocol.LevelType, false
	require.Equal(t, `[ada types in 3 s for 5 min: Ctrl+\ refuses]`, s.tag(time.Now()))
}

// TestTheSignSaysWhereAnAgentMayNever, and the remark by which rule one drives.
func TestTheSignSaysWhereAnAgentMayNever(t *testing.T) {
	s := New(Config{Line: true, Key: `Ctrl+\`, Repaint: func() {}})
	defer s.Close()
	s.Show(control.State{Phase: control.Granted, Agent: control.Agent{ID: "a", Name: "ada"}, Away: "ssh", Never: "config.toml:7"})
	require.Equal(t, ` ada waits: never in ssh · Ctrl+\ `, s.signs(time.Now())[0])
	require.Equal(t, "[ada waits: never in ssh]", s.tag(time.Now()))
	s.Controlled(control.Event{Granted: true, Rule: "config.toml:3", Agent: control.Agent{Name: "ada"}, Level: protocol.LevelDrive}, "", "")
	require.Contains(t, s.sentence(time.Now(), 120, 24), "ada drives until you take it back by your rule at config.toml:3")
}
