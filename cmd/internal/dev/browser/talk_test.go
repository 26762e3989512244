package browser_test

import (
	"encoding/json"
	"slices"
	"time"

	"github.com/stretchr/testify/require"

	"terminalproxy/protocol"
)

// talk is the scripted conversation of a coding agent.
type talk struct {
	records []protocol.ChatRecord
	last    uint64
	lost    uint64 // of the first ones
}

// claude is a session in which a coding agent talks.
func claude() *protocol.SessionInfo {
	s := session("claude-1", "/home/ada/src/shop", "claude")
	s.Chat = &protocol.ChatState{Agent: "Claude Code", State: protocol.ChatAtPrompt}
	return s
}

// catchUp sends the records of a conversation after a number.
func (l *link) catchUp(id string, after uint64) {
	t := l.g.talks[id]
	if t == nil {
		return
	}
	from := slices.IndexFunc(t.records, func(r protocol.ChatRecord) bool { return r.Number > after })
	if from < 0 {
		return
	}
	lost := uint64(0)
	if after < t.lost {
		lost = t.lost - after
	}
	for part := range slices.Chunk(t.records[from:], protocol.MaxChatRecords) {
		l.put(&protocol.ChatRecords{SessionID: id, Records: part, Lost: lost})
		lost = 0
	}
}

// addRecords adds records to a conversation. The list then shows its state, from the last record
// that has one.
func (g *gateway) addRecords(id string, records ...protocol.ChatRecord) {
	g.mu.Lock()
	t := g.talks[id]
	if t == nil {
		t = &talk{}
		g.talks[id] = t
	}
	before := t.last
	state, open := "", 0
	for _, r := range records {
		t.last++
		r.Number = t.last
		if r.At == 0 {
			r.At = time.Now().UnixMilli()
		}
		t.records = append(t.records, r)
		switch {
		case r.State != "":
			state = r.State
		case r.Request != nil:
			open++
		case r.Closed != nil:
			open--
		}
	}
	for l := range g.links {
		if l.talks[id] && !l.silent {
			l.catchUp(id, before)
		}
	}
	g.mu.Unlock()
	if state == "" && open == 0 {
		return
	}
	g.change(id, func(s *protocol.SessionInfo) {
		now := *s.Chat
		now.Open += open
		if state != "" {
			now.State = state
		}
		s.Chat = &now
	})
}

// dropRecords drops the first records of a conversation.
func (g *gateway) dropRecords(id string, n int) {
	g.mu.Lock()
	defer g.mu.Unlock()
	t := g.talks[id]
	t.lost, t.records = t.records[n-1].Number, t.records[n:]
}

// refuseChat refuses all messages in conversations from now on; nil accepts them again.
func (g *gateway) refuseChat(no *protocol.Error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.noChat = no
}

func state(name string) protocol.ChatRecord { return protocol.ChatRecord{State: name} }

func said(kind, author, text string) protocol.ChatRecord {
	return protocol.ChatRecord{Item: &protocol.ChatItem{Kind: kind, Author: author, Text: text}}
}

func call(g *gateway, id, tool string, input any) protocol.ChatRecord {
	raw, err := json.Marshal(input)
	require.NoError(g.t, err)
	return protocol.ChatRecord{Item: &protocol.ChatItem{Kind: protocol.ChatToolCall, ID: id, Author: "Claude Code", Tool: tool, Input: raw}}
}

func result(id, text string, failed bool) protocol.ChatRecord {
	return protocol.ChatRecord{Item: &protocol.ChatItem{Kind: protocol.ChatToolResult, ID: id, Author: "Claude Code", Text: text, Failed: failed}}
}

// approval wants to run a command in a shell, once or for the session.
func approval(id, command string) protocol.ChatRecord {
	input, _ := json.Marshal(map[string]string{"command": command, "description": "Run it"})
	return protocol.ChatRecord{Request: &protocol.ChatRequest{
		ID: id, Tool: "Bash", Input: input, Allows: []protocol.ChatChoice{{Verdict: protocol.ChatOnce}, {Verdict: protocol.ChatForSession, Covers: "Bash(go test:*)"}},
	}}
}

// questions asks which tests, how fast and for a name.
func questions(id string) protocol.ChatRecord {
	return protocol.ChatRecord{Request: &protocol.ChatRequest{ID: id, Tool: "AskUserQuestion", Form: []protocol.ChatQuestion{
		{ID: "q1", Header: "Tests", Text: "Which tests?", Options: []protocol.ChatOption{{Label: "all of them", Description: "takes 4 min"}, {Label: "only ./cart"}}},
		{ID: "q2", Text: "With what?", Many: true, Options: []protocol.ChatOption{{Label: "-race"}, {Label: "-short"}}},
		{ID: "q3", Text: "Under which name?"},
	}}}
}

// aConversation is a conversation as a newcomer sees it.
func aConversation(g *gateway) {
	g.addRecords("claude-1",
		state(protocol.ChatStarting), state(protocol.ChatAtPrompt),
		said(protocol.ChatUser, "ada", "add apples to the list and run the tests"), state(protocol.ChatWorking),
		said(protocol.ChatText, "Claude Code", "I will add it in main.go and run the suite:\n\n```go\nlist := []string{\"bread\", \"apples\"}\n```\nThen the tests."),
		call(g, "t1", "Edit", map[string]string{"file_path": "main.go", "old_string": "\"bread\"", "new_string": "\"bread\", \"apples\""}),
		result("t1", "The file main.go has been updated.", false),
		call(g, "t2", "Bash", map[string]string{"command": "go vet ./..."}),
		result("t2", "main.go:8:2: fmt.Printf format %d has arg item of wrong type string\nexit status 1", true),
		said(protocol.ChatNotice, "Claude Code", "the API is busy: trying again in 2 s"))
}
