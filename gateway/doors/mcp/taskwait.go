package mcp

import (
	"context"
	"slices"
	"time"

	"terminalproxy/protocol"
)

// taskTurn is how long a task waits with one request to the proxy. The user's messages to the agent
// come with the answer, as they do with the waits of a client without tasks.
const taskTurn = maxSilentMs * time.Millisecond

// taskLimits returns the parameters with the limits that a task has.
func taskLimits(params []param) []param {
	out := slices.Clone(params)
	for i := range out {
		if out[i].name == timeoutParam.name {
			out[i].high = int(maxTaskMs)
		}
	}
	return out
}

// waitInTurns waits for a condition. A task may wait for longer than one request lasts. A message
// from the user ends the wait.
func waitInTurns(
	ctx context.Context, terminals Terminals, ask *protocol.Wait,
) (*protocol.WaitResult, error) {
	if taskOf(ctx) == nil {
		return terminals.Wait(ctx, ask)
	}
	until := time.Now().Add(time.Duration(ask.TimeoutMs) * time.Millisecond)
	for {
		turn := *ask // each turn gets an id of its own
		turn.TimeoutMs = max(1, min(time.Until(until), taskTurn).Milliseconds())
		got, err := terminals.Wait(ctx, &turn)
		if err != nil || got.Met || got.Stopped || got.Ended != "" || got.ExitCode != nil ||
			len(got.Notes) > 0 || !time.Now().Before(until) {
			return got, err
		}
	}
}

// ownEpoch returns the epoch of an agent's grant, for a task that waits under it: the wait ends
// when the user takes the keyboard back. It is 0 for a call that is no task, or without a grant.
func ownEpoch(ctx context.Context, info protocol.SessionInfo, agentID string) uint64 {
	k := info.Keyboard
	if taskOf(ctx) == nil || k.Holder != protocol.HolderAgent || k.AgentID != agentID {
		return 0
	}
	return k.Epoch
}
