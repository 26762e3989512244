package opencode

import "terminalproxy/proxy/chat"

// The server tells the interface in the terminal what happens, and tells us what the user did
// there. Of the terminal the driver needs only its end, whether the keyboard changed hands, and
// that agents' keys stay away from its dialogs.

// Attach is that of [chat.Beside].
func (d *Driver) Attach(t chat.Terminal) { d.terminal = t }

// standingCheck is the terminal's StandingCheck for a person, or for an agent as long as mayAct.
// Without a terminal a person's call may always go.
func (d *Driver) standingCheck(mayAct chat.MayAct) (still func() bool) {
	stands := func() bool { return true }
	if d.terminal != nil {
		stands = d.terminal.StandingCheck()
	}
	return func() bool { return mayAct.Refusal() == nil && stands() }
}

// NoteOutput is that of [chat.Beside].
func (d *Driver) NoteOutput() {}

// NoteKeys is that of [chat.Beside].
func (d *Driver) NoteKeys([]byte) {}

// NoteReclaim is that of [chat.Beside]. Waiting calls are dropped: see standingCheck.
func (d *Driver) NoteReclaim() {}

// HasDialog is that of [chat.Beside].
func (d *Driver) HasDialog() bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	return len(d.open) > 0
}

// NoteExit is that of [chat.Beside]. The server ends with its interface.
func (d *Driver) NoteExit(why string, _ []string) {
	d.mu.Lock()
	d.left, d.exited = true, why
	d.mu.Unlock()
	go func() { _ = d.Close() }() // ends with the server
}
