package opencode

import (
	"fmt"
	"strings"
)

// Read parses the user's arguments for opencode. An interface attached to a server takes only few
// of them: the error names one that it would not take.
func (c *Config) Read(args []string) error {
	for len(args) > 0 {
		name, value, given := strings.Cut(args[0], "=")
		args = args[1:]
		switch name {
		case "-c", "--continue":
			if given {
				return fmt.Errorf("%s takes no value", name)
			}
			c.Latest = true
		case "-s", "--session":
			if !given && len(args) > 0 {
				value, args = args[0], args[1:]
			}
			if value == "" {
				return fmt.Errorf("%s needs the id of a conversation", name)
			}
			c.Resume = value
		default:
			return fmt.Errorf("opencode accepts no %.60q here, only --session ID and --continue", name)
		}
	}
	return nil
}
