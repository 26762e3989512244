package child

import (
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"
)

// Waits for facts that must come true.
const (
	patience = 2 * time.Minute
	tick     = time.Millisecond
)

// startProcess starts a program that ends with the test.
func startProcess(t *testing.T, env []string, name string, args ...string) (pid int, end func()) {
	t.Helper()
	cmd := exec.Command(name, args...)
	cmd.Env = append(os.Environ(), env...)
	require.NoError(t, cmd.Start())
	ended := false
	end = func() {
		if !ended {
			ended = true
			_ = cmd.Process.Kill()
			_ = cmd.Wait()
		}
	}
	t.Cleanup(end)
	// Start returns when execve(2) closes its pipe, a moment before the kernel has the environment.
	require.Eventually(t, func() bool {
		environ, err := os.ReadFile("/proc/" + strconv.Itoa(cmd.Process.Pid) + "/environ")
		return err == nil && len(environ) > 0
	}, time.Minute, time.Millisecond)
	return cmd.Process.Pid, end
}

// startParent starts a shell with a child, and returns the shell.
func startParent(t *testing.T) (pid int) {
	t.Helper()
	read, write, err := os.Pipe()
	require.NoError(t, err)
	defer read.Close()
	cmd := exec.Command("sh", "-c", "cat <&3 & wait") // ends with the pipe
	cmd.ExtraFiles = []*os.File{read}
	require.NoError(t, cmd.Start())
	t.Cleanup(func() { _ = write.Close(); _ = cmd.Wait() })
	return cmd.Process.Pid
}

// look calls do within a look at a group.
func look(f *procFiles, group int, do func(f *procFiles)) {
	at := f.beginLook(group)
	defer at.end()
	do(at)
}

// A process may get the number of one that is gone. What was kept of that one says nothing of it.
func TestProcFilesOfAReusedNumber(t *testing.T) {
	for name, first := range map[string]func(f *procFiles, pid int){
		"stat": func(*procFiles, int) {},
		"comm": func(f *procFiles, pid int) { _, _ = f.readText(pid, "comm") },
		"args": func(f *procFiles, pid int) { _, _ = f.readPart(pid, "cmdline", maxArgs) },
	} {
		t.Run(name, func(t *testing.T) {
			var f procFiles
			t.Cleanup(f.close)
			parent := startParent(t)
			require.Eventually(t, func() bool {
				return len(byPath.readChildren(parent, mainThread(parent))) == 1
			}, patience, tick)
			pid, end := startProcess(t, nil, "sleep", "1000")
			look(&f, 1, func(f *procFiles) {
				_, fields := f.readStat(pid)
				require.NotNil(t, fields)
				_, _ = f.readText(pid, "comm")
				_, _ = f.readPart(pid, "cmdline", maxArgs)
				f.readChildren(pid, mainThread(pid))
				require.Len(t, f.kept, 4)
			})
			end()
			for i, k := range f.kept { // as if the shell had got the number
				f.kept[i].pid = parent
				f.kept[i].name = strings.ReplaceAll(k.name, strconv.Itoa(pid), strconv.Itoa(parent))
			}
			look(&f, 1, func(f *procFiles) {
				first(f, parent)
				name, fields := f.readStat(parent)
				require.NotNil(t, fields)
				require.Equal(t, "sh", name)
				require.Len(t, f.readChildren(parent, mainThread(parent)), 1)
				args, err := f.readPart(parent, "cmdline", maxArgs)
				require.NoError(t, err)
				require.Equal(t, "sh", arguments(args)[0])
			})
		})
	}
}

// Nothing of a process that is gone stays open when another group has come to the foreground, nor
// when the looks go on without it, nor after close.
func TestProcFilesCloseDescriptors(t *testing.T) {
	one, endOne := startProcess(t, nil, "sleep", "1000")
	two, _ := startProcess(t, nil, "sleep", "1000")
	read := func(pid int) func(*procFiles) { return func(f *procFiles) { f.readStat(pid) } }
	var f procFiles
	look(&f, one, read(one))
	require.Len(t, f.kept, 1)
	look(&f, two, read(two))
	require.Len(t, f.kept, 1)
	require.Equal(t, two, f.kept[0].pid)

	look(&f, two, read(one))
	require.Len(t, f.kept, 2)
	endOne()
	for range keptFor + 1 {
		look(&f, two, read(two))
	}
	require.Len(t, f.kept, 1)
	require.Equal(t, two, f.kept[0].pid)

	look(&f, one, read(one))
	require.Empty(t, f.kept)
	look(&f, two, read(two))
	fd := f.kept[0].fd
	f.close()
	var at unix.Stat_t
	err := unix.Fstat(fd, &at)
	require.True(t, err != nil || at.Mode&unix.S_IFMT != unix.S_IFREG, "it is closed, or another test's")
	look(&f, two, read(two))
	require.Empty(t, f.kept)
}

// A list is read to its end, whatever its length.
func TestReadList(t *testing.T) {
	for _, size := range []int{0, 500, 767, 768, 1023, 1024, 4095, 4096, 5000, 20_000, 90_000} {
		pid, _ := startProcess(t, []string{"LONG=" + strings.Repeat("x", size)}, "sleep", "1000")
		want, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/environ")
		require.NoError(t, err)
		var f procFiles
		for range 2 {
			list, err := f.readList(pid, "environ")
			require.NoError(t, err)
			require.Equal(t, want, list)
		}
		f.close()
	}
}

// A look does not wait for the one of another goroutine.
func TestProcFilesOfTwoLooks(t *testing.T) {
	var f procFiles
	t.Cleanup(f.close)
	look(&f, 1, func(first *procFiles) {
		look(&f, 1, func(second *procFiles) {
			require.NotSame(t, first, second)
			_, fields := second.readStat(os.Getpid())
			require.NotNil(t, fields)
			require.Empty(t, second.kept)
		})
		first.readStat(os.Getpid())
		require.Len(t, first.kept, 1)
	})
}
