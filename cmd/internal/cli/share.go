package cli

import (
	"context"
	"log/slog"
	"net"
	"sync"

	"terminalproxy/cmd/internal/tui/pictures"
	"terminalproxy/gateway/endpoint"
	"terminalproxy/gateway/local"
	"terminalproxy/gateway/place"
	"terminalproxy/gateway/userdirs"
	"terminalproxy/proxy/link"
)

// dialOrServeKept dials a gateway. If no process serves the local one, and it keeps the sessions of
// ended programs, own serves it for as long as the command runs.
func dialOrServeKept(ep endpoint.Endpoint, own *LocalShare) func(context.Context) (net.Conn, error) {
	return func(ctx context.Context) (net.Conn, error) {
		conn, err := ep.DialContext(ctx)
		if err == nil || !ep.Local() || !place.IsVacant(err) {
			return conn, err
		}
		if dir, _, bad := userdirs.LocalSocket(); dir == "" || bad != nil ||
			!local.HasKeptSessions(dir) {
			return nil, err
		}
		return own.DialLocal(ctx)
	}
}

// LocalShare is this process's share in the local gateway. It is created with the first connection,
// so that a program that is only asked for its tools touches no directory.
type LocalShare struct {
	Log *slog.Logger

	mu    sync.Mutex
	local *local.Gateway
}

// DialLocal connects to the local gateway, and serves it if no other process does.
func (s *LocalShare) DialLocal(ctx context.Context) (net.Conn, error) {
	local, err := s.localGateway()
	if err != nil {
		return nil, err
	}
	return local.Dial(ctx)
}

// JoinLocal joins the gateway if this process serves it; otherwise it returns a nil seat.
func (s *LocalShare) JoinLocal() (link.Seat, error) {
	local, err := s.localGateway()
	if err != nil {
		return nil, err
	}
	if seat, err := local.JoinInProcess(); seat != nil || err != nil {
		return seat, err
	}
	return nil, nil //nolint:nilnil // no seat is no failure
}

func (s *LocalShare) localGateway() (*local.Gateway, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.local == nil {
		dir, err := userdirs.Runtime()
		if err != nil {
			return nil, err
		}
		s.local = local.New(dir, s.Log)
		s.local.Draw = pictures.Draw
	}
	return s.local, nil
}

// Close ends the part in the local gateway.
func (s *LocalShare) Close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.local == nil {
		return nil
	}
	return s.local.Close()
}
