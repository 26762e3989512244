package e2e_test

import (
	"encoding/base64"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"terminalproxy/cmd/internal/fakemodel"
)

// dot is a PNG of one red pixel.
const dot = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8BQDwAEhQGAhKmMIQAAAABJRU5ErkJggg=="

func (w *world) writeDot(name string) {
	w.t.Helper()
	data, err := base64.StdEncoding.DecodeString(dot)
	require.NoError(w.t, err)
	require.NoError(w.t, os.WriteFile(w.path(name), data, 0o600))
}

// waitForDot waits until the model reads a prompt that has the image.
func (c *chatting) waitForDot(prompt string) {
	c.w.t.Helper()
	r := c.next()
	for !strings.Contains(r.Text, prompt) { // an agent may ask about earlier events first
		c.reply(fakemodel.Turn{Say: "GOING ON"})
		r = c.next()
	}
	require.Contains(c.w.t, string(r.Body), dot[:40])
}

// Images reach the model of each agent, line by line, from the command line and with /image.
func TestImagesReachRealModels(t *testing.T) {
	for _, agent := range chatAgents {
		t.Run(agent.name, func(t *testing.T) {
			clients(t)
			w := newWorld(t)
			w.writeDot("dot.png")
			c := w.newChat(agent)
			c.start("")
			c.s.wait("→ You:")
			c.say("just begin")
			c.next()
			c.reply(fakemodel.Turn{Say: "IT HAS BEGUN"})
			c.s.wait("IT HAS BEGUN")
			c.say("/image dot.png")
			c.s.wait("· with your next line: [image: dot.png, ")
			c.say("what do you see?")
			c.waitForDot("what do you see?")
			c.reply(fakemodel.Turn{Say: "A RED DOT"})
			c.s.wait("A RED DOT")
			c.s.press("C-d")
			require.Zero(t, c.s.status())
			c.start("--image dot.png 'and now?'")
			c.waitForDot("and now?")
			c.reply(fakemodel.Turn{Say: "A RED DOT AGAIN"})
			c.s.wait("A RED DOT AGAIN")
			require.Zero(t, c.s.status())
		})
	}
}

// opencode in its own interface receives a signed image by gateway chat send.
func TestAnImageIsSentRemotely(t *testing.T) {
	clients(t)
	w := newWorld(t)
	w.writeDot("dot.png")
	c := w.newChat(chatAgent{name: "opencode", setUp: (*world).opencodeEnv, shell: "bash"})
	o := w.owner(100, 50)
	c.s.run(c.env + "proxy --chat opencode")
	id := w.session()
	c.waitForOpencode()
	o.run("gateway chat send " + id + " 'what do you see?' --image dot.png")
	require.Contains(t, string(c.next().Body), dot[:40])
	c.reply(fakemodel.Turn{Say: "A RED DOT"})
	log := w.waitForLog(id, "A RED DOT")
	require.Contains(t, log, "what do you see?")
	require.Contains(t, log, "[image: dot.png, 70 bytes]")
	require.NotContains(t, log, dot[:40])
	c.s.press("C-c")
}

// Claude Code reads nothing of the prompt, either.
func TestClaudeInItsInterfaceTakesNoImage(t *testing.T) {
	clients(t)
	b := besideClaudeIn(newWorld(t))
	b.w.writeDot("dot.png")
	b.start(" --permission-mode default")
	b.person.run("gateway chat send " + b.id + " 'what do you see?' --image dot.png")
	b.person.wait("claude takes no images in its own interface")
	require.NotZero(t, b.person.status())
	require.False(t, strings.Contains(b.w.mustGateway("chat", "log", b.id), "what do you see?"))
}

// A file that is not an image is refused before any request to a gateway: each error names the flag
// and the file.
func TestAFileThatIsNotAnImageIsRefused(t *testing.T) {
	w := newWorld(t)
	w.write("notes.png", "hello")
	w.write("empty.png", "")
	require.NoError(t, os.WriteFile(w.path("big.png"), make([]byte, 4<<20), 0o600))
	for file, want := range map[string]string{
		"notes.png": "it is not a PNG, JPEG, GIF or WebP image, but text/plain", "empty.png": "it is empty", "big.png": "it is longer than 3932160 bytes",
		"nowhere.png": "no such file or directory", ".": "not a regular file",
	} {
		for _, args := range [][]string{{"chat", "send", "x", "look", "--image", file}, {"chat", "look", "--image", file}} {
			w.gateway(args...).mustFail(t, 1, "--image "+file+": "+want)
		}
	}
	w.gateway("chat", "look", "--image", "a", "--image", "b", "--image", "c", "--image", "d", "--image", "e").mustFail(t, 2, "--image: 5 images; the most with a prompt is 4")
}
