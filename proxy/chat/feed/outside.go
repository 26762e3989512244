package feed

import (
	"terminalproxy/protocol"
	"terminalproxy/proxy/chat"
)

// Outside lets others than the coding agent ask the people of a conversation. Its methods may be
// called from any goroutine.
type Outside struct{ Session *chat.Session }

// OpenRequest opens a request under a new id; its By names the asker. done is called once with how
// it was closed, and must neither block nor call back. The error is [chat.ErrOver], or a sentence.
func (o Outside) OpenRequest(q *protocol.ChatRequest, done func(protocol.ChatClosed)) error {
	return o.Session.AskUser(*chat.RequestOf(q), done)
}

// CloseRequest closes a request that OpenRequest opened, if it is still open.
func (o Outside) CloseRequest(id, why string) { o.Session.WithdrawRequest(id, why) }
