package requests

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"terminalproxy/protocol"
	"terminalproxy/proxy/consent/control"
	"terminalproxy/proxy/consent/pump"
)

type silentRecord struct{ Record }

func (silentRecord) RecordWritten([]byte) {}

// Viewers are told in words, but nothing that may answer a secret prompt.
func TestViewersAreToldWhatAnAgentTyped(t *testing.T) {
	s := newStage(nil)
	require.NoError(t, s.machine.Request(time.Now(), control.Request{ID: "q", Agent: control.Agent{ID: "a-1", Name: "claude"}, Level: protocol.LevelDrive}))
	typed := func(written bool, pieces ...string) string {
		s.noted = nil
		in := s.deliveries.newDelivery(&protocol.Input{AgentID: "a-1"}, 0, nil)
		in.record = silentRecord{}
		for _, p := range pieces {
			in.noteWritten([]byte(p))
		}
		in.announceTyped(pump.Receipt{Written: map[bool]int{true: 1}[written]})
		return strings.Join(s.noted, "|")
	}
	require.Equal(t, `claude "make test"<Enter>`, typed(true, "make ", "test", "\r"))
	require.Equal(t, `claude "one\" two"`, typed(true, pasteBegins, `one" two`, pasteEnds))
	require.Equal(t, `claude "•••••"`, typed(true, "token"))
	require.Equal(t, `claude <Ctrl-C><Esc>`, typed(true, "\x03", "\x1b"))
	require.Equal(t, `claude "`+strings.Repeat("x", maxShownBytes)+`"…`, typed(true, strings.Repeat("x", maxShownBytes), "y"))
	require.LessOrEqual(t, len(typed(true, strings.Repeat("\x1b[99z", maxShownBytes/5))), protocol.MaxTyped)
	require.Empty(t, typed(false, "x"))

	s.machine.NoteSecretPrompt(time.Now(), protocol.SecretSoft, false)
	require.Empty(t, typed(true, "hunter2"))
	s.machine.NoteSecretPrompt(time.Now(), protocol.SecretNone, true) // the user lets the agent answer
	require.Empty(t, typed(true, "hunter2"))
	s.machine.NoteSecretPrompt(time.Now(), protocol.SecretNone, false)
	require.Equal(t, `claude "ls"`, typed(true, "ls"))
}
