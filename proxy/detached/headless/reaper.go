package headless

import (
	"bufio"
	"fmt"
	"io"
	"strconv"
	"strings"
	"sync"

	"terminalproxy/proxy/terminal/child"
)

// A host that is killed cannot end its programs. The kernel hangs up on them, which some ignore. A
// reaper is a process that does nothing else. The host tells it of each program, and it ends the
// program in the host's place.

// RunReaper runs a reaper. in says which programs run; when in ends, as it does with the host,
// RunReaper ends the programs that are left, and returns when they are gone. The process has to be
// in a session of its own and ignore what ends a host.
func RunReaper(in io.Reader) {
	running := make(map[child.Identity]bool)
	for lines := bufio.NewScanner(in); lines.Scan(); {
		word, rest, _ := strings.Cut(lines.Text(), " ")
		pid, began, _ := strings.Cut(rest, " ")
		var program child.Identity
		var err error
		if program.Pid, err = strconv.Atoi(pid); err != nil || program.Pid <= 1 {
			continue
		}
		program.Began = began
		if word == "+" {
			running[program] = true
		} else {
			delete(running, program)
		}
	}
	var ends sync.WaitGroup
	for program := range running {
		ends.Go(func() { child.EndProgram(program) }) // ends after the last signal
	}
	ends.Wait()
}

// reaper holds the host's end of the pipe. Without a pipe it does nothing. It may be used from any
// goroutine.
type reaper struct {
	mu  sync.Mutex
	out io.WriteCloser
}

func (r *reaper) addProgram(program child.Identity)    { r.writeLine("+", program) }
func (r *reaper) removeProgram(program child.Identity) { r.writeLine("-", program) }

func (r *reaper) writeLine(word string, program child.Identity) {
	if r == nil {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.out != nil {
		// a reaper that has ended cannot be helped
		_, _ = fmt.Fprintf(r.out, "%s %d %s\n", word, program.Pid, program.Began)
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
