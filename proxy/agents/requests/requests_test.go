package requests

import (
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"terminalproxy/protocol"
	"terminalproxy/proxy/consent/control"
)

// Every request that needs an answer gets one, even after the program's end.
func TestLateRequestsGetAnAnswer(t *testing.T) {
	s := newStage(nil)
	s.over = true
	for _, m := range []protocol.Message{
		&protocol.Read{RequestID: "r", SessionID: "sh-1"},
		&protocol.Wait{RequestID: "r", SessionID: "sh-1", Until: protocol.Until{Text: "x"}},
		&protocol.ControlRequest{RequestID: "r", SessionID: "sh-1", AgentID: "a-1"},
		&protocol.ControlRelease{RequestID: "r", SessionID: "sh-1", AgentID: "a-1"},
		&protocol.ControlDecide{RequestID: "r", SessionID: "sh-1"},
		&protocol.ControlDecide{RequestID: "r", SessionID: "sh-1", Hide: protocol.HideOn},
		&protocol.Note{RequestID: "r", SessionID: "sh-1", From: protocol.FromUser, Text: "hello"},
		&protocol.Note{RequestID: "r", SessionID: "sh-1", From: protocol.FromAgent, AgentID: "a-1", Text: "hello"},
	} {
		s.mustRefuse(t, protocol.CodeExited, m)
	}
}

// As long as no one is attached who could be asked.
func TestAnAgentNeedNotAskInItsOwnTerminal(t *testing.T) {
	ask := func(agent string) *protocol.ControlRequest {
		return &protocol.ControlRequest{RequestID: "r", SessionID: "sh-1", AgentID: agent, AgentName: "x", Level: protocol.LevelDrive}
	}
	for _, c := range []struct {
		name     string
		own      *stagedOwn
		agent    string
		want     control.Phase
		keyboard bool
	}{
		{"its own", &stagedOwn{}, "a-1", control.Granted, false},
		{"another one's", &stagedOwn{}, "a-2", control.Observing, false},
		{"its own, with a person", &stagedOwn{attached: true}, "a-1", control.Asked, true},
		{"the user's", nil, "a-1", control.Asked, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := newStage(func(conf *Config) {
				if c.own != nil {
					conf.OwnTerminal = c.own
				}
			})
			s.machine.SetAttached(time.Now(), c.keyboard)
			sent := s.handle(ask(c.agent))
			require.Equal(t, c.want, s.machine.Phase())
			if c.want == control.Observing {
				require.Len(t, sent, 1)
				require.Contains(t, sent[0].(*protocol.Error).Message, "this terminal is claude's own, and no person is attached to it: a person attaches with gateway attach")
			}
			if c.own != nil {
				require.Equal(t, 1, c.own.touched)
			}
		})
	}
}

func TestTheRightToCloseASession(t *testing.T) {
	closes := func(agent, signal string) *protocol.Close {
		return &protocol.Close{RequestID: "r", SessionID: "sh-1", AgentID: agent, Signal: signal}
	}
	require.Contains(t, newStage(nil).mustRefuse(t, protocol.CodeForbidden, closes("", "")), "only its user ends it")
	own := &stagedOwn{}
	s := newStage(func(c *Config) { c.OwnTerminal = own })
	s.mustRefuse(t, protocol.CodeForbidden, closes("a-2", ""))
	s.mustRefuse(t, protocol.CodeBadMessage, closes("a-1", "INT"))
	require.False(t, own.stopped)
	s.mustDo(t, closes("a-1", ""))
	require.True(t, own.stopped)
	require.False(t, s.killed)
	s.mustDo(t, closes("", "KILL"))
	require.True(t, s.killed, "a person may, too")
}

// A decision that gives agents more needs an owner's signature of this moment; one that takes away
// needs no signature.
func TestGrantsNeedTheOwnersSignature(t *testing.T) {
	signed := func(change func(m *protocol.ControlDecide)) *protocol.ControlDecide {
		m := &protocol.ControlDecide{
			RequestID: "r", SessionID: "sh-1", Grant: true, Epoch: 1, At: time.Now().UnixMilli(), SignatureB64: []byte("ada"), By: "eve",
		}
		change(m)
		return m
	}
	knows := func(c *Config) {
		c.Owner = func(_, signature []byte) (protocol.Signer, error) {
			if string(signature) != "ada" {
				return protocol.Signer{}, errors.New("no owner signed it")
			}
			return protocol.Signer{Name: "ada"}, nil
		}
	}
	limited := func(c *Config) {
		c.Owner = func(_, _ []byte) (protocol.Signer, error) { return protocol.Signer{Name: "ada", Session: "sh-1"}, nil }
	}
	as := func(*protocol.ControlDecide) {}
	for name, c := range map[string]struct {
		conf   func(c *Config)
		change func(m *protocol.ControlDecide)
		code   protocol.Code
	}{
		"for no epoch":          {knows, func(m *protocol.ControlDecide) { m.Epoch = 0 }, protocol.CodeBadMessage},
		"no owners are known":   {func(*Config) {}, as, protocol.CodeForbidden},
		"of an earlier epoch":   {knows, func(m *protocol.ControlDecide) { m.Epoch = 7 }, protocol.CodeBusy},
		"let in for this one":   {limited, as, ""},
		"the gateway's word":    {func(c *Config) { c.RemoteGrant = true }, func(m *protocol.ControlDecide) { m.SignatureB64, m.Epoch = nil, 0 }, ""},
		"taking back":           {knows, func(m *protocol.ControlDecide) { m.Grant, m.SignatureB64 = false, nil }, ""},
		"showing, not signed":   {knows, func(m *protocol.ControlDecide) { m.Grant, m.Hide, m.SignatureB64 = false, protocol.HideOff, nil }, protocol.CodeForbidden},
		"hiding, nobody signed": {knows, func(m *protocol.ControlDecide) { m.Grant, m.Hide, m.SignatureB64 = false, protocol.HideOn, nil }, ""},
	} {
		t.Run(name, func(t *testing.T) {
			s, m := newStage(c.conf), signed(c.change)
			if c.code != "" {
				s.mustRefuse(t, c.code, m)
			} else {
				s.mustDo(t, m)
			}
			st := s.machine.State(time.Now())
			require.Equal(t, c.code == "" && m.Grant, st.Pregrant)
			require.Equal(t, c.code == "" && m.Hide == protocol.HideOn, st.Hidden)
		})
	}
}

// Muting and refusing need no signature; unmuting needs one, which counts once.
func TestUnmutingNeedsASignature(t *testing.T) {
	s := newStage(func(c *Config) {
		c.Owner = func(_, _ []byte) (protocol.Signer, error) { return protocol.Signer{Name: "ada"}, nil }
	})
	ask := &protocol.ControlRequest{RequestID: "q", SessionID: "sh-1", AgentID: "a-1", AgentName: "claude", Level: protocol.LevelDrive}
	decide := func(change func(m *protocol.ControlDecide)) *protocol.ControlDecide {
		m := &protocol.ControlDecide{RequestID: "r", SessionID: "sh-1", By: "eve", AgentName: "claude"}
		change(m)
		return m
	}
	refuse := decide(func(m *protocol.ControlDecide) { m.Refuse = true })
	s.Handle(ask)
	s.mustDo(t, refuse)
	require.Equal(t, "eve", s.machine.LastEnd().By)
	s.mustDo(t, refuse) // it stops asking
	require.NoError(t, s.machine.GrantFromOwner(time.Now(), control.RemoteGrant{}))
	s.machine.ReclaimKey(time.Now().Add(time.Hour)) // opens no menu: the promise goes

	other := decide(func(m *protocol.ControlDecide) { m.Mute, m.AgentName = protocol.MuteOn, "codex" })
	s.mustRefuse(t, protocol.CodeBusy, other)
	s.mustDo(t, decide(func(m *protocol.ControlDecide) { m.Mute = protocol.MuteOn }))
	require.Equal(t, "claude", s.machine.State(time.Now()).MutedNames)
	s.mustRefuse(t, protocol.CodeUserRefused, ask)

	off := decide(func(m *protocol.ControlDecide) {
		m.Mute, m.Epoch, m.At = protocol.MuteOff, s.machine.Epoch(), time.Now().UnixMilli()
	})
	s.mustRefuse(t, protocol.CodeForbidden, off)
	off.SignatureB64 = []byte("s")
	s.mustDo(t, off)
	require.Empty(t, s.machine.State(time.Now()).MutedNames)
	require.Equal(t, "ada", s.machine.State(time.Now()).Muted.By)
	s.mustDo(t, decide(func(m *protocol.ControlDecide) { m.Mute = protocol.MuteOn }))
	s.mustRefuse(t, protocol.CodeBusy, off)
	off.Epoch = s.machine.Epoch() // for the present epoch, it would have been decided before that
	s.mustRefuse(t, protocol.CodeBusy, off)
	require.Equal(t, "claude", s.machine.State(time.Now()).MutedNames, "whoever kept the decision cannot use it again")
}
