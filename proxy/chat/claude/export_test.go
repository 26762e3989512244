package claude

import "time"

// SignWithin has the driver wait that long for the sign of a prompt.
func (d *TUI) SignWithin(t time.Duration) { d.sign = t }

// TypeOf is for tests.
var TypeOf = typeOf
