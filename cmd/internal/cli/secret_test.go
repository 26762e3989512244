package cli

import (
	"errors"
	"fmt"
	"io/fs"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
)

// What the user can do differs: a full disk needs space, and another fault another directory.
func TestUnwrittenNamesTheNextStep(t *testing.T) {
	const full, other = "free some space there, or set XDG_STATE_HOME", "set XDG_STATE_HOME to a directory in which you can write"
	for cause, want := range map[error]string{
		syscall.ENOSPC: full, syscall.EDQUOT: full, syscall.EROFS: other, syscall.EACCES: other,
		syscall.ENOTDIR: other, syscall.EIO: "",
	} {
		err := WriteFailure(fmt.Errorf("token file: %w", &fs.PathError{Op: "write", Path: "/x", Err: cause}), "XDG_STATE_HOME")
		f, ok := errors.AsType[*Failure](err)
		require.Equal(t, want != "", ok, cause)
		if ok {
			require.Contains(t, f.Hint, want)
			require.Equal(t, StatusRefused, f.Status)
		}
	}
}
