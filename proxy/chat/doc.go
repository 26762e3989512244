// Package chat is the conversation of one coding agent: what was said, the state of its turn, and
// the approvals and questions that wait for a person. Each of those has exactly one answer, and the
// first one counts. Without an answer nothing is allowed: a lost agent, an error and the end of the
// session refuse.
//
// A [Session] keeps the conversation as records. A [Driver] speaks to the agent and reports each
// [Event]. Where the agent has its own interface in a terminal, the driver is a [Beside], which
// reads the screen and types through a [Terminal].
//
// The package knows neither the agent nor its followers, who read the records by number.
package chat
