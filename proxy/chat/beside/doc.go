// Package beside joins a session to the driver of a coding agent that shows its own interface in
// the session's terminal: the driver sees the screen, types for people in their turn, and hears
// what the user does there.
//
// It knows neither the agent, nor its prompts, nor their authors.
package beside
