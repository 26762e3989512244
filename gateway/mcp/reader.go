package mcp

import (
	"context"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"terminalproxy/gateway/text"
	"terminalproxy/protocol"
)

// acquaintance is a reader and a terminal that it was told of. The agents of one token are several readers: what one of them was
// shown, another has not seen.
type acquaintance struct {
	reader   *mcp.ServerSession
	terminal string
}

// maxKnown bounds of how many terminals it is kept what their readers were told.
const maxKnown = 1024

type readerKey struct{}

// readBy is ctx for a call of which the reader can be known again. Over HTTP a revision without sessions has only requests.
func readBy(ctx context.Context, req *mcp.CallToolRequest) context.Context {
	if req.Extra != nil && req.Extra.Header.Get(headerVersion) >= stateless {
		return ctx
	}
	return context.WithValue(ctx, readerKey{}, req.Session)
}

// told is what the reader was told of a terminal, nothing where the reader is not known; s.mu is held.
func (s *Server) told(ctx context.Context, terminal string) *text.Told {
	reader, _ := ctx.Value(readerKey{}).(*mcp.ServerSession)
	if reader == nil {
		return new(text.Told)
	}
	who := acquaintance{reader, terminal}
	t, ok := s.knows[who]
	if !ok {
		if len(s.knows) >= maxKnown {
			clear(s.knows) // then it is told once more
		}
		t = new(text.Told)
		s.knows[who] = t
	}
	return t
}

// seen is the revision that the reader has seen of a terminal, [protocol.FirstSeq] for none.
func (s *Server) seen(ctx context.Context, terminal string) uint64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return max(s.told(ctx, terminal).Rev, protocol.FirstSeq)
}

// forget has the next answer about a terminal say everything. What the reader has seen stays seen.
func (s *Server) forget(ctx context.Context, terminal string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	t := s.told(ctx, terminal)
	*t = text.Told{Rev: t.Rev}
}

// unread takes back all that the reader was told: it has not read an answer.
func (s *Server) unread(ctx context.Context) {
	s.mu.Lock()
	defer s.mu.Unlock()
	reader, _ := ctx.Value(readerKey{}).(*mcp.ServerSession)
	for who := range s.knows {
		if who.reader == reader {
			delete(s.knows, who)
		}
	}
}
