package requests

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"terminalproxy/protocol"
)

// part is a part of an image.
func part(id string, size, offset int, data string) *protocol.ChatImage {
	return &protocol.ChatImage{Image: id, Size: size, Offset: offset, DataB64: []byte(data)}
}

// The parts come in order, or anew from the beginning, and make a whole.
func TestAnImageComesInParts(t *testing.T) {
	var u uploads
	require.Nil(t, u.receivePart(part("a", 6, 0, "abc")))
	require.Nil(t, u.receivePart(part("b", 2, 0, "xy")))
	require.Nil(t, u.removeImage("a"), "half of it")
	for _, wrong := range []*protocol.ChatImage{part("a", 6, 0+1, "b"), part("a", 6, 6, ""), part("a", 7, 3, "def"), part("a", 6, 3, "defg"), part("c", 6, 3, "def")} {
		require.NotNil(t, u.receivePart(wrong), "%+v", wrong)
	}
	require.Nil(t, u.receivePart(part("a", 6, 3, "def")))
	require.Equal(t, "abcdef", string(u.removeImage("a")))
	require.Nil(t, u.removeImage("a"), "once")
	require.Nil(t, u.receivePart(part("b", 3, 0, "123")))
	require.Equal(t, "123", string(u.removeImage("b")), "begun anew")
	require.NotNil(t, u.receivePart(part("d", 2, 0, "too long")))
}

// The oldest go first; each counts with its announced size.
func TestUnusedImagesAreBounded(t *testing.T) {
	var u uploads
	for _, id := range strings.Split("abcdefgh", "") {
		require.Nil(t, u.receivePart(part(id, protocol.MaxImage, 0, "x")))
	}
	kept := ""
	for _, one := range u {
		kept += one.id
	}
	require.Equal(t, "efgh", kept)
	for i := range 100 {
		require.Nil(t, u.receivePart(part("small"+strings.Repeat("x", i), 1, 0, "x")))
	}
	require.Len(t, u, maxUploads)
	require.Equal(t, "small"+strings.Repeat("x", 99), u[len(u)-1].id)
}

// The signature covers the image's bytes, and agents send no images.
func TestAPromptWithAnImage(t *testing.T) {
	s, c, _ := conversationAt(t, func(c *Config) { c.OwnTerminal = &stagedOwn{} })
	png := []byte("\x89PNG\r\n\x1a\n" + strings.Repeat("x", 100))
	sum := sha256.Sum256(png)
	upload := func() {
		half := &protocol.ChatImage{RequestID: "r", SessionID: s.SessionID, Image: "i", Size: len(png), DataB64: png[:50]}
		s.mustDo(t, half)
		rest := *half
		rest.Offset, rest.DataB64 = 50, png[50:]
		s.mustDo(t, &rest)
	}
	send := &protocol.ChatSend{RequestID: "r", SessionID: s.SessionID, Text: "look", By: "ada", Images: []protocol.ChatAttachment{{ID: "i", Name: "a.png", SHA256: hex.EncodeToString(sum[:])}}}
	require.Contains(t, s.mustRefuse(t, protocol.CodeBadMessage, send), "a.png did not arrive whole")
	upload()
	s.mustDo(t, send)
	require.Contains(t, c.did[len(c.did)-1], "look image/png "+string(png))
	upload()
	other := *send
	other.Images = []protocol.ChatAttachment{{ID: "i", Name: "a.png", SHA256: hex.EncodeToString(bytes.Repeat([]byte{1}, 32))}}
	require.Contains(t, s.mustRefuse(t, protocol.CodeBadMessage, &other), "or is another one")
	require.Contains(t, s.mustRefuse(t, protocol.CodeForbidden, &protocol.ChatImage{RequestID: "r", SessionID: s.SessionID, AgentID: "a-1", Image: "i", Size: 1, DataB64: []byte("x")}), "only people send images")
}
