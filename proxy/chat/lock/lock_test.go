package lock_test

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"terminalproxy/proxy/chat/lock"
)

// TestMain is also another process that takes a lock when told to: it says so and waits for its
// end.
func TestMain(m *testing.M) {
	dir := os.Getenv("TEST_LOCK_DIR")
	if dir == "" {
		os.Exit(m.Run())
	}
	fmt.Println(lock.New(dir, "other program").LockConversation("c1"))
	_, _ = bufio.NewReader(os.Stdin).ReadByte()
}

// other starts a process that holds the lock of c1.
func other(t *testing.T, dir string) *exec.Cmd {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), os.Args[0])
	cmd.Env = append(os.Environ(), "TEST_LOCK_DIR="+dir)
	_, err := cmd.StdinPipe()
	require.NoError(t, err)
	out, err := cmd.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	said, err := bufio.NewReader(out).ReadString('\n')
	require.NoError(t, err)
	require.Equal(t, "<nil>\n", said)
	return cmd
}

// The second process hears who has the conversation; a killed one has nothing.
func TestOneWriter(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "chat")
	holder := other(t, dir)
	l := lock.New(dir, "gateway chat")
	err := l.LockConversation("c1")
	held := &lock.HeldError{}
	require.ErrorAs(t, err, &held)
	require.Equal(t, holder.Process.Pid, held.By.PID)
	require.Regexp(t, fmt.Sprintf(`^the conversation c1 is open in other program \(process %d(?: on /dev/\S+)?, since \d\d:\d\d\)$`, held.By.PID), err.Error())
	require.NoError(t, l.LockConversation("c2"), "another conversation is free")
	require.NoError(t, holder.Process.Kill())
	_ = holder.Wait()
	require.FileExists(t, filepath.Join(dir, "c1.lock"))
	require.NoError(t, l.LockConversation("c1"))
	require.NoFileExists(t, filepath.Join(dir, "c2.lock"), "the one before is free")
}

// Within one process, too, one writer has the conversation; a refusal changes nothing.
func TestTakeAndRelease(t *testing.T) {
	dir := t.TempDir()
	one, two := lock.New(dir, "one"), lock.New(dir, "two")
	require.NoError(t, one.LockConversation(""))
	require.NoError(t, one.LockConversation("c1"))
	require.NoError(t, one.LockConversation("c1"))
	require.NoError(t, two.LockConversation("c2"))
	require.ErrorContains(t, two.LockConversation("c1"), "is open in one (process ")
	require.ErrorContains(t, one.LockConversation("c2"), "is open in two (process ", "what two had, it still has")
	require.ErrorContains(t, two.LockConversation("../c3"), "cannot be used")
	one.Release()
	one.Release()
	require.NoError(t, two.LockConversation("c1"))
	two.Release()
	left, err := os.ReadDir(dir)
	require.NoError(t, err)
	require.Empty(t, left)
}

// No remains of a file make it into a sentence, and no link is followed.
func TestADamagedLockFileIsTolerated(t *testing.T) {
	dir := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, "c1.lock"), []byte(`{"pid":1,"what":"`+string(make([]byte, 5000))), 0o600))
	one, two := lock.New(dir, "one"), lock.New(dir, "two")
	require.NoError(t, one.LockConversation("c1"))
	require.ErrorContains(t, two.LockConversation("c1"), fmt.Sprintf("one (process %d", os.Getpid()))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "c1.lock"), nil, 0o600))
	require.EqualError(t, two.LockConversation("c1"), "the conversation c1 is open in another process")
	require.NoError(t, os.Symlink(filepath.Join(dir, "elsewhere"), filepath.Join(dir, "c3.lock")))
	require.ErrorContains(t, one.LockConversation("c3"), "lock of the conversation")
}
