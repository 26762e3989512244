package acp_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"terminalproxy/proxy/chat"
)

var image = []chat.Image{{Name: "a.png", Type: "image/png", Data: []byte("hi!")}}

// The image is a block after the text. An agent that does not support images is sent nothing.
func TestAnImageGoesToAnAgentThatSaysSo(t *testing.T) {
	for says, takes := range map[string]bool{`"promptCapabilities":{"image":true}`: true, `"promptCapabilities":{"image":false}`: false, `"loadSession":true`: false} {
		script := strings.Replace(prompted, `"loadSession":true`, says, 1) + done
		s := start(t, script, "")
		s.WaitForState(chat.AtPrompt)
		err := s.SendImages("you", "look", image)
		if takes {
			require.NoError(t, err)
			s.Turn()
			require.Contains(t, s.CloseAndReadInput(), `"prompt":[{"text":"look","type":"text"},{"data":"aGkh","mimeType":"image/png","type":"image"}]`)
			continue
		}
		require.EqualError(t, err, "eliza takes no images: name the file's path in the prompt")
		require.NotContains(t, s.CloseAndReadInput(), "look")
	}
}

// An agent that is still starting has yet to say whether it takes images.
func TestAnAgentThatStartsHasYetToSay(t *testing.T) {
	s := start(t, "< initialize\n", "")
	require.ErrorContains(t, s.SendImages("you", "look", image), "eliza has yet to say whether it takes images")
}
