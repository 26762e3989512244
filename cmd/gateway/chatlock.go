package main

import (
	"errors"
	"path/filepath"

	"terminalproxy/gateway"
	"terminalproxy/proxy/chat/lock"
)

// newChatLock makes the lock of the conversation that this command talks in.
func newChatLock() (*lock.Lock, error) {
	dir, err := gateway.StateDir()
	if err != nil {
		return nil, err
	}
	return lock.New(filepath.Join(dir, "chat"), "gateway chat"), nil
}

// lockChat takes the lock of a conversation, whose id is "" while it is not known.
func lockChat(l *lock.Lock, id string) error {
	err := l.Take(id)
	if err == nil {
		return nil
	}
	refused := fail(statusRefused, "chat: %w", err)
	if held, ok := errors.AsType[*lock.HeldError](err); ok {
		return refused.hinted(held.Hint())
	}
	return refused
}
