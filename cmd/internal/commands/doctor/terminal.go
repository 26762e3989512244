package doctor

import (
	"bytes"
	"context"
	"os"
	"regexp"
	"strings"
	"sync"
	"time"

	"golang.org/x/sys/unix"
	"golang.org/x/term"

	"terminalproxy/cmd/internal/cli"
	"terminalproxy/cmd/internal/cli/terminals"
	"terminalproxy/proxy/display/overlay"
	"terminalproxy/proxy/terminal/keys"
)

// answerTime is how long a terminal gets to answer.
const answerTime = 300 * time.Millisecond

var (
	kittyAnswer = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`\x1b\[\?\d*u`)
	})
	deviceAnswer = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`\x1b\[\?[\d;]*c`)
	})
)

// checkKeyboard asks the terminal whether it supports the kitty keyboard protocol, and for its
// device attributes (DA1, ECMA-48 8.3.24): every terminal answers that, so it marks the end of the
// answers.
func (d *doctor) checkKeyboard(in *os.File) {
	reply, err := askTerminal(in, "\x1b[?u\x1b[c")
	switch {
	case err != nil:
		d.addWarning("keyboard", "", "cannot query the terminal: %v", err)
	case kittyAnswer().Match(reply):
		d.addOK("keyboard", "%s: supports the kitty protocol; the reclaim key is recognised in it",
			os.Getenv("TERM"))
	case deviceAnswer().Match(reply):
		d.addOK("keyboard",
			"%s: legacy encoding or modifyOtherKeys; the reclaim key is recognised in both",
			os.Getenv("TERM"))
	default:
		d.addWarning("keyboard",
			"try the reclaim key in a session; kill -USR1 and gateway reclaim also work",
			"%s: the terminal does not answer queries, so its key encoding is unknown",
			os.Getenv("TERM"))
	}
}

// checkBindings reports the keys that a terminal keeps for itself, and what to press instead.
func (d *doctor) checkBindings(ctx context.Context) {
	here := terminals.Find(os.Getenv)
	b := cli.UserKeys()
	summary := here.Label(b.Grant) + " gives the keyboard, " + b.Reclaim.Label() + " takes it back"
	if here == nil {
		d.addOK("keys", "%s", summary)
		return
	}
	var kept []string
	lost := false
	look := []keys.CtrlKey{b.Grant, b.Reclaim}
	if usual := (keys.Bindings{}).WithDefaults().Grant; b.Grant.String() == here.Grant {
		summary, look = "here "+summary, append(look, usual)
	}
	for i, key := range look {
		all, err := here.FindKept(ctx, key)
		if err != nil {
			d.addWarning("keys", "", "%s; which keys %s keeps for itself is unknown: %v", summary,
				here.Name, err)
			return
		}
		for _, k := range all {
			kept = append(kept, k.Label()+" ("+k.Does+")")
			lost = lost || i < 2 && k.Key == key.String() && here.Label(key) == key.Label()
		}
	}
	d.findings = append(d.findings, keysFinding(here, summary, kept, lost))
}

// keysFinding describes the keys that a terminal keeps for itself. lost means that one of the
// user's own does not reach the proxy.
func keysFinding(here *terminals.Terminal, summary string, kept []string, lost bool) finding {
	f := finding{Name: "keys", State: stateOK, Do: here.Free}
	switch {
	case lost:
		f.State, f.Do = stateWarn, here.Free+"; or set another grant-key or reclaim-key in the "+
			"configuration"
		f.Say = summary + ", but " + here.Name + " keeps " + strings.Join(kept, " and ") +
			" for itself"
	case kept != nil:
		f.Say = summary + "; by default " + here.Name + " keeps " +
			strings.Join(kept, " and ") + " for itself"
	default:
		f.Say = summary + "; " + here.Name + " keeps neither for itself"
		if here.AsksMultiplexer() {
			f.Do = ""
		}
	}
	return f
}

// askTerminal sends a question and collects the reply, until DA1's answer or the timeout.
func askTerminal(tty *os.File, question string) ([]byte, error) {
	fd := int(tty.Fd())
	state, err := term.MakeRaw(fd)
	if err != nil {
		return nil, err
	}
	defer func() { _ = term.Restore(fd, state) }()
	if _, err := unix.Write(fd, []byte(question)); err != nil {
		return nil, err
	}
	var reply bytes.Buffer
	buf := make([]byte, 256)
	for end := time.Now().Add(answerTime); time.Now().Before(end) && reply.Len() < 4096 &&
		!deviceAnswer().Match(reply.Bytes()); {
		ready := []unix.PollFd{{Fd: int32(fd), Events: unix.POLLIN}}
		n, err := unix.Poll(ready, int(time.Until(end).Milliseconds())+1)
		if n <= 0 || err != nil {
			continue
		}
		if n, err = unix.Read(fd, buf); err != nil || n <= 0 {
			return reply.Bytes(), err
		}
		reply.Write(buf[:n])
	}
	return reply.Bytes(), nil
}

// checkTerm checks the terminal's type and the capabilities that it implies.
func (d *doctor) checkTerm() {
	switch term := os.Getenv("TERM"); {
	case !overlay.TakesSequences(term):
		d.addWarning("terminal", "set TERM to the terminal's type, such as xterm-256color; or "+
			"answer agents in gateway top, in another terminal",
			"TERM=%s: questions are printed as plain lines, and no window title says who has the "+
				"keyboard", term)
	default:
		d.addOK("terminal", "TERM=%s", term)
	}
}
