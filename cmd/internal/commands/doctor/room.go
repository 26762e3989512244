package doctor

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"

	"terminalproxy/proxy/display/overlay"
)

// checkRoom checks whether files can be created in a directory, or in the parent where it would be
// created.
func (d *doctor) checkRoom(name, dir string) {
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
			"can write", "%s takes no files of yours: no token, identity or recording is kept", dir)
	case unix.Access(dir, unix.W_OK|unix.X_OK) != nil:
		d.addWarning(name, "set "+variableOf(wanted)+" to a directory in which you can write",
			"%s cannot be made, because you may not write in %s: no token, identity or recording "+
				"is kept", wanted, dir)
	case unix.Statfs(dir, &disk) == nil && disk.Blocks > 0 && disk.Bavail == 0:
		d.addWarning(name, "free some space there, or set "+variableOf(wanted)+" to a directory "+
			"on another disk", "the disk of %s is full: no token, identity or recording is kept",
			dir)
	}
}

// checkTerm checks the terminal's type and the capabilities that it implies.
func (d *doctor) checkTerm() {
	switch term := os.Getenv("TERM"); {
	case !overlay.TakesSequences(term):
		d.addWarning("terminal", "set TERM to the terminal's type, such as xterm-256color; or "+
			"answer agents in gateway top, in another terminal",
			"TERM=%s: questions are printed as plain lines, and no window title says who has the "+
				"keyboard", term)
	default:
		d.addOK("terminal", "TERM=%s", term)
	}
}
