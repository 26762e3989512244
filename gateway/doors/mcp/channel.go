package mcp

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"terminalproxy/gateway/text"
	"terminalproxy/protocol"
)

const (
	// channelCapability lets a notification of the server start a turn of Claude Code's model. Its
	// client ignores channels of servers that speak the revision without sessions.
	channelCapability = "claude/channel"
	// maxFollowed bounds the terminals that a channel follows; the ones used last stay.
	maxFollowed = 16
	// followEvery is the least time between two snapshots of a followed terminal.
	followEvery = protocol.MaxWaitMs * time.Millisecond
	// continuedWait is how long the channel goes on with a wait that timed out.
	continuedWait = protocol.MaxWaitMs * time.Millisecond
)

// channel wakes an idle agent with notifications. They contain only the gateway's own text, never
// text of a program or of the user, which the agent reads with a tool. Nothing depends on a
// notification: a later tool answer brings the same news.
type channel struct {
	terminals Terminals
	push      func(line []byte) error
	self      *identity
	notes     *unreadNotes

	ctx  context.Context
	stop context.CancelFunc
	wg   sync.WaitGroup

	mu       sync.Mutex
	followed []followedTerminal // the one used last at the end
	pending  map[string]bool    // terminals whose user has not answered yet
}

type followedTerminal struct {
	id      string
	stop    context.CancelFunc
	endWait context.CancelFunc // of the continued wait, or nil
}

// channelOptions makes a server offer a channel, and only the revisions with sessions.
func channelOptions(o *mcp.ServerOptions) {
	o.Capabilities.Experimental = map[string]any{channelCapability: map[string]any{}}
	o.SupportedProtocolVersions = slices.DeleteFunc(mcp.SupportedProtocolVersions(),
		func(version string) bool { return version >= stateless })
}

func newChannel(
	terminals Terminals, self *identity, notes *unreadNotes, push func(line []byte) error,
) *channel {
	c := &channel{
		terminals: terminals, push: push, self: self, notes: notes,
		pending: make(map[string]bool),
	}
	c.ctx, c.stop = context.WithCancel(context.Background())
	return c
}

// close ends what the channel follows.
func (c *channel) close() {
	if c == nil {
		return
	}
	c.stop()
	c.wg.Wait()
}

// followTerminal follows a terminal that the agent uses. A nil channel follows none.
func (c *channel) followTerminal(info protocol.SessionInfo) {
	if c == nil || info.State != protocol.StateRunning {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.ctx.Err() != nil {
		return
	}
	if i := c.findLocked(info.SessionID); i >= 0 {
		used := c.followed[i]
		c.followed = append(slices.Delete(c.followed, i, i+1), used)
		return
	}
	if len(c.followed) == maxFollowed {
		c.endWaitLocked(0)
		c.followed[0].stop()
		c.followed = slices.Delete(c.followed, 0, 1)
	}
	ctx, stop := context.WithCancel(c.ctx)
	c.followed = append(c.followed, followedTerminal{id: info.SessionID, stop: stop})
	c.wg.Go(func() { // ends with stop or with the terminal
		defer stop()
		c.readEvents(ctx, info.SessionID)
	})
}

func (c *channel) findLocked(id string) int {
	return slices.IndexFunc(c.followed, func(f followedTerminal) bool { return f.id == id })
}

// forgetTerminal stops following a terminal, as when it has ended.
func (c *channel) forgetTerminal(id string) {
	if c == nil {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.pending, id)
	if i := c.findLocked(id); i >= 0 {
		c.endWaitLocked(i)
		c.followed[i].stop()
		c.followed = slices.Delete(c.followed, i, i+1)
	}
}

// endWait ends the continued wait of a terminal, because the agent waits again.
func (c *channel) endWait(id string) {
	if c == nil {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if i := c.findLocked(id); i >= 0 {
		c.endWaitLocked(i)
	}
}

func (c *channel) endWaitLocked(i int) {
	if end := c.followed[i].endWait; end != nil {
		end()
		c.followed[i].endWait = nil
	}
}

// readEvents pushes what happens in a terminal.
func (c *channel) readEvents(ctx context.Context, id string) {
	stream, err := c.terminals.Subscribe(ctx, id, followEvery)
	if err != nil {
		c.forgetTerminal(id)
		return
	}
	for m := range stream {
		if words := c.describeEvent(id, m); words != "" {
			c.pushEvent(id, words)
		}
	}
	if ctx.Err() == nil {
		c.forgetTerminal(id)
	}
}

// describeEvent describes an event to the agent, or returns "" if it need not wake it.
func (c *channel) describeEvent(id string, m protocol.Message) string {
	const decided = "the user answered your request: call terminal_wait for=control for the answer"
	switch m := m.(type) {
	case *protocol.SessionClose:
		how := fmt.Sprintf("with status %d", m.ExitCode)
		if m.Signal != "" {
			how = "by " + text.Name(m.Signal)
		}
		return "the program ended " + how + ": terminal_read shows its last screen"
	case *protocol.Note:
		if m.From == protocol.FromUser && (m.AgentID == "" || m.AgentID == c.self.ownID()) {
			return "the user wrote to you: terminal_wait for=control shows the message"
		}
	case *protocol.ControlGrant:
		if c.takePending(id, m.AgentID) {
			return decided
		}
	case *protocol.ControlRevoke:
		switch {
		case m.Reason == protocol.ReasonReleased || m.Reason == protocol.ReasonReplaced ||
			m.Reason == protocol.ReasonExited:
		case c.takePending(id, m.AgentID):
			return decided
		case m.Epoch != 0 && m.AgentID != "" && m.AgentID == c.self.ownID():
			return text.EndReason(m.Reason) + ": " + lookFirst
		}
	}
	return ""
}

// takePending reports whether an agent's decision answers a pending request, which it then removes.
// Before its first grant this agent does not know its own id.
func (c *channel) takePending(id, agentID string) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if own := c.self.ownID(); !c.pending[id] || own != "" && own != agentID {
		return false
	}
	delete(c.pending, id)
	return true
}

// awaitDecision notes that a request is pending with the user.
func (c *channel) awaitDecision(id string) {
	if c == nil {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.pending[id] = true
}

// continueWait goes on with a wait that timed out. The terminal's next wait replaces it.
func (c *channel) continueWait(ask *protocol.Wait) {
	if c == nil || ask.Until.Control {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	i := c.findLocked(ask.SessionID)
	if i < 0 || c.ctx.Err() != nil {
		return
	}
	c.endWaitLocked(i)
	ctx, stop := context.WithCancel(c.ctx)
	c.followed[i].endWait = stop
	continued := *ask
	continued.RequestID, continued.TimeoutMs = "", continuedWait.Milliseconds()
	c.wg.Go(func() { // ends with stop or with the wait
		defer stop()
		got, err := c.terminals.Wait(ctx, &continued)
		if err != nil {
			return
		}
		c.notes.keepNotes(got.Notes)
		switch {
		case got.Stopped:
			c.pushEvent(ask.SessionID, "a stop pattern of your terminal_wait appeared: look with terminal_read")
		case got.Met:
			c.pushEvent(ask.SessionID, "your terminal_wait is met: look with terminal_read")
		}
	})
}

// pushEvent notifies the client.
func (c *channel) pushEvent(id, words string) {
	line, err := json.Marshal(map[string]any{
		"jsonrpc": "2.0", "method": "notifications/claude/channel",
		"params": map[string]any{
			"content": id + ": " + words,
			"meta":    map[string]string{"terminal": id},
		},
	})
	if err == nil {
		_ = c.push(append(line, '\n')) // a client that has stopped reading ends the stream
	}
}

// unreadNotes holds messages of the user that no tool answer has delivered yet.
type unreadNotes struct {
	mu    sync.Mutex
	texts []string
}

// keepNotes stores messages for the next answer.
func (n *unreadNotes) keepNotes(texts []string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.texts = append(n.texts, texts...)
}

// takeNotes returns the stored messages and removes them.
func (n *unreadNotes) takeNotes() []string {
	n.mu.Lock()
	defer n.mu.Unlock()
	texts := n.texts
	n.texts = nil
	return texts
}
