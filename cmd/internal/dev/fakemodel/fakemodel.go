// Package fakemodel stands in for a language model, so that tests can drive real coding agents
// without a network. Its HTTP handler implements those parts of Anthropic Messages, OpenAI
// Responses, OpenAI Chat Completions and Gemini that the agents need. A function of the test
// chooses the answers. The package does not depend on what the tools do.
package fakemodel

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
)

// Turn is an answer of the model: a call of a tool, or words.
type Turn struct {
	// Tool is the name that its server gave it. The agents put their own names before it.
	Tool string
	Args map[string]any
	// Say is the answer's text if no tool is called.
	Say string
}

// Think returns the model's answer to a request of the conversation. It is called from the
// request's goroutine; ctx ends when the agent gives up.
type Think func(ctx context.Context, r Request) Turn

// maxBody bounds a request, in bytes.
const maxBody = 16 << 20

// guess begins the prompt by which Claude Code asks for a suggestion of its user's next prompt.
const guess = "[SUGGESTION MODE"

// New makes a model. It does not call think for requests without tools, such as for the title of a
// conversation, and for suggestions.
func New(think Think) http.Handler {
	m := &model{think: think}
	mux := http.NewServeMux()
	mux.Handle("POST /v1/messages", m.serveVendor(anthropic{}))
	mux.Handle("POST /v1/responses", m.serveVendor(responses{}))
	mux.Handle("POST /v1/chat/completions", m.serveVendor(chat{}))
	mux.Handle("POST /v1beta/models/{call}", m.serveVendor(gemini{}))
	return mux
}

type model struct {
	think Think

	mu          sync.Mutex
	pendingTurn *Turn // a call that waits until the agent has described the tool
}

// vendor writes answers as the API of one vendor streams them.
type vendor interface {
	// writeAnswer writes the words, or the call if its name is not "".
	writeAnswer(e *events, words string, c call)
}

// call is the call of a tool, by the name under which the agent offers it.
type call struct {
	name, namespace string
	id              string
	args            string // JSON
}

func (m *model) serveVendor(v vendor) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxBody))
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		request, err := parseRequest(body)
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		turn, c, err := m.answerTurn(r.Context(), request)
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		w.Header().Set("Content-Type", "text/event-stream")
		v.writeAnswer(&events{w: w}, turn.Say, c)
	})
}

// answerTurn returns the answer to a request, with its call. If the agent holds back the tool's
// description, the model asks for it first, as a real model would.
func (m *model) answerTurn(ctx context.Context, request Request) (Turn, call, error) {
	if len(request.Tools) == 0 || strings.HasPrefix(request.Prompt, guess) {
		return Turn{Say: "a title"}, call{}, nil
	}
	m.mu.Lock()
	pendingTurn := m.pendingTurn
	m.pendingTurn = nil
	m.mu.Unlock()
	var turn Turn
	if pendingTurn != nil {
		turn = *pendingTurn
	} else {
		turn = m.think(ctx, request)
	}
	if turn.Tool == "" {
		return turn, call{}, nil
	}
	if tool, ok := request.findTool(turn.Tool); ok {
		c, err := request.newCall(tool, turn.Args)
		return turn, c, err
	}
	search, query := request.findSearchTool(turn.Tool)
	if query == "" || pendingTurn != nil {
		err := fmt.Errorf("the agent offers no tool %s, but %v", turn.Tool, request.Tools)
		return turn, call{}, err
	}
	m.mu.Lock()
	m.pendingTurn = &turn
	m.mu.Unlock()
	c, err := request.newCall(search, map[string]any{"query": query})
	return turn, c, err
}

// events are server-sent events.
type events struct{ w http.ResponseWriter }

// writeEvent writes one event. It ignores errors: the agent may be gone.
func (e *events) writeEvent(name string, v any) {
	data, err := json.Marshal(v)
	if err != nil {
		panic(err) // this package makes only values that can be encoded
	}
	if name != "" {
		fmt.Fprintf(e.w, "event: %s\n", name)
	}
	e.writeData(string(data))
}

func (e *events) writeData(data string) {
	fmt.Fprintf(e.w, "data: %s\n\n", data)
	if f, ok := e.w.(http.Flusher); ok {
		f.Flush()
	}
}
