package client

import (
	"context"
	"time"

	"terminalproxy/protocol"
)

// signRequest signs a request for control, for this moment and the session's present epoch. It does
// not sign for a session that is not listed, because the gateway will reject that request.
func (c *Client) signRequest(ctx context.Context, m *protocol.ControlRequest) error {
	if c.cfg.Sign == nil {
		return nil
	}
	sessions, err := c.Sessions(ctx)
	if err != nil {
		return err
	}
	for _, s := range sessions {
		if s.SessionID != m.SessionID || s.State == protocol.StateExited {
			continue
		}
		now, err := c.Read(ctx, &protocol.Read{SessionID: m.SessionID, Probe: true})
		if err != nil {
			return err
		}
		m.Epoch, m.At = now.Frame.Keyboard.Epoch, time.Now().UnixMilli()
		m.ProofB64 = c.cfg.Sign(m.Signed(s.StartedAt))
	}
	return nil
}
