package place

import "sync"

// watches are this process's, one for each directory: an idle process waits in the kernel for a name to change hands, and
// has no timer for that.
var watches = struct {
	sync.Mutex
	dirs map[string]*watch
}{dirs: make(map[string]*watch)}

type watch struct {
	count uint64
	told  map[uint64]func()
	end   func()
}

// watchDir has changed called when names in dir have changed, from a goroutine of the watch's; it must not wait. A call may
// still be under way after stop.
func watchDir(dir string, changed func()) (stop func()) {
	watches.Lock()
	defer watches.Unlock()
	w := watches.dirs[dir]
	if w == nil {
		w = &watch{told: make(map[uint64]func())}
		w.end = begin(dir, w.tell)
		watches.dirs[dir] = w
	}
	w.count++
	id := w.count
	w.told[id] = changed
	return func() {
		watches.Lock()
		defer watches.Unlock()
		if w.told[id] == nil {
			return
		}
		delete(w.told, id)
		if len(w.told) == 0 {
			delete(watches.dirs, dir)
			w.end()
		}
	}
}

func (w *watch) tell() {
	watches.Lock()
	told := make([]func(), 0, len(w.told))
	for _, changed := range w.told {
		told = append(told, changed)
	}
	watches.Unlock()
	for _, changed := range told {
		changed()
	}
}
