package auth

import (
	"terminalproxy/gateway/userdirs"
	"terminalproxy/protocol"
)

// VerifyOwnSigner returns the owner that signed a message, by this machine's tokens, which it reads
// at each call. Its error is for people.
func VerifyOwnSigner(message, signature []byte) (signer protocol.Signer, err error) {
	tokens, err := ownTokens()
	if err != nil {
		return signer, err
	}
	return tokens.VerifySigner(message, signature)
}

// OwnLocalAgent returns the local token whose holder signed a message, by this machine's tokens.
func OwnLocalAgent(message, signature []byte) (token string, err error) {
	tokens, err := ownTokens()
	if err != nil {
		return "", err
	}
	return tokens.LocalAgent(message, signature)
}

func ownTokens() (*Store, error) {
	path, err := userdirs.TokensPath()
	if err != nil {
		return nil, err
	}
	return OpenStore(path, nil)
}
