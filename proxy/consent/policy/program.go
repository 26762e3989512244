package policy

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/sys/unix"
)

// programMismatch returns why the program is not the one that the rule names, or "". It compares
// executables, not the names that programs give themselves. The rule is for the file that a shell
// finds under this name, or for a system program of this name, as the scripts of distributions
// start them.
func (r Rule) programMismatch(p Program) string {
	reason := "is for program " + r.Program
	if p.File == "" || len(p.Names) == 0 {
		return reason + ", and the running program is unknown"
	}
	base := filepath.Base(r.Program)
	found, err := exec.LookPath(r.Program)
	switch {
	// A file with many names, such as busybox, counts under the name that it runs as.
	case err == nil && FileOf(found) == p.File &&
		(filepath.Base(p.Path) == base || p.Names[0] == kernelName(base)):
		return ""
	case base == r.Program && filepath.Base(p.Path) == base && FileOf(p.Path) == p.File &&
		isSystemFile(p.Path):
		return ""
	case filepath.Base(p.Path) == base:
		return reason + ", and " + p.Path + " is another program of this name"
	}
	return reason
}

// FileOf identifies a file as device:inode, "" if it cannot.
func FileOf(path string) string {
	var file unix.Stat_t
	if unix.Stat(path, &file) != nil {
		return ""
	}
	return fmt.Sprintf("%d:%d", file.Dev, file.Ino)
}

// systemPlaces holds the directories of installed programs.
var systemPlaces = []string{"/usr/", "/bin/", "/sbin/", "/opt/", "/nix/store/"}

// isSystemFile reports whether a file belongs to the system: only root can change or replace it.
func isSystemFile(path string) bool {
	isBelow := func(place string) bool { return strings.HasPrefix(path, place) }
	if !slices.ContainsFunc(systemPlaces, isBelow) {
		return false
	}
	return !slices.ContainsFunc([]string{path, filepath.Dir(path)}, func(name string) bool {
		var file unix.Stat_t
		return unix.Stat(name, &file) != nil || file.Uid != 0 || file.Mode&0o022 != 0
	})
}

// FindProgram returns the program with a name or path, as if it ran in the foreground in a
// directory. The error explains why it was not found.
func FindProgram(name, directory string) (Program, error) {
	path, err := exec.LookPath(name)
	if err != nil {
		return Program{}, err
	}
	path, err = filepath.Abs(path)
	if err == nil {
		path, err = filepath.EvalSymlinks(path)
	}
	if err != nil {
		return Program{}, err
	}
	p := Program{
		Path:      path,
		File:      FileOf(path),
		Names:     []string{kernelName(filepath.Base(name)), filepath.Base(path)},
		Directory: resolveLinks(directory),
	}
	return p, nil
}

// InterpreterLine returns the first line of a script, by which the kernel starts another program;
// "" for other files.
func InterpreterLine(path string) string {
	f, err := os.Open(path)
	if err != nil {
		return ""
	}
	defer func() { _ = f.Close() }()
	line := make([]byte, 128)
	n, _ := f.Read(line)
	if n < 2 || string(line[:2]) != "#!" {
		return ""
	}
	first, _, _ := strings.Cut(string(line[:n]), "\n")
	return first
}
