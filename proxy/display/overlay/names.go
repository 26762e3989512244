package overlay

import (
	"strconv"
	"strings"
	"time"
)

// formatDuration words a time limit for the user: 10 min, 1 h 30 min, 45 s.
func formatDuration(d time.Duration) string {
	d = d.Round(time.Second)
	var parts []string
	for _, part := range []struct {
		n    time.Duration
		unit string
	}{{d / time.Hour, " h"}, {d % time.Hour / time.Minute, " min"}, {d % time.Minute / time.Second, " s"}} {
		if part.n > 0 {
			parts = append(parts, strconv.Itoa(int(part.n))+part.unit)
		}
	}
	if parts == nil {
		return "0 s"
	}
	return strings.Join(parts, " ")
}
