package main

import (
	"os"

	"terminalproxy/cmd/internal/terminals"
	"terminalproxy/proxy/keys"
)

// bindings returns the keys that the user wants, or that arrive in this terminal, and what people press here for the grant key.
func (f *flags) bindings() (b keys.Bindings, label string, err error) {
	if b.Reclaim, err = keys.ParseReclaimKey(f.ReclaimKey); err != nil {
		return b, "", wrong("", "--reclaim-key: %v", err)
	}
	here := terminals.Find(os.Getenv)
	if f.GrantKey == "" {
		b.Grant = here.GrantKey(b.Reclaim)
		return b, here.Label(b.Grant), nil
	}
	if b.Grant, err = keys.ParseGrantKey(f.GrantKey); err != nil {
		return b, "", wrong("", "--grant-key: %v", err)
	}
	if b.Grant == b.Reclaim {
		return b, "", wrong("choose another one, such as ctrl-g, or another --reclaim-key", "--grant-key: %s takes the keyboard back already", b.Grant)
	}
	return b, here.Label(b.Grant), nil
}
