package session_test

import (
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"terminalproxy/cmd/internal/e2e/world"

	"github.com/creack/pty"
	"github.com/stretchr/testify/require"
)

// A process that can open next to nothing says so, and Go's runtime does not end it with a trace.
// The program has the limit of the user's shell, not the one that the proxy sets for itself.
func TestFewFileDescriptors(t *testing.T) {
	w := world.New(t)
	s := w.Terminal(100, 24)
	for _, limit := range []int{5, 9, 15} {
		out, _ := s.RunToEnd(fmt.Sprintf("(ulimit -n %d; proxy true; proxy --agent true; gateway ls; gateway mcp </dev/null)", limit))
		require.NotContains(t, out, "goroutine", limit)
		if limit < 15 {
			const say = "this process can open too few files\nhint: raise the limit of open files, as with: ulimit -n 1024\n"
			require.Equal(t, 4, strings.Count(out, say), out)
		}
	}
	for _, flags := range []string{"", "--agent "} {
		out, _ := s.RunToEnd("(ulimit -S -n 40; proxy " + flags + "bash -c 'ulimit -S -n')")
		require.Contains(t, out, "40", flags)
	}
}

// A session does not begin if Go's runtime could run out of address space in the middle of it. 1
// GiB is enough. Below 730 MiB the runtime itself does not start, and says so in its own words.
func TestLittleAddressSpace(t *testing.T) {
	w := world.New(t)
	s := w.Terminal(100, 24)
	out, _ := s.RunToEnd("(ulimit -v 1048575; proxy true; proxy --agent true; gateway ls; gateway mcp </dev/null)")
	const say = ": memory: the limit of 1048575 KiB of address space is too low\nhint: raise the limit of address space, as with: ulimit -v 1048576\n"
	require.Equal(t, 2, strings.Count(out, "proxy"+say), out)
	require.Equal(t, 2, strings.Count(out, "gateway"+say), out)
	s.Run("(ulimit -v 1048576; proxy --agent --record film.cast bash --noprofile --rcfile bashrc -i)")
	id := w.Session()
	s.Typed("seq 200000; ulimit -v\n")
	s.Wait("\n1048576\n")
	world.WaitRead(w, id, "\n200000\n1048576\n")
	s.Typed("exit 7\n")
	require.Equal(t, 7, s.Status())
}

// R13: without --agent every byte passes untouched.
func TestEveryBytePassesUntouchedWithoutAgentR13(t *testing.T) {
	w := world.New(t)
	const size = 1 << 20
	random := rand.NewChaCha8([32]byte{13})
	shown, typed := make([]byte, size), make([]byte, size)
	_, _ = random.Read(shown) // never fails
	_, _ = random.Read(typed)
	w.Write("shown", string(shown))

	cmd := w.Command("proxy", "swap", "shown", "typed")
	ptmx, err := pty.StartWithSize(cmd, &pty.Winsize{Cols: 80, Rows: 24})
	require.NoError(t, err)
	defer ptmx.Close()
	got := make([]byte, len("go")+size)
	_, err = io.ReadFull(ptmx, got[:2])
	require.NoError(t, err)
	require.Equal(t, "go", string(got[:2]))
	go func() { _, _ = ptmx.Write(typed) }() // ends when the program has read it, or with the PTY
	_, err = io.ReadFull(ptmx, got[2:])
	require.NoError(t, err)
	_, err = io.Copy(io.Discard, ptmx) // what is left on is switched off
	require.Error(t, err, "the terminal's end is an error (EIO)")
	require.NoError(t, cmd.Wait())
	require.True(t, string(got[2:]) == string(shown), "what the program wrote")
	require.True(t, w.Content("typed") == string(typed), "what the user typed")
}

func TestAPlainSessionHasNoNetwork_Root(t *testing.T) {
	world.NeedsRoot(t, "to look at a proxy's descriptors (R51)")
	if _, err := os.Stat("/proc/self/fd"); err != nil {
		t.Skip("this system does not show a process's descriptors under /proc")
	}
	w := world.New(t)
	s := w.Terminal(80, 24)
	s.Run(`proxy sh -c 'echo proxy=$PPID; cat'`)
	pid := world.AboveLeader(s.Match(`proxy=(\d+)`))
	fds, err := os.ReadDir(filepath.Join("/proc", pid, "fd"))
	require.NoError(t, err)
	require.NotEmpty(t, fds)
	for _, fd := range fds {
		target, err := os.Readlink(filepath.Join("/proc", pid, "fd", fd.Name()))
		require.NoError(t, err)
		require.False(t, strings.HasPrefix(target, "socket:"), "descriptor %s is a socket", fd.Name())
	}
	s.Press("C-d")
	require.Zero(t, s.Status())
}

func TestAPlainSessionLeavesNoFile(t *testing.T) {
	w := world.New(t)
	s := w.Terminal(80, 24)
	before := w.Files()
	s.Run("proxy sh -c 'echo runs; cat'")
	s.Wait("runs")
	require.Equal(t, before, w.Files(), "while it runs")
	s.Press("C-d")
	require.Zero(t, s.Status())
	require.Equal(t, before, w.Files(), "afterwards")
}
