package proxy

import (
	"bytes"
	"crypto/rand"
	"encoding/base32"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"terminalproxy/protocol"
	"terminalproxy/proxy/keys"
	"terminalproxy/proxy/overlay"
	"terminalproxy/proxy/tty"
)

// SessionVariable is the environment variable that tells a program inside a session the session's id.
const SessionVariable = "TERMINALPROXY_SESSION"

// originPatience is how long the terminal gets to say where its cursor is.
const originPatience = 200 * time.Millisecond

// cursorOrigin is where the user's cursor stands when the program starts.
type cursorOrigin struct {
	row   int
	typed []byte // what the user typed meanwhile
	late  bool   // the terminal has not answered yet, and may still
}

// findCursor asks the terminal where its cursor is (DSR 6), because a program that does not clear the screen goes on
// below the shell's prompt, and the model has to know where that is to draw over a row and put it back. What may stand
// below the cursor is erased: the model knows nothing of it. Sessions that no agent observes need none of this.
func (s *session) findCursor(rows int) cursorOrigin {
	if s.conf.Agent == nil || !s.term.HasKeyboard() || !s.term.HasScreen() {
		return cursorOrigin{}
	}
	keyboardFD, screenFD := s.term.Descriptors()
	poll, err := tty.NewPoller(keyboardFD, screenFD)
	if err != nil {
		return cursorOrigin{}
	}
	defer poll.Close()
	if s.term.WriteAll([]byte(overlay.Unlock+"\x1b[J\x1b[6n"), originPatience) != nil {
		return cursorOrigin{}
	}
	return listen(s.term, poll, rows)
}

// listen waits for the answer among what else is typed.
func listen(term *tty.Terminal, poll *tty.Poller, rows int) (o cursorOrigin) {
	found := false
	scan := keys.NewScanner(keys.Chord{})
	scan.ExpectCPR(1)
	take := func(u keys.Unit) {
		if row, ok := cursorReport(u.Bytes); ok && u.Kind == keys.Reply && !found {
			found, o.row = true, min(row, rows-1)
			return
		}
		o.typed = append(o.typed, u.Bytes...)
	}
	var buf [1024]byte
	for end := time.Now().Add(originPatience); !found && time.Now().Before(end); {
		got, err := poll.Wait(tty.Readable, time.Until(end))
		if err != nil || got&tty.Readable == 0 {
			continue
		}
		n, err := term.Read(buf[:])
		if n == 0 && !errors.Is(err, tty.ErrAgain) {
			break
		}
		scan.Scan(buf[:n], take)
	}
	scan.Flush(take)
	o.late = !found
	return o
}

// identify gives the session its name and ids.
func (s *session) identify() {
	agent := s.conf.Agent
	if agent == nil {
		return
	}
	named := *agent
	if named.Name == "" {
		named.Name = filepath.Base(s.conf.Command)
	}
	s.conf.Agent = &named
	s.id = idName(named.Name) + "-" + random(4)
	s.resumeKey = random(32)
}

// idName is a name as part of an id.
func idName(name string) string {
	clean := strings.Map(func(r rune) rune {
		if r < 0x80 && protocol.ValidID(string(r)) {
			return r
		}
		return '_'
	}, name)
	return clean[:min(len(clean), 32)]
}

// newID is an id for a message.
func newID() string { return random(10) }

// random is n random characters of a-z and 2-7 (RFC 4648 base32 in lower case).
func random(n int) string {
	raw := make([]byte, (n*5+7)/8)
	_, _ = rand.Read(raw) // never fails (crypto/rand)
	return strings.ToLower(base32.StdEncoding.WithPadding(base32.NoPadding).EncodeToString(raw))[:n]
}

// titled reports whether a terminal of this type takes a window title; others would print it.
func titled(term string) bool {
	return term != "" && term != "dumb" && term != "linux" && !strings.HasPrefix(term, "vt")
}

func hasAnyPrefix(s string, prefixes ...string) bool {
	return slices.ContainsFunc(prefixes, func(p string) bool { return strings.HasPrefix(s, p) })
}

// cursorReports counts the cursor reports among what a terminal answers.
func cursorReports(replies []byte) int {
	n := 0
	for part := range bytes.SplitAfterSeq(replies, []byte{'R'}) {
		if at := bytes.LastIndexByte(part, 0x1b); at >= 0 {
			if _, ok := cursorReport(part[at:]); ok {
				n++
			}
		}
	}
	return n
}

// dir is where the program starts.
func (s *session) dir() string {
	if s.conf.headless != nil {
		return s.conf.headless.where
	}
	dir, err := os.Getwd()
	if err != nil {
		return ""
	}
	return dir
}
