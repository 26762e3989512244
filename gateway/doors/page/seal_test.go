package page

import (
	"crypto/ecdh"
	"crypto/hpke"
	"encoding/json"
	"os"
	"testing"

	"github.com/stretchr/testify/require"

	"terminalproxy/protocol"
)

// The bytes that a page's script makes of an answer (static-tests/seal.test.js) are opened by the
// key of the program that asks, for the words that the person read and no others.
func TestTheProgramOpensWhatThePageSealed(t *testing.T) {
	data, err := os.ReadFile("static-tests/seal.json")
	require.NoError(t, err)
	var v struct {
		Text                                   string
		PublicKeyB64, PrivateKeyB64, SealedB64 []byte
	}
	require.NoError(t, json.Unmarshal(data, &v))
	private, err := ecdh.P256().NewPrivateKey(v.PrivateKeyB64)
	require.NoError(t, err)
	require.Equal(t, v.PublicKeyB64, private.PublicKey().Bytes())
	k, err := hpke.NewDHKEMPrivateKey(private)
	require.NoError(t, err)
	open := func(prompt string) ([]byte, error) {
		ask := &protocol.SecretAsk{Kind: protocol.SecretHidden, Prompt: prompt}
		return hpke.Open(k, hpke.HKDFSHA256(), hpke.AES128GCM(), ask.SealInfo(), v.SealedB64)
	}
	text, err := open("[sudo] password for ada: ")
	require.NoError(t, err)
	require.Equal(t, v.Text, string(text))
	_, err = open("[sudo] password for eve: ")
	require.Error(t, err)
}
