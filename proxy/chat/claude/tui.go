package claude

import (
	"cmp"
	"encoding/json"
	"errors"
	"net"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"terminalproxy/proxy/chat"
)

// TUIConfig is how Claude Code's own interface is accompanied.
type TUIConfig struct {
	Args []string // the user's, for claude
	// ID is the UUID of a new conversation. It is not used if the user's arguments name a
	// conversation or resume one.
	ID string
	// Hook is the command that its hooks run, which calls [RunHook] with the event behind it: of a
	// shell, and quoted for one.
	Hook string
	// Dir is a directory of the user's alone, for the socket of the hooks; it goes with Close.
	Dir string
	// Claim makes this process the only one in a conversation; its error names the other one. It
	// may be nil.
	Claim func(id string) error
	// Settings is the file of the user's settings. Its permission mode counts if the arguments name
	// no mode. With "" the mode is the one that asks.
	Settings string
}

// TUI drives Claude Code in its own interface, in a terminal of the session. Its hooks and its
// record report what happens, and prompts are typed. It is a [chat.Driver].
type TUI struct {
	launch
	terminal chat.Terminal
	hooks    net.Listener
	key      string // the secret that a hook shows
	dialog   atomic.Bool
	pressed  atomic.Int64  // when the user typed last, in ns since 1970
	waits    atomic.Value  // chat.Waits
	done     chan struct{} // closed when run has ended
	patience time.Duration // how long a hook may take if no person is asked
	hookers  hookers

	postbox
	asks map[string]*tuiAsk // open requests, by id; guarded by mu

	// What follows belongs to the goroutine of run.
	turns
	over   bool
	began  bool // SessionStart came
	ready  bool
	id     string     // of the conversation
	shown  bool       // a dialog was seen on the screen since the last request came
	screen promptView // as last seen
	// approves: a hook asked since the prompt was drawn. The dialog is an approval, even if the
	// hook has ended.
	approves bool
	own      *ownDialog
	ownSince time.Time // it stands there
	mode     string    // of permissions, "" while it is not known
	expected time.Time // until then a dialog may come
	looked   time.Time
	record   *recordReader
	unknown  map[string]bool // types of the record that were noticed
	calls    []announced     // without a result, oldest first
}

// tuiAsk is a request that a hook waits for.
type tuiAsk struct {
	ask
	conn net.Conn   // nil for a dialog that no hook asks about
	own  *ownDialog // then
	call string     // the id of the tool's call, "" where it is not known
}

// announced is a call of a tool of which a hook has said that it comes.
type announced struct {
	ID    string          `json:"tool_use_id"`
	Tool  string          `json:"tool_name"`
	Input json.RawMessage `json:"tool_input"`
}

// Times of the driver.
const (
	lookEvery = 30 * time.Millisecond  // between two looks at the screen
	lookLater = 500 * time.Millisecond // and one more after the output
	// dialogAfter is how long after a tool was announced its dialog may come.
	dialogAfter = 2 * time.Second
	// stopWithin is how long the record may take after a turn's end.
	stopWithin = time.Second
)

// atTerminal is the reason for closing a request whose dialog was answered on the screen.
const atTerminal = "answered at the terminal"

// postbox brings work to the goroutine of run.
type postbox struct {
	mu     sync.Mutex
	posts  []func()
	closed bool // later posts never run
	wake   chan struct{}
}

// turns are the prompts that Claude Code gets, and the turn at which it works.
type turns struct {
	report   func(chat.Event)
	sign     time.Duration // how long the sign of a prompt may take
	poked    bool          // the screen is due for a look
	waiting  []prompt      // to be typed
	sending  *sending
	said     []string // sent prompts that the record has yet to repeat, as comparableText
	working  bool
	ending   time.Time // when a stopped turn is over even without its record; may be zero
	failed   string    // the turn's error
	confirms time.Time // a dialog that comes until then asks what a person's command has said
}

// NewTUI makes a driver. ListenForHooks comes next, then the program's start, then Start.
func NewTUI(c TUIConfig) *TUI {
	return &TUI{
		launch:   launch{config: c},
		postbox:  postbox{wake: make(chan struct{}, 1)},
		turns:    turns{sign: signWithin},
		done:     make(chan struct{}),
		asks:     map[string]*tuiAsk{},
		unknown:  map[string]bool{},
		patience: hookPatience,
	}
}

// Attach says which terminal Claude Code runs in. It is called once, before Start.
func (d *TUI) Attach(t chat.Terminal) { d.terminal = t }

// Start is that of [chat.Driver]; the program has been started.
func (d *TUI) Start(report func(chat.Event)) error {
	d.report = report
	go d.run() // Close, NoteExit
	go d.acceptHooks()
	return nil
}

// NoteOutput says that the program printed something. It may be called from any goroutine.
func (d *TUI) NoteOutput() { d.enqueue(func() { d.poked = true }) }

// NoteKeys notes keys of a person at the terminal. A deciding key answers the dialog there, so its
// requests are closed.
func (d *TUI) NoteKeys(keys []byte) {
	d.pressed.Store(time.Now().UnixNano())
	if d.dialog.Load() && choosesInDialog(keys) {
		d.enqueue(func() {
			if d.shown {
				d.withdrawAsks(atTerminal, everyAsk)
			}
		})
	}
}

// choosesInDialog reports whether a key chooses in a dialog or closes it: a digit, Enter, Escape or
// Ctrl+C, also in kitty's protocol.
func choosesInDialog(key []byte) bool {
	switch s := string(key); {
	case s == "\r", s == "\x1b", s == "\x03", len(s) == 1 && s[0] >= '1' && s[0] <= '9':
		return true
	default:
		return strings.HasPrefix(s, "\x1b[13") || strings.HasPrefix(s, "\x1b[27") || strings.HasPrefix(s, "\x1b[99;5")
	}
}

// HasDialog reports whether a dialog of Claude Code's may stand on the screen: agents' keys would
// answer it.
func (d *TUI) HasDialog() bool { return d.dialog.Load() }

// NoteReclaim says that the user took the keyboard back: waiting prompts are dropped.
func (d *TUI) NoteReclaim() {
	d.enqueue(func() {
		for _, p := range d.waiting {
			d.report(chat.PromptDropped{Prompt: p.ID})
		}
		d.waiting = nil
	})
}

// NoteExit gets the reason for the program's end, in words that follow "claude" or "", and its last
// screen.
func (d *TUI) NoteExit(why string, screen []string) {
	d.enqueue(func() {
		if d.over {
			return
		}
		d.over = true
		d.readRecord()
		if !d.ready {
			why = failedStart(why, screen)
		} else if why != "" {
			why = "claude " + why
		}
		d.report(chat.AgentExited{Why: why})
	})
}

// failedStart explains why Claude Code did not get to its prompt, with the last rows of its screen.
func failedStart(why string, screen []string) string {
	if why == "" {
		why = "ended before its prompt came"
	}
	var rows []string
	for _, r := range screen {
		if r = strings.TrimSpace(r); r != "" {
			rows = append(rows, r)
		}
	}
	const most = 8
	if rows = rows[max(0, len(rows)-most):]; len(rows) > 0 {
		why += ": " + strings.Join(rows, " / ")
	}
	return "claude " + why
}

// Send is that of [chat.Driver]: it is typed when the prompt is free.
func (d *TUI) Send(p chat.Prompt) error {
	text, err := typeable(p.Text)
	if err != nil {
		return err
	}
	p.Text = text
	one := prompt{p, d.standingCheck(p.MayAct)}
	d.enqueue(func() {
		if !one.still() { // NoteReclaim may have come before it
			d.report(chat.PromptDropped{Prompt: p.ID})
			return
		}
		d.waiting = append(d.waiting, one)
	})
	return nil
}

// standingCheck is the terminal's StandingCheck for a person, or for an agent as long as mayAct.
func (d *TUI) standingCheck(mayAct chat.MayAct) (still func() bool) {
	stands := d.terminal.StandingCheck()
	return func() bool { return mayAct.Refusal() == nil && stands() }
}

// Interrupt is that of [chat.Driver].
func (d *TUI) Interrupt(mayAct chat.MayAct) error {
	still := d.standingCheck(mayAct)
	d.enqueue(func() {
		if !still() {
			d.reportNotice("was not interrupted: %v", chat.ErrTaken)
			return
		}
		for _, p := range d.waiting {
			d.report(chat.PromptDropped{Prompt: p.ID})
		}
		d.waiting = nil
		d.pressEscape(still)
	})
	return nil
}

// errAtTerminal is the error of an answer that no hook waits for.
var errAtTerminal = errors.New("claude waits for it at the terminal only, or no longer")

// Answer is that of [chat.Driver].
func (d *TUI) Answer(id string, a chat.Answer) error {
	open := d.forgetAsk(id)
	if open == nil {
		return errAtTerminal
	}
	if open.own != nil {
		key, err := open.own.answerKey(a.Replies)
		if err == nil {
			d.pressKey(open.own, key)
		}
		return err
	}
	output := map[string]any{"hookSpecificOutput": map[string]any{
		"hookEventName": "PermissionRequest", "decision": open.replyFor(a),
	}}
	defer d.NoteOutput() // its dialog goes
	return d.answerHook(open.conn, output)
}

// answerHook sends a hook its output, which may be nil, and closes the connection. It does not wait
// for a hook that does not read.
func (d *TUI) answerHook(conn net.Conn, output any) error {
	var b []byte
	if output != nil {
		var err error
		if b, err = json.Marshal(output); err != nil {
			conn.Close()
			return err
		}
	}
	rest, err := writeNow(conn, append(b, '\n'))
	if err != nil || len(rest) == 0 {
		conn.Close()
		return err
	}
	later := d.hookers.startServing(conn, func() {
		defer conn.Close()
		_ = conn.SetWriteDeadline(time.Now().Add(d.patience))
		if _, err := conn.Write(rest); err != nil {
			d.enqueue(func() { d.reportNotice("did not read the answer: %v", err) })
		}
	})
	if !later {
		conn.Close()
		return errAtTerminal
	}
	return nil
}

func (d *TUI) forgetAsk(id string) *tuiAsk {
	d.mu.Lock()
	defer d.mu.Unlock()
	open := d.asks[id]
	delete(d.asks, id)
	return open
}

// Close is that of [chat.Driver]. The program is ended by its terminal's session.
func (d *TUI) Close() error {
	d.NoteExit("", nil)
	if d.report != nil {
		<-d.done
	}
	d.stopListening()
	d.hookers.close()
	return nil
}

// enqueue has run call do.
func (p *postbox) enqueue(do func()) {
	p.mu.Lock()
	if !p.closed {
		p.posts = append(p.posts, do)
	}
	p.mu.Unlock()
	select {
	case p.wake <- struct{}{}:
	default:
	}
}

// run runs on the driver's goroutine, which alone reports events. It ends with the program.
func (d *TUI) run() {
	defer close(d.done)
	timer := time.NewTimer(time.Hour)
	defer timer.Stop()
	for {
		select {
		case <-d.wake:
		case <-timer.C:
			d.poked = true
		}
		d.mu.Lock()
		posts := d.posts
		d.posts = nil
		d.mu.Unlock()
		for _, do := range posts {
			do()
		}
		if d.over {
			break
		}
		if wait := d.pollScreen(time.Now()); wait > 0 {
			timer.Reset(wait)
		}
	}
	d.mu.Lock()
	d.closed, d.posts = true, nil
	d.mu.Unlock()
	if d.record != nil {
		d.record.close()
	}
}

// pollScreen reads the screen and the record if something was printed, and goes on with waiting
// prompts. It returns the delay until the next look, 0 to wait for an event.
func (d *TUI) pollScreen(now time.Time) (again time.Duration) {
	if d.poked {
		if wait := d.looked.Add(lookEvery).Sub(now); wait > 0 {
			return wait
		}
		d.poked, d.looked = false, now
		d.updateScreen()
		d.readRecord()
		again = lookLater
	}
	if d.finishAfterRecord(now) {
		again = lookLater
	}
	if d.expected.After(now) {
		again = lookLater
	} else if !d.expected.IsZero() {
		d.expected = time.Time{}
		d.updateDialog()
	}
	if d.typeNext(now) {
		again = lookLater
	}
	if d.followDialog(now) {
		again = lookLater
	}
	d.updateWaits()
	return again
}

// updateScreen reads the screen and follows its mode, prompt and dialog.
func (d *TUI) updateScreen() {
	s, ok := d.terminal.ReadScreen()
	if !ok {
		return
	}
	last := d.screen.mode
	d.screen = readScreen(s)
	if d.screen.mode != last {
		d.setMode(d.screen.mode) // the edge counts: hooks may know sooner
	}
	if d.screen.dialog {
		d.shown, d.expected = true, time.Time{}
	}
	if d.screen.prompt && d.shown {
		d.shown, d.approves = false, false
		d.withdrawAsks(atTerminal, everyAsk)
	}
	d.updateDialog()
	if d.began && d.screen.prompt && !d.ready {
		d.ready = true
		if d.mode == "" {
			d.setMode(d.startMode())
		}
		d.report(chat.Ready{Conversation: d.id})
	}
}

// setMode stores and reports the permission mode, unless it is "" or unchanged.
func (d *TUI) setMode(mode string) {
	if mode = cmp.Or(mode, d.mode); mode != d.mode {
		d.mode = mode
		setting := chat.Setting{Name: chat.Mode, Value: mode, Choices: modes}
		d.report(chat.SettingsChanged{Settings: []chat.Setting{setting}})
	}
}

// updateDialog decides whether a dialog may stand on the screen. Only the drawn prompt proves that
// it is gone.
func (d *TUI) updateDialog() {
	d.mu.Lock()
	asks := 0
	for _, a := range d.asks {
		if a.own == nil {
			asks++
		}
	}
	d.mu.Unlock()
	d.dialog.Store(asks > 0 || d.screen.dialog || d.shown || !d.expected.IsZero())
}

// withdrawAsks closes the open requests for which meant returns true.
func (d *TUI) withdrawAsks(why string, meant func(id string, a *tuiAsk) bool) {
	d.mu.Lock()
	var ids []string
	for id, a := range d.asks {
		if meant(id, a) {
			if a.conn != nil {
				a.conn.Close()
			}
			delete(d.asks, id)
			ids = append(ids, id)
		}
	}
	d.mu.Unlock()
	for _, id := range ids {
		d.report(chat.Withdrawn{ID: id, Why: why})
	}
}

// everyAsk selects all requests for withdrawAsks.
func everyAsk(string, *tuiAsk) bool { return true }
