package local

import "golang.org/x/sys/unix"

// inMemory reports whether files in a directory stay in memory.
func inMemory(dir string) bool {
	var fs unix.Statfs_t
	return unix.Statfs(dir, &fs) == nil && fs.Type == unix.TMPFS_MAGIC
}
