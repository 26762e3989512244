package chat

import (
	"time"

	"terminalproxy/protocol"
)

// What a conversation is made of, as those have it who follow it from elsewhere: one type for both.
type (
	// Item is one of the things that were said and done.
	Item = protocol.ChatItem
	// Kind is what an item is.
	Kind = string
	// Piece is a part of an unfinished text. Its item follows under the same id, whole.
	Piece = protocol.ChatPiece
	// Closed says that a request was closed. By answered it; with "" it was refused, or the agent
	// took it back.
	Closed = protocol.ChatClosed
	// Turn says how a turn ended.
	Turn = protocol.ChatTurn
	// Outcome is how; the turn says why in a sentence, where it is not Done.
	Outcome = string
	// State is that of the agent's turn.
	State = string
)

// The states.
const (
	Starting = protocol.ChatStarting
	AtPrompt = protocol.ChatAtPrompt // it waits for a prompt
	Working  = protocol.ChatWorking
	Approval = protocol.ChatApproval // an approval is open
	Asks     = protocol.ChatAsks     // a question is open, and no approval
	Ended    = protocol.ChatEnded
	Failed   = protocol.ChatFailed
)

// The kinds.
const (
	User       = protocol.ChatUser
	Text       = protocol.ChatText
	ToolCall   = protocol.ChatToolCall
	ToolResult = protocol.ChatToolResult
	Notice     = protocol.ChatNotice // what is neither said nor done: an error, a retry, something unknown
)

// The outcomes.
const (
	Done        = protocol.ChatDone
	Broken      = protocol.ChatBroken
	Interrupted = protocol.ChatInterrupted
)

// Record is an entry of the log. It has exactly one of Item, Piece, State, Request, Closed and
// Turn.
type Record struct {
	Number  uint64    `json:"number,omitempty"` // from 1; numbers only grow, and some are left out
	Time    time.Time `json:"time"`
	Item    *Item     `json:"item,omitempty"`
	Piece   *Piece    `json:"piece,omitempty"`
	State   State     `json:"state,omitempty"`
	Why     string    `json:"why,omitempty"` // of a state: why it ended, or failed
	Request *Request  `json:"request,omitempty"`
	Closed  *Closed   `json:"closed,omitempty"`
	Turn    *Turn     `json:"turn,omitempty"`
}

// approxSize estimates the memory of a record, in bytes.
func (r *Record) approxSize() int {
	size := (&protocol.ChatRecord{Item: r.Item, Piece: r.Piece}).ApproxSize()
	if r.Request != nil {
		size += len(r.Request.Input)
	}
	return size
}
