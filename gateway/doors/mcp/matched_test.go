package mcp

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"terminalproxy/protocol"
)

// An agent learns its id from the user's grant alone, not from a program that prints the word.
func TestOnlyAGrantNamesTheAgent(t *testing.T) {
	for change, agent := range map[string]string{
		`{}`:                                   "a-1",
		`{"came":{"control":true}}`:            "a-1",
		`{"came":{"text":"granted"}}`:          "",
		`{"stopped":true,"came":{"text":"x"}}`: "",
		`{"matched":"refused"}`:                "",
		`{"frame":null}`:                       "",
		`{"ended":"reclaimed"}`:                "",
		`{"met":false}`:                        "",
	} {
		var got protocol.WaitResult
		require.NoError(t, json.Unmarshal([]byte(`{"met":true,"matched":"granted","frame":{"keyboard":{"holder":"agent","agentId":"a-1"}}}`), &got))
		require.Empty(t, grantedAgent(&got, protocol.Until{Text: "granted"}))
		require.NoError(t, json.Unmarshal([]byte(change), &got))
		require.Equal(t, agent, grantedAgent(&got, protocol.Until{Control: true}), change)
	}
}
