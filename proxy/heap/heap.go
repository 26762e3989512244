// Package heap gives memory that lies idle back to the system. It must not know what used it.
package heap

import (
	"runtime/debug"
	"sync"
	"time"
)

// pause is how long nobody may have used the heap much before what lies idle in it is given back.
const pause = 30 * time.Second

// Used says that something was done that leaves garbage behind: an agent asked, or the history was wrapped anew. The runtime would keep
// the memory as long as little happens, which is most of a session's life. All sessions of the process share it; any goroutine may call it.
func Used() { used() }

var used = after(pause, debug.FreeOSMemory)

// after returns a function that has do called, on a goroutine of its own, once that function was not called for pause. It has one
// timer, which runs only then, and is made when it is needed: the runtime wants a file descriptor for the first one.
func after(pause time.Duration, do func()) (again func()) {
	timer := sync.OnceValue(func() *time.Timer { return time.AfterFunc(pause, do) })
	return func() { timer().Reset(pause) }
}
