// Package chat is the conversation of one coding agent: what was said, the state of its turn, and the approvals and questions
// that wait for a person. Each of those has exactly one answer, and the first one counts. Without an answer nothing is allowed:
// a lost agent, an error and the end of the session refuse.
//
// It must not know which agent that is: a [Driver] speaks to the agent. It must not know who looks, either: they follow the
// records by number.
package chat
