// Package fakemodel stands in for a language model, so that tests can drive real coding agents without a network: an HTTP
// handler that speaks Anthropic Messages, OpenAI Responses, OpenAI Chat Completions and Gemini, as far as the agents need them.
// A function of the test thinks for it. It must not know what the tools do.
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
	// Tool is the name that its server gave it. The agents put names of their own before that.
	Tool string
	Args map[string]any
	// Say is said where no tool is called.
	Say string
}

// Think returns the model's answer to a request of the conversation. It is called from the request's goroutine; ctx ends when
// the agent gives up.
type Think func(ctx context.Context, r Request) Turn

// maxBody bounds a request, in bytes.
const maxBody = 16 << 20

// guess begins Claude Code's question what its user may say next.
const guess = "[SUGGESTION MODE"

// New makes a model. It answers requests without tools, as for the title of a conversation, and guesses by itself.
func New(think Think) http.Handler {
	m := &model{think: think}
	mux := http.NewServeMux()
	mux.Handle("POST /v1/messages", m.speaks(anthropic{}))
	mux.Handle("POST /v1/responses", m.speaks(responses{}))
	mux.Handle("POST /v1/chat/completions", m.speaks(chat{}))
	mux.Handle("POST /v1beta/models/{call}", m.speaks(gemini{}))
	return mux
}

type model struct {
	think Think

	mu    sync.Mutex
	meant *Turn // the call for which the model first asked the agent for the tool
}

// vendor writes answers as the API of one vendor streams them.
type vendor interface {
	// answer writes the words, or the call if its name is not "".
	answer(e *events, words string, c call)
}

// call is the call of a tool, by the name under which the agent offers it.
type call struct {
	name, namespace string
	id              string
	args            string // JSON
}

func (m *model) speaks(v vendor) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxBody))
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		asked, err := read(body)
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		turn, c, err := m.turn(r.Context(), asked)
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		w.Header().Set("Content-Type", "text/event-stream")
		v.answer(&events{w: w}, turn.Say, c)
	})
}

// turn is the answer to a request, with the call in it. A tool whose description an agent holds back is asked for first, as its
// model would.
func (m *model) turn(ctx context.Context, asked Request) (Turn, call, error) {
	if len(asked.Tools) == 0 || strings.HasPrefix(asked.Prompt, guess) {
		return Turn{Say: "a title"}, call{}, nil
	}
	m.mu.Lock()
	meant := m.meant
	m.meant = nil
	m.mu.Unlock()
	var turn Turn
	if meant != nil {
		turn = *meant
	} else {
		turn = m.think(ctx, asked)
	}
	if turn.Tool == "" {
		return turn, call{}, nil
	}
	if tool, ok := asked.offers(turn.Tool); ok {
		c, err := asked.call(tool, turn.Args)
		return turn, c, err
	}
	search, query := asked.search(turn.Tool)
	if query == "" || meant != nil {
		return turn, call{}, fmt.Errorf("the agent offers no tool %s, but %v", turn.Tool, asked.Tools)
	}
	m.mu.Lock()
	m.meant = &turn
	m.mu.Unlock()
	c, err := asked.call(search, map[string]any{"query": query})
	return turn, c, err
}

// events are server-sent events.
type events struct{ w http.ResponseWriter }

// send writes one event. The agent may be gone: nobody is left to tell.
func (e *events) send(name string, v any) {
	data, err := json.Marshal(v)
	if err != nil {
		panic(err) // values of our own
	}
	if name != "" {
		fmt.Fprintf(e.w, "event: %s\n", name)
	}
	e.raw(string(data))
}

// raw writes the data of an event.
func (e *events) raw(data string) {
	fmt.Fprintf(e.w, "data: %s\n\n", data)
	if f, ok := e.w.(http.Flusher); ok {
		f.Flush()
	}
}
