package open

import (
	"bytes"
	"crypto/ed25519"
	"io"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"terminalproxy/cmd/internal/cli"
	"terminalproxy/gateway/access/auth"
	"terminalproxy/gateway/doors/page"
	"terminalproxy/gateway/endpoint"
	"terminalproxy/protocol"
	"terminalproxy/protocol/fake"
)

// The command trusts nothing that a server says of an owner's page except the page's key. It makes
// the words and the name itself. It asks the user even if the server says that the page is in, and
// tells its key to no server without a yes.
func TestAServerThatLiesAboutPages(t *testing.T) {
	o := newOpening(&cli.Env{Out: io.Discard, Err: io.Discard}, nil, openOptions{role: string(auth.RoleOwner), forTime: time.Hour})
	e := newRemotePages(o, endpoint.Endpoint{})
	defer e.close()
	defer close(o.over)
	for i, id := range []string{"p", "p-", "p-:::::", "another"} {
		key := bytes.Repeat([]byte{byte(i)}, ed25519.PublicKeySize)
		e.handleKnock(&protocol.PageKnock{PageID: id, KeyB64: key, Pending: i%2 == 0})
		asked := fake.Receive(t, o.knocks, "a question")
		words, err := page.Words(key)
		require.NoError(t, err)
		require.Equal(t, words, asked.Words)
		require.Equal(t, page.ID(e.wish.Secret, key), asked.ID)
		require.Empty(t, e.admittedKeys())
		asked.answer <- false
	}
	e.wg.Wait()
	require.Empty(t, e.admittedKeys())
	require.Empty(t, e.pages, "those that were refused are forgotten")
	for i := range 100 {
		e.handleKnock(&protocol.PageKnock{PageID: "p", KeyB64: bytes.Repeat([]byte{byte(100 + i)}, ed25519.PublicKeySize), Pending: true})
	}
	require.Len(t, e.pages, mostQuestions)
}
