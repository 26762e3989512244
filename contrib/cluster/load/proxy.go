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

// proxy is a connection of simulated proxies, with sessions of 80 by 24 cells.
type proxy struct {
	ws      *websocket.Conn
	gateway int // index of its gateway
	// space is the index of its namespace.
	space int
	ids   []string

	mu  sync.Mutex // one writer
	seq uint64
}

// connectProxy connects to a gateway and opens n sessions.
func connectProxy(
	ctx context.Context, g *rig.Gateway, token string, number, n int,
) (*proxy, error) {
	dialer := websocket.Dialer{Subprotocols: []string{protocol.Version}, HandshakeTimeout: rig.Soon}
	header := http.Header{"Authorization": {"Bearer " + token}}
	ws, resp, err := dialer.DialContext(ctx, g.URL()+protocol.PathProxy, header)
	if err != nil {
		return nil, fmt.Errorf("proxy %d: %w", number, err)
	}
	_ = resp.Body.Close()
	p := &proxy{ws: ws, gateway: number % size, space: number / size / perToken / tokensPerSpace()}
	refused := make(chan error, 1)
	go p.readRefusals(refused) // ends with the connection
	for i := range n {
		id := fmt.Sprintf("load-%d-%d", number, i)
		p.ids = append(p.ids, id)
		if err := p.sendMessage(&protocol.SessionOpen{
			ID: protocol.NewID(), SessionID: id,
			Name: "bash", Command: "/bin/bash", Args: []string{"-l"}, Cwd: "/home/somebody/project",
			Cols: 80, Rows: 24, Pid: 4242, StartedAt: time.Now().UnixMilli(),
			ResumeKey: id + "-0123456789abcdef0123456789abcdef",
		}); err != nil {
			return p, err
		}
		if err := p.sendMessage(p.newScreen(id)); err != nil {
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

func (p *proxy) sendMessage(m protocol.Message) error {
	frame, err := protocol.Encode(m)
	if err != nil {
		return err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.ws.WriteMessage(websocket.TextMessage, frame)
}

// readRefusals reads until the connection ends, which also answers pings, and reports the first
// error.
func (p *proxy) readRefusals(refused chan<- error) {
	for {
		_, frame, err := p.ws.ReadMessage()
		if err != nil {
			return
		}
		if m, err := protocol.Decode(frame, protocol.MaxMessage); err == nil {
			if refusal, ok := m.(*protocol.Error); ok {
				select {
				case refused <- refusal:
				default:
				}
			}
		}
	}
}

// newScreen returns a screen of about 1 KiB, with the time of its drawing.
func (p *proxy) newScreen(id string) *protocol.Snapshot {
	lines := make([]string, 24)
	for i := range lines {
		lines[i] = "the quick brown fox jumps over the lazy dog"
	}
	lines[0] = fmt.Sprint(time.Now().UnixNano())
	p.mu.Lock()
	p.seq++
	seq := p.seq
	p.mu.Unlock()
	return &protocol.Snapshot{
		ID: protocol.NewID(), SessionID: id, Seq: seq, Content: strings.Join(lines, "\n"),
		Screen: &protocol.Screen{Cols: 80, Rows: 24, Lines: lines},
	}
}

// drawScreens sends a screen each period until ctx ends.
func (p *proxy) drawScreens(ctx context.Context, id string, every time.Duration) {
	tick := time.NewTicker(every)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
			if p.sendMessage(p.newScreen(id)) != nil {
				return
			}
		}
	}
}

func (p *proxy) close() { _ = p.ws.Close() }
