package fake

import (
	"context"
	"net/http"
	"testing"

	"terminalproxy/protocol"
)

// Opening returns the message that opens a session of one row.
func Opening(id string) *protocol.SessionOpen {
	return &protocol.SessionOpen{
		ID: "o", SessionID: id, Name: "vim", Command: "vim", Args: []string{}, Cols: 10, Rows: 1,
		ResumeKey: "key",
	}
}

// Snapshot returns a snapshot of that session that shows a line.
func Snapshot(id string, seq uint64, line string) *protocol.Snapshot {
	return &protocol.Snapshot{
		ID: "s", SessionID: id, Content: line, Seq: seq,
		Screen: &protocol.Screen{Cols: 10, Rows: 1, Lines: []string{line}},
	}
}

// Proxy keeps one session at a gateway, reconnecting as often as needed, and answers reads and
// inputs.
type Proxy struct {
	done  chan struct{}
	Typed chan *protocol.Input // every input, repeated ones too
}

// StartProxy starts a proxy that runs until the test ends. url is where the gateway accepts
// proxies.
func StartProxy(t testing.TB, dial Dialer, url string, header http.Header, id string) *Proxy {
	t.Helper()
	p := &Proxy{done: make(chan struct{}), Typed: make(chan *protocol.Input, 16)}
	ctx, cancel := context.WithCancel(context.Background())
	t.Cleanup(func() { cancel(); <-p.done })
	go func() {
		defer close(p.done)
		for ctx.Err() == nil {
			_ = p.runSession(ctx, dial, url, header, id)
		}
	}()
	return p
}

func (p *Proxy) runSession(
	ctx context.Context, dial Dialer, url string, header http.Header, id string,
) error {
	c, resp, err := dial.Connect(ctx, url, header)
	if err != nil {
		return err
	}
	defer func() { _, _ = resp.Body.Close(), c.Close() }()
	defer context.AfterFunc(ctx, func() { _ = c.Close() })()
	for _, m := range []protocol.Message{Opening(id), Snapshot(id, 1, "hello")} {
		if err := c.Send(m); err != nil {
			return err
		}
	}
	return c.Answer(p.Reply)
}

// Reply returns the answer to a request, or nil.
func (p *Proxy) Reply(m protocol.Message) protocol.Message {
	switch m := m.(type) {
	case *protocol.Read:
		frame := &protocol.Frame{Seq: 1, Screen: *Snapshot("x", 1, "hello").Screen}
		return &protocol.ReadResult{
			ID: "r", RequestID: m.RequestID, SessionID: m.SessionID, Frame: frame,
		}
	case *protocol.Input:
		p.Typed <- m
		return &protocol.InputResult{
			ID: "i", RequestID: m.RequestID, SessionID: m.SessionID,
			Status: protocol.StatusWritten, WrittenBytes: len(m.Data),
		}
	case *protocol.ControlRequest:
		return &protocol.ControlGrant{
			ID: "g", RequestID: m.RequestID, SessionID: m.SessionID,
			AgentID: m.AgentID, AgentName: m.AgentName, Level: m.Level, Epoch: 1,
		}
	case *protocol.ControlRelease:
		return &protocol.Done{RequestID: m.RequestID}
	case *protocol.Note:
		return &protocol.Done{RequestID: m.RequestID}
	case *protocol.Wait:
		return &protocol.WaitResult{
			ID: "w", RequestID: m.RequestID, SessionID: m.SessionID, Met: true,
		}
	}
	return nil
}
