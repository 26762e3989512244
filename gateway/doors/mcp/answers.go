package mcp

import (
	"context"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"terminalproxy/gateway/text"
	"terminalproxy/protocol"
)

// answers words what agents read about terminals. It leaves out the facts that a reader knows: an
// answer that it has put together counts as read until forgetReader takes that back.
type answers struct {
	self *identity
	now  func() time.Time
	mark func() string // see Config.Mark

	mu    sync.Mutex
	knows map[acquaintance]*text.Known
}

// acquaintance is a reader and a terminal that it knows. The agents of one token are several
// readers: each has seen its own answers only.
type acquaintance struct {
	reader   *mcp.ServerSession
	terminal string
}

// maxKnown bounds the acquaintances that are kept.
const maxKnown = 1024

func newAnswers(cfg Config, self *identity) *answers {
	return &answers{
		self: self, now: cfg.Now, mark: cfg.Mark, knows: make(map[acquaintance]*text.Known),
	}
}

// formatAnswer puts an answer together: the words before it, the header, more notes, each after a
// line feed, and the page of a frame with its title and highlights. It leaves out the facts that
// the reader knows.
func (a *answers) formatAnswer(
	ctx context.Context, info protocol.SessionInfo, f *protocol.Frame, p text.Page, tokens int,
	before, notes string,
) string {
	a.mu.Lock()
	defer a.mu.Unlock()
	told := a.toldLocked(ctx, info.SessionID)
	header := text.Header(info, f, a.self.ownID(), a.now(), told)
	p.Brief = text.Join(before, header) // notes are about rows
	p.Head = p.Brief + told.Notes(f) + notes
	over := info.State == protocol.StateExited ||
		f.Activity != nil && f.Activity.State == protocol.StateExited
	if f.Blackout.ByUser() || p.Bare && !p.Part && over {
		return p.Head
	}
	if !p.Part {
		told.Rev = max(told.Rev, f.Seq)
	}
	if p.Bare {
		return p.Fit(tokens, dialect.Limit)
	}
	mark, title, highlights := a.mark(), "", ""
	if !over { // an ended program has no title or selection
		title, highlights = told.Title(f), told.Highlights(f)
	}
	fenced := func(highlights string) func(string) string {
		return func(rows string) string {
			if p.Numbered {
				rows = text.FoldNumbered(rows)
			}
			return text.Fence(mark, "", rows, title, highlights)
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

// formatCommand formats an answer about a command. It leaves out the screen beside it.
func (a *answers) formatCommand(
	ctx context.Context, info protocol.SessionInfo, got *protocol.ReadResult, p text.Page,
	tokens int,
) string {
	a.mu.Lock()
	defer a.mu.Unlock()
	mark := a.mark()
	p.Head = text.WithMessages(got.Notes,
		text.Header(info, got.Frame, a.self.ownID(), a.now(),
			a.toldLocked(ctx, info.SessionID))+text.ConcealedOutput(got))
	p.Rows = text.ShortenGaps(p.Rows)
	p.Wrap = func(rows string) string { return text.Fence(mark, "", rows, text.CommandFacts(got.Command)...) }
	return p.Fit(tokens, dialect.Limit)
}

// formatHeader shows the header alone. The agent has not seen the screen then.
func (a *answers) formatHeader(
	ctx context.Context, info protocol.SessionInfo, f *protocol.Frame, said string,
) string {
	a.mu.Lock()
	defer a.mu.Unlock()
	return text.Join(said,
		text.Header(info, f, a.self.ownID(), a.now(), a.toldLocked(ctx, info.SessionID)))
}

// newsSince returns the revision after which a screen is news for the reader: the one that it has
// seen, or else the one before it typed.
func (a *answers) newsSince(ctx context.Context, terminal string, before uint64) uint64 {
	if seen := a.seenRevision(ctx, terminal); seen > protocol.FirstSeq {
		return seen
	}
	return before
}

// toldLocked returns the facts that the reader knows of a terminal, empty for an unknown reader.
func (a *answers) toldLocked(ctx context.Context, terminal string) *text.Known {
	reader, _ := ctx.Value(readerKey{}).(*mcp.ServerSession)
	if reader == nil {
		return new(text.Known)
	}
	key := acquaintance{reader, terminal}
	t, ok := a.knows[key]
	if !ok {
		if len(a.knows) >= maxKnown {
			clear(a.knows) // all facts are repeated once
		}
		t = new(text.Known)
		a.knows[key] = t
	}
	return t
}

// seenRevision returns the revision of a terminal that the reader has seen, [protocol.FirstSeq] at
// first.
func (a *answers) seenRevision(ctx context.Context, terminal string) uint64 {
	a.mu.Lock()
	defer a.mu.Unlock()
	return max(a.toldLocked(ctx, terminal).Rev, protocol.FirstSeq)
}

// forgetTold makes the next answer about a terminal repeat all facts. The seen revision stays.
func (a *answers) forgetTold(ctx context.Context, terminal string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	t := a.toldLocked(ctx, terminal)
	*t = text.Known{Rev: t.Rev}
}

// forgetReader forgets all facts that the reader knows: it has not read an answer.
func (a *answers) forgetReader(ctx context.Context) {
	a.mu.Lock()
	defer a.mu.Unlock()
	reader, _ := ctx.Value(readerKey{}).(*mcp.ServerSession)
	for key := range a.knows {
		if key.reader == reader {
			delete(a.knows, key)
		}
	}
}
