package main

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/gorilla/websocket"

	"terminalproxy/contrib/cluster/rig"
	"terminalproxy/protocol"
)

// proxy is the connection of simulated proxies: sessions of 80 by 24 that draw when they are told to.
type proxy struct {
	ws *websocket.Conn
	at int // its gateway
	// space is its namespace.
	space int
	ids   []string

	mu  sync.Mutex // one writer
	seq uint64
}

// join connects to a gateway and opens n sessions.
func join(ctx context.Context, g *rig.Gateway, token string, number, n int) (*proxy, error) {
	dialer := websocket.Dialer{Subprotocols: []string{protocol.Version}, HandshakeTimeout: rig.Soon}
	ws, resp, err := dialer.DialContext(ctx, g.URL()+protocol.PathProxy, http.Header{"Authorization": {"Bearer " + token}})
	if err != nil {
		return nil, fmt.Errorf("proxy %d: %w", number, err)
	}
	_ = resp.Body.Close()
	p := &proxy{ws: ws, at: number % size, space: number / size / perToken / inOne()}
	refused := make(chan error, 1)
	go p.reads(refused) // ends with the connection
	for i := range n {
		id := fmt.Sprintf("load-%d-%d", number, i)
		p.ids = append(p.ids, id)
		if err := p.say(&protocol.SessionOpen{
			ID: protocol.NewID(), SessionID: id, Name: "bash", Command: "/bin/bash", Args: []string{"-l"}, Cwd: "/home/somebody/project",
			Cols: 80, Rows: 24, Pid: 4242, StartedAt: time.Now().UnixMilli(), ResumeKey: id + "-0123456789abcdef0123456789abcdef",
			Parts: true, Subscriptions: true,
		}); err != nil {
			return p, err
		}
		if err := p.say(p.screen(id)); err != nil {
			return p, err
		}
	}
	select {
	case err := <-refused:
		return p, err
	default:
		return p, nil
	}
}

func (p *proxy) say(m protocol.Message) error {
	frame, err := protocol.Encode(m)
	if err != nil {
		return err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.ws.WriteMessage(websocket.TextMessage, frame)
}

// reads answers pings, and reports the first refusal.
func (p *proxy) reads(refused chan<- error) {
	for {
		_, frame, err := p.ws.ReadMessage()
		if err != nil {
			return
		}
		if m, err := protocol.Decode(frame, protocol.MaxMessage); err == nil {
			if no, ok := m.(*protocol.Error); ok {
				select {
				case refused <- no:
				default:
				}
			}
		}
	}
}

// screen is a screen of about a KiB, which says when it was drawn.
func (p *proxy) screen(id string) *protocol.Snapshot {
	lines := make([]string, 24)
	for i := range lines {
		lines[i] = "the quick brown fox jumps over the lazy dog"
	}
	lines[0] = fmt.Sprint(time.Now().UnixNano())
	p.mu.Lock()
	p.seq++
	seq := p.seq
	p.mu.Unlock()
	return &protocol.Snapshot{ID: protocol.NewID(), SessionID: id, Seq: seq, Content: strings.Join(lines, "\n"), Screen: &protocol.Screen{Cols: 80, Rows: 24, Lines: lines}}
}

// draws draws until ctx ends.
func (p *proxy) draws(ctx context.Context, id string, every time.Duration) {
	tick := time.NewTicker(every)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
			if p.say(p.screen(id)) != nil {
				return
			}
		}
	}
}

func (p *proxy) close() { _ = p.ws.Close() }
