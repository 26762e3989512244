package claude

import (
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"time"

	"terminalproxy/proxy/chat"
)

// ownDialog is a dialog in place of the prompt that no hook announces: of /model, of /config, a
// list. People elsewhere get it as a question: its choices are the answers, and a refusal presses
// Escape.
type ownDialog struct {
	title   string
	choices []string // by their digits, from 1; empty if it is not a short list
}

// Times of dialogs.
const (
	// ownAfter is how long a dialog must stand, so that a screen half drawn is not taken for one.
	ownAfter = time.Second
	// ownQuiet is how long the user must not have typed before a screen without choices counts as a
	// dialog.
	ownQuiet = 3 * time.Second
)

const (
	// titleMost bounds the rows of a title.
	titleMost = 12
	// choiceID is the question's id.
	choiceID = "choice"
)

var (
	choiceRow = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[\s│]*❯?\s*([1-9])\. (.*\S)`) })
	// modelCommand is a command that says already what its dialog asks.
	modelCommand = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^/model +\S+ *$`) })
)

// readDialog reads the dialog on a screen without a prompt.
func readDialog(s chat.Screen) *ownDialog {
	var rows []string
	d := &ownDialog{}
	for _, r := range s.Rows {
		m := choiceRow().FindStringSubmatch(r.Text)
		switch text := strings.Trim(r.Text, "│ "); {
		case m != nil && m[1] == strconv.Itoa(len(d.choices)+1):
			d.choices = append(d.choices, strings.TrimRight(m[2], "│ "))
		case len(d.choices) > 0: // what stands under it
		case isBorder(r.Text) || strings.Count(r.Text, "▔") >= 10:
			rows = nil
		case text != "":
			rows = append(rows, text)
		}
	}
	if len(d.choices) < 2 {
		d.choices = nil
	}
	d.title = strings.Join(rows[max(0, len(rows)-titleMost):], "\n")
	return d
}

func (d *ownDialog) isSame(other *ownDialog) bool {
	return d != nil && other != nil && d.title == other.title &&
		strings.Join(d.choices, "\n") == strings.Join(other.choices, "\n")
}

// followDialog opens a request for a dialog of Claude Code's own, and closes the request when the
// dialog is gone. It reports whether to look again soon.
func (d *TUI) followDialog(now time.Time) (again bool) {
	own := d.screen.own
	if own == nil || !d.ready {
		d.own = nil
		d.withdrawAsks(atTerminal, isOwn)
		return false
	}
	if !own.isSame(d.own) {
		d.own, d.ownSince = own, now
		d.withdrawAsks("another one is shown now", isOwn)
	}
	d.mu.Lock()
	open := len(d.asks)
	d.mu.Unlock()
	if d.working || d.approves || open > 0 || d.sending != nil || !d.expected.IsZero() {
		return false
	}
	pressed := time.Unix(0, d.pressed.Load())
	if now.Sub(d.ownSince) < ownAfter || len(own.choices) == 0 && now.Sub(pressed) < ownQuiet {
		return true
	}
	if d.ownSince.Before(d.confirms) && len(own.choices) > 0 && strings.HasPrefix(own.choices[0], "Yes") {
		d.confirms = time.Time{}
		d.reportNotice("asked %q, and the command had answered that: %s", firstLine(own.title), own.choices[0])
		d.pressKey(own, "1")
		return false
	}
	id := chat.NewID()
	d.mu.Lock()
	d.asks[id] = &tuiAsk{own: own}
	d.mu.Unlock()
	d.report(chat.RequestOpened{Request: own.asRequest(id)})
	return false
}

func isOwn(_ string, a *tuiAsk) bool { return a.own != nil }

func firstLine(s string) string {
	first, _, _ := strings.Cut(s, "\n")
	return first
}

// asRequest makes a request with the dialog as its question.
func (d *ownDialog) asRequest(id string) chat.Request {
	q := chat.Question{ID: choiceID, Header: "screen", Text: d.title}
	if len(d.choices) == 0 {
		q.Text = "its screen shows something other than its prompt; a refusal presses Escape:\n" + d.title
	}
	for _, c := range d.choices {
		q.Options = append(q.Options, chat.Option{Label: c})
	}
	check := func(replies map[string][]string) error {
		_, err := d.answerKey(replies)
		return err
	}
	return chat.Request{
		ID: id, Why: "a dialog of its own at the terminal", Form: []chat.Question{q}, Check: check,
	}
}

// answerKey returns the key that answers the dialog: Escape without replies.
func (d *ownDialog) answerKey(replies map[string][]string) (string, error) {
	if replies == nil {
		return "\x1b", nil
	}
	chosen := replies[choiceID]
	for i, c := range d.choices {
		if len(chosen) == 1 && chosen[0] == c {
			return strconv.Itoa(i + 1), nil
		}
	}
	if len(d.choices) == 0 {
		return "", errors.New("it has no choices here: refuse it, which presses Escape, or answer it at the terminal")
	}
	return "", fmt.Errorf("it accepts only one of its %d choices", len(d.choices))
}

// pressKey answers a dialog, if it still stands.
func (d *TUI) pressKey(own *ownDialog, key string) {
	d.terminal.Type(chat.TypeRequest{
		Pieces: [][]byte{[]byte(key)}, Still: d.terminal.StandingCheck(),
		May: func(_ int, s chat.Screen) error {
			if v := readScreen(s); !own.isSame(v.own) {
				return errNotShown
			}
			return nil
		},
		Done: func(t chat.TypeResult) {
			d.enqueue(func() {
				d.poked = true
				if t.Err != nil {
					d.reportNotice("did not get the answer to its dialog: %v", t.Err)
				}
			})
		},
	})
}

// WaitReason returns the reason why a prompt would wait now, "" if it would be typed at once.
func (d *TUI) WaitReason() chat.Waits {
	if w, ok := d.waits.Load().(chat.Waits); ok {
		return w
	}
	return chat.WaitsForStart
}

// updateWaits stores the result of WaitReason, which runs on other goroutines.
func (d *TUI) updateWaits() {
	waits := chat.Waits("")
	switch {
	case !d.ready:
		waits = chat.WaitsForStart
	case d.dialog.Load() || !d.screen.prompt:
		waits = chat.WaitsForDialog
	case !d.screen.empty && d.sending == nil:
		waits = chat.WaitsForLine
	}
	d.waits.Store(waits)
}
