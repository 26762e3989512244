package nonblock_test

import (
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"terminalproxy/proxy/terminal/nonblock"
)

func TestReadAndWrite(t *testing.T) {
	var fds [2]int
	require.NoError(t, unix.Pipe(fds[:]))
	for _, fd := range fds {
		require.NoError(t, unix.SetNonblock(fd, true))
	}
	var b [8]byte
	_, err := nonblock.Read(fds[0], b[:])
	require.Equal(t, unix.EAGAIN, err, "nothing is there")
	n, err := nonblock.Write(fds[1], []byte("four"))
	require.NoError(t, err)
	require.Equal(t, 4, n)
	n, err = nonblock.Read(fds[0], b[:])
	require.NoError(t, err)
	require.Equal(t, "four", string(b[:n]))
	n, err = nonblock.Write(fds[1], nil)
	require.NoError(t, err)
	require.Zero(t, n)
	require.NoError(t, unix.Close(fds[1]))
	n, err = nonblock.Read(fds[0], b[:])
	require.NoError(t, err)
	require.Zero(t, n, "the end")
	require.NoError(t, unix.Close(fds[0]))
	_, err = nonblock.Read(fds[0], b[:])
	require.Equal(t, unix.EBADF, err)
}
