package claude

import "time"

// SignWithin has the driver wait that long for the sign of a prompt.
func (d *TUI) SignWithin(t time.Duration) { d.sign = t }

// TypeOf is for tests.
var TypeOf = typeOf

// Patience has the driver wait that long for a hook that nobody has to be asked for.
func (d *TUI) Patience(t time.Duration) { d.patience = t }

// FollowDialogAt has the driver follow its dialog as if it were so much later, and returns when it has.
func (d *TUI) FollowDialogAt(later time.Duration) {
	done := make(chan struct{})
	d.enqueue(func() {
		d.updateScreen()
		d.followDialog(time.Now().Add(later))
		close(done)
	})
	<-done
}
