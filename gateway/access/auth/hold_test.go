package auth

import (
	"crypto/ed25519"
	"crypto/rand"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"terminalproxy/protocol"
)

// killed makes the test binary a process that enrols a key and is killed before it can remove it.
const killed = "AUTH_TEST_KILLED"

func holdAndDie(path string) {
	store, err := OpenStore(path, nil)
	if err == nil {
		var h *Hold
		if h, err = store.RegisterHolder(); err == nil {
			err = h.Enrol(protocol.Signer{Name: "page-killed"}, make(ed25519.PublicKey, ed25519.PublicKeySize), time.Now().Add(time.Hour))
		}
	}
	if err != nil {
		panic(err)
	}
	_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
	select {}
}

func names(t *testing.T, s *Store) (names []string) {
	t.Helper()
	tokens, err := s.List()
	require.NoError(t, err)
	for _, token := range tokens {
		names = append(names, token.Name)
	}
	return names
}

func TestAKeyStandsAsLongAsItsHold(t *testing.T) {
	now := time.Now()
	path := filepath.Join(t.TempDir(), "state", "tokens")
	store, err := OpenStore(path, func() time.Time { return now })
	require.NoError(t, err)
	_, err = store.Create(Token{Name: "owner", Role: RoleOwner})
	require.NoError(t, err)
	h, err := store.RegisterHolder()
	require.NoError(t, err)
	other, err := store.RegisterHolder()
	require.NoError(t, err)

	public, private, err := ed25519.GenerateKey(rand.Reader)
	require.NoError(t, err)
	signature := ed25519.Sign(private, []byte("word"))
	_, err = store.VerifySigner([]byte("word"), signature)
	require.ErrorIs(t, err, ErrNotSigned)
	require.NoError(t, h.Enrol(protocol.Signer{Name: "page-1", Types: true, Session: "vim-1"}, public, now.Add(time.Hour)))
	require.Error(t, h.Enrol(protocol.Signer{Name: "page-1"}, public, now.Add(time.Hour)), "the name is taken")
	again, err := OpenStore(path, nil) // as a proxy reads it
	require.NoError(t, err)
	who, err := again.VerifySigner([]byte("word"), signature)
	require.NoError(t, err)
	require.Equal(t, protocol.Signer{Name: "page-1", Types: true, Session: "vim-1"}, who)
	_, err = again.VerifySigner([]byte("other word"), signature)
	require.ErrorIs(t, err, ErrNotSigned)
	now = now.Add(time.Hour)
	_, err = store.VerifySigner([]byte("word"), signature)
	require.ErrorIs(t, err, ErrNotSigned, "expired")
	now = now.Add(-time.Hour)

	require.NoError(t, other.Enrol(protocol.Signer{Name: "page-2"}, public, now.Add(time.Hour)))
	require.NoError(t, other.Revoke("page-1"), "which is not its own")
	require.NoError(t, store.SweepHolders())
	require.Equal(t, []string{"owner", "page-1", "page-2"}, names(t, store))
	require.NoError(t, h.Revoke("page-1"))
	require.Equal(t, []string{"owner", "page-2"}, names(t, store))
	require.NoError(t, other.Close())
	require.NoError(t, h.Close())
	require.Equal(t, []string{"owner"}, names(t, store))
	left, err := os.ReadDir(filepath.Dir(path))
	require.NoError(t, err)
	require.Len(t, left, 1, "%v", left)
}

// After kill -9, the next sweep ends what the process held, and only that.
func TestAKilledProcessesKeysAreSwept(t *testing.T) {
	path := filepath.Join(t.TempDir(), "state", "tokens")
	self, err := os.Executable()
	require.NoError(t, err)
	cmd := exec.CommandContext(t.Context(), self)
	cmd.Env = append(os.Environ(), killed+"="+path)
	require.Error(t, cmd.Run())
	store, err := OpenStore(path, nil)
	require.NoError(t, err)
	require.Equal(t, []string{"page-killed"}, names(t, store))
	h, err := store.RegisterHolder()
	require.NoError(t, err)
	require.NoError(t, h.Enrol(protocol.Signer{Name: "page-alive"}, make(ed25519.PublicKey, ed25519.PublicKeySize), time.Now().Add(time.Hour)))
	require.NoError(t, store.SweepHolders())
	require.Equal(t, []string{"page-alive"}, names(t, store))
	locks, err := filepath.Glob(filepath.Join(filepath.Dir(path), "*.lock"))
	require.NoError(t, err)
	require.Len(t, locks, 1)
	require.NoError(t, h.Close())
}

func TestSweepingMakesNothing(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "state")
	store, err := OpenStore(filepath.Join(dir, "tokens"), nil)
	require.NoError(t, err)
	require.NoError(t, store.SweepHolders())
	require.NoDirExists(t, dir)
}
