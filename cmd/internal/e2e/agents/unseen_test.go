package agents_test

import (
	"regexp"
	"testing"

	"terminalproxy/cmd/internal/e2e/world"

	"github.com/stretchr/testify/require"
)

// More rows leave the screen at once than one answer holds.
func TestAFloodIsCounted(t *testing.T) {
	w := world.New(t)
	a := w.Agent("claude", world.Eras[1])
	id, text := a.RunProgram(world.Args{"program": "bash", "args": []string{"-c", counting}, "wait_for": "waiting"})
	at := rev(t, text)
	text = a.MustCall("terminal_send", world.Args{"terminal": id, "text": "5000", "enter": true, "wait_for": "text", "value": "number 5000 of", "max_tokens": 200})
	count := regexp.MustCompile(`(\d+) rows that you have not seen left the screen`)
	said := count.FindString(text)
	require.NotEmpty(t, said, text)
	text = a.MustCall("terminal_read", world.Args{"terminal": id, "view": "changes", "since_rev": at, "max_tokens": 400}, "older ones are left out: view history with start ")
	require.Equal(t, said, count.FindString(text))
}
