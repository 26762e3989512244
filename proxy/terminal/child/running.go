package child

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

const (
	// maxRunning bounds the processes of [Running.Names].
	maxRunning = 64
	// mostThreads bounds the threads of each process that are examined, since this is done for
	// every key of an agent.
	mostThreads = 256
)

// Running describes the program that has the terminal, as the kernel reports it. Unknown fields are
// zero.
type Running struct {
	Group int
	// Path and File are what the leader of the group runs, File as device:inode.
	Path, File string
	// Names are the leader's name and that of the file it runs, then those of the processes that it
	// has started in its group. A process chooses its own name.
	Names     []string
	Directory string // in which the leader runs
}

// Running returns the program that has the terminal. Only Linux reports more than the group.
func (t *terminal) Running() Running {
	r := Running{Group: t.ForegroundGroup()}
	if r.Group <= 0 {
		return Running{}
	}
	r.Path, r.File = executableOf(r.Group)
	r.Directory, _ = os.Readlink("/proc/" + strconv.Itoa(r.Group) + "/cwd")
	for _, pid := range groupMembers(r.Group) {
		if name, err := byPath.readText(pid, "comm"); err == nil {
			r.Names = append(r.Names, string(name))
		}
		if path, _ := executableOf(pid); path != "" {
			r.Names = append(r.Names, filepath.Base(strings.TrimSuffix(path, " (deleted)")))
		}
	}
	return r
}

// executableOf returns the path and the identity of the file that a process runs now. All files
// that run as another user have one identity.
func executableOf(pid int) (path, file string) {
	link := "/proc/" + strconv.Itoa(pid) + "/exe"
	var at unix.Stat_t
	path, err := os.Readlink(link)
	if err == nil {
		err = unix.Stat(link, &at)
	}
	again, _ := os.Readlink(link)
	switch {
	case err == nil && again == path: // it executed no other file in between
		return path, fmt.Sprintf("%d:%d", at.Dev, at.Ino)
	case errors.Is(err, unix.EACCES), errors.Is(err, unix.EPERM):
		return "", "another user's"
	}
	return "", ""
}

// groupMembers returns the leader of a process group, the processes that were started beside it in
// a pipeline, and their descendants in the group; maxRunning at most.
func groupMembers(group int) []int {
	all := []int{group}
	if _, stat := procStat(group); len(stat) > 1 {
		parent, _ := strconv.Atoi(stat[1])
		all = appendStarted(all, parent, group)
	}
	for i := 0; i < len(all) && len(all) < maxRunning; i++ {
		all = appendStarted(all, all[i], group)
	}
	return all
}

// appendStarted appends the processes of a group that a process has started, with any of its
// threads: the kernel lists them by thread.
func appendStarted(all []int, parent, group int) []int {
	threads, _ := listNames("/proc/" + strconv.Itoa(parent) + "/task")
	for _, thread := range threads[:min(len(threads), mostThreads)] {
		for _, pid := range byPath.readChildren(parent, "task/"+thread) {
			of, gone := unix.Getpgid(pid)
			if gone == nil && of == group && !slices.Contains(all, pid) && len(all) < maxRunning {
				all = append(all, pid)
			}
		}
	}
	return all
}
