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

// Hold is a process's share of a store: tokens that end with the process. Close ends them. The
// tokens of a killed process end when they expire, or when the next process sweeps the store. All
// methods are safe for concurrent use.
type Hold struct {
	store *Store
	name  string
	file  *os.File // locked while the process lives
}

const holderPrefix = "holder-"

// RegisterHolder adds this process to the store.
func (s *Store) RegisterHolder() (*Hold, error) {
	h := &Hold{store: s, name: holderPrefix + strings.ToLower(rand.Text()[:10]) + ".lock"}
	// The lock file is created under the lock of the directory, so that it is not swept before it
	// is locked.
	err := s.editFile(func(tokens []Token) ([]Token, error) {
		var err error
		h.file, err = os.OpenFile(s.pathBeside(h.name), os.O_CREATE|os.O_EXCL|os.O_RDWR, 0o600)
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

// Enrol adds an owner's token that has no secret and cannot be shown: the private half of key takes
// its place. The name must be new. The token ends at expires in any case.
func (h *Hold) Enrol(signer protocol.Signer, key ed25519.PublicKey, expires time.Time) error {
	unusedHash := make([]byte, 32)
	_, _ = rand.Read(unusedHash) // never fails (crypto/rand)
	return h.store.addToken(Token{
		Name: signer.Name, Role: RoleOwner, Hash: hex.EncodeToString(unusedHash),
		Key: hex.EncodeToString(key), Expires: expires.UTC(), Holder: h.name,
		Types: signer.Types, Session: signer.Session,
	})
}

// Revoke ends a token of the hold. A token that no longer exists is not an error.
func (h *Hold) Revoke(name string) error {
	return h.dropTokens(func(t Token) bool { return t.Name == name })
}

// Close ends the hold and all its tokens.
func (h *Hold) Close() error {
	err := h.dropTokens(func(Token) bool { return true })
	return errors.Join(err, os.Remove(h.file.Name()), h.file.Close())
}

func (h *Hold) dropTokens(match func(Token) bool) error {
	return h.store.editFile(func(tokens []Token) ([]Token, error) {
		isMine := func(t Token) bool { return t.Holder == h.name && match(t) }
		return slices.DeleteFunc(tokens, isMine), nil
	})
}

// SweepHolders ends the tokens of killed processes and removes their lock files.
func (s *Store) SweepHolders() error {
	staleLocks := func() []string {
		// fails only for a bad pattern
		locks, _ := filepath.Glob(s.pathBeside(holderPrefix + "*.lock"))
		return slices.DeleteFunc(locks, func(path string) bool {
			return !s.isReleased(filepath.Base(path))
		})
	}
	tokens, err := s.List()
	if err != nil || len(staleLocks()) == 0 && !slices.ContainsFunc(tokens, s.isOrphan) {
		return err
	}
	return s.editFile(func(tokens []Token) ([]Token, error) {
		tokens = slices.DeleteFunc(tokens, s.isOrphan)
		for _, path := range staleLocks() {
			if err := os.Remove(path); err != nil {
				return nil, err
			}
		}
		return tokens, nil
	})
}

// isOrphan reports whether the process that held a token is gone.
func (s *Store) isOrphan(t Token) bool { return validName(t.Holder) && s.isReleased(t.Holder) }

// isReleased reports whether a lock file is unlocked. If that cannot be read, it counts as locked.
func (s *Store) isReleased(holder string) bool {
	f, err := os.Open(s.pathBeside(holder))
	if err != nil {
		return errors.Is(err, os.ErrNotExist)
	}
	defer func() { _ = f.Close() }() // releases the lock
	return syscall.Flock(int(f.Fd()), syscall.LOCK_SH|syscall.LOCK_NB) == nil
}

func (s *Store) pathBeside(name string) string { return filepath.Join(filepath.Dir(s.path), name) }
