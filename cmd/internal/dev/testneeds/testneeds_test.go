package testneeds

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// helpers are what the tests of a package call.
const helpers = `package x_test

import ("os"; "os/exec"; "testing"; "strings"; "example/browser")

type world struct{}
type list []func(t *testing.T)

func clients(t *testing.T) { if os.Getenv("CLIENTS") == "" { t.Skip() } }
func (*world) agent(t *testing.T) { clients(t) }
func (*world) file(t *testing.T) string { return os.Getenv("HOME") }
func deep(t *testing.T) { func() { (&world{}).agent(t) }() }
func page(t *testing.T) { browser.Chromium(t) }
func each[T any](t *testing.T, v T) T { clients(t); return v }

var table = list{deep}
var quiet = list{}

func newWorld(t *testing.T, programs ...string) *world {
	for _, p := range append(programs, "tmux", "bash") {
		if _, err := exec.LookPath(p); err != nil { t.Skipf("%s is not installed", p) }
	}
	return &world{}
}
func onDisplays(t *testing.T, programs ...string) *world { return newWorld(t, append(programs, "Xvfb")...) }
func need(t *testing.T, program string) { if _, err := exec.LookPath(program); err != nil { t.Skip() } }
func man(t *testing.T) { if _, err := exec.LookPath("man"); err != nil { t.Skip() } }
func prefers() string { if path, err := exec.LookPath("nano"); err == nil { return path }; return "ed" }
func shows(t *testing.T, wanted string, command ...string) {
	if _, err := exec.LookPath(command[0]); err != nil { t.Skip() }
}
func pages(t *testing.T, command ...string) { shows(t, "mc", append([]string{"less"}, command...)...) }
func starts(t *testing.T, line string) { shows(t, "mc", strings.Fields(line)...) }
func log(t *testing.T, words ...string) {}

var editors = []struct{ name string; program []string; note string }{{"vim", []string{"vi", "-u", "NONE"}, "mc"}, {name: "nano -w"}}
const shell = "dash"

func needsRoot(t *testing.T) { if os.Geteuid() != 0 { t.Skip("needs root: to be another user") } }
func (*world) mount(t *testing.T) { needsRoot(t) }
`

// readTest returns what a test with this body needs.
func readTest(t *testing.T, body string) []string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "a [b] *")
	require.NoError(t, os.Mkdir(dir, 0o700))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "b_test.go"), []byte(helpers), 0o600))
	source := "package x_test\n\nimport (\"os\"; \"os/exec\"; \"strings\"; \"testing\")\n\nfunc TestX(t *testing.T) { " + body + " }\n"
	require.NoError(t, os.WriteFile(filepath.Join(dir, "a_test.go"), []byte(source), 0o600))
	tests, err := Read(dir)
	require.NoError(t, err)
	require.Len(t, tests, 1)
	require.Equal(t, "TestX", tests[0].Name)
	return tests[0].Needs
}

// TestCallsAreFollowed through helpers, methods, tables and generic functions, into other files and no further than they go.
func TestCallsAreFollowed(t *testing.T) {
	for body, want := range map[string]bool{
		`os.Getenv("CLIENTS")`: true,
		`clients(t)`:           true,
		`deep(t)`:              true,
		`page(t)`:              true,
		`each(t, 1)`:           true,
		`(&world{}).agent(t)`:  true,
		`newWorld(t).agent(t)`: true,
		`table[0](t)`:          true,
		`t.Run("", clients)`:   true,
		`quiet[0](t)`:          false,
		`newWorld(t).file(t)`:  false,
		`os.Getenv("CLIENT")`:  false,
		`t.Log("clients(t)")`:  false,
		`t.Run("", func(t *testing.T) { clients(t) })`: true,
		`clients := func() {}; clients()`:              false, // another one of that name
	} {
		require.Equal(t, want, slices.Contains(readTest(t, body), Client), body)
	}
}

func TestProgramsAndRootAreRead(t *testing.T) {
	for body, want := range map[string]string{
		`t.Log("vim")`:                       "",
		`log(t, "vim")`:                      "",
		`prefers()`:                          "", // it does without
		`newWorld(t)`:                        "bash tmux",
		`newWorld(t, "vim", "less")`:         "bash less tmux vim",
		`onDisplays(t, "kitty")`:             "Xvfb bash kitty tmux",
		`need(t, "git")`:                     "git",
		`need(t, shell)`:                     "dash",
		`man(t)`:                             "man",
		`program := "fzf"; need(t, program)`: "fzf",
		`for _, e := range editors { newWorld(t, e.name) }`:                                                                                              "bash nano tmux vim",
		`for _, e := range editors { need(t, e.program[0]) }`:                                                                                            "vi",
		`for _, e := range editors { t.Log(e.name); t.Log(e.note) }`:                                                                                     "",
		`for _, s := range []string{"zsh", "fish"} { need(t, s) }`:                                                                                       "fish zsh",
		`for s := range strings.FieldsSeq(os.Getenv("X")) { need(t, s) }`:                                                                                "",
		`if _, err := exec.LookPath("top"); err != nil { t.Skip("no") }`:                                                                                 "top",
		`if _, err := exec.LookPath("/usr/sbin/sshd"); err != nil { t.Skip("no") }`:                                                                      "",
		`if _, err := exec.LookPath("claude"); err != nil { t.Log("not here") }`:                                                                         "",
		`var list []string; list = append(list, os.Args...); for _, s := range list { need(t, s) }`:                                                      "",
		`s := "jq"; s = s + ""; s, u := u, s; need(t, s); need(t, u)`:                                                                                    "jq",
		`type x struct{ p []string; n string }; a := x{p: []string{"ed"}}; b := x{p: a.p, n: a.n}; a = x{p: b.p, n: b.n}; need(t, a.p[0]); need(t, b.n)`: "ed",
		`shows(t, "F10", "htop", "main.go")`:                                                                                                             "htop",
		`shows(t, "F10", []string{"vi", "ed"}...)`:                                                                                                       "vi",
		`shows(t, "F10", editors[0].program...)`:                                                                                                         "vi",
		`pages(t, "main.go")`:                                                                                                                            "less",
		`starts(t, "vim -u NONE")`:                                                                                                                       "vim",
		`needsRoot(t)`:                                                                                                                                   "root",
		`newWorld(t).mount(t)`:                                                                                                                           "bash root tmux",
		`t.Run("", func(t *testing.T) { need(t, "make") })`:                                                                                              "make",
	} {
		require.Equal(t, strings.Fields(want), append([]string{}, readTest(t, body)...), body)
	}
}

func TestAFolderWithoutTests(t *testing.T) {
	_, err := Read(t.TempDir())
	require.ErrorContains(t, err, "holds no tests")
}

// TestHelpersBesideAreFollowed: the tests of several folders may share a package of helpers.
func TestHelpersBesideAreFollowed(t *testing.T) {
	e2e := filepath.Join(t.TempDir(), "e2e")
	write := func(dir, name, source string) {
		require.NoError(t, os.MkdirAll(filepath.Join(e2e, dir), 0o700))
		require.NoError(t, os.WriteFile(filepath.Join(e2e, dir, name), []byte(source), 0o600))
	}
	write("world", "world.go", `package world

import ("os"; "os/exec"; "testing")

type World struct{ T *testing.T }

func New(t *testing.T, programs ...string) *World {
	for _, p := range programs { if _, err := exec.LookPath(p); err != nil { t.Skip() } }
	return &World{t}
}
func (w *World) Agent() { if os.Getenv("CLIENTS") == "" { w.T.Skip() } }
func (w *World) SeeShown() {}
`)
	write("chat", "a_test.go", `package chat_test

import ("testing"; "example/e2e/world")

func TestA(t *testing.T) { world.New(t, "vim") }
func TestB(t *testing.T) { world.New(t).Agent() }
func TestC(t *testing.T) { w := world.New(t, "tmux"); w.SeeShown() }
`)
	got, err := Read(filepath.Join(e2e, "chat"))
	require.NoError(t, err)
	require.Equal(t, []Test{{"TestA", []string{"vim"}}, {"TestB", []string{Client}}, {"TestC", []string{Film, "tmux"}}}, got)
}

// TestEveryFolderIsNamed: make clients and make test-as-root run the tests of the folders that the Makefile names.
func TestEveryFolderIsNamed(t *testing.T) {
	root := filepath.Join("..", "..", "..", "..")
	makefile, err := os.ReadFile(filepath.Join(root, "Makefile"))
	require.NoError(t, err)
	folders := map[string]bool{}
	for _, top := range []string{"cmd", "gateway", "protocol", "proxy"} {
		require.NoError(t, filepath.WalkDir(filepath.Join(root, top), func(path string, _ fs.DirEntry, err error) error {
			if strings.HasSuffix(path, "_test.go") {
				folders[filepath.Dir(path)] = true
			}
			return err
		}))
	}
	for need, variable := range map[string]string{Client: "CLIENTS_IN", Root: "ROOT_IN"} {
		named := regexp.MustCompile(`(?m)^` + variable + ` = (.*)$`).FindSubmatch(makefile)
		require.NotNil(t, named, variable)
		var needing []string
		for dir := range folders {
			tests, err := Read(dir)
			require.NoError(t, err)
			if slices.ContainsFunc(tests, func(test Test) bool { return slices.Contains(test.Needs, need) }) {
				name, err := filepath.Rel(root, dir)
				require.NoError(t, err)
				needing = append(needing, "./"+name)
			}
		}
		require.ElementsMatch(t, strings.Fields(string(named[1])), needing, variable)
	}
}
