package mcp

import (
	"context"
	"net/http"
	"strconv"
	"sync"
	"sync/atomic"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// headerPost names the HTTP request of a call within this process; a client's own value is
// overwritten.
const headerPost = "Terminal-Gateway-Post"

// posts tracks the open HTTP requests of the revisions with sessions, because the library does not
// cancel their calls when they end. No stream can be resumed, so the answer to a request that was
// cut off is lost: its questions to the user are withdrawn.
type posts struct {
	count atomic.Uint64
	open  sync.Map // contexts, by the name of the request
}

// nameRequest names a request; call end when the request is answered.
func (p *posts) nameRequest(r *http.Request) (end func()) {
	name := strconv.FormatUint(p.count.Add(1), 10)
	r.Header.Set(headerPost, name)
	p.open.Store(name, r.Context())
	return func() { p.open.Delete(name) }
}

// cancelWithRequest returns a handler that cancels a request's calls when its connection ends.
func (p *posts) cancelWithRequest(next mcp.MethodHandler) mcp.MethodHandler {
	return func(ctx context.Context, method string, req mcp.Request) (mcp.Result, error) {
		extra := req.GetExtra()
		if extra == nil {
			return next(ctx, method, req)
		}
		post, ok := p.open.Load(extra.Header.Get(headerPost))
		if !ok {
			return next(ctx, method, req)
		}
		ctx, cancel := context.WithCancel(ctx)
		defer cancel()
		defer context.AfterFunc(post.(context.Context), cancel)() //nolint:forcetypeassert // nothing else is stored
		return next(ctx, method, req)
	}
}
