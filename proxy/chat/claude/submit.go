package claude

import (
	"errors"
	"strings"
	"time"
	"unicode"

	"terminalproxy/proxy/chat"
)

// prompt waits to be typed, as long as still returns true.
type prompt struct {
	chat.Prompt
	still func() bool
}

// sending is a prompt on its way. It has arrived when a hook or the record says so; an echo proves
// nothing.
type sending struct {
	prompt  prompt
	keys    uint64    // the user's, when it was typed
	entered int       // how often Enter was
	due     time.Time // when the sign should have come; zero while something is typed
}

// Times of submitting.
const (
	signWithin = 3 * time.Second // until the sign should have come
	entersMost = 3
	// typeWithin bounds the wait between two typed pieces.
	typeWithin = 20 * time.Second
)

// Reasons why nothing is typed.
var (
	errNotFree  = errors.New("the prompt is not free")
	errNotShown = errors.New("the prompt shows something else")
)

// typeable makes a prompt fit for typing: its only control characters are newlines and tabs.
func typeable(text string) (string, error) {
	text = strings.ReplaceAll(strings.ReplaceAll(text, "\r\n", "\n"), "\r", "\n")
	text = strings.Trim(text, "\n")
	switch {
	case strings.TrimSpace(text) == "":
		return "", errors.New("the prompt is empty")
	case strings.ContainsFunc(text, isRefusedControl):
		return "", errors.New("the prompt has control characters, which claude's terminal would take for keys")
	case strings.HasPrefix(strings.TrimSpace(text), "!"):
		return "", errors.New("claude would run what begins with ! as a command, without asking: type that at its terminal")
	}
	return text, nil
}

func isRefusedControl(r rune) bool { return unicode.IsControl(r) && r != '\n' && r != '\t' }

// typeNext types the first waiting prompt when the prompt of the interface is free. It reports
// whether to look again soon.
func (d *TUI) typeNext(now time.Time) (again bool) {
	if s := d.sending; s != nil {
		if d.isCommandRead(s) {
			d.readCommand()
			return true
		}
		if !s.due.IsZero() && now.After(s.due) {
			d.retryEnter(now)
		}
		return d.sending != nil && !d.sending.due.IsZero()
	}
	if len(d.waiting) == 0 || !d.ready {
		return false
	}
	if !d.screen.prompt || !d.screen.empty || d.dialog.Load() {
		return true
	}
	p := d.waiting[0]
	d.waiting = d.waiting[1:]
	d.sending = &sending{prompt: p}
	d.typePrompt(p)
	return true
}

// typePrompt types a text, and Enter alone when the prompt shows it.
func (d *TUI) typePrompt(p prompt) {
	text := p.Text
	body := strings.ReplaceAll(text, "\n", "\r")
	pastes := d.screen.pastes
	if pastes {
		body = "\x1b[200~" + body + "\x1b[201~"
	} else if strings.Contains(text, "\n") {
		d.failPrompt(errors.New("its terminal takes no pastes now, and each line would be a prompt"))
		return
	}
	until := time.Now().Add(typeWithin)
	d.terminal.Type(chat.TypeRequest{
		Pieces: [][]byte{[]byte(body), {'\r'}}, Still: p.still,
		May: func(piece int, s chat.Screen) error {
			v := readScreen(s)
			if piece == 0 {
				if !v.prompt || !v.empty || v.pastes != pastes || d.dialog.Load() {
					return errNotFree
				}
				return nil
			}
			return mayEnter(&v, text, until)
		},
		Done: func(t chat.TypeResult) { d.enqueue(func() { d.afterTyping(t) }) },
	})
}

// mayEnter reports whether Enter would send the text, and only that.
func mayEnter(v *promptView, text string, until time.Time) error {
	switch {
	case v.showsOnly(text):
		return nil
	case time.Now().Before(until) && (v.empty || !v.prompt || strings.HasPrefix(withoutBlanks(text), v.text)):
		return chat.ErrNotYet // it has not drawn it yet
	}
	return errNotShown
}

// afterTyping decides about the prompt once a typing has ended.
func (t *turns) afterTyping(typed chat.TypeResult) {
	s := t.sending
	if s == nil {
		return // its sign came sooner
	}
	t.poked = true
	switch {
	case typed.Err == nil:
		s.keys, s.due = typed.Keys, time.Now().Add(t.sign)
		s.entered++
	case typed.Pieces == 0 && s.entered == 0 && (errors.Is(typed.Err, errNotFree) || errors.Is(typed.Err, chat.ErrUserTyped)):
		t.sending = nil // nothing was typed: it waits on
		t.waiting = append([]prompt{s.prompt}, t.waiting...)
	default:
		t.failPrompt(typed.Err)
	}
}

// retryEnter decides about a prompt without a sign. It presses Enter again only if the prompt still
// shows the text.
func (d *TUI) retryEnter(now time.Time) {
	s := d.sending
	d.updateScreen()
	shown := d.screen.showsOnly(s.prompt.Text)
	switch {
	case !d.screen.prompt || d.dialog.Load():
		s.due = now.Add(d.sign)
	case shown && s.entered < entersMost:
		s.due = time.Time{}
		d.enterAgain()
	case shown:
		d.failPrompt(errors.New("claude does not take Enter"))
	default:
		d.failPrompt(errors.New("claude does not say that it read it"))
	}
}

// isCommand reports whether the prompt on its way is a command of Claude Code: some give no sign.
func isCommand(s *sending) bool { return strings.HasPrefix(s.prompt.Text, "/") }

// isCommandRead reports whether a command has gone from the prompt after Enter, its only sign.
func (d *TUI) isCommandRead(s *sending) bool {
	return isCommand(s) && !s.due.IsZero() && (!d.screen.prompt || d.screen.empty)
}

// readCommand reports that the command on its way was read. A command is not a turn, unless a hook
// says so.
func (t *turns) readCommand() {
	s := t.sending
	t.sending = nil
	if s.prompt.Person && modelCommand().MatchString(s.prompt.Text) {
		t.confirms = time.Now().Add(t.sign)
	}
	t.rememberSaid(comparableText(s.prompt.Text))
	t.report(chat.PromptAccepted{Prompt: s.prompt.ID})
	if !t.working {
		t.report(chat.Finished{Turn: chat.Turn{Outcome: chat.Done}})
	}
}

// rememberSaid remembers a sent prompt, because the record repeats it.
func (t *turns) rememberSaid(text string) {
	t.said = append(t.said, text)
	t.said = t.said[max(0, len(t.said)-maxCalls):]
}

// enterAgain presses Enter once more, if the user has typed nothing since the text was pasted.
func (d *TUI) enterAgain() {
	s := d.sending
	text := s.prompt.Text
	d.terminal.Type(chat.TypeRequest{
		Pieces: [][]byte{{'\r'}}, Keys: s.keys, Still: s.prompt.still,
		May: func(_ int, s chat.Screen) error {
			if v := readScreen(s); !v.showsOnly(text) {
				return errNotShown
			}
			return nil
		},
		Done: func(t chat.TypeResult) { d.enqueue(func() { d.afterTyping(t) }) },
	})
}

// failPrompt reports that the prompt on its way will not be sent.
func (t *turns) failPrompt(why error) {
	s := t.sending
	t.sending = nil
	t.reportNotice("did not get a prompt: %v; the part of it in the prompt line is yours to "+
		"send or to erase", why)
	t.report(chat.PromptDropped{Prompt: s.prompt.ID})
}

// confirmPrompt handles the sign that a prompt has arrived: the one on its way, or one typed by the
// user.
func (t *turns) confirmPrompt(text string) {
	t.startTurn()
	got := comparableText(text)
	if s := t.sending; s != nil && got == comparableText(s.prompt.Text) {
		t.sending = nil
		t.rememberSaid(got)
		t.report(chat.PromptAccepted{Prompt: s.prompt.ID})
		return
	}
	t.report(chat.TurnStarted{})
}

func (t *turns) startTurn() { t.working, t.ending, t.failed = true, time.Time{}, "" }

// comparableText removes blanks and Claude Code's marks around a paste, so that prompts can be
// compared.
func comparableText(text string) string {
	return withoutBlanks(pasteMarks().ReplaceAllString(text, ""))
}

// finishAfterRecord ends a stopped turn once the record has had its time. It reports whether that
// time still runs.
func (t *turns) finishAfterRecord(now time.Time) (soon bool) {
	if t.ending.IsZero() {
		return false
	}
	if now.Before(t.ending) {
		return true
	}
	t.endTurn(chat.Turn{Outcome: chat.Done})
	return false
}

// endTurn reports the end of the turn, if one runs.
func (t *turns) endTurn(turn chat.Turn) {
	if !t.working {
		return
	}
	if turn.Outcome == chat.Done && t.failed != "" {
		turn = chat.Turn{Outcome: chat.Broken, Why: t.failed}
	}
	t.working, t.ending = false, time.Time{}
	t.report(chat.Finished{Turn: turn})
}

// pressEscape interrupts the running turn.
func (d *TUI) pressEscape(still func() bool) {
	if !d.working {
		return
	}
	until := time.Now().Add(typeWithin)
	d.terminal.Type(chat.TypeRequest{
		Pieces: [][]byte{{0x1b}}, Still: still,
		May: func(_ int, s chat.Screen) error {
			if v := readScreen(s); !v.prompt && time.Now().Before(until) {
				return chat.ErrNotYet // a dialog that was refused goes first
			}
			return nil
		},
		Done: func(t chat.TypeResult) {
			if t.Err != nil {
				d.enqueue(func() { d.reportNotice("was not interrupted: %v", t.Err) })
			}
		},
	})
}
