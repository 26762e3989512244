package browser_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
	"github.com/stretchr/testify/require"

	"terminalproxy/cmd/internal/dev/browser"
	"terminalproxy/gateway/access/auth"
	door "terminalproxy/gateway/doors/page"
	"terminalproxy/protocol"
	"terminalproxy/proxy/record/replay"
)

// shelf is a door's recordings: one, of a session that may still run.
type shelf struct {
	mu      sync.Mutex
	cast    string
	running bool
	hidden  bool
	player  *replay.Player
}

// ReadAt reads the recording as it is now.
func (s *shelf) ReadAt(p []byte, at int64) (int, error) {
	return strings.NewReader(s.cast).ReadAt(p, at)
}

func (s *shelf) Close() {}

func (s *shelf) Answer(ctx context.Context, m protocol.Message) protocol.Message {
	s.mu.Lock()
	defer s.mu.Unlock()
	id := protocol.RequestID(m)
	read, ok := m.(*protocol.RecordsRead)
	if !ok {
		return &protocol.RecordsListResult{RequestID: id, Records: []protocol.RecordInfo{{
			RecordID: "r-1", SessionID: "vim-1", Command: "bash", Cwd: "/home/ada",
			StartedAt: 1767225600000, WrittenAt: 1767225660000,
			Bytes: int64(len(s.cast)), Running: s.running,
		}}}
	}
	r := &protocol.RecordsReadResult{RequestID: id, RecordID: read.RecordID}
	var err error
	switch {
	case s.hidden:
		return &protocol.Error{RequestID: id, Code: protocol.CodeBlackout, Message: "the session is hidden"}
	case read.Marks:
		err = replay.ReadMarks(ctx, s, nil, r)
	default:
		if s.player == nil {
			s.player = replay.New(s, nil)
		}
		err = s.player.Read(ctx, read, r)
	}
	if err != nil {
		return &protocol.Error{RequestID: id, Code: protocol.CodeUnavailable, Message: err.Error()}
	}
	return r
}

// set changes the recording.
func (s *shelf) set(change func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	change()
}

// add appends events.
func (s *shelf) add(events ...string) {
	s.set(func() { s.cast += strings.Join(events, "") })
}

func event(gap float64, code, data string) string {
	b, _ := json.Marshal(data)
	return fmt.Sprintf("[%.6f, %q, %s]\n", gap, code, b)
}

// shop is a recording of a minute: a person types, and an agent is granted the keyboard and types.
func shop() *shelf {
	s := &shelf{}
	s.add(`{"version":3,"term":{"cols":100,"rows":24},"timestamp":1767225600,"command":"bash"}`+"\n",
		event(0.5, "o", "\x1b[32mada@desk\x1b[m:~/src/shop$ "))
	for i := range 8 {
		s.add(event(0.4, "U", ""), event(0.05, "o", string("git log" + " ")[i:i+1]))
	}
	s.add(event(0.5, "o", "\r\n"))
	for i := range 10 {
		s.add(event(0.1, "o", fmt.Sprintf("\x1b[33m%07x\x1b[m order: step %d\r\n", 0xabc123+i*977, i)))
	}
	s.add(event(10, "m", "claude asks for control (drive): run the tests"),
		event(2, "m", "claude gets the keyboard: grant 1, level drive"),
		event(3, "A", `{"agent":"claude","id":"a","grant":1}`),
		event(0, "i", "make test\r"), event(0.05, "o", "make test\r\n"))
	for i := range 12 {
		s.add(event(0.5, "o", fmt.Sprintf("ok  \tshop/part%d\t\x1b[32mPASS\x1b[m\r\n", i)))
	}
	s.add(event(15, "i", "git status\r"), event(0.1, "o", "git status\r\nnothing to commit\r\n"))
	return s
}

// withRecords gives an owner's door recordings.
func withRecords(s *shelf) func(*door.Terms) {
	return func(t *door.Terms) { t.Records = func() door.Records { return s } }
}

// A person opens a recording from the list, steps from input to input, and plays it. A list that was
// asked for already is waited for.
func TestAPersonPlaysARecording_Client(t *testing.T) {
	t.Parallel()
	s := shop()
	s.add(event(2, "x", "0"))
	g := serveOn(t, auth.RoleOwner, "", withRecords(s), vim())
	b := openPage(g, "")
	b.WaitFor(browser.Text(".records") + `.startsWith('RECORDINGS bash ~ · Thu')`)
	require.Empty(t, browser.JS[[]string](b, `performance.getEntriesByType('resource')`+
		`.map((e) => e.name).filter((name) => name.includes('replay.js'))`), "loaded when it is wanted")
	b.Eval(`document.querySelector('.records a').click()`)
	const clock, sheet, says = ".clock", ".replay .sheet", ".says.input"
	for range 2 {
		b.WaitText(clock, "0:00 / 0:43")
		b.WaitFor(`document.querySelectorAll('.mark.input').length === 2 &&
			document.querySelectorAll('.mark.user').length > 1`)
		b.RunSteps(reload)
	}
	b.Press("input ›")
	b.WaitText(says, "0:20 claude typed make test⏎")
	b.WaitPart(sheet, "step 9")
	require.False(t, b.Is(browser.Text(sheet)+`.includes('part0')`))
	b.Press("input ›")
	b.WaitPart(says, "claude typed git status⏎")
	b.WaitPart(sheet, "part11")
	b.Press("‹ input")
	b.WaitPart(says, "claude typed make test⏎")

	const focus = `document.querySelector('.replay .screen').focus()`
	b.Eval(focus)
	b.RunSteps(chromedp.KeyEvent(kb.End))
	b.WaitText(clock, "0:43 / 0:43")
	b.WaitPart(sheet, "nothing to commit")
	b.WaitPart(".says", "the program ended")
	b.RunSteps(chromedp.KeyEvent(kb.Home))
	b.WaitFor(browser.Text(sheet) + `.trim() === ''`)
	for range 3 {
		b.Press(browser.JS[string](b, browser.Text(`[aria-label$="speed"]`)))
	}
	b.WaitText(`[aria-label$="speed"]`, "8×")
	b.Eval(focus)
	b.Eval(`new MutationObserver(() => { window.played ||= !!` + browser.Button("Pause") + `; })` +
		`.observe(document.body, {subtree: true, childList: true, characterData: true, attributes: true})`)
	b.RunSteps(chromedp.KeyEvent(" "))
	b.WaitFor("window.played")
	b.WaitPart(sheet, "nothing to commit")
	b.WaitFor(browser.Text(clock) + ` === '0:43 / 0:43' && ` + browser.Button("Play"))

	visit(b, "s=vim-1")
	b.WaitFor(`document.querySelector('.session:not(.replay)') && !document.querySelector('.replay')`)
	visit(b, "r=r-none")
	b.WaitPart(".start", "no longer exists")
}

// The recording of a running session is played from its start, and then follows the session. A page
// of one session has no list, and opens it from the session. Once the session has ended, the list
// says so at once, and not only with its next look.
func TestARunningRecordingGoesOn_Client(t *testing.T) {
	t.Parallel()
	s := shop()
	s.running = true
	g := serveOn(t, auth.RoleOwner, "vim-1", withRecords(s), vim())
	b := openPage(g, "")
	link := `[...document.querySelectorAll('.session footer a')].find((a) => a.checkVisibility())`
	b.WaitFor(link + `?.textContent === 'Recording'`)
	b.Eval(link + `.click()`)
	b.WaitPart(".clock", "0:41, recording")
	b.Eval(`document.querySelector('.replay .screen').focus()`)
	b.RunSteps(chromedp.KeyEvent(kb.End))
	b.WaitPart(".replay .sheet", "nothing to commit")
	b.Press("Play")
	s.add(event(1, "o", "and more"))
	b.WaitPart(".replay .sheet", "and more")
	s.set(func() { s.hidden = true })
	b.WaitPart(".replay .note", "the session is hidden")
	b.Eval(`document.querySelector('.replay .up').click()`)
	b.WaitFor(`document.querySelector('.session:not(.replay)') && !document.querySelector('.replay')`)

	g = serveOn(t, auth.RoleOwner, "", withRecords(s), vim())
	b = openPage(g, "", command(page.AddScriptToEvaluateOnNewDocument, page.AddScriptToEvaluateOnNewDocumentParams{
		Source: `{
			const every = setInterval;
			window.setInterval = (act, ms) => ms < 15000 ? every(act, ms) : 0;
		}`,
	}))
	b.WaitText(".records .tag", "recording")
	s.set(func() { s.running = false })
	g.change("vim-1", func(s *protocol.SessionInfo) { s.State = protocol.StateExited })
	b.WaitText(".records .tag", "60 s")
}
