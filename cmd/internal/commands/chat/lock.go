package chat

import (
	"path/filepath"

	"terminalproxy/cmd/internal/cli"
	"terminalproxy/gateway/client"
	"terminalproxy/gateway/userdirs"
	"terminalproxy/proxy/chat/lock"
)

// newChatLock makes the lock for this command's conversation.
func newChatLock() (*lock.Lock, error) {
	dir, err := userdirs.State()
	if err != nil {
		return nil, err
	}
	return lock.New(filepath.Join(dir, "chat"), "gateway chat"), nil
}

// lockChat locks a conversation; id is "" until it is known.
func lockChat(l *lock.Lock, id string) error {
	err := l.LockConversation(id)
	if err == nil {
		return nil
	}
	return cli.Fail(cli.StatusRefused, "chat: %w", err).WithHint(client.Hint(err))
}
