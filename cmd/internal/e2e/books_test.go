package e2e_test

import (
	"regexp"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"terminalproxy/protocol"
)

// A program reads a part of what an agent types and then stops reading, and the user takes the
// keyboard back. The log's receipts count as written exactly the bytes that the program read.
func TestReceiptsCountTheProgramsReadsR80(t *testing.T) {
	w := newWorld(t)
	require.NoError(t, syscall.Mkfifo(w.path("go"), 0o600))
	s := w.terminal(80, 12)
	s.run("proxy --agent --grant drive --yield 0s --record s.cast halfdeaf 1000 go got")
	s.wait("reading 1000")
	id := w.session()
	w.requestGrant(id, "--as", "codex")
	first := reply[protocol.InputResult](t, w.mustGateway("send", id, "--as", "codex", "--json", "--text", strings.Repeat("a", 3000)))
	require.Equal(t, 3000, first.WrittenBytes, "nobody could know better then")
	s.wait("deaf")
	s.typed("uu")
	more := w.start("gateway", "send", id, "--as", "codex", "--json", "--text", strings.Repeat("b", 40_000))
	full := regexp.MustCompile(`"unreadBytes": ?[34]\d{3}\b`)
	w.until(func() bool { return full.MatchString(w.mustGateway("read", id, "--json")) }, func() string { return w.mustGateway("read", id, "--json") })
	s.press(`C-\`)
	s.waitTitle("[observed]")
	got := more.wait()
	require.Equal(t, 1, got.status, got.out+got.err)
	second := reply[protocol.InputResult](t, got.out)
	require.Equal(t, protocol.StatusDropped, second.Status)
	require.Equal(t, 40_000, second.WrittenBytes+second.DroppedBytes)

	s.typed("mine")
	s.press("C-d")
	w.write("go", "")
	require.Zero(t, s.status())
	require.Equal(t, strings.Repeat("a", 1000)+"mine\x04", w.content("got"))

	written, ended := 0, 0
	for _, e := range w.audited("s.cast") {
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
	require.Contains(t, w.mustGateway("audit", "show", "s.cast"), "2000 bytes of what codex typed in request")
}
