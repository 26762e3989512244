package chat_test

import (
	"encoding/base64"
	"os"
	"strings"
	"testing"

	"terminalproxy/cmd/internal/dev/fakemodel"
	"terminalproxy/cmd/internal/e2e/world"

	"github.com/stretchr/testify/require"
)

// dot is a PNG of one red pixel.
const dot = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8BQDwAEhQGAhKmMIQAAAABJRU5ErkJggg=="

func writeDot(w *world.World, name string) {
	w.T.Helper()
	data, err := base64.StdEncoding.DecodeString(dot)
	require.NoError(w.T, err)
	require.NoError(w.T, os.WriteFile(w.Path(name), data, 0o600))
}

// waitForDot waits until the model reads a prompt that has the image.
func waitForDot(c *world.Chatting, prompt string) fakemodel.Request {
	c.W.T.Helper()
	r := c.Next()
	for !strings.Contains(r.Text, prompt) { // an agent may ask about earlier events first
		c.Reply(fakemodel.Turn{Say: "GOING ON"})
		r = c.Next()
	}
	require.Contains(c.W.T, string(r.Body), dot[:40])
	return r
}

// A file that is not an image is refused before the agent starts: each error names the flag
// and the file.
func TestAFileThatIsNotAnImageIsRefused(t *testing.T) {
	w := world.New(t)
	w.Write("notes.png", "hello")
	w.Write("empty.png", "")
	require.NoError(t, os.WriteFile(w.Path("big.png"), make([]byte, 4<<20), 0o600))
	for file, want := range map[string]string{
		"notes.png": "it is not a PNG, JPEG, GIF or WebP image, but text/plain",
		"empty.png": "it is empty", "big.png": "it is longer than 3932160 bytes",
		"nowhere.png": "no such file or directory", ".": "not a regular file",
	} {
		w.Gateway("chat", "look", "--image", file).MustFail(t, 1, "--image "+file+": "+want)
	}
	five := strings.Fields("chat look --image a --image b --image c --image d --image e")
	w.Gateway(five...).MustFail(t, 2, "--image: 5 images; the most with a prompt is 4")
}
