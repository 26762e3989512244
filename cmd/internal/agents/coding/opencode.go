package coding

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"time"

	"terminalproxy/gateway/userdirs"
	"terminalproxy/proxy"
	"terminalproxy/proxy/chat"
	"terminalproxy/proxy/chat/lock"
	"terminalproxy/proxy/chat/opencode"
)

// serverPatience bounds the start of opencode's server.
const serverPatience = 2 * time.Minute

// startOpencode starts a server, to which opencode's own interface attaches.
func startOpencode(p Program, _ string) (*Conversation, error) {
	state, err := userdirs.State()
	if err != nil {
		return nil, err
	}
	owned := lock.New(filepath.Join(state, "chat"), "proxy --chat")
	conf := opencode.Config{Program: p.Command, Dir: p.Dir, Claim: owned.LockConversation}
	if !opencode.HasUserPermissions() {
		conf.Env = opencode.AskingVariables(true)
	}
	if err := conf.Read(p.Args); err != nil {
		return nil, fmt.Errorf("--chat: %w", err)
	}
	errSilent := errors.New("it did not say within two minutes where it listens")
	ctx, stop := context.WithTimeoutCause(context.Background(), serverPatience, errSilent)
	defer stop()
	d, err := opencode.Serve(ctx, conf)
	if err != nil {
		owned.Release()
		return nil, fmt.Errorf("--chat: %w", err)
	}
	return &Conversation{
		Chat: &proxy.Chat{
			Session: chat.New("opencode", d), Beside: d,
			Args: d.Args(), Env: d.Env(),
		},
		Done: func() { _ = d.Close(); owned.Release() },
	}, nil
}
