//go:build !linux && !darwin

package sleep

import "time"

// totalSleep is unknown on this system.
func totalSleep() time.Duration { return 0 }
