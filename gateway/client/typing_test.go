package client

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"terminalproxy/protocol"
)

// keyboard is a terminal that keeps a list of what was typed.
type keyboard struct {
	frame  protocol.Frame
	inputs []*protocol.Input
	answer func(n int) (*protocol.InputResult, error) // nil: all is written
}

func (k *keyboard) Read(context.Context, *protocol.Read) (*protocol.ReadResult, error) {
	return &protocol.ReadResult{Frame: &k.frame}, nil
}

func (k *keyboard) Input(_ context.Context, m *protocol.Input) (*protocol.InputResult, error) {
	k.inputs = append(k.inputs, m)
	n := len(k.inputs)
	if k.answer != nil {
		if got, err := k.answer(n); got != nil || err != nil {
			return got, err
		}
	}
	seq := k.frame.Seq + uint64(n) //nolint:gosec // small
	return &protocol.InputResult{Status: protocol.StatusWritten, WrittenBytes: m.Size(), FromSeq: seq - 1, Seq: seq, Notes: []string{fmt.Sprint("note ", n)}}, nil
}

// ledger returns what was sent: the kinds with their data, and how long the screen settles after
// each input.
func (k *keyboard) ledger() string {
	var all []string
	for _, m := range k.inputs {
		var parts []string
		for _, p := range m.All() {
			parts = append(parts, fmt.Sprintf("%s %q", p.InputKind, p.Data))
		}
		all = append(all, fmt.Sprintf("%s settle %d", strings.Join(parts, " + "), m.SettleMs))
	}
	return strings.Join(all, ", ")
}

var lineAndEnter = []protocol.InputPart{{InputKind: protocol.InputText, Data: "ls"}, {InputKind: protocol.InputKeys, Data: "enter"}}

func typing() Typing {
	return Typing{
		Session: protocol.SessionInfo{SessionID: "sh-1"}, Parts: lineAndEnter, SettleMs: 300, Deadline: time.Now().Add(time.Minute),
		Mine: func(k protocol.Keyboard) bool { return k.AgentID == "me" },
	}
}

func TestPartsAreOneInput(t *testing.T) {
	rev := uint64(7)
	for holder, epoch := range map[string]uint64{"me": 9, "other": 0} {
		k := &keyboard{frame: protocol.Frame{Seq: 7, Keyboard: protocol.Keyboard{Holder: protocol.HolderAgent, AgentID: holder, Epoch: 9}}}
		k.answer = func(int) (*protocol.InputResult, error) {
			return &protocol.InputResult{Status: protocol.StatusWritten, FromSeq: 8, Parts: []protocol.PartResult{{FromSeq: 8}, {FromSeq: 11}}}, nil
		}
		what := typing()
		what.Rev = &rev
		typed, err := Type(t.Context(), k, what)
		require.NoError(t, err)
		require.Equal(t, `text "ls" + keys "enter" settle 300`, k.ledger())
		require.Equal(t, epoch, k.inputs[0].Epoch, "another's epoch is not ours to use")
		require.Equal(t, &rev, k.inputs[0].Expect.Seq)
		require.Positive(t, k.inputs[0].TimeoutMs)
		require.EqualValues(t, 11, typed.After, "the echo of the text came before Enter")
		require.Equal(t, &k.frame, typed.Before)
	}
}

// A refusal is a receipt; an unknown outcome is none, whether the answer is lost or the gateway does
// not know it either.
func TestRefusedInputHasAReceipt(t *testing.T) {
	lost := errors.New("gone")
	for _, c := range []struct {
		err     error
		refused protocol.Code
	}{
		{&protocol.Error{Code: protocol.CodeNoGrant}, protocol.CodeNoGrant},
		{&protocol.Error{Code: protocol.CodeExited}, protocol.CodeExited},
		{&protocol.Error{Code: protocol.CodeUnavailable}, ""},
		{&protocol.Error{Code: protocol.CodeTimeout}, ""},
		{lost, ""},
	} {
		k := &keyboard{answer: func(int) (*protocol.InputResult, error) { return nil, c.err }}
		typed, err := Type(t.Context(), k, typing())
		require.NotNil(t, typed)
		if c.refused == "" {
			require.ErrorIs(t, err, c.err)
			require.Nil(t, typed.Result)
			continue
		}
		require.NoError(t, err)
		require.Equal(t, protocol.StatusRefused, typed.Result.Status)
		require.Equal(t, c.refused, typed.Result.Reason)
	}
}

func TestInputThatNoGatewayTakesIsNotSent(t *testing.T) {
	for say, parts := range map[string][]protocol.InputPart{
		"the limit is 49152":     {{Data: strings.Repeat("x", 50<<10)}},
		"too much for one input": {{Data: strings.Repeat("\x01", 12<<10)}},
		"must be one of":         {{Data: "ok"}, {Data: "x", InputKind: "nonsense"}},
	} {
		k := &keyboard{}
		what := typing()
		what.Parts = parts
		typed, err := Type(t.Context(), k, what)
		require.ErrorContains(t, err, say)
		require.Nil(t, typed)
		require.Empty(t, k.inputs)
	}
}

// If the grant leaves Enter to the user, the deadline moves, for the caller's own grant only.
func TestTheUserGetsTime(t *testing.T) {
	for _, c := range []struct {
		name  string
		who   string
		level protocol.Level
		held  time.Duration
		moved bool
	}{
		{"type", "me", protocol.LevelType, time.Hour, true},
		{"drive", "me", protocol.LevelDrive, time.Hour, false},
		{"another's", "other", protocol.LevelType, time.Hour, false},
		{"not wanted", "me", protocol.LevelType, 0, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			k := &keyboard{frame: protocol.Frame{Keyboard: protocol.Keyboard{Holder: protocol.HolderAgent, AgentID: c.who, Level: c.level}}}
			what := typing()
			what.Held = c.held
			typed, err := Type(t.Context(), k, what)
			require.NoError(t, err)
			require.Equal(t, c.moved, typed.Held)
			require.Equal(t, c.moved, k.inputs[0].TimeoutMs > time.Minute.Milliseconds(), "%d", k.inputs[0].TimeoutMs)
		})
	}
}
