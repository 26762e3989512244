package requests

import (
	"crypto/ed25519"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"terminalproxy/protocol"
)

// signing is a message that counts only with an owner's signature.
type signing struct {
	m         protocol.Message
	at        *int64
	signature *[]byte
	signed    func(startedAt int64) []byte
	change    func() // makes another message of it
}

// signings are the messages, by what they do.
func signings(epoch uint64) map[string]signing {
	once := protocol.ChatReply{Verdict: protocol.ChatOnce}
	keys := &protocol.Keys{RequestID: "r", SessionID: "sh-1", KeyNo: 1, InputKind: protocol.InputText, Data: "ls"}
	prompt := &protocol.ChatSend{RequestID: "r", SessionID: "sh-1", KeyNo: 1, Text: "go"}
	answer := &protocol.ChatAnswer{RequestID: "r", SessionID: "sh-1", Request: "t1", Answer: once}
	secret := &protocol.SecretReply{RequestID: "r", SessionID: "sh-1", Question: "q", Verdict: protocol.SecretGiven, SealedB64: []byte("sealed")}
	grant := &protocol.ControlDecide{RequestID: "r", SessionID: "sh-1", Grant: true, Epoch: epoch, By: "eve"}
	show := &protocol.ControlDecide{RequestID: "r", SessionID: "sh-1", Hide: protocol.HideOff, Epoch: epoch}
	return map[string]signing{
		"ls":            {keys, &keys.At, &keys.SignatureB64, keys.Signed, func() { keys.Data = "rm" }},
		"go":            {prompt, &prompt.At, &prompt.SignatureB64, prompt.Signed, func() { prompt.Text = "rm" }},
		"answers t1":    {answer, &answer.At, &answer.SignatureB64, answer.Signed, func() { answer.Request = "t2" }},
		"answer sealed": {secret, &secret.At, &secret.SignatureB64, func(startedAt int64) []byte { return secret.Signed(startedAt, []byte("the asker's key")) }, func() { secret.SealedB64 = []byte("other") }},
		"promised":      {grant, &grant.At, &grant.SignatureB64, grant.Signed, func() { grant.Level = protocol.LevelDrive }},
		"shown":         {show, &show.At, &show.SignatureB64, show.Signed, func() { show.Hide, show.Grant = "", true }},
	}
}

// Whatever a gateway makes of a message that an owner signed, or keeps, does nothing: it counts for
// this message, at this moment and in this session. What it does under its owner's name, it does.
func TestAnOwnersSignatureCountsForOneMessageMomentAndSession(t *testing.T) {
	_, stranger, err := ed25519.GenerateKey(nil)
	require.NoError(t, err)
	for does := range signings(1) {
		for _, lie := range []string{"", "unsigned", "a stranger's", "kept", "to come", "earlier session", "changed", "let in elsewhere"} {
			answered, typed := new(string), ""

			signer := protocol.Signer{Name: "ada"}
			s, room, p := conversationAt(t, func(c *Config) {
				verify := c.Owner
				c.Desk = stagedDesk{answered}
				c.Owner = func(message, signature []byte) (protocol.Signer, error) {
					_, err := verify(message, signature)
					return signer, err
				}
			})
			s.machine.SetHidden(time.Now(), does == "shown")
			m, key, started := signings(s.machine.Epoch())[does], p.private, p.started
			*m.at = time.Now().UnixMilli()
			switch lie {
			case "a stranger's":
				key = stranger
			case "kept":
				*m.at -= 60_000
			case "to come":
				*m.at += 60_000
			case "earlier session":
				started--
			case "let in elsewhere":
				signer.Session = "vim-2"
			}
			*m.signature = ed25519.Sign(key, m.signed(started))
			if lie == "changed" {
				m.change()
			}
			if lie == "unsigned" {
				*m.signature = nil
			}
			done := func() string {
				typed += s.RemoteKeyboard.(*desk).typedText()
				all := strings.Join(room.doneActs(), ",") + typed + *answered
				if st := s.machine.State(time.Now()); st.Pregrant {
					all += "promised"
					require.Equal(t, "ada", st.RemotePregrant.By, "and not who the message says it was")
				} else if does == "shown" && !st.Hidden {
					all += "shown"
				}
				return all
			}
			if lie == "" {
				s.mustDo(t, m.m)
				require.Contains(t, done(), does)
				continue
			}
			s.mustRefuse(t, protocol.CodeForbidden, m.m)
			require.Empty(t, done(), "%s, %s", does, lie)
		}
	}
}
