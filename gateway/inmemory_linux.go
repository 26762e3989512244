package gateway

import "golang.org/x/sys/unix"

// inMemory reports whether what is written to a directory stays in memory.
func inMemory(dir string) bool {
	var fs unix.Statfs_t
	return unix.Statfs(dir, &fs) == nil && fs.Type == unix.TMPFS_MAGIC
}
