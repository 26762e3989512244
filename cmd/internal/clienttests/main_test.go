package main

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// helpers are what the tests of a package call; each ends, or does not, at a look at $CLIENTS.
const helpers = `package x_test

import ("os"; "testing"; "example/browser")

type world struct{}
type list []func(t *testing.T)

func clients(t *testing.T) { if os.Getenv("CLIENTS") == "" { t.Skip() } }
func (*world) agent(t *testing.T) { clients(t) }
func (*world) file(t *testing.T) string { return os.Getenv("HOME") }
func newWorld(t *testing.T) *world { return &world{} }
func deep(t *testing.T) { func() { newWorld(t).agent(t) }() }
func page(t *testing.T) { browser.Chromium(t) }
func each[T any](t *testing.T, v T) T { clients(t); return v }

var table = list{deep}
var quiet = list{}
`

// TestCallsAreFollowed through helpers, methods, tables and generic functions, into other files and no further than they go.
func TestCallsAreFollowed(t *testing.T) {
	dir := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, "b_test.go"), []byte(helpers), 0o600))
	for body, want := range map[string]bool{
		`os.Getenv("CLIENTS")`: true,
		`clients(t)`:           true,
		`deep(t)`:              true,
		`page(t)`:              true,
		`each(t, 1)`:           true,
		`newWorld(t).agent(t)`: true,
		`t.Run("", func(t *testing.T) { clients(t) })`: true,
		`t.Run("", clients)`:                           true,
		`table[0](t)`:                                  true,
		`quiet[0](t)`:                                  false,
		`newWorld(t).file(t)`:                          false,
		`clients := func() {}; clients()`:              false, // another one of that name
		`os.Getenv("CLIENT")`:                          false,
		`t.Log("clients(t)")`:                          false,
	} {
		source := "package x_test\n\nimport (\"os\"; \"testing\")\n\nfunc TestX(t *testing.T) { " + body + " }\n"
		require.NoError(t, os.WriteFile(filepath.Join(dir, "a_test.go"), []byte(source), 0o600))
		tests, err := in(dir)
		require.NoError(t, err)
		require.Equal(t, want, len(tests) == 1, body)
	}
}

// TestEveryFolderIsNamed: what calls for a client somewhere else would be run by nobody.
func TestEveryFolderIsNamed(t *testing.T) {
	root := filepath.Join("..", "..", "..")
	makefile, err := os.ReadFile(filepath.Join(root, "Makefile"))
	require.NoError(t, err)
	named := regexp.MustCompile(`(?m)^CLIENTS_IN = (.*)$`).FindSubmatch(makefile)
	require.NotNil(t, named)
	folders := map[string]bool{}
	for _, top := range []string{"cmd", "gateway", "protocol", "proxy"} {
		require.NoError(t, filepath.WalkDir(filepath.Join(root, top), func(path string, _ fs.DirEntry, err error) error {
			if strings.HasSuffix(path, "_test.go") {
				folders[filepath.Dir(path)] = true
			}
			return err
		}))
	}
	var calling []string
	for dir := range folders {
		tests, err := in(dir)
		require.NoError(t, err)
		if len(tests) > 0 {
			name, err := filepath.Rel(root, dir)
			require.NoError(t, err)
			calling = append(calling, "./"+name)
		}
	}
	require.ElementsMatch(t, strings.Fields(string(named[1])), calling)
}
