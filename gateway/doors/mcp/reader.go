package mcp

import (
	"context"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

type readerKey struct{}

// readBy stores the reader in the context of a call. Over HTTP the stateless revision has only
// requests, and no readers.
func readBy(ctx context.Context, req *mcp.CallToolRequest) context.Context {
	if req.Extra != nil && req.Extra.Header.Get(headerVersion) >= stateless {
		return ctx
	}
	return context.WithValue(ctx, readerKey{}, req.Session)
}
