package mcp

import (
	"bytes"
	"slices"
	"sync"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
)

// maxCancelled bounds the remembered requests: many more than run at once.
const maxCancelled = 256

// cancelledRequests remembers the requests that a client cancelled last. Such a request gets no
// answer (MCP, cancellation), but the library answers it with the error of its own context.
type cancelledRequests struct {
	mu  sync.Mutex // never held during a write: the client may be slow to read
	ids []jsonrpc.ID
}

// add remembers the request with an id from JSON.
func (c *cancelledRequests) add(raw any) {
	id, err := jsonrpc.MakeID(raw)
	if err != nil || !id.IsValid() {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.ids = append(c.ids, id)
	c.ids = c.ids[max(0, len(c.ids)-maxCancelled):]
}

// remove forgets a request, and reports whether it was cancelled.
func (c *cancelledRequests) remove(id jsonrpc.ID) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	at := slices.Index(c.ids, id)
	if at >= 0 {
		c.ids = slices.Delete(c.ids, at, at+1)
	}
	return at >= 0
}

// removeAnswered reports whether a line of the server answers a cancelled request, which it then
// forgets.
func (c *cancelledRequests) removeAnswered(line []byte) bool {
	c.mu.Lock()
	empty := len(c.ids) == 0
	c.mu.Unlock()
	if empty {
		return false
	}
	message, err := jsonrpc.DecodeMessage(bytes.TrimSpace(line))
	answer, ok := message.(*jsonrpc.Response)
	return err == nil && ok && c.remove(answer.ID)
}
