package proxy

import (
	"runtime/debug"
	"sync"
	"time"
)

// heapPause is how long the heap must be little used before its idle memory is returned.
const heapPause = 30 * time.Second

// noteMemoryUse records work that leaves garbage behind: an agent's request, or a history that was
// wrapped again. The runtime keeps such memory while a session does little, as it mostly does. All
// sessions of the process share the timer, and any goroutine may call it.
var noteMemoryUse = callAfter(heapPause, debug.FreeOSMemory)

// callAfter returns a function; do runs on a goroutine of its own once that function was not called
// for pause. The timer is made on the first call: the runtime needs a file descriptor for its first
// timer.
func callAfter(pause time.Duration, do func()) (call func()) {
	timer := sync.OnceValue(func() *time.Timer { return time.AfterFunc(pause, do) })
	return func() { timer().Reset(pause) }
}
