package local

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"terminalproxy/gateway/client"
	"terminalproxy/gateway/hub"
	"terminalproxy/gateway/place"
	"terminalproxy/gateway/userdirs"
	"terminalproxy/protocol"
	"terminalproxy/protocol/fake"
)

func TestLocalLeavesNothingBehind(t *testing.T) {
	dir := shortDir(t)
	l := New(dir, nil)
	empty(t, dir)
	dials(t, l)
	require.True(t, l.Serving())
	info, err := os.Lstat(filepath.Join(dir, place.Name))
	require.NoError(t, err)
	require.Equal(t, os.FileMode(0o600), info.Mode().Perm())
	require.NoError(t, l.Close())
	empty(t, dir)
	_, err = l.Dial(fake.Within(t))
	require.ErrorIs(t, err, ErrClosed)
}

func TestManyStartAtOnceAndOneServes(t *testing.T) {
	dir := shortDir(t)
	var all []*Gateway
	var wg sync.WaitGroup
	ctx := fake.Within(t)
	errs := make(chan error, 8)
	for range cap(errs) {
		l := New(dir, nil)
		all = append(all, l)
		wg.Go(func() {
			conn, err := l.Dial(ctx)
			if err == nil {
				err = conn.Close()
			}
			errs <- err
		})
	}
	wg.Wait()
	serving := 0
	for _, l := range all {
		require.NoError(t, <-errs)
		if l.Serving() {
			serving++
		}
	}
	require.Equal(t, 1, serving)
	for _, l := range all {
		require.NoError(t, l.Close())
	}
}

func helperProcess(t *testing.T, what, dir string) *exec.Cmd {
	t.Helper()
	self, err := os.Executable()
	require.NoError(t, err)
	cmd := exec.CommandContext(fake.Within(t), self)
	cmd.Env = append(os.Environ(), helperEnv+"="+what, userdirs.EnvDir+"="+dir)
	return cmd
}

func TestLockedButSilentDirectoryIsAnErrorInTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		dir := shortDir(t)
		lock, err := os.Open(dir)
		require.NoError(t, err)
		defer func() { require.NoError(t, lock.Close()) }()
		require.NoError(t, syscall.Flock(int(lock.Fd()), syscall.LOCK_EX))
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		_, err = New(dir, nil).Dial(ctx)
		require.ErrorContains(t, err, "another process")
	})
}

// R41: the directory keeps other users out. If it does not, the kernel's report of the peer does.
func TestSecondUserIsRefusedR41_Root(t *testing.T) {
	needsRoot(t, "to be another user")
	const nobody = 65534
	dir := shortDir(t)
	dials(t, newLocal(t, dir))
	helper, err := os.ReadFile("/proc/self/exe")
	if err != nil {
		t.Skip("needs /proc, to let another user run this program")
	}
	copied := filepath.Join(shortDir(t), "helper")
	require.NoError(t, os.Chmod(filepath.Dir(copied), 0o755))
	require.NoError(t, os.WriteFile(copied, helper, 0o755))
	try := func() string {
		cmd := helperProcess(t, "dial", dir)
		cmd.Path = copied
		cmd.Dir = "/"
		cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: nobody, Gid: nobody}}
		out, err := cmd.Output()
		require.NoError(t, err, "%s", out)
		return strings.TrimSpace(string(out))
	}
	require.Equal(t, "refused at connect", try())
	require.NoError(t, os.Chmod(dir, 0o755))
	require.NoError(t, os.Chmod(filepath.Join(dir, place.Name), 0o666))
	require.Equal(t, "refused by credentials", try())
}

// needsRoot skips a test that an ordinary user cannot set up.
func needsRoot(t *testing.T, purpose string) {
	t.Helper()
	if os.Getuid() != 0 {
		t.Skip("needs root: " + purpose)
	}
}

// A proxy in the serving process joins there directly, visible to every client; a proxy elsewhere
// dials.
func TestJoinIsForTheServingProcessOnly(t *testing.T) {
	dir := shortDir(t)
	first, second := New(dir, nil), newLocal(t, dir)
	seat, err := first.JoinInProcess()
	require.NoError(t, err)
	require.NotNil(t, seat)
	require.True(t, first.Serving(), "nobody did, so this process does")
	seat.Handle(&protocol.SessionOpen{ID: "1", SessionID: "vim-1", Name: "vim", Command: "vim", Args: []string{}, Cols: 80, Rows: 24})

	elsewhere, err := second.JoinInProcess()
	require.NoError(t, err)
	require.Nil(t, elsewhere)
	require.False(t, second.Serving())
	agent := client.New(client.Config{Dial: second.Dial, URL: "ws://localhost" + protocol.PathAgent})
	sessions, err := agent.Sessions(fake.Within(t))
	require.NoError(t, err)
	require.Len(t, sessions, 1)
	require.NoError(t, agent.Close())

	require.NoError(t, first.Close())
	m, err := seat.Next(nil)
	require.NoError(t, err)
	require.IsType(t, &protocol.Subscribed{}, m)
	_, err = seat.Next(nil)
	require.ErrorIs(t, err, hub.ErrClosed, "the seat ends with the gateway")
	_, err = first.JoinInProcess()
	require.ErrorIs(t, err, ErrClosed)
	taken, err := second.JoinInProcess()
	require.NoError(t, err)
	require.NotNil(t, taken, "the place is free")
}
