package local

import (
	"context"
	"net"
	"path/filepath"
	"time"

	"github.com/gorilla/websocket"

	"terminalproxy/gateway/endpoint"
	"terminalproxy/gateway/place"
	"terminalproxy/protocol"
	"terminalproxy/protocol/pace"
)

const (
	// handOverTime is how long a process that gives up the gateway may take to hand over its ended
	// sessions. A successor needs a fraction of it.
	handOverTime = 500 * time.Millisecond
	// handOverPause is the time between two tries to reach the successor.
	handOverPause = 5 * time.Millisecond
)

// handOver publishes ended sessions at the gateway that has taken over in dir. Without a successor
// they are lost.
func handOver(dir string, sessions [][]protocol.Message) error {
	ctx, cancel := context.WithTimeout(context.Background(), handOverTime)
	defer cancel()
	conn, err := dialSuccessor(ctx, filepath.Join(dir, place.Name))
	if err != nil {
		return err
	}
	dial := func(context.Context, string, string) (net.Conn, error) { return conn, nil }
	d := websocket.Dialer{NetDialContext: dial, Subprotocols: []string{protocol.Version}}
	ws, resp, err := d.DialContext(ctx, "ws://localhost"+protocol.PathProxy, nil)
	if resp != nil && resp.Body != nil {
		defer resp.Body.Close()
	}
	if err != nil {
		conn.Close()
		return err
	}
	defer ws.Close()
	until, _ := ctx.Deadline()
	_ = conn.SetDeadline(until)
	if err := writeSessions(ws, sessions); err != nil {
		return err
	}
	// The answer to the close frame confirms that everything was read.
	if err := ws.WriteControl(websocket.CloseMessage, websocket.FormatCloseMessage(websocket.CloseNormalClosure, ""), until); err != nil {
		return err
	}
	for err == nil {
		_, _, err = ws.ReadMessage()
	}
	if websocket.IsCloseError(err, websocket.CloseNormalClosure) {
		err = nil
	}
	return err
}

func writeSessions(ws *websocket.Conn, sessions [][]protocol.Message) error {
	for _, session := range sessions {
		for _, m := range session {
			frame, err := protocol.Encode(m)
			if err != nil {
				return err
			}
			if err := ws.WriteMessage(websocket.TextMessage, frame); err != nil {
				return err
			}
		}
	}
	return nil
}

// dialSuccessor waits for the process that takes over, and connects to it.
func dialSuccessor(ctx context.Context, path string) (net.Conn, error) {
	for {
		conn, err := place.DialOwner(ctx, path, endpoint.DialSocket)
		if err == nil {
			return conn, nil
		}
		if pace.Pause(ctx, handOverPause) != nil {
			return nil, err
		}
	}
}
