package auth

import (
	"crypto/ed25519"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"terminalproxy/protocol"
)

// Hold is a process's part in a store: tokens that are to end with the process. They end with Close; those of a process that
// was killed end when they expire, or when the next process sweeps the store. All methods may be called from any goroutine.
type Hold struct {
	store *Store
	name  string
	file  *os.File // locked while the process lives
}

const holderPrefix = "holder-"

// Hold makes a part of this process in the store.
func (s *Store) Hold() (*Hold, error) {
	h := &Hold{store: s, name: holderPrefix + strings.ToLower(rand.Text()[:10]) + ".lock"}
	err := s.change(func(tokens []Token) ([]Token, error) { // under the lock of the directory: nobody sweeps it before it is locked
		var err error
		h.file, err = os.OpenFile(s.beside(h.name), os.O_CREATE|os.O_EXCL|os.O_RDWR, 0o600)
		if err != nil {
			return nil, err
		}
		if err := syscall.Flock(int(h.file.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
			return nil, errors.Join(err, h.file.Close(), os.Remove(h.file.Name()))
		}
		return tokens, nil
	})
	if err != nil {
		return nil, err
	}
	return h, nil
}

// Enrol makes an owner's token without a secret: nobody can show it, and it stands for whoever has the private half of key. The name is
// to be new; expires is the end of it in any case.
func (h *Hold) Enrol(who protocol.Signer, key ed25519.PublicKey, expires time.Time) error {
	none := make([]byte, 32)
	_, _ = rand.Read(none) // never fails (crypto/rand)
	return h.store.add(Token{
		Name: who.Name, Role: RoleOwner, Hash: hex.EncodeToString(none), Key: hex.EncodeToString(key), Expires: expires.UTC(), Holder: h.name,
		Types: who.Types, Session: who.Session,
	})
}

// Revoke ends a token of the hold; one that is gone already is no error.
func (h *Hold) Revoke(name string) error {
	return h.drop(func(t Token) bool { return t.Name == name })
}

// Close ends the hold and all its tokens.
func (h *Hold) Close() error {
	return errors.Join(h.drop(func(Token) bool { return true }), os.Remove(h.file.Name()), h.file.Close())
}

func (h *Hold) drop(meant func(Token) bool) error {
	return h.store.change(func(tokens []Token) ([]Token, error) {
		return slices.DeleteFunc(tokens, func(t Token) bool { return t.Holder == h.name && meant(t) }), nil
	})
}

// Sweep ends the tokens of processes that were killed, and removes what else those left.
func (s *Store) Sweep() error {
	left := func() []string {
		locks, _ := filepath.Glob(s.beside(holderPrefix + "*.lock")) // it fails for a bad pattern only
		return slices.DeleteFunc(locks, func(path string) bool { return !s.gone(filepath.Base(path)) })
	}
	tokens, err := s.List()
	if err != nil || len(left()) == 0 && !slices.ContainsFunc(tokens, s.orphan) {
		return err
	}
	return s.change(func(tokens []Token) ([]Token, error) {
		tokens = slices.DeleteFunc(tokens, s.orphan)
		for _, path := range left() {
			if err := os.Remove(path); err != nil {
				return nil, err
			}
		}
		return tokens, nil
	})
}

// orphan reports whether the process that held a token is gone.
func (s *Store) orphan(t Token) bool { return validName(t.Holder) && s.gone(t.Holder) }

// gone reports whether nobody holds a lock file. Where that cannot be told, somebody does.
func (s *Store) gone(holder string) bool {
	f, err := os.Open(s.beside(holder))
	if err != nil {
		return errors.Is(err, os.ErrNotExist)
	}
	defer func() { _ = f.Close() }() // gives the lock back
	return syscall.Flock(int(f.Fd()), syscall.LOCK_SH|syscall.LOCK_NB) == nil
}

func (s *Store) beside(name string) string { return filepath.Join(filepath.Dir(s.path), name) }
