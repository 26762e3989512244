// Package talk serves the conversation of a session to those who follow it from elsewhere: its state, and its records by their
// numbers, covered as rows are. While the user hides the screen nothing of it leaves the proxy. It also takes requests to the people of
// the conversation from others than the coding agent, see [Outside].
//
// It must not know who may say something there, which is package requests', nor which agent talks.
package talk
