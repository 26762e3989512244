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

// floors are the wings of proxy, lowest first. A package imports its own wing and those on lower
// floors. The wings of one floor do not import each other.
var floors = [][]string{
	{"terminal", "link", "heap"},
	{"consent"},
	{"view", "display"},
	{"chat", "record", "detached"},
	{"agents"},
	{""},
}

// apart are the sub-packages of gateway that reach a gateway from outside, with the ones that they
// may import:
//
//   - page: serves browsers, and is a client like others. Roles decide what it may do.
//   - waiting: watches the list of sessions as any viewer may.
//   - push: speaks to push services, and knows no gateway.
var apart = map[string][]string{"page": {"auth", "rights", "waiting", "push"}, "waiting": nil, "push": nil}

// forTests are the packages that only tests import: three play the other end of a connection, one
// reads testdata, one drives a browser, and one builds the binaries.
var forTests = map[string]bool{"terminalproxy/protocol/fake": true, "terminalproxy/proxy/chat/chattest": true, "terminalproxy/proxy/view/corpus": true, "terminalproxy/cmd/internal/binaries": true, "terminalproxy/cmd/internal/browser": true, "terminalproxy/gateway/push/fakepush": true}

// floorOf returns the wing of a sub-package of proxy and its floor, or -1 for a wing that floors
// lacks.
func floorOf(sub string) (wing string, floor int) {
	wing, _, _ = strings.Cut(sub, "/")
	return wing, slices.IndexFunc(floors, func(wings []string) bool { return slices.Contains(wings, wing) })
}

// TestWings holds each import of proxy to the floors.
func TestWings(t *testing.T) {
	for _, p := range list(t, "terminalproxy/proxy/...") {
		_, sub := room(p.ImportPath)
		from, floor := floorOf(sub)
		require.NotEqual(t, -1, floor, "%s lies in no wing: docs/architecture.md has them", p.ImportPath)
		for _, i := range p.Imports {
			top, isub := room(i)
			if top != "proxy" || forTests[p.ImportPath] {
				continue
			}
			to, below := floorOf(isub)
			require.True(t, to == from || below < floor, "%s imports %s: %s is not beneath %s", p.ImportPath, i, to, from)
		}
	}
}

// Imports run downward only: cmd -> proxy, gateway -> protocol. proxy and gateway never meet.
// Within gateway, the packages in apart stay apart.
func TestImportDirections(t *testing.T) {
	level := map[string]int{"cmd": 3, "proxy": 2, "gateway": 2, "protocol": 1}
	for _, p := range list(t, "terminalproxy/...") {
		top, sub := room(p.ImportPath)
		if forTests[p.ImportPath] {
			continue // no binary holds it
		}
		for _, i := range p.Imports {
			require.False(t, forTests[i], "%s imports %s: that is for tests", p.ImportPath, i)
			itop, isub := room(i)
			if itop == "" {
				if top == "protocol" {
					require.NotContains(t, strings.Split(i, "/")[0], ".", "%s imports %s: protocol takes the standard library only", p.ImportPath, i)
				}
				continue
			}
			if itop != top {
				require.Less(t, level[itop], level[top], "%s imports %s: imports run downward", p.ImportPath, i)
				continue
			}
			if only, is := apart[sub]; is && top == "gateway" {
				require.Contains(t, only, isub, "%s imports %s: it is a client of the gateway, no part of it", p.ImportPath, i)
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
