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

// ownDialog is what stands on the screen in place of the prompt without a hook that asks about it: that of /model, of /config, a list. It
// is put to people elsewhere as a question, whose answers are its choices, and whose refusal is Escape.
type ownDialog struct {
	title   string
	choices []string // by their digits, from 1; none where it is no list of few
}

// Times of dialogs.
const (
	// ownAfter is how long a dialog must stand: what is only being drawn is none.
	ownAfter = time.Second
	// ownQuiet is how long the user must not have typed where a screen without choices is taken for a dialog.
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

// seeDialog reads the dialog on a screen without a prompt.
func seeDialog(s chat.Screen) *ownDialog {
	var rows []string
	d := &ownDialog{}
	for _, r := range s.Rows {
		m := choiceRow().FindStringSubmatch(r.Text)
		switch text := strings.Trim(r.Text, "│ "); {
		case m != nil && m[1] == strconv.Itoa(len(d.choices)+1):
			d.choices = append(d.choices, strings.TrimRight(m[2], "│ "))
		case len(d.choices) > 0: // what stands under it
		case isRule(r.Text) || strings.Count(r.Text, "▔") >= 10:
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

func (d *ownDialog) same(other *ownDialog) bool {
	return d != nil && other != nil && d.title == other.title && strings.Join(d.choices, "\n") == strings.Join(other.choices, "\n")
}

// followDialog opens a request for a dialog of Claude Code's own, and closes that when it is gone. It reports whether to look again soon.
func (d *TUI) followDialog(now time.Time) (again bool) {
	own := d.screen.own
	if own == nil || !d.ready {
		d.own = nil
		d.withdraw(atTerminal, isOwn)
		return false
	}
	if !own.same(d.own) {
		d.own, d.ownSince = own, now
		d.withdraw("another one stands there now", isOwn)
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
		d.notice("asked %q, which the command had said: %s", firstLine(own.title), own.choices[0])
		d.press(own, "1")
		return false
	}
	id := chat.NewID()
	d.mu.Lock()
	d.asks[id] = &tuiAsk{own: own}
	d.mu.Unlock()
	d.report(chat.Asked{Request: own.request(id)})
	return false
}

func isOwn(_ string, a *tuiAsk) bool { return a.own != nil }

func firstLine(s string) string {
	first, _, _ := strings.Cut(s, "\n")
	return first
}

// request is the dialog as a question.
func (d *ownDialog) request(id string) chat.Request {
	q := chat.Question{ID: choiceID, Header: "screen", Text: d.title}
	if len(d.choices) == 0 {
		q.Text = "something else than its prompt stands on its screen; a refusal presses Escape:\n" + d.title
	}
	for _, c := range d.choices {
		q.Options = append(q.Options, chat.Option{Label: c})
	}
	return chat.Request{ID: id, Why: "a dialog of its own at the terminal", Form: []chat.Question{q}, Check: func(replies map[string][]string) error {
		_, err := d.key(replies)
		return err
	}}
}

// key is what answers the dialog: Escape where nothing is chosen.
func (d *ownDialog) key(replies map[string][]string) (string, error) {
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
	return "", fmt.Errorf("it takes one of its %d choices, and no other words", len(d.choices))
}

// press answers a dialog while it stands.
func (d *TUI) press(own *ownDialog, key string) {
	d.terminal.Type(chat.Typing{
		Pieces: [][]byte{[]byte(key)}, Still: d.terminal.Stand(),
		May: func(_ int, s chat.Screen) error {
			if v := see(s); !own.same(v.own) {
				return errNotShown
			}
			return nil
		},
		Done: func(t chat.Typed) {
			d.post(func() {
				d.poked = true
				if t.Err != nil {
					d.notice("did not get the answer to its dialog: %v", t.Err)
				}
			})
		},
	})
}

// Waits says what a prompt would wait for now: "" where it would be typed at once.
func (d *TUI) Waits() chat.Waits {
	if w, ok := d.waits.Load().(chat.Waits); ok {
		return w
	}
	return chat.WaitsForStart
}

// noteWaits notes that for others.
func (d *TUI) noteWaits() {
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
