package mcp

import (
	"context"
	"sync"
)

// turns keeps one lock per terminal that calls type into.
type turns struct {
	mu         sync.Mutex
	byTerminal map[string]chan struct{} // full while a call types there
}

// lockTerminal makes the caller the only one that types into a terminal, so that two calls do not
// mix their keys.
func (t *turns) lockTerminal(ctx context.Context, terminal string) (free func(), err error) {
	t.mu.Lock()
	turn, ok := t.byTerminal[terminal]
	if !ok {
		turn = make(chan struct{}, 1)
		t.byTerminal[terminal] = turn
	}
	t.mu.Unlock()
	select {
	case turn <- struct{}{}:
		return func() { <-turn }, nil
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}
