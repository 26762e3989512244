package secrets

import (
	"crypto/ecdh"
	"crypto/hpke"
	"testing"

	"github.com/stretchr/testify/require"

	"terminalproxy/protocol"
)

// sealFor seals an answer as a proxy does.
func sealFor(t *testing.T, m *protocol.SecretAsk, text string) []byte {
	t.Helper()
	public, err := ecdh.P256().NewPublicKey(m.PublicKeyB64)
	require.NoError(t, err)
	to, err := hpke.NewDHKEMPublicKey(public)
	require.NoError(t, err)
	sealed, err := hpke.Seal(to, hpke.HKDFSHA256(), hpke.AES128GCM(), m.SealInfo(), []byte(text))
	require.NoError(t, err)
	return sealed
}
