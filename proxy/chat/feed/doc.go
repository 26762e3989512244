// Package feed serves the conversation of a session to its followers elsewhere: its state, and its
// records by their numbers, masked as rows are. While the user hides the screen nothing of it
// leaves the proxy. Others than the coding agent can ask the people of the conversation through it,
// see [Outside].
//
// It knows neither who may speak there, which package requests decides, nor the agent.
package feed
