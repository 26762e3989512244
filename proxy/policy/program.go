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

// another says why the program is not the one that the rule names, "" if it is: by what it runs, and not by what it calls itself. That
// is the file which a shell finds by this name, or one of the system's own of this name, which scripts of distributions start.
func (r Rule) another(p Program) string {
	is := "is for program " + r.Program
	if p.File == "" || len(p.Names) == 0 {
		return is + ", and what runs is not known"
	}
	base := filepath.Base(r.Program)
	found, err := exec.LookPath(r.Program)
	switch {
	// Of a file with many names, such as busybox, the one counts under which it runs.
	case err == nil && FileOf(found) == p.File && (filepath.Base(p.Path) == base || p.Names[0] == short(base)):
		return ""
	case base == r.Program && filepath.Base(p.Path) == base && FileOf(p.Path) == p.File && systems(p.Path):
		return ""
	case filepath.Base(p.Path) == base:
		return is + ", and " + p.Path + " is another one of this name"
	}
	return is
}

// FileOf identifies a file as device:inode, "" where that cannot be known.
func FileOf(path string) string {
	var file unix.Stat_t
	if unix.Stat(path, &file) != nil {
		return ""
	}
	return fmt.Sprintf("%d:%d", file.Dev, file.Ino)
}

// places are where systems keep what they install.
var places = []string{"/usr/", "/bin/", "/sbin/", "/opt/", "/nix/store/"}

// systems reports whether a file is the system's own: only root can change it, or put another one in its place.
func systems(path string) bool {
	if !slices.ContainsFunc(places, func(p string) bool { return strings.HasPrefix(path, p) }) {
		return false
	}
	return !slices.ContainsFunc([]string{path, filepath.Dir(path)}, func(name string) bool {
		var file unix.Stat_t
		return unix.Stat(name, &file) != nil || file.Uid != 0 || file.Mode&0o022 != 0
	})
}

// Named is the program of a name or path, as it would be known in the foreground in a directory. The error is about finding it.
func Named(name, directory string) (Program, error) {
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
	p := Program{Path: path, File: FileOf(path), Names: []string{short(filepath.Base(name)), filepath.Base(path)}, Directory: resolved(directory)}
	return p, nil
}

// Script is the first line of a script, "" for a file that is none: of that the kernel starts another program.
func Script(path string) string {
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
