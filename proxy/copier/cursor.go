package copier

import (
	"errors"
	"time"

	"terminalproxy/proxy/keys"
	"terminalproxy/proxy/screen"
	"terminalproxy/proxy/tty"
)

// AnswerPatience is how long the terminal gets to answer a question for its cursor.
const AnswerPatience = 200 * time.Millisecond

// Terminal is the user's terminal before the session has it: a keyboard and a screen.
type Terminal interface {
	// Read returns what was typed, or [tty.ErrAgain]; 0, nil at the end.
	Read(p []byte) (int, error)
	// WriteAll writes all of p, waiting up to patience for the screen.
	WriteAll(p []byte, patience time.Duration) error
}

// Cursor is where the user's cursor stands when the program starts.
type Cursor struct {
	Row   int    // from 0
	Typed []byte // what the user typed meanwhile
	Late  bool   // the terminal has not answered yet, and may still
	// Clusters is how it counts the columns of clusters. A terminal that is Late may answer that late, too, if this is unknown.
	Clusters screen.Clusters
}

// ask asks first for the mode of grapheme clusters (DECRQM 2027), then for the cursor (DSR 6): a terminal that does not know
// the first question is known by its answer to the second. Some print a letter of what they do not know, which is why the
// cursor is put back and what stands below it is erased in between.
const ask = "\x1b7\x1b[?2027$p\x1b8\x1b[J\x1b[6n"

// FindCursor asks a terminal of rows rows where its cursor is, because a program that does not clear the screen goes
// on below the shell's prompt, and the model has to know where that is to draw over a row and put it back. What may stand
// below the cursor is erased: the model knows nothing of it. It also asks how wide clusters are, which the model has to count alike. It waits for the answer, at most [AnswerPatience]; poll waits for
// the keyboard. Where the terminal cannot be written to, the cursor counts as in the first row.
func FindCursor(term Terminal, poll Poller, rows int) (c Cursor) {
	if term.WriteAll([]byte(tty.Unlock+ask), AnswerPatience) != nil {
		return Cursor{}
	}
	found := false
	scan := keys.NewScanner(keys.ReclaimKey{})
	scan.ExpectCPR(1)
	take := func(u keys.Unit) {
		if row, ok := keys.CursorReport(u.Bytes); ok && u.Kind == keys.Reply {
			found, c.Row = true, min(row, rows-1)
			return
		}
		if mode, state, ok := keys.ModeReport(u.Bytes); ok && mode == 2027 && c.Clusters == screen.ClustersUnknown {
			c.Clusters = screen.ReportedClusters(state)
			return
		}
		c.Typed = append(c.Typed, u.Bytes...)
	}
	var buf [1024]byte
	for end := time.Now().Add(AnswerPatience); !found && time.Now().Before(end); {
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
	c.Late = !found
	return c
}
