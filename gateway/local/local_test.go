package local

import (
	"context"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"terminalproxy/gateway"
	"terminalproxy/gateway/hub"
	"terminalproxy/gateway/place"
	"terminalproxy/gateway/userdirs"
	"terminalproxy/protocol"
	"terminalproxy/protocol/fake"
)

func TestLocalDoesNothingBeforeTheFirstDial(t *testing.T) {
	dir := shortDir(t)
	l := New(dir, nil)
	empty(t, dir)
	require.False(t, l.Serving())
	require.NoError(t, l.Close())
	_, err := l.Dial(fake.Within(t))
	require.ErrorIs(t, err, ErrClosed)
}

func TestLocalLeavesNothingBehind(t *testing.T) {
	dir := shortDir(t)
	l := New(dir, nil)
	dials(t, l)
	require.True(t, l.Serving())
	info, err := os.Lstat(filepath.Join(dir, place.Name))
	require.NoError(t, err)
	require.Equal(t, os.FileMode(0o600), info.Mode().Perm())
	require.NoError(t, l.Close())
	empty(t, dir)
}

func TestLocalRemovesNoSocketOfAnother(t *testing.T) {
	dir := shortDir(t)
	l := New(dir, nil)
	dials(t, l)
	path := filepath.Join(dir, place.Name)
	require.NoError(t, os.Remove(path))
	other, err := (&net.ListenConfig{}).Listen(t.Context(), "unix", path)
	require.NoError(t, err)
	require.NoError(t, l.Close())
	require.FileExists(t, path)
	require.NoError(t, other.Close())
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

// When the serving process goes away, another takes over, and every client finds the same session
// there.
func TestTakeover(t *testing.T) {
	t.Parallel()
	dir := shortDir(t)
	first, second, third := New(dir, nil), newLocal(t, dir), newLocal(t, dir)
	dials(t, first)
	p := fake.StartProxy(t, second.Dial, "ws://localhost"+protocol.PathProxy, nil, "vim-1")
	agent := newAgent(t, third, "lasting")
	ctx := fake.Within(t)
	require.Eventually(t, func() bool {
		list, err := agent.Sessions(ctx)
		return err == nil && len(list) == 1
	}, fake.Soon, 10*time.Millisecond)
	stream, err := agent.Subscribe(ctx, "vim-1", 0)
	require.NoError(t, err)
	require.IsType(t, &protocol.Snapshot{}, <-stream)
	in, err := agent.Input(ctx, &protocol.Input{RequestID: "one", SessionID: "vim-1", Data: "x"})
	require.NoError(t, err)
	require.Equal(t, protocol.StatusWritten, in.Status)

	require.NoError(t, first.Close())
	list, err := agent.Sessions(ctx)
	require.NoError(t, err)
	require.Equal(t, "vim-1", list[0].SessionID)
	r, err := agent.Read(ctx, &protocol.Read{SessionID: "vim-1"})
	require.NoError(t, err)
	require.Equal(t, []string{"hello"}, r.Frame.Screen.Lines)
	require.NotEqual(t, second.Serving(), third.Serving(), "one of them serves")
	require.IsType(t, &protocol.Snapshot{}, <-stream, "the subscription lives on")
	_, err = agent.Input(ctx, &protocol.Input{RequestID: "one", SessionID: "vim-1", Data: "x"})
	require.NoError(t, err)
	before, after := <-p.Typed, <-p.Typed
	require.Equal(t, before.RequestID, after.RequestID, "the proxy can tell a repeated input")
	require.Equal(t, before.AgentID, after.AgentID)
}

func helperProcess(t *testing.T, what, dir string) *exec.Cmd {
	t.Helper()
	self, err := os.Executable()
	require.NoError(t, err)
	cmd := exec.CommandContext(fake.Within(t), self)
	cmd.Env = append(os.Environ(), helperEnv+"="+what, userdirs.EnvDir+"="+dir)
	return cmd
}

func TestKilledGatewayIsReplaced(t *testing.T) {
	t.Parallel()
	dir := shortDir(t)
	o := startOther(t, dir)
	l := newLocal(t, dir)
	dials(t, l)
	require.False(t, l.Serving(), "the other process serves")

	require.NoError(t, o.cmd.Process.Kill())
	require.Error(t, o.cmd.Wait())
	require.FileExists(t, filepath.Join(dir, place.Name), "a stale socket is left")
	dials(t, l)
	require.True(t, l.Serving())
}

func TestLockedButSilentDirectoryIsAnErrorInTime(t *testing.T) {
	t.Parallel()
	dir := shortDir(t)
	lock, err := os.Open(dir)
	require.NoError(t, err)
	defer func() { require.NoError(t, lock.Close()) }()
	require.NoError(t, syscall.Flock(int(lock.Fd()), syscall.LOCK_EX))
	ctx, cancel := context.WithTimeout(t.Context(), 500*time.Millisecond) // long enough to find the lock on a busy machine
	defer cancel()
	_, err = New(dir, nil).Dial(ctx)
	require.ErrorContains(t, err, "another process")
}

func TestListenLocalHoldsThePlace(t *testing.T) {
	dir := shortDir(t)
	end := keepPlace(t, dir, gateway.Config{})
	_, err := TakePlace(dir)
	require.ErrorIs(t, err, place.ErrHeld)
	l := New(dir, nil)
	dials(t, l)
	require.False(t, l.Serving())
	end()
	empty(t, dir)
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

func TestLongSocketPathIsAClearError(t *testing.T) {
	dir := filepath.Join(shortDir(t), strings.Repeat("x", 110))
	require.NoError(t, os.Mkdir(dir, 0o700))
	_, err := New(dir, nil).Dial(fake.Within(t))
	require.ErrorContains(t, err, userdirs.EnvDir)
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
	sessions, err := newAgent(t, second, "").Sessions(fake.Within(t))
	require.NoError(t, err)
	require.Len(t, sessions, 1)

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
