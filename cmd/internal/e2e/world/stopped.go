package world

import (
	"strings"
)

func (s *Terminal) Shell() string { return strings.TrimSpace(s.Format("#{pane_pid}")) }
