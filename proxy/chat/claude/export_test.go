package claude

import "time"

// SignWithin sets how long the driver waits for the sign of a prompt.
func (d *TUI) SignWithin(t time.Duration) { d.sign = t }

var TypeOf = typeOf

// Patience sets how long the driver waits for a hook that needs no person.
func (d *TUI) Patience(t time.Duration) { d.patience = t }

// FollowDialogAt lets the driver follow its dialog as if it were later, and returns when it has.
func (d *TUI) FollowDialogAt(later time.Duration) {
	done := make(chan struct{})
	d.enqueue(func() {
		d.updateScreen()
		d.followDialog(time.Now().Add(later))
		close(done)
	})
	<-done
}
