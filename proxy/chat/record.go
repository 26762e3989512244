package chat

import (
	"encoding/json"
	"time"
)

// State is that of the agent's turn.
type State string

// The states.
const (
	Starting State = "starting"
	AtPrompt State = "at prompt" // it waits for a prompt
	Working  State = "working"
	Approval State = "wants approval" // an approval is open
	Asks     State = "asks"           // a question is open, and no approval
	Ended    State = "ended"
	Failed   State = "failed to start"
)

// Kind is what an item of the conversation is.
type Kind string

// The kinds.
const (
	User       Kind = "user"
	Text       Kind = "text"
	ToolCall   Kind = "tool call"
	ToolResult Kind = "tool result"
	Notice     Kind = "notice" // what is neither said nor done: an error, a retry, something unknown
)

// Item is one of the things that were said and done.
type Item struct {
	Kind Kind `json:"kind"`
	// ID is the agent's own, "" where it gives none. A result has the id of its call.
	ID     string `json:"id,omitempty"`
	Author string `json:"author"`
	Text   string `json:"text,omitempty"`
	// Tool and Input are what a call calls, and with what, as JSON.
	Tool  string          `json:"tool,omitempty"`
	Input json.RawMessage `json:"input,omitempty"`
	// Failed is a result that is an error.
	Failed bool `json:"failed,omitempty"`
	// Cut is the number of bytes of Text and Input that were too many.
	Cut int `json:"cut,omitempty"`
}

// Piece is a part of a text that is still being written. Its item follows under the same id, whole.
type Piece struct {
	ID   string `json:"id"`
	Text string `json:"text"`
}

// Closed says that a request is open no more.
type Closed struct {
	ID string `json:"id"`
	// By is who answered, "" when nobody did: then it was refused, or the agent took it back.
	By     string `json:"by,omitempty"`
	Answer Answer `json:"answer"`
	// Why is the reason where nobody answered.
	Why string `json:"why,omitempty"`
}

// Turn says how a turn ended.
type Turn struct {
	Outcome Outcome `json:"outcome"`
	Why     string  `json:"why,omitempty"` // in a sentence, where it is not Done
}

// Outcome is how a turn ended.
type Outcome string

// The outcomes.
const (
	Done        Outcome = "done"
	Broken      Outcome = "failed"
	Interrupted Outcome = "interrupted"
)

// Record is an entry of the log: of Item, Piece, State, Request, Closed and Turn there is one.
type Record struct {
	Number  uint64    `json:"number"` // from 1; numbers only grow, and some are left out
	Time    time.Time `json:"time"`
	Item    *Item     `json:"item,omitempty"`
	Piece   *Piece    `json:"piece,omitempty"`
	State   State     `json:"state,omitempty"`
	Why     string    `json:"why,omitempty"` // of a state: why it ended, or failed
	Request *Request  `json:"request,omitempty"`
	Closed  *Closed   `json:"closed,omitempty"`
	Turn    *Turn     `json:"turn,omitempty"`
}

// size is about how much memory a record takes, in bytes.
func (r *Record) size() int {
	const base = 200
	switch {
	case r.Item != nil:
		return base + len(r.Item.Text) + len(r.Item.Input)
	case r.Piece != nil:
		return base + len(r.Piece.Text)
	case r.Request != nil:
		return base + len(r.Request.Input)
	}
	return base
}
