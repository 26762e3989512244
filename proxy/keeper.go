package proxy

import (
	"bufio"
	"fmt"
	"io"
	"strconv"
	"strings"
	"sync"

	"terminalproxy/proxy/child"
)

// A host that is killed cannot end its programs. The kernel hangs up on them, which some ignore, so a keeper, a process of
// its own that does nothing else, is told of each and does it in the host's place.

// Keep is a keeper: in says which programs run, and when it ends, as it does with the host, those that are left are ended.
// It returns when nothing is left of them. The process has to be in a session of its own and ignore what ends a host.
func Keep(in io.Reader) {
	kept := make(map[child.Identity]bool)
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
			kept[who] = true
		} else {
			delete(kept, who)
		}
	}
	var ends sync.WaitGroup
	for who := range kept {
		ends.Go(func() { child.Finish(who) }) // ends after the last signal
	}
	ends.Wait()
}

// keeper is the host's end. Without a keeper it does nothing. It may be used from any goroutine.
type keeper struct {
	mu  sync.Mutex
	out io.WriteCloser
}

func (k *keeper) begin(who child.Identity) { k.say("+", who) }
func (k *keeper) end(who child.Identity)   { k.say("-", who) }

func (k *keeper) say(word string, who child.Identity) {
	if k == nil {
		return
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.out != nil {
		_, _ = fmt.Fprintf(k.out, "%s %d %s\n", word, who.Pid, who.Began) // a keeper that is gone cannot be helped
	}
}

// close lets the keeper go.
func (k *keeper) close() {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.out != nil {
		_ = k.out.Close()
		k.out = nil
	}
}
