package text

import "terminalproxy/protocol"

// Clean is [protocol.Visible], for text from a proxy that need not have done so.
func Clean(s string) string { return protocol.Visible(s) }
