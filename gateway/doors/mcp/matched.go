package mcp

import (
	"terminalproxy/gateway/text"
	"terminalproxy/protocol"
)

// timedOut is the first line of the answer to a wait that timed out.
const timedOut = "no match: timeout"

// matchedLine returns the first line of a wait's answer. The match itself is on the screen below
// it: a line of the gateway does not repeat a program's text.
func matchedLine(got *protocol.WaitResult, until protocol.Until) string {
	switch {
	case got.Stopped:
		return "stop: " + text.MetCondition(got.Came)
	case got.Ended != "":
		return "no match: " + text.EndReason(got.Ended) + "; " + lookFirst
	case !got.Met && got.ExitCode != nil:
		return "no match: the program ended first"
	case !got.Met:
		return timedOut
	case got.Came != nil && !got.Came.Exit && *got.Came != until:
		return "matched: " + text.MetCondition(got.Came)
	case until.Exit && got.ExitCode != nil:
		return "" // the header has the status
	case until.Control && got.Matched != "":
		return "matched: " + text.Name(got.Matched)
	case until.Waiting:
		if how := text.FormatMatch(got); how != "" {
			return "matched: " + how
		}
	}
	return "matched"
}

// grantedAgent returns the agent whose grant ended a wait, "" after any other end.
func grantedAgent(got *protocol.WaitResult, until protocol.Until) string {
	const granted = "granted"
	if !until.Control || got.Matched != granted || got.Frame == nil ||
		matchedLine(got, until) != "matched: "+granted {
		return ""
	}
	return got.Frame.Keyboard.AgentID
}
