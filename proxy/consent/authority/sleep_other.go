//go:build !linux && !darwin

package authority

import "time"

// totalSleep is unknown on this system.
func totalSleep() time.Duration { return 0 }
