package proxy

import (
	"sync/atomic"

	"terminalproxy/proxy/keys"
	"terminalproxy/proxy/secretprompt"
)

// tally counts what the user types, for the observer to compare with what the program shows. The pump counts.
type tally struct{ text, signs atomic.Uint64 }

// count adds a key or a part of a paste. A key in one of the newer encodings is a sequence, and counts where it is a letter.
func (t *tally) count(b []byte) {
	var now secretprompt.Typed
	if len(b) > 0 && b[0] == 0x1b {
		if _, ok := keys.Letter(b); ok {
			now.Text = 1
		}
	} else {
		now.Count(b)
	}
	t.signs.Add(now.Signs)
	t.text.Add(now.Text)
}

// now is how much it is by now.
func (t *tally) now() secretprompt.Typed {
	return secretprompt.Typed{Text: t.text.Load(), Signs: t.signs.Load()}
}
