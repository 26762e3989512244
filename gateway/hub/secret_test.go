package hub

import (
	"terminalproxy/protocol"
)

func secretAsk(id, session string) *protocol.SecretAsk {
	return &protocol.SecretAsk{
		RequestID: id, SessionID: session, Kind: protocol.SecretHidden, PublicKeyB64: []byte("k"),
		Asker: protocol.SecretAsker{Program: "sudo", Command: "sudo true", Pid: 1},
	}
}
