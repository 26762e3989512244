package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"terminalproxy/gateway"
)

// conversationLock is held by the only process of ours that talks in a conversation.
type conversationLock struct {
	id     string
	unlock func()
}

// take takes the lock of a conversation, unless it has it. An id that is not known yet is "".
func (l *conversationLock) take(id string) error {
	if id == "" || id == l.id {
		return nil
	}
	if !conversationID.MatchString(id) {
		return fail(statusRefused, "chat: the agent gave the conversation an id that cannot be used: %.60q", id)
	}
	unlock, err := lockChat(id)
	if err != nil {
		return err
	}
	l.release()
	l.id, l.unlock = id, unlock
	return nil
}

func (l *conversationLock) release() {
	if l.unlock != nil {
		l.unlock()
		l.unlock = nil
	}
}

// lockChat makes this process the only one of ours that talks in a conversation, until unlock. The agents themselves do not keep two
// writers from one conversation.
func lockChat(id string) (unlock func(), err error) {
	dir, err := gateway.StateDir()
	if err != nil {
		return nil, err
	}
	dir = filepath.Join(dir, "chat")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("directory of the conversations: %w", err)
	}
	path := filepath.Join(dir, id+".lock")
	for {
		f, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o600)
		if err != nil {
			return nil, fmt.Errorf("lock of the conversation: %w", err)
		}
		if err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
			return nil, taken(f, id, err)
		}
		if !stands(f, path) {
			f.Close() // the one who had it took the file away meanwhile
			continue
		}
		_ = f.Truncate(0)
		_, _ = fmt.Fprintf(f, "%d\n", os.Getpid()) // only for the sentence
		return func() { _ = os.Remove(path); f.Close() }, nil
	}
}

// taken is the error for a conversation that another process has.
func taken(f *os.File, id string, err error) error {
	defer f.Close()
	if !errors.Is(err, syscall.EWOULDBLOCK) {
		return fmt.Errorf("lock of the conversation: %w", err)
	}
	pid, _ := io.ReadAll(io.LimitReader(f, 20))
	return fail(statusRefused, "chat: the conversation %s is open in another gateway chat (process %s)", id, strings.TrimSpace(string(pid))).
		hinted("end that one first: two of them would mix their turns")
}

// stands reports whether the path names this open file.
func stands(f *os.File, path string) bool {
	ours, err := f.Stat()
	if err != nil {
		return false
	}
	named, err := os.Stat(path)
	return err == nil && os.SameFile(ours, named)
}
