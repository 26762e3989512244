//go:build !linux

package child

// GroupLeader is the process that leads the foreground process group. Only Linux tells.
type GroupLeader struct {
	Group int
	Exe   string
	Args  []string
	Crowd bool
}

// GroupLeader knows nothing here.
func (c *Child) GroupLeader() (GroupLeader, bool) {
	return GroupLeader{Group: c.ForegroundGroup()}, false
}
