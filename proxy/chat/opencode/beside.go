package opencode

import "terminalproxy/proxy/chat"

// The server tells the interface in the terminal what happens, and tells us what the user did
// there. Of the terminal the driver needs only its end, whether the keyboard changed hands, and
// that agents' keys stay away from its dialogs.

// Attach is that of [chat.Beside].
func (d *Driver) Attach(t chat.Terminal) { d.terminal = t }

// terminalState returns the terminal's Stand; without a terminal a call may always go.
func (d *Driver) terminalState() (still func() bool) {
	if d.terminal == nil {
		return func() bool { return true }
	}
	return d.terminal.Stand()
}

// Printed is that of [chat.Beside].
func (d *Driver) Printed() {}

// Pressed is that of [chat.Beside].
func (d *Driver) Pressed([]byte) {}

// Reclaimed is that of [chat.Beside]. Waiting calls are dropped: see terminalState.
func (d *Driver) Reclaimed() {}

// Dialog is that of [chat.Beside].
func (d *Driver) Dialog() bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	return len(d.open) > 0
}

// Exited is that of [chat.Beside]. The server ends with its interface.
func (d *Driver) Exited(why string, _ []string) {
	d.mu.Lock()
	d.left, d.exited = true, why
	d.mu.Unlock()
	go func() { _ = d.Close() }() // ends with the server
}
