package mcp

import (
	"context"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"terminalproxy/gateway/text"
	"terminalproxy/protocol"
)

// acquaintance is a reader and a terminal that it knows. The agents of one token are several
// readers: each has seen its own answers only.
type acquaintance struct {
	reader   *mcp.ServerSession
	terminal string
}

// maxKnown bounds the acquaintances that are kept.
const maxKnown = 1024

type readerKey struct{}

// readBy names the reader in the ctx of a call. Over HTTP a revision without sessions has only
// requests, and no readers.
func readBy(ctx context.Context, req *mcp.CallToolRequest) context.Context {
	if req.Extra != nil && req.Extra.Header.Get(headerVersion) >= stateless {
		return ctx
	}
	return context.WithValue(ctx, readerKey{}, req.Session)
}

// toldLocked returns the facts that the reader knows of a terminal, empty for an unknown reader.
func (s *Server) toldLocked(ctx context.Context, terminal string) *text.Told {
	reader, _ := ctx.Value(readerKey{}).(*mcp.ServerSession)
	if reader == nil {
		return new(text.Told)
	}
	key := acquaintance{reader, terminal}
	t, ok := s.knows[key]
	if !ok {
		if len(s.knows) >= maxKnown {
			clear(s.knows) // all facts are repeated once
		}
		t = new(text.Told)
		s.knows[key] = t
	}
	return t
}

// seenRevision returns the revision of a terminal that the reader has seen, [protocol.FirstSeq] at
// first.
func (s *Server) seenRevision(ctx context.Context, terminal string) uint64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return max(s.toldLocked(ctx, terminal).Rev, protocol.FirstSeq)
}

// forgetTold makes the next answer about a terminal repeat all facts. The seen revision stays.
func (s *Server) forgetTold(ctx context.Context, terminal string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	t := s.toldLocked(ctx, terminal)
	*t = text.Told{Rev: t.Rev}
}

// forgetReader forgets all facts that the reader knows: it has not read an answer.
func (s *Server) forgetReader(ctx context.Context) {
	s.mu.Lock()
	defer s.mu.Unlock()
	reader, _ := ctx.Value(readerKey{}).(*mcp.ServerSession)
	for key := range s.knows {
		if key.reader == reader {
			delete(s.knows, key)
		}
	}
}
