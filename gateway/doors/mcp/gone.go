package mcp

import (
	"context"
	"net/http"
	"strconv"
	"sync"
	"sync/atomic"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// headerPost names the HTTP request of a call, for this process alone: a client's own is
// overwritten.
const headerPost = "Terminal-Gateway-Post"

// posts are the HTTP requests under way of the revisions with sessions; the library does not end
// their calls with them. The answer to a request that was cut off is lost, since no stream is kept
// to be resumed: its questions to the user are given up.
type posts struct {
	count atomic.Uint64
	open  sync.Map // contexts, by the name of the request
}

// nameRequest names a request; call the result once the request is answered.
func (p *posts) nameRequest(r *http.Request) (end func()) {
	name := strconv.FormatUint(p.count.Add(1), 10)
	r.Header.Set(headerPost, name)
	p.open.Store(name, r.Context())
	return func() { p.open.Delete(name) }
}

// cancelWithRequest makes a middleware that cancels a request's calls when its connection ends.
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
