package place

import "sync"

// watches holds one watch per directory. An idle process waits in the kernel for a name to change
// hands, without a timer.
var watches = struct {
	sync.Mutex
	dirs map[string]*watch
}{dirs: make(map[string]*watch)}

type watch struct {
	count     uint64
	callbacks map[uint64]func()
	end       func()
}

// watchDir calls changed, from a goroutine of the watch, when names in dir have changed. changed
// must not wait. A call may still be running after stop.
func watchDir(dir string, changed func()) (stop func()) {
	watches.Lock()
	defer watches.Unlock()
	w := watches.dirs[dir]
	if w == nil {
		w = &watch{callbacks: make(map[uint64]func())}
		w.end = watchNames(dir, w.notifyAll)
		watches.dirs[dir] = w
	}
	w.count++
	id := w.count
	w.callbacks[id] = changed
	return func() {
		watches.Lock()
		defer watches.Unlock()
		if w.callbacks[id] == nil {
			return
		}
		delete(w.callbacks, id)
		if len(w.callbacks) == 0 {
			delete(watches.dirs, dir)
			w.end()
		}
	}
}

func (w *watch) notifyAll() {
	watches.Lock()
	callbacks := make([]func(), 0, len(w.callbacks))
	for _, changed := range w.callbacks {
		callbacks = append(callbacks, changed)
	}
	watches.Unlock()
	for _, changed := range callbacks {
		changed()
	}
}
