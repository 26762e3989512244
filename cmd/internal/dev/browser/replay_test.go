package browser_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"sync"
	"testing"

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
			RecordID: "r-1", SessionID: "vim-1", Command: "bash", Cwd: "/home/ada", StartedAt: 1767225600000, WrittenAt: 1767225660000,
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

// add appends events.
func (s *shelf) add(events ...string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.cast += strings.Join(events, "")
}

func event(gap float64, code, data string) string {
	b, _ := json.Marshal(data)
	return fmt.Sprintf("[%.6f, %q, %s]\n", gap, code, b)
}

// shop is a recording of a minute: a person types, and an agent is granted the keyboard and types.
func shop() *shelf {
	s := &shelf{}
	s.add(`{"version":3,"term":{"cols":100,"rows":24},"timestamp":1767225600,"command":"bash"}`+"\n", event(0.5, "o", "\x1b[32mada@desk\x1b[m:~/src/shop$ "))
	for i := range 8 {
		s.add(event(0.4, "U", ""), event(0.05, "o", string("git log" + " ")[i:i+1]))
	}
	s.add(event(0.5, "o", "\r\n"))
	for i := range 10 {
		s.add(event(0.1, "o", fmt.Sprintf("\x1b[33m%07x\x1b[m order: step %d\r\n", 0xabc123+i*977, i)))
	}
	s.add(event(10, "m", "claude asks for control (drive): run the tests"), event(2, "m", "claude gets the keyboard: grant 1, level drive"),
		event(3, "A", `{"agent":"claude","id":"a","grant":1}`), event(0, "i", "make test\r"), event(0.05, "o", "make test\r\n"))
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

func TestThePagePlaysARecording_Client(t *testing.T) {
	t.Parallel()
	s := shop()
	s.add(event(2, "x", "0"))
	g := serveOn(t, nil, auth.RoleOwner, "", withRecords(s), vim())
	b := openPage(g)
	b.WaitFor(browser.Text(".records") + `.startsWith('RECORDINGS bash ~ · Thu')`)
	require.Equal(t, 0.0, browser.JS[float64](b, `performance.getEntriesByType('resource').filter((e) => e.name.includes('replay.js')).length`), "loaded when it is wanted")
	browser.JS[bool](b, `document.querySelector('.records a').click(), true`)
	b.WaitFor(browser.Text(".clock") + ` === '0:00 / 0:43'`)
	b.WaitFor(`document.querySelectorAll('.mark.input').length === 2 && document.querySelectorAll('.mark.user').length > 1`)

	b.Press("input ›")
	b.WaitFor(browser.Text(".says.input") + ` === '0:20 claude typed make test⏎'`)
	b.WaitFor(browser.Text(".replay .sheet") + `.includes('step 9') && ` + `!` + browser.Text(".replay .sheet") + `.includes('part0')`)
	b.Press("input ›")
	b.WaitFor(browser.Text(".says.input") + `.endsWith('claude typed git status⏎')`)
	b.WaitFor(browser.Text(".replay .sheet") + `.includes('part11')`)
	b.Press("‹ input")
	b.WaitFor(browser.Text(".says.input") + `.endsWith('claude typed make test⏎')`)

	browser.JS[bool](b, `document.querySelector('.replay .screen').focus(), true`)
	b.RunSteps(chromedp.KeyEvent(kb.End))
	b.WaitFor(browser.Text(".clock") + ` === '0:43 / 0:43'`)
	b.WaitFor(browser.Text(".replay .sheet") + `.includes('nothing to commit')`)
	require.Equal(t, "the program ended", browser.JS[string](b, browser.Text(".says")+`.slice(5)`))
	b.RunSteps(chromedp.KeyEvent(kb.Home))
	b.WaitFor(browser.Text(".replay .sheet") + `.trim() === ''`)
	for range 3 {
		b.Press(browser.JS[string](b, browser.Text(`[aria-label$="speed"]`)))
	}
	require.Equal(t, "8×", browser.JS[string](b, browser.Text(`[aria-label$="speed"]`)))
	browser.JS[bool](b, `document.querySelector('.replay .screen').focus(), true`)
	browser.JS[bool](b, `new MutationObserver(() => { window.played ||= !!`+browser.Button("Pause")+`; }).observe(document.body, {subtree: true, childList: true, characterData: true, attributes: true}), true`)
	b.RunSteps(chromedp.KeyEvent(" "))
	b.WaitFor("window.played") // five seconds are soon over
	b.WaitFor(browser.Text(".replay .sheet") + `.includes('nothing to commit')`)
	b.WaitFor(browser.Text(".clock") + ` === '0:43 / 0:43' && ` + browser.Button("Play"))

	browser.JS[bool](b, `location.hash = 's=vim-1', true`)
	b.WaitFor(`document.querySelector('.session:not(.replay)') && !document.querySelector('.replay')`)
	browser.JS[bool](b, `location.hash = 'r=r-none', true`)
	b.WaitFor(browser.Text(".start") + `.includes('no longer exists')`)
}

// A page of one session has no list, and opens the recording from the session.
func TestTheRecordingOfTheOnlySession_Client(t *testing.T) {
	t.Parallel()
	g := serveOn(t, nil, auth.RoleOwner, "vim-1", withRecords(shop()), vim())
	b := openPage(g)
	link := `[...document.querySelectorAll('.session footer a')].find((a) => a.checkVisibility())`
	b.WaitFor(link + `?.textContent === 'Recording'`)
	browser.JS[bool](b, link+`.click(), true`)
	b.WaitFor(browser.Text(".clock") + ` === '0:00 / 0:41'`)
	browser.JS[bool](b, `document.querySelector('.replay .up').click(), true`)
	b.WaitFor(`document.querySelector('.session:not(.replay)') && !document.querySelector('.replay')`)
}

// The recording is played from its start, and then follows the session.
func TestARunningRecordingGoesOn_Client(t *testing.T) {
	t.Parallel()
	s := shop()
	s.running = true
	g := serveOn(t, nil, auth.RoleOwner, "", withRecords(s), vim())
	b := openPage(g)
	b.WaitFor(browser.Text(".records") + `.includes('recording')`)
	browser.JS[bool](b, `location.hash = 'r=r-1', true`)
	b.WaitFor(browser.Text(".clock") + `.endsWith('0:41, recording')`)
	browser.JS[bool](b, `document.querySelector('.replay .screen').focus(), true`)
	b.RunSteps(chromedp.KeyEvent(kb.End))
	b.WaitFor(browser.Text(".replay .sheet") + `.includes('nothing to commit')`)
	b.Press("Play")
	s.add(event(1, "o", "and more"))
	b.WaitFor(browser.Text(".replay .sheet") + `.includes('and more')`)

	s.mu.Lock()
	s.hidden = true
	s.mu.Unlock()
	b.WaitFor(browser.Text(".replay .note") + `.includes('the session is hidden')`)
}

// Recordings hold what a program printed at any time.
func TestAViewerHasNoRecordings_Client(t *testing.T) {
	t.Parallel()
	g := serveOn(t, nil, auth.RoleViewer, "", withRecords(shop()), vim())
	b := openPage(g)
	b.WaitFor(`document.querySelectorAll('.sessions li').length === 1`)
	require.False(t, browser.JS[bool](b, `document.querySelector('.records').checkVisibility()`))
	require.Zero(t, count[*protocol.RecordsList](g))
}
