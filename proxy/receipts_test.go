package proxy

import (
	"bytes"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"terminalproxy/protocol"
	"terminalproxy/proxy/detached/headless"
	"terminalproxy/proxy/terminal/child"
)

// typing is an agent that types in its own terminal.
type typing struct {
	p    *fakePeer
	id   string
	sent []*protocol.Input
}

// typeParts types without waiting for the receipt.
func (a *typing) typeParts(parts ...protocol.InputPart) *protocol.Input {
	a.p.t.Helper()
	m := &protocol.Input{RequestID: "a-1:i" + strconv.Itoa(len(a.sent)), SessionID: a.id, AgentID: "a-1", Parts: parts, TimeoutMs: 20_000}
	a.sent = append(a.sent, m)
	a.p.send(m)
	return m
}

// receipt returns an input's receipt, as a repeated request gets it.
func (a *typing) receipt(m *protocol.Input) *protocol.InputResult {
	a.p.t.Helper()
	return hear(a.p, func(r *protocol.InputResult) bool { return r.RequestID == m.RequestID })
}

func text(s string) protocol.InputPart {
	return protocol.InputPart{InputKind: protocol.InputText, Data: s}
}

func named(keys string) protocol.InputPart {
	return protocol.InputPart{InputKind: protocol.InputKeys, Data: keys}
}

// The kernel drops the rest of a longer line, and the program would run another one.
func TestALineFitsTheKernelsBuffer(t *testing.T) {
	const most = child.LineMost
	x := func(n int) protocol.InputPart { return text(strings.Repeat("x", n)) }
	for name, c := range map[string]struct {
		parts   []protocol.InputPart
		read    int // bytes of x, -1: it is refused
		refused string
	}{
		"as long as may be":          {[]protocol.InputPart{x(most), named("enter")}, most, ""},
		"one more":                   {[]protocol.InputPart{x(most + 1), named("enter")}, 0, "would have 4096"},
		"two lines":                  {[]protocol.InputPart{text(strings.Repeat(strings.Repeat("x", most)+"\n", 2))}, 2 * most, ""},
		"two lines, the second long": {[]protocol.InputPart{text("x\n" + strings.Repeat("x", most+1) + "\n")}, 0, "would have 4096"},
		"in parts":                   {[]protocol.InputPart{x(most - 10), x(10), x(1), named("enter")}, most, "4095 of them are there already"},
		"pasted":                     {[]protocol.InputPart{{InputKind: protocol.InputPaste, Data: strings.Repeat("x", 6000)}}, 0, "would have 6000"},
		"raw":                        {[]protocol.InputPart{{InputKind: protocol.InputRaw, Data: strings.Repeat("x", 6000)}}, 0, "would have 6000"},
		"as keys":                    {[]protocol.InputPart{named(strings.Repeat("x*100 ", 60))}, 0, "would have 6000"},
		"behind a quoted end":        {[]protocol.InputPart{{InputKind: protocol.InputRaw, Data: "x\x16\n" + strings.Repeat("x", most)}}, 0, "would have 4098"},
		"an erased line":             {[]protocol.InputPart{x(most), named("ctrl-u"), x(most), named("enter")}, most, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			g := newFakeGateway(t)
			g.run(headless.Config{})
			got := filepath.Join(t.TempDir(), "got")
			p, id := g.startProgram(starting("sh", "-c", `echo ready; exec cat >"$0"`, got))
			p.waitForText("ready")
			a := &typing{p: p, id: id}
			r := a.receipt(a.typeParts(c.parts...))
			if c.refused == "" {
				require.Equal(t, protocol.StatusWritten, r.Status, r.Message)
			} else {
				require.NotEqual(t, protocol.StatusWritten, r.Status)
				require.Equal(t, protocol.CodeTooLarge, r.Reason)
				require.Contains(t, r.Message, c.refused)
			}
			a.receipt(a.typeParts(named("enter ctrl-d")))
			p.waitEnd(0)
			b, err := os.ReadFile(got)
			require.NoError(t, err)
			require.Equal(t, c.read, bytes.Count(b, []byte("x")))
		})
	}
}
