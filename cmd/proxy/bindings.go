package main

import (
	"os"

	"terminalproxy/cmd/internal/terminals"
	"terminalproxy/proxy/terminal/keys"
)

// keyBindings returns the keys that the user names, or else those that arrive in this terminal.
func (f *flags) keyBindings() (b keys.Bindings, err error) {
	if b.Reclaim, err = keys.ParseReclaimKey(f.ReclaimKey); err != nil {
		return b, usageError("", "--reclaim-key: %v", err)
	}
	if f.GrantKey == "" {
		b.Grant = terminals.Find(os.Getenv).GrantKey(b.Reclaim)
		return b, nil
	}
	if b.Grant, err = keys.ParseGrantKey(f.GrantKey); err != nil {
		return b, usageError("", "--grant-key: %v", err)
	}
	if b.Grant == b.Reclaim {
		return b, usageError(
			"choose another one, such as ctrl-g, or another --reclaim-key",
			"--grant-key: %s takes the keyboard back already",
			b.Grant,
		)
	}
	return b, nil
}
