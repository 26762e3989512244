//go:build linux

package child_test

import (
	"os"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"terminalproxy/proxy/terminal/child"
)

// The leader's file and directory, and the names of all processes in its group.
func TestRunningDescribesTheForeground(t *testing.T) {
	if _, err := os.Stat("/proc/self/exe"); err != nil {
		t.Skip("there is no /proc")
	}
	dir := t.TempDir()
	c := start(t, "sleep 100 & cat", func(conf *child.Config) { conf.Dir = dir })
	var r child.Running
	require.Eventually(t, func() bool {
		r = c.Running()
		return slices.Contains(r.Names, "sleep") && slices.Contains(r.Names, "cat")
	}, 2*time.Minute, 10*time.Millisecond, "%v", &r)
	require.Equal(t, c.Pid(), r.Group)
	require.Equal(t, dir, r.Directory)
	require.Equal(t, child.Executable(r.Group), r.File)
	var at unix.Stat_t
	require.NoError(t, unix.Stat(r.Path, &at))
	require.Equal(t, "sh", r.Names[0])
}
