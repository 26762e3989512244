// Package beside joins a session to the driver of a coding agent that shows its own interface in the session's terminal: the driver
// sees the screen, types for people in their turn, and hears what the user does there.
//
// It must not know which agent that is, what it is told, or who said it.
package beside
