package doctor

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"
)

// checkWritable checks whether files can be created in a directory, or in the parent where it would
// be created.
func (d *doctor) checkWritable(name, dir string) {
	wanted := dir
	for {
		_, err := os.Stat(dir)
		if !errors.Is(err, fs.ErrNotExist) || dir == filepath.Dir(dir) {
			break
		}
		dir = filepath.Dir(dir)
	}
	var disk unix.Statfs_t
	switch {
	case unix.Access(dir, unix.W_OK|unix.X_OK) != nil && dir == wanted:
		d.addWarning(name, "make it yours, or set "+variableOf(dir)+" to a directory in which you "+
			"can write", "you cannot write to %s, so no token, identity or recording is kept", dir)
	case unix.Access(dir, unix.W_OK|unix.X_OK) != nil:
		d.addWarning(name, "set "+variableOf(wanted)+" to a directory in which you can write",
			"%s cannot be created, because you cannot write to %s: no token, identity or recording "+
				"is kept", wanted, dir)
	case unix.Statfs(dir, &disk) == nil && disk.Blocks > 0 && disk.Bavail == 0:
		d.addWarning(name, "free some space there, or set "+variableOf(wanted)+" to a directory "+
			"on another disk", "the disk of %s is full: no token, identity or recording is kept",
			dir)
	}
}
