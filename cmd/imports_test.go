package cmd_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"os/exec"
	"path"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
)

// listed is what `go list -json` says of a package, as far as the house rules go.
type listed struct {
	ImportPath string
	Imports    []string
	Doc        string
}

// list returns what go list says of all packages of the module.
var list = sync.OnceValues(func() (all []listed, err error) {
	out, err := exec.CommandContext(context.Background(), "go", "list", "-json=ImportPath,Imports,Doc", "terminalproxy/...").Output()
	for d := json.NewDecoder(bytes.NewReader(out)); err == nil; {
		var p listed
		if err = d.Decode(&p); err == nil {
			all = append(all, p)
		}
	}
	if errors.Is(err, io.EOF) {
		err = nil
	}
	return all, err
})

// eachPackage passes on the packages whose paths begin with a prefix.
func eachPackage(t *testing.T, prefix string, look func(p listed)) {
	t.Helper()
	all, err := list()
	require.NoError(t, err)
	for _, p := range all {
		if strings.HasPrefix(p.ImportPath, prefix) {
			look(p)
		}
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
		{"terminal", "link"},
		{"consent"},
		{"view", "display"},
		{"chat", "record", "detached"},
		{"agents"},
		{""},
	},
	"gateway": {
		{"access/rights", "place", "metrics", "text", "client", "doors/page/waiting"},
		{"userdirs"},
		{"access/auth", "hub"},
		{"endpoint", "doors/ws", "doors/httpapi", "doors/mcp", "doors/page", "access/secrets", "cluster"},
		{""},
		{"local"},
	},
}

// doors are the sub-packages of gateway that reach a gateway from outside, as any client does. They
// do not import the hub; the server joins them to it.
var doors = []string{"endpoint", "doors/ws", "doors/httpapi", "doors/mcp", "doors/page", "access/secrets"}

// pageImports are the sub-packages of gateway that page may import. It serves browsers, and is a
// client like others: roles decide what it may do.
var pageImports = []string{"access/auth", "access/rights", "doors/page/waiting"}

// forTests are the packages that only tests import: four play the other end of a connection, one
// reads testdata, one drives a browser, and one builds the binaries.
var forTests = map[string]bool{"terminalproxy/protocol/fake": true, "terminalproxy/proxy/chat/chattest": true, "terminalproxy/proxy/view/corpus": true, "terminalproxy/cmd/internal/dev/binaries": true, "terminalproxy/cmd/internal/dev/browser": true, "terminalproxy/cmd/internal/e2e/world": true, "terminalproxy/cmd/internal/cli/clitest": true}

// floorOf returns the wing of a sub-package, the innermost that is listed, and its floor; the floor
// is -1 if the floors lack the wing.
func floorOf(top, sub string) (wing string, floor int) {
	for wing = sub; ; wing = path.Dir(wing) {
		if wing == "." {
			wing = ""
		}
		floor = slices.IndexFunc(floors[top], func(wings []string) bool {
			return slices.Contains(wings, wing)
		})
		if wing == "" || floor >= 0 {
			break
		}
	}
	if wing == "" && sub != "" {
		floor = -1
	}
	return wing, floor
}

// TestWings holds each import of proxy and of gateway to the floors.
func TestWings(t *testing.T) {
	eachPackage(t, "terminalproxy/", func(p listed) {
		top, sub := room(p.ImportPath)
		if floors[top] == nil {
			return
		}
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
			if top == "gateway" && from == "doors/page" && to != from {
				require.Contains(t, pageImports, to, "%s imports %s: it is a client like others", p.ImportPath, i)
			}
		}
	})
}

// A command of gateway imports what all commands share, and no other command. What they share
// imports no command, and only the gateway's table knows them all.
func TestCommandsStandAlone(t *testing.T) {
	const commands, table = "terminalproxy/cmd/internal/commands/", "terminalproxy/cmd/gateway"
	found := 0
	eachPackage(t, "terminalproxy/cmd/", func(p listed) {
		_, sub := room(p.ImportPath)
		require.Regexp(t, `^(proxy|gateway|internal/.*)?$`, sub, "%s is no command that users install: it belongs into cmd/internal", p.ImportPath)
		if strings.HasPrefix(p.ImportPath, commands) {
			found++
		}
		for _, i := range p.Imports {
			require.False(t, strings.HasPrefix(i, commands) && p.ImportPath != table, "%s imports %s: only %s does", p.ImportPath, i, table)
		}
	})
	require.Greater(t, found, 8)
}

// Imports run downward only: cmd -> proxy, gateway -> protocol. proxy and gateway never meet.
// protocol takes the standard library only, and no binary holds what is for tests.
func TestImportDirections(t *testing.T) {
	level := map[string]int{"cmd": 3, "proxy": 2, "gateway": 2, "protocol": 1}
	eachPackage(t, "terminalproxy/", func(p listed) {
		top, _ := room(p.ImportPath)
		require.True(t, p.Doc != "" || p.ImportPath == "terminalproxy/cmd", "%s has no package comment", p.ImportPath)
		if forTests[p.ImportPath] {
			return
		}
		for _, i := range p.Imports {
			require.False(t, forTests[i], "%s imports %s: that is for tests", p.ImportPath, i)
			itop, _ := room(i)
			if itop != "" && itop != top {
				require.Less(t, level[itop], level[top], "%s imports %s: imports run downward", p.ImportPath, i)
			}
			isLibrary := strings.Contains(strings.Split(i, "/")[0], ".")
			require.False(t, top == "protocol" && isLibrary, "%s imports %s", p.ImportPath, i)
		}
	})
}

// A folder shows at most a dozen doors.
func TestFoldersAreNarrow(t *testing.T) {
	rooms := map[string]map[string]bool{}
	eachPackage(t, "terminalproxy/", func(p listed) {
		for at := p.ImportPath; path.Dir(at) != "."; at = path.Dir(at) {
			dir := path.Dir(at)
			if rooms[dir] == nil {
				rooms[dir] = map[string]bool{}
			}
			rooms[dir][at] = true
		}
	})
	for dir, doors := range rooms {
		require.LessOrEqual(t, len(doors), 12, "%s has a folder more than a reader takes in: group them", dir)
	}
}
