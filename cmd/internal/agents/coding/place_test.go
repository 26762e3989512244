package coding

import (
	"os"
	"path/filepath"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestTheDirectoryOfAKilledProxyIsRemovedByTheNext: a directory that a proxy holds stays, and so do other files.
func TestTheDirectoryOfAKilledProxyIsRemovedByTheNext(t *testing.T) {
	run := t.TempDir()
	killed := filepath.Join(run, placePrefix+"killed")
	require.NoError(t, os.MkdirAll(filepath.Join(killed, "config"), 0o700))
	mine := filepath.Join(run, "mine")
	require.NoError(t, os.WriteFile(mine, nil, 0o600))
	require.NoError(t, os.Symlink(mine, filepath.Join(killed, "config", "linked")))
	held, release, err := makePlace(run)
	require.NoError(t, err)
	require.NoDirExists(t, killed)
	require.FileExists(t, mine, "what the directory only links to")

	second, releaseSecond, err := makePlace(run)
	require.NoError(t, err)
	require.DirExists(t, held)
	release()
	require.NoDirExists(t, held)
	require.DirExists(t, second)
	releaseSecond()
}

// TestProxiesThatStartAtOnceKeepTheirDirectories: one that another has just made is not taken for abandoned.
func TestProxiesThatStartAtOnceKeepTheirDirectories(t *testing.T) {
	run := t.TempDir()
	var starts sync.WaitGroup
	for range 16 {
		starts.Go(func() {
			for range 20 {
				dir, release, err := makePlace(run)
				if err != nil {
					t.Error(err)
					return
				}
				if _, err := os.Stat(dir); err != nil {
					t.Error(err)
				}
				release()
			}
		})
	}
	starts.Wait()
	left, err := os.ReadDir(run)
	require.NoError(t, err)
	require.Empty(t, left)
}
