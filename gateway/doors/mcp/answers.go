package mcp

import (
	"context"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"terminalproxy/gateway/text"
	"terminalproxy/protocol"
)

// answers writes the text that agents read about terminals. It leaves out the facts that a reader
// knows already: an answer counts as read once it is written, until forgetReader revokes that.
type answers struct {
	self *identity
	now  func() time.Time
	mark func() string // see Config.Mark

	mu    sync.Mutex
	known map[readerTerminal]*text.Known
}

// readerTerminal is a reader and a terminal that it has seen. The agents of one token are several
// readers: each has seen its own answers only.
type readerTerminal struct {
	reader   *mcp.ServerSession
	terminal string
}

// maxKnown bounds the pairs of reader and terminal that are remembered.
const maxKnown = 1024

func newAnswers(cfg Config, self *identity) *answers {
	return &answers{
		self: self, now: cfg.Now, mark: cfg.Mark, known: make(map[readerTerminal]*text.Known),
	}
}

// formatAnswer formats an answer: a preamble, the header, further notes, each after a line feed,
// and the page of a frame with its title and highlights. It leaves out the facts that the reader
// knows.
func (a *answers) formatAnswer(
	ctx context.Context, info protocol.SessionInfo, f *protocol.Frame, p text.Page, tokens int,
	preamble, notes string,
) string {
	a.mu.Lock()
	defer a.mu.Unlock()
	known := a.knownLocked(ctx, info.SessionID)
	header := text.Header(info, f, a.self.ownID(), a.now(), known)
	p.Brief = text.Join(preamble, header) // notes are about rows
	p.Head = p.Brief + known.Notes(f) + notes
	exited := info.State == protocol.StateExited ||
		f.Activity != nil && f.Activity.State == protocol.StateExited
	if f.Blackout.ByUser() || p.Bare && !p.Part && exited {
		return p.Head
	}
	if !p.Part {
		known.Rev = max(known.Rev, f.Seq)
	}
	if p.Bare {
		return p.Fit(tokens, dialect.Limit)
	}
	mark, title, highlights := a.mark(), "", ""
	if !exited { // an ended program has no title or selection
		title, highlights = known.Title(f), known.Highlights(f)
	}
	fenced := func(highlights string) func(string) string {
		return func(rows string) string {
			if p.Numbered {
				rows = text.FoldNumbered(rows)
			}
			return text.Fence(mark, "", rows, title, highlights, p.Wrapped(f))
		}
	}
	p.Rows = text.ShortenGaps(p.Rows)
	if highlights != "" {
		plain := p
		plain.Wrap = fenced("highlighted: left out for " + dialect.Limit)
		p.Plain = &plain
	}
	p.Wrap = fenced(highlights)
	return p.Fit(tokens, dialect.Limit)
}

// formatCommand formats an answer about a command, without the screen.
func (a *answers) formatCommand(
	ctx context.Context, info protocol.SessionInfo, got *protocol.ReadResult, p text.Page,
	tokens int,
) string {
	a.mu.Lock()
	defer a.mu.Unlock()
	mark := a.mark()
	p.Head = text.WithMessages(got.Notes,
		text.Header(info, got.Frame, a.self.ownID(), a.now(),
			a.knownLocked(ctx, info.SessionID))+text.ConcealedOutput(got))
	p.Rows = text.ShortenGaps(p.Rows)
	p.Wrap = func(rows string) string { return text.Fence(mark, "", rows, text.CommandFacts(got.Command)...) }
	return p.Fit(tokens, dialect.Limit)
}

// formatHeader formats an answer without rows, so the screen counts as unseen.
func (a *answers) formatHeader(
	ctx context.Context, info protocol.SessionInfo, f *protocol.Frame, preamble string,
) string {
	a.mu.Lock()
	defer a.mu.Unlock()
	return text.Join(preamble,
		text.Header(info, f, a.self.ownID(), a.now(), a.knownLocked(ctx, info.SessionID)))
}

// newsSince returns the revision after which a screen is new to the reader: the one that it has
// seen, or else the one before it typed.
func (a *answers) newsSince(ctx context.Context, terminal string, before uint64) uint64 {
	if seen := a.seenRevision(ctx, terminal); seen > protocol.FirstSeq {
		return seen
	}
	return before
}

// knownLocked returns the facts that the reader knows of a terminal, empty for an unknown reader.
func (a *answers) knownLocked(ctx context.Context, terminal string) *text.Known {
	reader, _ := ctx.Value(readerKey{}).(*mcp.ServerSession)
	if reader == nil {
		return new(text.Known)
	}
	key := readerTerminal{reader, terminal}
	t, ok := a.known[key]
	if !ok {
		if len(a.known) >= maxKnown {
			clear(a.known) // all facts are repeated once
		}
		t = new(text.Known)
		a.known[key] = t
	}
	return t
}

// seenRevision returns the revision of a terminal that the reader has seen, [protocol.FirstSeq] at
// first.
func (a *answers) seenRevision(ctx context.Context, terminal string) uint64 {
	a.mu.Lock()
	defer a.mu.Unlock()
	return max(a.knownLocked(ctx, terminal).Rev, protocol.FirstSeq)
}

// forgetFacts makes the next answer about a terminal repeat all facts. The seen revision stays.
func (a *answers) forgetFacts(ctx context.Context, terminal string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	t := a.knownLocked(ctx, terminal)
	*t = text.Known{Rev: t.Rev}
}

// forgetReader forgets all that the reader knows, because an answer did not reach it.
func (a *answers) forgetReader(ctx context.Context) {
	a.mu.Lock()
	defer a.mu.Unlock()
	reader, _ := ctx.Value(readerKey{}).(*mcp.ServerSession)
	for key := range a.known {
		if key.reader == reader {
			delete(a.known, key)
		}
	}
}
