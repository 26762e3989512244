package mcp

import (
	"errors"

	"terminalproxy/gateway/text"
	"terminalproxy/protocol"
)

// explain describes an error to the agent: a sentence, and the tool to call next. Some clients do
// not mark an error as such, so the text says it.
func explain(err error) string { return "error: " + explainInline(err) }

// explainInline is explain for use within a sentence.
func explainInline(err error) string {
	if partial, ok := errors.AsType[*partialError](err); ok {
		return explainInline(partial.cause) + "\n" + partial.receipt
	}
	refused, ok := errors.AsType[*protocol.Error](err)
	if !ok {
		return err.Error()
	}
	out := text.Refusal(refused.Code, refused.Message)
	next := nextSteps[refused.Code]
	if refused.RetryAfterMs > 0 {
		next = "wait until then, and ask again only if the user may want it; terminal_read still " +
			"works"
	}
	if next != "" {
		out += "; " + next
	}
	return out
}

// partialError is a failure after a part of the input was typed: the agent must learn which.
type partialError struct {
	cause   error
	receipt string
}

func (e *partialError) Error() string { return e.cause.Error() + "\n" + e.receipt }
func (e *partialError) Unwrap() error { return e.cause }

// lookFirst is the next step after the user took the keyboard back in the middle of an input.
const lookFirst = "look before anything else; if you still need the keyboard, call " +
	"terminal_request_control"

// nextSteps names the next step after a refusal.
var nextSteps = map[protocol.Code]string{
	protocol.CodeNoGrant: "call terminal_request_control first",
	protocol.CodeStaleEpoch: "look with terminal_read, then call terminal_request_control if " +
		"you still need the keyboard",
	protocol.CodeScreenChanged: "look at the screen and send again with its rev, if it is still right",
	protocol.CodeBlackout: "wait with terminal_wait for=changed: it ends when the user " +
		"shows the screen again",
	protocol.CodeSecretPrompt: "terminal_wait for=waiting ends after it",
	protocol.CodeUserTyping: "wait with terminal_wait for=changed, then look with terminal_read " +
		"before you type; only the user can submit or clear a line of theirs, and terminal_say " +
		"can ask them to",
	protocol.CodeUserRefused: "do not send it again unless the user tells you to; " +
		"terminal_read still works, and terminal_wait for=control returns when the user writes " +
		"to you",
	protocol.CodeOtherProgram: "look with terminal_read; the grant resumes when its program is " +
		"back in the foreground",
	protocol.CodeBusy:      "terminal_read still works and says who has the keyboard",
	protocol.CodeNoSession: "call terminal_list for the ids",
	protocol.CodeExited: "terminal_read shows the last screen, terminal_list the terminals that still " +
		"run",
	protocol.CodeTooLarge:   "send it in several calls",
	protocol.CodeNotReading: "look with terminal_read before you type again",
	protocol.CodeTimeout: "look with terminal_read; terminal_list shows whether the " +
		"terminal is still there",
	protocol.CodeUnavailable: "call terminal_list to see whether the terminal is still there",

	protocol.CodeNoChat: "terminal_read shows its screen",

	protocol.CodeNotFound:     "",
	protocol.CodeAnswered:     "",
	protocol.CodeWithdrawn:    "look with terminal_read before you send it again",
	protocol.CodeBadMessage:   "",
	protocol.CodeUnauthorized: "",
	protocol.CodeForbidden:    "",
	protocol.CodeReservedKey:  "",
}
