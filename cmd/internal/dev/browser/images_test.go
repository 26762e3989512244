package browser_test

import (
	"crypto/ed25519"
	"crypto/sha256"
	"encoding/hex"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"terminalproxy/cmd/internal/dev/browser"
	"terminalproxy/gateway/access/auth"
	"terminalproxy/protocol"
)

// gives is the script that pastes or chooses a file in the page: a beginning, padded to size bytes.
const giveFile = `((begin, size, name, how) => {
  const bytes = new Uint8Array(size), d = new DataTransfer();
  bytes.set([...begin].map((c) => c.charCodeAt(0)));
  d.items.add(new File([bytes], name, {type: 'image/png'}));
  const line = document.querySelector('.prompt textarea'), choice = document.querySelector('.prompt input[type=file]');
  if (how === 'pasted') return line.dispatchEvent(new ClipboardEvent('paste', {clipboardData: d, bubbles: true, cancelable: true})), true;
  choice.files = d.files;
  return choice.dispatchEvent(new Event('change')), true;
})`

const pngBegins = `'\x89PNG\r\n\x1a\n'`

// The page sends pasted and chosen images in parts; then the prompt names and signs them.
func TestThePageSendsImages_Client(t *testing.T) {
	t.Parallel()
	g := serve(t, auth.RoleOwner, "", claude())
	b := beside(g)
	b.WaitFor(`document.querySelector('.prompt textarea')?.disabled === false`)
	browser.JS[bool](b, giveFile+`(`+pngBegins+`, 70000, 'shot.png', 'pasted')`)
	b.WaitFor(browser.Text(".images") + `.includes('shot.png, 70 KB')`)
	browser.JS[bool](b, giveFile+`('GIF89a', 10, 'away.gif', 'chosen')`)
	b.WaitFor(browser.Text(".images") + `.includes('away.gif')`)
	browser.JS[bool](b, `document.querySelector('.images li:last-child button').click(), true`)
	b.WaitFor(`document.querySelectorAll('.images li').length === 1`)
	browser.JS[bool](b, `document.querySelector('.prompt .go').click(), true`)
	b.WaitFor(browser.Text(".drawer .hint") + ` === 'Write something with the image.'`)
	browser.JS[bool](b, `document.querySelector('.prompt textarea').focus(), true`)
	b.RunSteps(browser.Keys("look\r"))
	m := wait(g, anything[*protocol.ChatSend])
	require.Equal(t, "look", m.Text)
	require.Len(t, m.Images, 1)
	require.Equal(t, "shot.png", m.Images[0].Name)
	content := append([]byte("\x89PNG\r\n\x1a\n"), make([]byte, 70000-8)...)
	sum := sha256.Sum256(content)
	require.Equal(t, hex.EncodeToString(sum[:]), m.Images[0].SHA256)
	require.True(t, ed25519.Verify(g.key, m.Signed(claude().StartedAt), m.SignatureB64), "signed by the page's key, with its image")
	b.WaitFor(`document.querySelector('.images').hidden`)

	browser.JS[bool](b, giveFile+`('hello', 10, 'notes.png', 'chosen')`)
	b.WaitFor(browser.Text(".drawer .hint.bad") + ` === 'Not attached: notes.png is no PNG, JPEG, GIF or WebP image.'`)
	browser.JS[bool](b, giveFile+`(`+pngBegins+`, 3932161, 'big.png', 'pasted')`)
	b.WaitFor(browser.Text(".drawer .hint.bad") + `.includes('big.png has 3,932,161 bytes')`)
	for range 5 {
		browser.JS[bool](b, giveFile+`(`+pngBegins+`, 10, 'one.png', 'pasted')`)
	}
	b.WaitFor(browser.Text(".drawer .hint.bad") + `.includes('the most with a message is 4 images')`)
	b.WaitFor(`document.querySelectorAll('.images li').length === 4`)
	g.refuseChat(&protocol.Error{Code: protocol.CodeBadMessage, Message: "claude takes no images in its own interface"})
	b.RunSteps(browser.Keys("look again\r"))
	b.WaitFor(browser.Text(".drawer .hint.bad") + `.includes('Not sent: claude takes no images')`)
	require.Equal(t, "look again", browser.JS[string](b, `document.querySelector('.prompt textarea').value`))
	require.Zero(t, count[*protocol.ChatSend](g), "nothing is sent before")
	require.False(t, strings.Contains(browser.JS[string](b, browser.Text(".said")), "look again"))
}
