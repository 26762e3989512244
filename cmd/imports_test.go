package cmd_test

import (
	"encoding/json"
	"io"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// listed is what `go list -json` says of a package, as far as the house rules go.
type listed struct {
	ImportPath string
	Imports    []string
	Doc        string
	Standard   bool
}

func list(t *testing.T, args ...string) []listed {
	t.Helper()
	out, err := exec.CommandContext(t.Context(), "go", append([]string{"list", "-json=ImportPath,Imports,Doc,Standard"}, args...)...).Output()
	require.NoError(t, err)
	var all []listed
	for d := json.NewDecoder(strings.NewReader(string(out))); ; {
		var p listed
		err := d.Decode(&p)
		if err == io.EOF {
			return all
		}
		require.NoError(t, err)
		all = append(all, p)
	}
}

// room is the top-level directory of a package of ours, and the sub-package within it; "" when it is not ours.
func room(path string) (top, sub string) {
	rest, ok := strings.CutPrefix(path, "terminalproxy/")
	if !ok {
		return "", ""
	}
	top, sub, _ = strings.Cut(rest, "/")
	return top, sub
}

// floors are the wings of proxy and of gateway, lowest first. A package imports its own wing and
// those on lower floors. The wings of one floor do not import each other.
var floors = map[string][][]string{
	"proxy": {
		{"terminal", "link", "heap"},
		{"consent"},
		{"view", "display"},
		{"chat", "record", "detached"},
		{"agents"},
		{""},
	},
	"gateway": {
		{"rights", "place", "metrics", "text", "client", "push", "waiting"},
		{"userdirs"},
		{"auth", "hub"},
		{"endpoint", "ws", "httpapi", "mcp", "page", "secrets", "cluster"},
		{""},
		{"local"},
	},
}

// doors are the sub-packages of gateway that reach a gateway from outside, as any client does. They
// do not import the hub; the server joins them to it.
var doors = []string{"endpoint", "ws", "httpapi", "mcp", "page", "secrets"}

// pageImports are the sub-packages of gateway that page may import. It serves browsers, and is a
// client like others: roles decide what it may do.
var pageImports = []string{"auth", "rights", "waiting", "push"}

// forTests are the packages that only tests import: four play the other end of a connection, one
// reads testdata, one drives a browser, and one builds the binaries.
var forTests = map[string]bool{"terminalproxy/protocol/fake": true, "terminalproxy/proxy/chat/chattest": true, "terminalproxy/proxy/view/corpus": true, "terminalproxy/cmd/internal/binaries": true, "terminalproxy/cmd/internal/browser": true, "terminalproxy/cmd/internal/e2e/world": true, "terminalproxy/cmd/internal/cli/clitest": true, "terminalproxy/gateway/push/fakepush": true}

// floorOf returns the wing of a sub-package and its floor, or -1 for a wing that the floors lack.
func floorOf(top, sub string) (wing string, floor int) {
	wing, _, _ = strings.Cut(sub, "/")
	return wing, slices.IndexFunc(floors[top], func(wings []string) bool {
		return slices.Contains(wings, wing)
	})
}

// TestWings holds each import of proxy and of gateway to the floors.
func TestWings(t *testing.T) {
	for _, p := range list(t, "terminalproxy/proxy/...", "terminalproxy/gateway/...") {
		top, sub := room(p.ImportPath)
		from, floor := floorOf(top, sub)
		require.NotEqual(t, -1, floor, "%s lies in no wing: docs/architecture.md has them", p.ImportPath)
		for _, i := range p.Imports {
			itop, isub := room(i)
			if itop != top || forTests[p.ImportPath] {
				continue
			}
			to, below := floorOf(top, isub)
			require.True(t, to == from || below < floor, "%s imports %s: %q is not beneath %q", p.ImportPath, i, to, from)
			if top == "gateway" && slices.Contains(doors, from) {
				require.NotEqual(t, "hub", to, "%s imports %s: it is a client of the gateway, no part of it", p.ImportPath, i)
			}
			if top == "gateway" && from == "page" && to != from {
				require.Contains(t, pageImports, to, "%s imports %s: it is a client like others", p.ImportPath, i)
			}
		}
	}
}

// TestCommandsStandAlone: a command of gateway imports what all commands share, and no other
// command. What they share imports no command, and only the gateway's table knows them all.
func TestCommandsStandAlone(t *testing.T) {
	const commands, table = "terminalproxy/cmd/internal/commands/", "terminalproxy/cmd/gateway"
	found := 0
	for _, p := range list(t, "terminalproxy/cmd/...") {
		if strings.HasPrefix(p.ImportPath, commands) {
			found++
		}
		for _, i := range p.Imports {
			require.False(t, strings.HasPrefix(i, commands) && p.ImportPath != table, "%s imports %s: only %s does", p.ImportPath, i, table)
		}
	}
	require.Greater(t, found, 8)
}

// Imports run downward only: cmd -> proxy, gateway -> protocol. proxy and gateway never meet.
func TestImportDirections(t *testing.T) {
	level := map[string]int{"cmd": 3, "proxy": 2, "gateway": 2, "protocol": 1}
	for _, p := range list(t, "terminalproxy/...") {
		top, _ := room(p.ImportPath)
		if forTests[p.ImportPath] {
			continue // no binary holds it
		}
		for _, i := range p.Imports {
			require.False(t, forTests[i], "%s imports %s: that is for tests", p.ImportPath, i)
			itop, _ := room(i)
			if itop == "" {
				if top == "protocol" {
					require.NotContains(t, strings.Split(i, "/")[0], ".", "%s imports %s: protocol takes the standard library only", p.ImportPath, i)
				}
				continue
			}
			if itop != top {
				require.Less(t, level[itop], level[top], "%s imports %s: imports run downward", p.ImportPath, i)
			}
		}
	}
}

// TestWhatUsersInstall: cmd holds the two binaries, and in internal what they share and what tests, measures and shows them.
func TestWhatUsersInstall(t *testing.T) {
	for _, p := range list(t, "terminalproxy/cmd/...") {
		_, sub := room(p.ImportPath)
		require.Regexp(t, `^(proxy|gateway|internal/.*)?$`, sub, "%s is no command that users install: it belongs into cmd/internal", p.ImportPath)
	}
}

// TestEveryPackageSaysWhatItIs: one package comment each.
func TestEveryPackageSaysWhatItIs(t *testing.T) {
	for _, p := range list(t, "terminalproxy/...") {
		if strings.HasSuffix(p.ImportPath, "/cmd") {
			continue // holds these tests alone
		}
		require.NotEmpty(t, p.Doc, "%s has no package comment", p.ImportPath)
	}
}
