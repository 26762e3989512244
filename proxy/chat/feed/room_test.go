package feed_test

import (
	"encoding/json"
	"log/slog"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"terminalproxy/protocol"
	"terminalproxy/proxy/chat"
	"terminalproxy/proxy/chat/feed"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// agent is a coding agent that the test plays.
type agent struct{ report func(chat.Event) }

func (a *agent) Start(report func(chat.Event)) error { a.report = report; return nil }
func (a *agent) Send(chat.Prompt) error              { return nil }
func (a *agent) Interrupt(chat.MayAct) error         { return nil }
func (a *agent) Answer(string, chat.Answer) error    { return nil }
func (a *agent) Close() error                        { a.report(chat.AgentExited{}); return nil }

func (a *agent) says(text string) {
	a.report(chat.ItemAdded{Item: chat.Item{Kind: chat.Text, Text: text}})
}

// wire stands in for the gateway. Everything sent must be a message.
type wire struct {
	mu    sync.Mutex
	sent  []protocol.Message
	grown chan struct{}
	t     *testing.T
}

func (w *wire) Send(m protocol.Message) {
	_, err := protocol.Encode(m)
	if err != nil {
		w.t.Errorf("%v: %+v", err, m)
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.sent = append(w.sent, m)
	close(w.grown)
	w.grown = make(chan struct{})
}

// until waits until all the records sent are as wanted.
func (w *wire) until(t *testing.T, done func(records []protocol.ChatRecord, lost uint64, status *protocol.ChatStatus) bool) {
	t.Helper()
	for late := time.After(time.Minute); ; {
		w.mu.Lock()
		var records []protocol.ChatRecord
		var status *protocol.ChatStatus
		lost := uint64(0)
		for _, m := range w.sent {
			switch m := m.(type) {
			case *protocol.ChatRecords:
				records, lost = append(records, m.Records...), lost+m.Lost
			case *protocol.ChatStatus:
				status = m
			}
		}
		grown := w.grown
		w.mu.Unlock()
		if done(records, lost, status) {
			return
		}
		select {
		case <-grown:
		case <-late:
			require.Fail(t, "did not come", "%+v", records)
		}
	}
}

// texts returns the items and pieces of records.
func texts(records []protocol.ChatRecord) (all []string) {
	for _, r := range records {
		switch {
		case r.Item != nil:
			all = append(all, r.Item.Text)
		case r.Piece != nil:
			all = append(all, "piece "+r.Piece.Text)
		}
	}
	return all
}

func open(t *testing.T) (*feed.Room, *agent, *wire) {
	t.Helper()
	a, w := &agent{}, &wire{grown: make(chan struct{}), t: t}
	r := feed.New(feed.Config{
		SessionID: "c-1", Chat: chat.New("claude", a), Link: w, Log: slog.New(slog.DiscardHandler),
		Redact: func(text string) string { return protocol.Visible(strings.ReplaceAll(text, "hunter2", "•••")) },
	})
	r.Start()
	t.Cleanup(r.Close)
	a.report(chat.Ready{})
	return r, a, w
}

func TestFollowersContinueByNumber(t *testing.T) {
	r, a, w := open(t)
	w.until(t, func(_ []protocol.ChatRecord, _ uint64, s *protocol.ChatStatus) bool {
		return s != nil && *s == protocol.ChatStatus{SessionID: "c-1", Agent: "claude", State: protocol.ChatAtPrompt}
	})
	a.says("one")
	r.Subscribe(0)
	last := uint64(0)
	all := func(want ...string) {
		t.Helper()
		w.until(t, func(records []protocol.ChatRecord, lost uint64, _ *protocol.ChatStatus) bool {
			if len(records) > 0 {
				last = records[len(records)-1].Number
			}
			return slices.Equal(want, texts(records)) && lost == 0
		})
	}
	all("one")
	r.Unsubscribe()
	a.says("two")
	r.Subscribe(last)
	all("one", "two")
	a.says("three")
	all("one", "two", "three")
}

func TestLostRecordsAreCounted(t *testing.T) {
	r, a, w := open(t)
	big := strings.Repeat("ä\"", 80<<10)
	for range 40 { // more than the log takes
		a.says(big)
	}
	r.Subscribe(5)
	w.until(t, func(records []protocol.ChatRecord, lost uint64, _ *protocol.ChatStatus) bool {
		return len(records) > 0 && lost > 0 && records[0].Number == 5+lost+1 && records[len(records)-1].Number == 42 && records[0].Item.Cut == len(big)-len(records[0].Item.Text)
	})
}

// While the user hides the screen, nothing is sent. Afterwards the open requests are known, and
// what was said is not.
func TestNothingLeavesWhileTheScreenIsHidden(t *testing.T) {
	r, a, w := open(t)
	r.Subscribe(0)
	asks := func(id string) {
		a.report(chat.RequestOpened{Request: chat.Request{ID: id, Tool: "Bash", Allows: []chat.Choice{{Verdict: chat.Once}}}})
	}
	asks("a0")
	a.says("before")
	w.until(t, func(records []protocol.ChatRecord, _ uint64, _ *protocol.ChatStatus) bool {
		return len(texts(records)) == 1
	})
	r.SetHidden(time.Now(), true)
	w.mu.Lock()
	sent := len(w.sent)
	w.mu.Unlock()
	a.says("a secret")
	require.NoError(t, r.Answer("a0", "ada", protocol.ChatReply{Verdict: protocol.ChatOnce}))
	asks("a1")
	asks("a2")
	require.NoError(t, r.Answer("a2", "ada", protocol.ChatReply{Words: "a secret"}))
	w.mu.Lock()
	require.Len(t, w.sent, sent)
	w.mu.Unlock()
	now := time.Now()
	r.SetHidden(now, false)
	for time.Since(now) < 2*time.Millisecond { // a record's time is in milliseconds
		runtime.Gosched()
	}
	a.says("after")
	w.until(t, func(records []protocol.ChatRecord, lost uint64, s *protocol.ChatStatus) bool {
		open, by := []string{}, map[string]string{}
		for _, r := range records {
			if r.Request != nil {
				open = append(open, r.Request.ID)
			}
			if r.Closed != nil {
				by[r.Closed.ID] = r.Closed.By
				require.Empty(t, r.Closed.Answer.Words)
			}
		}
		require.NotContains(t, texts(records), "a secret")
		return slices.Equal(texts(records), []string{"before", "after"}) && slices.Equal(open, []string{"a0", "a1"}) && by["a0"] == "ada" && lost == 2 &&
			s.Open == 1 && s.State == protocol.ChatApproval
	})
	r.SetHidden(time.Now(), true) // Close does not wait for its end
}

// No piece of a secret is visible, however it is written.
func TestPiecesAreCoveredWhole(t *testing.T) {
	r, a, w := open(t)
	r.Subscribe(0)
	for _, piece := range []string{"the password is hun", "ter2\nand", " that\nwas", " it"} {
		a.report(chat.TextAppended{Piece: chat.Piece{ID: "t", Text: piece}})
	}
	w.until(t, func(records []protocol.ChatRecord, _ uint64, _ *protocol.ChatStatus) bool {
		return strings.ReplaceAll(strings.Join(texts(records), ""), "piece ", "") == "the password is •••\nand that\n"
	})
	a.report(chat.ItemAdded{Item: chat.Item{Kind: chat.Text, ID: "t", Text: "the password is hunter2\nand that\nwas it"}})
	w.until(t, func(records []protocol.ChatRecord, _ uint64, _ *protocol.ChatStatus) bool {
		all := texts(records)
		return len(all) > 0 && all[len(all)-1] == "the password is •••\nand that\nwas it"
	})
}

// A person sees exactly what they may allow: in its order, with invisible characters written out,
// and without secrets.
func TestAnInputIsShownExactly(t *testing.T) {
	r, a, w := open(t)
	r.Subscribe(0)
	inputs := map[string]string{
		`{"b": "rm \u202e<x>", "a": [1.50, "hunter2"]}`:   `{"b": "rm \\u{202e}<x>", "a": [1.50, "•••"]}`,
		`{"hunter2":"a\nb\\"}`:                            `{"•••":"a\nb\\"}`,
		strings.Repeat("[", 12) + strings.Repeat("]", 12): `"[[[[[[[[[[[[]]]]]]]]]]]]"`,
	}
	for hidden, shown := range map[string]string{
		"\u200b": `\\u{200b}`, "\u2066": `\\u{2066}`, "\x1b[8m": `\\u{1b}[8m`, "\r": `\\u{d}`, "\U000e0041": `\\u{e0041}`, "\u00ad": `\\u{ad}`,
	} {
		in, err := json.Marshal("ls" + hidden + ";touch HIT")
		require.NoError(t, err)
		inputs[string(in)] = `"ls` + shown + `;touch HIT"`
	}
	for in, want := range inputs {
		id := chat.NewID()
		a.report(chat.RequestOpened{Request: chat.Request{ID: id, Tool: "Bash", Input: json.RawMessage(in)}})
		w.until(t, func(records []protocol.ChatRecord, _ uint64, _ *protocol.ChatStatus) bool {
			i := slices.IndexFunc(records, func(r protocol.ChatRecord) bool { return r.Request != nil && r.Request.ID == id })
			if i >= 0 {
				require.Equal(t, want, string(records[i].Request.Input))
			}
			return i >= 0
		})
	}
	a.report(chat.RequestOpened{Request: chat.Request{ID: "big", Tool: "Bash", Input: json.RawMessage(`"` + strings.Repeat("x", 250<<10) + `"`), Allows: []chat.Choice{{Verdict: chat.Once}}}})
	w.until(t, func(records []protocol.ChatRecord, _ uint64, _ *protocol.ChatStatus) bool {
		i := slices.IndexFunc(records, func(r protocol.ChatRecord) bool { return r.Request != nil && r.Request.ID == "big" })
		return i >= 0 && records[i].Request.Allows == nil && records[i].Request.AtTerminal != ""
	})
}

// What waits longest has a number, which tells it from its successor.
func TestTheLongestWaitHasANumber(t *testing.T) {
	r, a, w := open(t)
	stands := func(open int, oldest uint64) {
		t.Helper()
		w.until(t, func(_ []protocol.ChatRecord, _ uint64, s *protocol.ChatStatus) bool {
			return s != nil && s.Open == open && s.Oldest == oldest
		})
	}
	for _, id := range []string{"t1", "t2"} {
		a.report(chat.RequestOpened{Request: chat.Request{ID: id, Tool: "Bash", Allows: []chat.Choice{{Verdict: chat.Once}}}})
	}
	stands(2, 1)
	require.NoError(t, r.Answer("t1", "ada", protocol.ChatReply{}))
	stands(1, 2)
	require.NoError(t, r.Answer("t2", "ada", protocol.ChatReply{}))
	stands(0, 0)
}

// Other agents ask in the same conversation, and are told the outcome.
func TestOthersAskInTheConversation(t *testing.T) {
	r, _, w := open(t)
	heard := make(chan protocol.ChatClosed, 1)
	q := &protocol.ChatRequest{ID: "x", By: "agent codex", Tool: "Bash", Input: []byte(`{"key":"other"}`), Why: "hunter2", Allows: []protocol.ChatChoice{{Verdict: protocol.ChatOnce}}}
	require.NoError(t, feed.Outside{Session: r.Chat}.OpenRequest(q, func(c protocol.ChatClosed) { heard <- c }))
	r.Subscribe(0)
	w.until(t, func(records []protocol.ChatRecord, _ uint64, _ *protocol.ChatStatus) bool {
		return slices.ContainsFunc(records, func(c protocol.ChatRecord) bool {
			return c.Request != nil && c.Request.By == "agent codex" && !strings.Contains(c.Request.Why, "hunter2")
		})
	})
	require.NoError(t, r.Answer("x", "ada", protocol.ChatReply{Verdict: protocol.ChatOnce}))
	require.Equal(t, protocol.ChatClosed{ID: "x", By: "ada", Answer: protocol.ChatReply{Verdict: protocol.ChatOnce}}, <-heard)
}
