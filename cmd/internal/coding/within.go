package coding

import (
	"fmt"
	"time"
)

// WithinFlag and WithinHelp are the flag of a command that limits how long what an agent asks may wait for an answer.
const (
	WithinFlag = "answer-within"
	WithinHelp = "refuse what the agent asks if nobody has answered after this long, e.g. 10m (default: it waits)"
)

// leastWithin is the shortest such limit: nobody reads a question in less.
const leastWithin = time.Second

// CheckWithin says what is wrong with the flag's value, nil for nothing.
func CheckWithin(limit time.Duration) error {
	if limit != 0 && limit < leastWithin {
		return fmt.Errorf("--%s %s: must be at least %s, or 0s for no limit", WithinFlag, limit, leastWithin)
	}
	return nil
}
