package consent_test

import (
	"regexp"
	"strings"
	"syscall"
	"testing"

	"terminalproxy/cmd/internal/e2e/world"
	"terminalproxy/protocol"

	"github.com/stretchr/testify/require"
)

// A program reads a part of what an agent types and then stops reading, and the user takes the
// keyboard back. The log's receipts count as written exactly the agent's bytes that the program read,
// and the program gets the user's.
func TestReceiptsCountTheProgramsReadsR80(t *testing.T) {
	w := world.New(t)
	require.NoError(t, syscall.Mkfifo(w.Path("go"), 0o600))
	s := w.Terminal(80, 12)
	s.Run("proxy --agent --grant drive --yield 0s --record s.cast halfdeaf 1000 go got")
	s.Wait("reading 1000")
	id := w.Session()
	w.RequestGrant(id, "--as", "codex")
	first := world.Reply[protocol.InputResult](t, w.MustGateway("send", id, "--as", "codex", "--json", "--text", strings.Repeat("a", 3000)))
	require.Equal(t, 3000, first.WrittenBytes, "nobody could know better then")
	s.Wait("deaf")
	s.Typed("uu")
	more := w.Start("gateway", "send", id, "--as", "codex", "--json", "--text", strings.Repeat("b", 40_000))
	full := regexp.MustCompile(`"unreadBytes": ?[34]\d{3}\b`)
	w.Until(func() bool { return full.MatchString(w.MustGateway("read", id, "--json")) }, func() string { return w.MustGateway("read", id, "--json") })
	s.Press(`C-\`)
	s.WaitTitle("[observed]")
	got := more.Wait()
	require.Equal(t, 1, got.Status, got.Out+got.Err)
	second := world.Reply[protocol.InputResult](t, got.Out)
	require.Equal(t, protocol.StatusDropped, second.Status)
	require.Equal(t, 40_000, second.WrittenBytes+second.DroppedBytes)

	s.Typed("mine")
	s.Press("C-d")
	w.Write("go", "")
	require.Zero(t, s.Status())
	require.Equal(t, strings.Repeat("a", 1000)+"uumine\x04", w.Content("got"), "the user's own keys stay")

	written, ended := 0, 0
	for _, e := range w.Audited("s.cast") {
		switch e.Kind {
		case "input":
			written += e.Written
		case "flushed":
			written -= e.Dropped
		case "end":
			ended = e.Dropped
		}
	}
	require.Equal(t, 1000, written)
	require.GreaterOrEqual(t, ended, 2000, "the end of the grant tells of what was taken back")
	require.Contains(t, w.MustGateway("audit", "show", "s.cast"), "2000 bytes of what codex typed in request")
}
