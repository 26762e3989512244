package mcp

import (
	"bytes"
	"slices"
	"sync"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
)

// maxCancelled bounds the remembered requests: many times those that run at once.
const maxCancelled = 256

// cancelledRequests remembers the requests that a client cancelled last. Such a request gets no
// answer (MCP, cancellation), but the library answers it with the error of its own context.
type cancelledRequests struct {
	mu  sync.Mutex // held for no longer than a look: the client may be slow to read
	ids []jsonrpc.ID
}

// note remembers the request with an id from JSON.
func (c *cancelledRequests) note(raw any) {
	id, err := jsonrpc.MakeID(raw)
	if err != nil || !id.IsValid() {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.ids = append(c.ids, id)
	c.ids = c.ids[max(0, len(c.ids)-maxCancelled):]
}

// forget reports whether a request was cancelled, and forgets it.
func (c *cancelledRequests) forget(id jsonrpc.ID) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	at := slices.Index(c.ids, id)
	if at >= 0 {
		c.ids = slices.Delete(c.ids, at, at+1)
	}
	return at >= 0
}

// isAnswered reports whether a line of the server answers a cancelled request, and forgets that.
func (c *cancelledRequests) isAnswered(line []byte) bool {
	c.mu.Lock()
	empty := len(c.ids) == 0
	c.mu.Unlock()
	if empty {
		return false
	}
	message, err := jsonrpc.DecodeMessage(bytes.TrimSpace(line))
	answer, ok := message.(*jsonrpc.Response)
	return err == nil && ok && c.forget(answer.ID)
}
