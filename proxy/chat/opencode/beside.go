package opencode

import "terminalproxy/proxy/chat"

// The interface in the terminal is told by the server what happens, and we are told by it what the user did there: of the terminal
// nothing is needed, but its end, that agents' keys stay away from its dialogs, and whether the keyboard changed hands.

// Attach is that of [chat.Beside].
func (d *Driver) Attach(t chat.Terminal) { d.terminal = t }

// stand is that of the terminal, if there is one.
func (d *Driver) stand() (still func() bool) {
	if d.terminal == nil {
		return func() bool { return true }
	}
	return d.terminal.Stand()
}

// Printed is that of [chat.Beside].
func (d *Driver) Printed() {}

// Pressed is that of [chat.Beside].
func (d *Driver) Pressed([]byte) {}

// Reclaimed is that of [chat.Beside]. What is not sent by then is not sent any more, see stand.
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
