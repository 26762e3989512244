package coding

import (
	"fmt"
	"time"
)

// WithinFlag and WithinHelp are a flag that limits how long an agent's questions may stay open.
const (
	WithinFlag = "answer-within"
	WithinHelp = "refuse what the agent asks if it has no answer after this long, e.g. 10m " +
		"(default: it waits)"
)

// leastWithin is the shortest limit: a person cannot read a question in less.
const leastWithin = time.Second

// CheckWithin checks the flag's value.
func CheckWithin(limit time.Duration) error {
	if limit != 0 && limit < leastWithin {
		return fmt.Errorf("--%s %s: must be at least %s, or 0s for no limit", WithinFlag, limit, leastWithin)
	}
	return nil
}
