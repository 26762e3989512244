package child

import (
	"bytes"
	"os"
	"strconv"
	"strings"
	"sync"

	"golang.org/x/sys/unix"
)

const (
	// maxKept bounds the descriptors that a [procFiles] keeps.
	maxKept = 24
	// keptFor is for how many looks a descriptor is kept after its last use.
	keptFor = 64
	// maxArgs bounds the part of a command line that is read, in bytes.
	maxArgs = 4 << 10
	// maxList bounds a list that is read whole, in bytes: the children of a process, the
	// descriptors of an epoll.
	maxList = 1 << 20
)

// procFiles reads files about processes (proc(5)). It keeps their descriptors from one look to the
// next: the kernel makes such a file for each read, with the checks of access for that read, so
// a kept descriptor takes one system call in place of three.
//
// A descriptor belongs to one process for good. Once that is gone reads fail, also when another
// process has its number, and the path is opened again; a list of children is the exception, see
// readChildren. So a read by a kept descriptor says what a read by the path says.
type procFiles struct {
	mu     sync.Mutex // held for a look
	kept   []keptFile
	group  int // in the foreground at the last look
	looks  uint64
	closed bool // it keeps nothing
	still  standstill
	latest stillProcess // whose schedstat this look has read to confirm still
}

// procKey names a file of a process; threads have theirs below task.
type procKey struct {
	pid  int
	name string
}

type keptFile struct {
	procKey
	fd   int
	used uint64 // the look of the last use
}

// byPath keeps no descriptor. Any goroutine may read with it.
var byPath = &procFiles{closed: true}

// The names of files. Those of a thread follow its directory.
const (
	statName     = "stat"
	childrenName = "/children"
	runsName     = "/schedstat"
	callName     = "/syscall"
)

// beginLook returns the files for a look at a process group, until end. It does not wait for the
// look of another goroutine: the second look keeps no descriptor. Descriptors of processes that are
// gone are closed here: all of them when another group is in the foreground, and those that many
// looks had no use for.
func (f *procFiles) beginLook(group int) *procFiles {
	if !f.mu.TryLock() {
		f = &procFiles{closed: true}
		f.mu.Lock()
		return f
	}
	f.looks++
	f.latest = stillProcess{}
	f.drop(func(k keptFile) bool { return group != f.group || f.looks-k.used > keptFor })
	f.group = group
	return f
}

// end ends a look.
func (f *procFiles) end() { f.mu.Unlock() }

// close closes all descriptors. Later looks keep nothing.
func (f *procFiles) close() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.closed = true
	f.drop(func(keptFile) bool { return true })
}

// drop closes the descriptors that match accepts.
func (f *procFiles) drop(match func(keptFile) bool) {
	if len(f.kept) == 0 {
		return // byPath stays unwritten
	}
	left := f.kept[:0]
	for _, k := range f.kept {
		if match(k) {
			_ = unix.Close(k.fd)
		} else {
			left = append(left, k)
		}
	}
	f.kept = left
}

// readText reads the beginning of a file, without the space at its end.
func (f *procFiles) readText(pid int, name string) ([]byte, error) {
	text, err := f.readPart(pid, name, 512)
	return bytes.TrimSpace(text), err
}

// readPart reads the beginning of a file, size bytes at most, in one read: the kernel returns it in
// one piece.
func (f *procFiles) readPart(pid int, name string, size int) (text []byte, err error) {
	err = f.use(procKey{pid, name}, func(fd int) error {
		text = make([]byte, size)
		n, err := pread(fd, text, 0)
		text = text[:max(n, 0)]
		return err
	})
	if err != nil {
		return nil, err
	}
	return text, nil
}

// readList reads all of a file, which may take several reads.
func (f *procFiles) readList(pid int, name string) (list []byte, err error) {
	// A read ends where the next entry has no room, or after a page of the kernel.
	const room, longest = 1024, 256
	err = f.use(procKey{pid, name}, func(fd int) error {
		list = make([]byte, room)
		for size := 0; ; {
			n, err := pread(fd, list[size:], int64(size))
			size += max(n, 0)
			if err != nil || n == 0 || size < room-longest || size >= maxList {
				list = list[:size]
				return err
			}
			list = append(list[:size], make([]byte, max(size, 4*room))...)
		}
	})
	if err != nil {
		return nil, err
	}
	return list, nil
}

// readStat returns the name of a process, which may hold blanks and brackets, and the fields of
// /proc/PID/stat from the third on, at least 20 of them: field n of proc(5) is fields[n-3]. fields
// is nil if the system does not tell.
func (f *procFiles) readStat(pid int) (name string, fields []string) {
	stat, err := f.readText(pid, statName)
	from, to := bytes.IndexByte(stat, '('), bytes.LastIndexByte(stat, ')')
	if err != nil || from < 0 || to < from {
		return "", nil
	}
	if fields = strings.Fields(string(stat[to+1:])); len(fields) < 20 {
		return "", nil
	}
	return unescapeName(string(stat[from+1 : to])), fields
}

// unescapeName undoes what the kernel does to a name in /proc/PID/stat: a newline is written as \n,
// and a backslash twice.
func unescapeName(name string) string {
	before, after, found := strings.Cut(name, `\`)
	switch {
	case !found || after == "":
		return name
	case after[0] == 'n':
		return before + "\n" + unescapeName(after[1:])
	}
	return before + after[:1] + unescapeName(after[1:])
}

// readChildren returns the processes that a thread of a process has started. In the same look
// readStat must have been asked about the process before: the list of a thread that is gone reads
// as an empty one, so a descriptor is only good while another one says that the process lives.
func (f *procFiles) readChildren(pid int, thread string) (pids []int) {
	list, err := f.readList(pid, thread+childrenName)
	if err != nil {
		return nil // the kernel was built without these lists
	}
	for _, word := range strings.Fields(string(list)) {
		if pid, err := strconv.Atoi(word); err == nil {
			pids = append(pids, pid)
		}
	}
	return pids
}

// mainThread returns the directory of the thread with the number of its process.
func mainThread(pid int) string { return "task/" + strconv.Itoa(pid) }

// use calls do with a kept descriptor of a file; or with a new one, if it is missing or its process
// is gone.
func (f *procFiles) use(k procKey, do func(fd int) error) error {
	for i := range f.kept {
		if f.kept[i].procKey != k {
			continue
		}
		if do(f.kept[i].fd) == nil {
			f.kept[i].used = f.looks
			return nil
		}
		break
	}
	// If the stat file failed, nothing shows that the process of the other descriptors still runs.
	f.drop(func(of keptFile) bool { return of.procKey == k || k.name == statName && of.pid == k.pid })
	path := "/proc/" + strconv.Itoa(k.pid) + "/" + k.name
	fd, err := unix.Open(path, unix.O_RDONLY|unix.O_CLOEXEC, 0)
	if err != nil {
		return &os.PathError{Op: "open", Path: path, Err: err}
	}
	err = do(fd)
	if err == nil && f.mayKeep(k) && isLow(fd) {
		f.kept = append(f.kept, keptFile{procKey: k, fd: fd, used: f.looks})
		return nil
	}
	_ = unix.Close(fd)
	if err != nil {
		return &os.PathError{Op: "read", Path: path, Err: err}
	}
	return nil
}

// mayKeep reports whether a descriptor may be kept. Of more files than there is room for, the same
// ones stay: each look reads them in the same order, so that the oldest is the next to be used.
func (f *procFiles) mayKeep(k procKey) bool {
	if f.closed || len(f.kept) >= maxKept {
		return false
	}
	if !strings.HasSuffix(k.name, childrenName) {
		return true
	}
	for _, of := range f.kept {
		if of.pid == k.pid && of.name == statName {
			return k.name == mainThread(k.pid)+childrenName // which lives as long as the process
		}
	}
	return false
}

// isLow reports whether a descriptor is in the lower half of those that the process may have. The
// kernel gives out the lowest one that is free: the upper half stays free for uses without an
// alternative.
func isLow(fd int) bool {
	var limit unix.Rlimit
	return unix.Getrlimit(unix.RLIMIT_NOFILE, &limit) == nil && uint64(fd) < limit.Cur/2
}

// pread is pread(2), repeated after a signal.
func pread(fd int, p []byte, at int64) (int, error) {
	for {
		n, err := unix.Pread(fd, p, at)
		if err != unix.EINTR {
			return n, err //nolint:wrapcheck // use names the file
		}
	}
}

// listNames returns the names in a directory that the kernel makes.
func listNames(dir string) ([]string, error) {
	fd, err := unix.Open(dir, unix.O_RDONLY|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil, &os.PathError{Op: "open", Path: dir, Err: err}
	}
	defer unix.Close(fd)
	var names []string
	for room := make([]byte, 8<<10); ; {
		n, err := unix.ReadDirent(fd, room)
		if err != nil {
			return nil, &os.PathError{Op: "read", Path: dir, Err: err}
		}
		if n <= 0 {
			return names, nil
		}
		_, _, names = unix.ParseDirent(room[:n], -1, names)
	}
}

// arguments splits a command line (proc(5), cmdline).
func arguments(text []byte) []string {
	return strings.Split(strings.TrimRight(string(text), "\x00"), "\x00")
}

// procStat is [procFiles.readStat] by the path.
func procStat(pid int) (name string, fields []string) { return byPath.readStat(pid) }
