package keep

import (
	"sync"
	"sync/atomic"
	"time"
)

// Keep lets a session outlive its window: the program goes on without one, and other windows come
// to it. Its methods may be called from any goroutine. The getters accept a nil Keep, that of a
// session that ends with its window.
type Keep struct {
	dir  string // of the session's door
	door *Door  // nil before the session begins
	// when the last window went, in Unix milliseconds; 0 while the session has a window
	left atomic.Int64

	mu sync.Mutex
	at *Window // nil while the session has no window
}

// NewKeep makes what keeps a session, which starts in a window and has its door in dir.
func NewKeep(dir string, first *Window) *Keep { return &Keep{dir: dir, at: first} }

// OpenDoor lets windows come to the session of that id from now on, until Close. It is called once,
// before the session has goroutines.
func (k *Keep) OpenDoor(session string) (err error) {
	k.door, err = OpenDoor(k.dir, session)
	return err
}

// Close ends what an open Keep's OpenDoor began.
func (k *Keep) Close() { k.door.Close() }

// Write shows a text to the user at the session's window, and drops it if there is no window.
func (k *Keep) Write(p []byte) (int, error) {
	if w := k.Window(); w != nil {
		w.ShowMessage(string(p))
	}
	return len(p), nil
}

// EndWithStatus has the process in front end as the program did.
func (k *Keep) EndWithStatus(code int) {
	if w := k.Window(); w != nil {
		w.EndWithStatus(code)
	}
}

// Window returns the session's window, or nil.
func (k *Keep) Window() *Window {
	if k == nil {
		return nil
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.at
}

// SetWindow notes the session's window; nil says that the session is without one.
func (k *Keep) SetWindow(w *Window) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.at = w
}

// WindowDone is closed when the process in front of the window is gone, nil without one.
func (k *Keep) WindowDone() <-chan struct{} {
	if w := k.Window(); w != nil {
		return w.Done()
	}
	return nil
}

// Windows returns the windows that come, or nil if the session has no door.
func (k *Keep) Windows() <-chan *Window {
	if k == nil || k.door == nil {
		return nil
	}
	return k.door.Windows()
}

// NoteLeft notes that the user left at that time, and NoteReturned that they are back.
func (k *Keep) NoteLeft(now time.Time) { k.left.Store(now.UnixMilli()) }

// NoteReturned is described with NoteLeft.
func (k *Keep) NoteReturned() { k.left.Store(0) }

// LeftAt returns when the user left, in Unix milliseconds, 0 while they are there.
func (k *Keep) LeftAt() int64 {
	if k == nil {
		return 0
	}
	return k.left.Load()
}
