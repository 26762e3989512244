package keep_test

import (
	"os"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"terminalproxy/proxy/detached/keep"
)

// A message goes to the window where the session is, and is dropped in between.
func TestAKeepBetweenWindows(t *testing.T) {
	dir := t.TempDir()
	k := keep.NewKeep(dir, nil)
	require.Nil(t, k.Windows(), "the session has not begun")
	require.NoError(t, k.OpenDoor("vim-k3f9"))
	defer k.Close()
	require.Nil(t, k.WindowDone())
	_, err := k.Write([]byte("nobody is there"))
	require.NoError(t, err)
	k.NoteLeft(time.UnixMilli(1234))
	require.EqualValues(t, 1234, k.LeftAt())

	done, _ := lendTerminal(t, dir, "vim-k3f9")
	w := <-k.Windows()
	defer w.CloseFiles()
	k.SetWindow(w)
	k.NoteReturned()
	require.Zero(t, k.LeftAt())
	_, err = k.Write([]byte("welcome\n"))
	require.NoError(t, err)
	k.EndWithStatus(3)
	got := <-done
	require.NoError(t, got.err)
	require.Equal(t, keep.End{Ended: true, Code: 3}, got.end)
	require.Equal(t, "welcome\n", got.say.String())
	<-k.WindowDone()
}

// Without a keep, no window comes or leaves.
func TestWithoutAKeep(t *testing.T) {
	var k *keep.Keep
	require.Nil(t, k.Window())
	require.Nil(t, k.Windows())
	require.Equal(t, (<-chan struct{})(nil), k.WindowDone())
	require.Zero(t, k.LeftAt())
	require.ErrorIs(t, keep.NewKeep(t.TempDir()+"/none", nil).OpenDoor("vim-k3f9"), os.ErrNotExist)
}
