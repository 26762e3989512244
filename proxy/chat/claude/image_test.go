package claude_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"terminalproxy/proxy/chat"
	"terminalproxy/proxy/chat/claude"
)

// The block comes after the text, in Claude Code's format.
func TestAnImageIsABlock(t *testing.T) {
	s := start(t, ready+"< look\n"+done, claude.Config{})
	s.WaitForState(chat.AtPrompt)
	require.NoError(t, s.SendImages("you", "look", []chat.Image{{Name: "a.png", Type: "image/png", Data: []byte("hi!")}}))
	s.Turn()
	require.Contains(t, s.CloseAndReadInput(), `"content":[{"text":"look","type":"text"},{"source":{"data":"aGkh","media_type":"image/png","type":"base64"},"type":"image"}]`)
}
