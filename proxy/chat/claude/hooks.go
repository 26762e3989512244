package claude

import (
	"bufio"
	"bytes"
	"context"
	"crypto/rand"
	"crypto/subtle"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"terminalproxy/proxy/chat"
	"terminalproxy/proxy/chat/stdio"
)

// Variables by which a hook finds the session that it belongs to.
const (
	hookSocket = "TERMINALPROXY_CHAT_SOCKET"
	hookKey    = "TERMINALPROXY_CHAT_KEY"
)

// HookCommand is the hidden command that calls [RunHook].
const HookCommand = "hook"

const (
	// maxHook bounds what a hook is told, in bytes.
	maxHook = 32 << 20
	// hookPatience is how long one side waits for the other if no person is asked.
	hookPatience = 10 * time.Second
	// askPatience, in seconds, is how long Claude Code waits for a person's answer: its dialog
	// stands meanwhile.
	askPatience = 24 * 60 * 60
)

// hookEvents are the events that Claude Code tells us of.
var hookEvents = []string{
	"SessionStart", "UserPromptSubmit", "PreToolUse", "PermissionRequest", "Stop", "SessionEnd",
}

// hello is what a hook says first, on a line; what it was told follows.
type hello struct{ Key, Event string }

// RunHook is the program of a hook: it passes on what Claude Code says on in, prints the answer to
// out, and returns the exit status. It never allows anything by itself. When it fails, PreToolUse
// blocks the tool, since Claude Code would run it otherwise, and of the others the failure is only
// shown: the dialog of a PermissionRequest stays.
func RunHook(event string, in io.Reader, out, errs io.Writer) (status int) {
	answer, err := passHook(event, in)
	if err == nil {
		_, err = out.Write(answer)
	}
	if err == nil {
		return 0
	}
	fmt.Fprintf(errs, "the session of proxy --chat cannot be reached: %v\n", err)
	if event == "PreToolUse" {
		return 2
	}
	return 1
}

func passHook(event string, in io.Reader) (answer []byte, err error) {
	told, err := io.ReadAll(io.LimitReader(in, maxHook+1))
	switch {
	case err != nil:
		return nil, err
	case len(told) > maxHook:
		return nil, errors.New("the hook's input is too long")
	case os.Getenv(hookSocket) == "":
		return nil, errors.New("no session: " + hookSocket + " is not set")
	}
	dialer := net.Dialer{Timeout: hookPatience}
	conn, err := dialer.DialContext(context.Background(), "unix", os.Getenv(hookSocket))
	if err != nil {
		return nil, err
	}
	defer conn.Close()
	first, err := json.Marshal(hello{Key: os.Getenv(hookKey), Event: event})
	if err != nil {
		return nil, err
	}
	_ = conn.SetDeadline(time.Now().Add(hookPatience))
	line := append(bytes.ReplaceAll(told, []byte("\n"), []byte(" ")), '\n')
	if _, err := conn.Write(append(append(first, '\n'), line...)); err != nil {
		return nil, err
	}
	if event == "PermissionRequest" {
		_ = conn.SetDeadline(time.Time{}) // a person is asked
	}
	answer, err = bufio.NewReader(conn).ReadBytes('\n')
	if err != nil {
		return nil, errors.New("it gave no answer")
	}
	if answer = bytes.TrimSpace(answer); len(answer) > 0 && !json.Valid(answer) {
		return nil, errors.New("its answer makes no sense")
	}
	return answer, nil
}

// ListenForHooks begins to listen for hooks, and returns the program's variables by which they find
// us.
func (d *TUI) ListenForHooks() (env []string, err error) {
	d.key = rand.Text()
	path := filepath.Join(d.config.Dir, "hooks")
	if d.hooks, err = new(net.ListenConfig).Listen(context.Background(), "unix", path); err != nil {
		return nil, fmt.Errorf("socket of the hooks: %w", err)
	}
	return []string{hookSocket + "=" + path, hookKey + "=" + d.key}, nil
}

func (d *TUI) stopListening() {
	if d.hooks != nil {
		_ = d.hooks.Close()
	}
	_ = os.RemoveAll(d.config.Dir)
}

// acceptHooks serves hooks until stopListening.
func (d *TUI) acceptHooks() {
	for {
		conn, err := d.hooks.Accept()
		if err != nil {
			return
		}
		if !d.hookers.startServing(conn, func() { d.serveHook(conn) }) {
			conn.Close()
		}
	}
}

// serveHook reads the event of a hook. The connection stays open until the hook has its answer.
func (d *TUI) serveHook(conn net.Conn) {
	_ = conn.SetDeadline(time.Now().Add(d.patience))
	lines := bufio.NewReader(io.LimitReader(conn, maxHook+4096))
	var greeting hello
	first, err := lines.ReadBytes('\n')
	if err != nil || json.Unmarshal(first, &greeting) != nil ||
		subtle.ConstantTimeCompare([]byte(greeting.Key), []byte(d.key)) != 1 {
		conn.Close()
		return
	}
	told, err := lines.ReadBytes('\n')
	if err != nil {
		conn.Close()
		return
	}
	_ = conn.SetDeadline(time.Time{})
	if !d.postOrRefuse(func() { d.handleHook(greeting.Event, told, conn) }) {
		conn.Close()
		return
	}
	_, _ = io.Copy(io.Discard, conn) // until it is answered, or gone
	d.enqueue(func() { d.closeOrphan(conn) })
}

// postOrRefuse enqueues a function, and returns false if it will never run.
func (p *postbox) postOrRefuse(do func()) bool {
	p.mu.Lock()
	closed := p.closed
	p.mu.Unlock()
	p.enqueue(do)
	return !closed
}

// closeOrphan closes the request of a hook that ended without an answer. Its dialog still stands on
// the screen.
func (d *TUI) closeOrphan(conn net.Conn) {
	why := "only the terminal can answer it now: its hook ended"
	if d.updateScreen(); d.screen.prompt {
		why = atTerminal
	}
	d.withdrawAsks(why, func(_ string, a *tuiAsk) bool { return a.conn == conn })
	conn.Close()
	d.updateDialog()
}

// hookCall is the input of a hook.
type hookCall struct {
	announced
	Session     string       `json:"session_id"`
	Transcript  string       `json:"transcript_path"`
	Source      string       `json:"source"`
	Prompt      string       `json:"prompt"`
	Agent       string       `json:"agent_id"`
	Mode        string       `json:"permission_mode"`
	Suggestions []suggestion `json:"permission_suggestions"`
}

// handleHook handles an event. All but requests get an empty answer at once.
func (d *TUI) handleHook(event string, b []byte, conn net.Conn) {
	var t hookCall
	if err := json.Unmarshal(b, &t); err != nil {
		d.reportNotice("sent a hook that could not be read: %s", stdio.ShortenText(event))
		conn.Close()
		return
	}
	d.poked = true
	if t.Agent == "" {
		d.setMode(stdio.ShortenText(t.Mode))
	}
	if event == "PermissionRequest" {
		d.openHookRequest(t, conn)
		return
	}
	switch event {
	case "SessionStart":
		d.handleSessionStart(t)
	case "UserPromptSubmit":
		d.approves = false
		d.confirmPrompt(t.Prompt)
	case "PreToolUse":
		d.rememberCall(t.announced)
		d.expected = time.Now().Add(dialogAfter)
		d.updateDialog() // before the answer: the dialog cannot come earlier
	case "Stop":
		d.approves = d.approves && t.Agent != ""
		if t.Agent == "" && d.working {
			d.ending = time.Now().Add(stopWithin)
		}
	}
	_ = d.answerHook(conn, nil)
}

// maxCalls bounds the calls of tools that are remembered, and maxInputs their inputs together, in
// bytes.
const maxCalls, maxInputs = 64, maxHook

// rememberCall remembers a call, and forgets the oldest if there are too many.
func (d *TUI) rememberCall(c announced) {
	d.calls = append(d.calls, c)
	size := 0
	for _, one := range d.calls {
		size += len(one.Input)
	}
	for len(d.calls) > maxCalls || size > maxInputs && len(d.calls) > 1 {
		size -= len(d.calls[0].Input)
		d.calls = slices.Delete(d.calls, 0, 1)
	}
}

// handleSessionStart notes that this conversation, or another one, began.
func (d *TUI) handleSessionStart(t hookCall) {
	if t.Session != "" && t.Session != d.id {
		if d.config.Claim != nil {
			if err := d.config.Claim(t.Session); err != nil {
				d.reportNotice("talks in a conversation that another command has open: %v", err)
			}
		}
		if d.id != "" {
			d.reportNotice("began another conversation: %s", t.Session)
		}
		d.id = t.Session
		if d.ready {
			d.report(chat.Ready{Conversation: d.id})
		}
	}
	d.began = true
	if d.record == nil || d.record.path != t.Transcript {
		d.followRecord(t.Transcript)
	}
}

// openHookRequest opens a request. If it cannot be read, the dialog on the screen remains to answer
// it.
func (d *TUI) openHookRequest(t hookCall, conn net.Conn) {
	r, open, err := newToolRequest(chat.NewID(), t.Tool, t.Input, t.Suggestions)
	if err != nil {
		d.reportNotice("has a question at the terminal that could not be shown here: %v", err)
		conn.Close()
		return
	}
	a := &tuiAsk{ask: open, conn: conn}
	for i := len(d.calls) - 1; i >= 0; i-- {
		if c := d.calls[i]; c.Tool == t.Tool && sameJSON(c.Input, t.Input) {
			a.call = c.ID
			break
		}
	}
	d.mu.Lock()
	d.asks[r.ID] = a
	d.mu.Unlock()
	d.expected, d.approves = time.Now().Add(dialogAfter), true
	d.updateDialog()
	d.report(chat.RequestOpened{Request: r})
}

func sameJSON(a, b json.RawMessage) bool {
	var one, other bytes.Buffer
	return json.Compact(&one, a) == nil && json.Compact(&other, b) == nil &&
		bytes.Equal(one.Bytes(), other.Bytes())
}

// closeByResult closes the request for a call that has a result.
func (d *TUI) closeByResult(call string) {
	if call == "" {
		return
	}
	for i, c := range d.calls {
		if c.ID == call {
			d.calls = append(d.calls[:i], d.calls[i+1:]...)
			break
		}
	}
	d.withdrawAsks(atTerminal, func(_ string, a *tuiAsk) bool { return a.call == call })
}

func (t *turns) reportNotice(format string, args ...any) {
	text := "claude " + fmt.Sprintf(format, args...)
	t.report(chat.ItemAdded{Item: chat.Item{Kind: chat.Notice, Text: text}})
}

// Quote is an argument as a shell reads it.
func Quote(s string) string { return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'" }
