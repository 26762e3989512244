package proxy

import (
	"errors"
	"time"

	"terminalproxy/proxy/keys"
	"terminalproxy/proxy/tty"
)

// answerPatience is how long the terminal gets to answer a question for its cursor.
const answerPatience = 200 * time.Millisecond

// cursor is where the user's cursor stands when the program starts.
type cursor struct {
	row   int
	typed []byte // what the user typed meanwhile
	late  bool   // the terminal has not answered yet, and may still
}

// findCursor asks the terminal where its cursor is (DSR 6), because a program that does not clear the screen goes on
// below the shell's prompt, and the model has to know where that is to draw over a row and put it back. What may stand
// below the cursor is erased: the model knows nothing of it. Sessions that no agent observes need none of this.
func (s *session) findCursor(rows int) cursor {
	if s.conf.Agent == nil || !s.term.HasKeyboard() || !s.term.HasScreen() {
		return cursor{}
	}
	poll, err := tty.NewPoller(s.term.Descriptors())
	if err != nil {
		return cursor{}
	}
	defer poll.Close()
	if s.term.WriteAll([]byte(tty.Unlock+"\x1b[J\x1b[6n"), answerPatience) != nil {
		return cursor{}
	}
	return awaitCursor(s.term, poll, rows)
}

// awaitCursor waits for the answer among what else is typed.
func awaitCursor(term *tty.Terminal, poll *tty.Poller, rows int) (c cursor) {
	found := false
	scan := keys.NewScanner(keys.Chord{})
	scan.ExpectCPR(1)
	take := func(u keys.Unit) {
		if row, ok := keys.CursorReport(u.Bytes); ok && u.Kind == keys.Reply && !found {
			found, c.row = true, min(row, rows-1)
			return
		}
		c.typed = append(c.typed, u.Bytes...)
	}
	var buf [1024]byte
	for end := time.Now().Add(answerPatience); !found && time.Now().Before(end); {
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
	c.late = !found
	return c
}
