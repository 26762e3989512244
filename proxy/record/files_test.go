package record_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"terminalproxy/proxy/record"
)

// An empty file is filled, and stays when its recording is discarded.
func TestOpenFiles(t *testing.T) {
	for _, there := range []bool{false, true} {
		name := filepath.Join(t.TempDir(), "x.cast")
		if there {
			require.NoError(t, os.WriteFile(name, nil, 0o644)) //nolint:gosec // the mode under test
		}
		f, err := record.OpenFiles(name)
		require.NoError(t, err)
		for _, file := range []string{name, name + record.AuditSuffix} {
			info, err := os.Stat(file)
			require.NoError(t, err)
			require.Equal(t, os.FileMode(0o600), info.Mode())
		}
		_, err = record.OpenFiles(name)
		require.EqualError(t, err, "another session records to "+name)
		f.Discard()
		_, err = os.Stat(name)
		require.Equal(t, there, err == nil)
		require.NoFileExists(t, name+record.AuditSuffix)
	}
}

// OpenFiles leaves nothing behind when it refuses.
func TestOpenFilesWritesOverNothing(t *testing.T) {
	for name, c := range map[string]struct {
		prepare func(path string) error
		want    string
	}{
		"a file with content":     {func(p string) error { return os.WriteFile(p, []byte("x"), 0o600) }, "exists and is not empty: name a new file"},
		"a symbolic link":         {func(p string) error { return os.Symlink("elsewhere", p) }, "is a symbolic link, and links are not followed: name the file itself"},
		"a directory":             {func(p string) error { return os.Mkdir(p, 0o700) }, "is a directory"},
		"a pipe":                  {func(p string) error { return unix.Mkfifo(p, 0o600) }, ""},
		"an audit log by itself":  {func(p string) error { return os.WriteFile(p+record.AuditSuffix, []byte("x"), 0o600) }, ".audit.jsonl exists and is not empty"},
		"a link for an audit log": {func(p string) error { return os.Symlink("elsewhere", p+record.AuditSuffix) }, ".audit.jsonl is a symbolic link"},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			path := filepath.Join(dir, "x.cast")
			require.NoError(t, c.prepare(path))
			before, err := os.ReadDir(dir)
			require.NoError(t, err)
			_, err = record.OpenFiles(path)
			require.ErrorContains(t, err, path)
			require.ErrorContains(t, err, c.want)
			after, err := os.ReadDir(dir)
			require.NoError(t, err)
			require.Len(t, after, len(before))
		})
	}
	_, err := record.OpenFiles(filepath.Join(t.TempDir(), "no", "x.cast"))
	require.ErrorContains(t, err, "the directory")
	require.ErrorContains(t, err, "does not exist")
	_, err = record.OpenFiles("/dev/full")
	require.EqualError(t, err, "/dev/full is not a regular file")
}
