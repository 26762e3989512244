package host

import (
	"bufio"
	"fmt"
	"io"
	"strconv"
	"strings"
	"sync"

	"terminalproxy/proxy/child"
)

// A host that is killed cannot end its programs. The kernel hangs up on them, which some ignore, so a reaper, a process of
// its own that does nothing else, is told of each and does it in the host's place.

// Reap is a reaper: in says which programs run, and when it ends, as it does with the host, those that are left are ended.
// It returns when nothing is left of them. The process has to be in a session of its own and ignore what ends a host.
func Reap(in io.Reader) {
	running := make(map[child.Identity]bool)
	for lines := bufio.NewScanner(in); lines.Scan(); {
		word, rest, _ := strings.Cut(lines.Text(), " ")
		pid, began, _ := strings.Cut(rest, " ")
		var who child.Identity
		var err error
		if who.Pid, err = strconv.Atoi(pid); err != nil || who.Pid <= 1 {
			continue
		}
		who.Began = began
		if word == "+" {
			running[who] = true
		} else {
			delete(running, who)
		}
	}
	var ends sync.WaitGroup
	for who := range running {
		ends.Go(func() { child.Finish(who) }) // ends after the last signal
	}
	ends.Wait()
}

// reaper is the host's end. Without a reaper it does nothing. It may be used from any goroutine.
type reaper struct {
	mu  sync.Mutex
	out io.WriteCloser
}

func (r *reaper) begin(who child.Identity) { r.say("+", who) }
func (r *reaper) end(who child.Identity)   { r.say("-", who) }

func (r *reaper) say(word string, who child.Identity) {
	if r == nil {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.out != nil {
		_, _ = fmt.Fprintf(r.out, "%s %d %s\n", word, who.Pid, who.Began) // a reaper that is gone cannot be helped
	}
}

// close lets the reaper go.
func (r *reaper) close() {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.out != nil {
		_ = r.out.Close()
		r.out = nil
	}
}
