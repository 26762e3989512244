package main

import (
	"go/ast"
	"go/build"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/stretchr/testify/require"
)

// TestEveryPatchCompiles checks the types of each mutant's package: a change to the lines that a
// patch breaks takes the patch along.
func TestEveryPatchCompiles(t *testing.T) {
	const root = "../../../.."
	all, err := loadMutants(os.DirFS(root), nil)
	require.NoError(t, err)
	export := exportFiles(t, root)
	for _, m := range all {
		t.Run(m.name, func(t *testing.T) {
			files := token.NewFileSet()
			open := func(path string) (io.ReadCloser, error) { return os.Open(export[path]) }
			conf := types.Config{Importer: importer.ForCompiler(files, "gc", open)}
			_, err := conf.Check(m.dir, files, parseMutant(t, files, root, m), nil)
			require.NoError(t, err)
		})
	}
}

// exportFiles returns the files with the compiled types of the module's packages and of their imports.
func exportFiles(t *testing.T, root string) map[string]string {
	t.Helper()
	// The flags are those of make build, so that nothing is compiled twice.
	cmd := exec.CommandContext(t.Context(), "go", "list", "-export", "-deps", "-trimpath", "-gcflags=crypto/tls=-l",
		"-f", "{{.ImportPath}} {{.Export}}", "./proxy/...", "./gateway/...", "./cmd/gateway", "./cmd/proxy")
	cmd.Dir, cmd.Env = root, append(os.Environ(), "CGO_ENABLED=0")
	out, err := cmd.Output()
	require.NoError(t, err)
	export := make(map[string]string)
	for line := range strings.Lines(string(out)) {
		path, file, _ := strings.Cut(strings.TrimSpace(line), " ")
		export[path] = file
	}
	return export
}

// parseMutant parses the package of m on this system, with the changed file in place of the original.
func parseMutant(t *testing.T, files *token.FileSet, root string, m *mutant) (parsed []*ast.File) {
	t.Helper()
	p, err := build.ImportDir(filepath.Join(root, m.dir), 0)
	require.NoError(t, err)
	for _, name := range p.GoFiles {
		name = path.Join(m.dir, name)
		var src any
		if text, changed := m.files[name]; changed {
			src = text
		}
		f, err := parser.ParseFile(files, filepath.Join(root, name), src, parser.SkipObjectResolution)
		require.NoError(t, err)
		parsed = append(parsed, f)
	}
	return parsed
}

func TestAPatchIsOfOnePlace(t *testing.T) {
	const patch = "It is broken.\n--- a/p/x.go\n+++ b/p/x.go\n@@ -1,2 +1,2 @@ func f() {\n \ta\n-\tb\n+\tc\n"
	for name, c := range map[string]struct{ patch, text, want, err string }{
		"applies":         {patch, "x\n\ta\n\tb\ny\n", "x\n\ta\n\tc\ny\n", ""},
		"at the first":    {patch, "\ta\n\tb\n", "\ta\n\tc\n", ""},
		"nowhere":         {patch, "\ta\n\tbb\n", "", "at 0 places in p"},
		"not a line":      {patch, "x\ta\n\tb\n", "", "at 0 places in p"},
		"twice":           {patch, "\ta\n\tb\n\ta\n\tb\n", "", "at 2 places in p"},
		"without a word":  {patch[len("It is broken.\n"):], "\ta\n\tb\n", "", "want a sentence that says what breaks, and then a patch of one file"},
		"without a patch": {"It is broken.\n", "\ta\n\tb\n", "", "a patch of one file"},
		"two hunks":       {patch + "@@ -9 +9 @@\n-\td\n+\te\n", "\ta\n\tb\n\td\n", "\ta\n\tc\n\te\n", ""},
	} {
		t.Run(name, func(t *testing.T) {
			// The file has another name than in the patch, and its test holds the same lines.
			all, err := loadMutants(fstest.MapFS{
				"p/y.go": {Data: []byte(c.text)}, "p/y_test.go": {Data: []byte(c.text)},
				patches + "/one.patch": {Data: []byte(c.patch)},
			}, []string{"on"})
			if c.err != "" {
				require.ErrorContains(t, err, c.err)
				return
			}
			require.NoError(t, err)
			require.Len(t, all, 1)
			require.Equal(t, c.want, string(all[0].files["p/y.go"]))
			require.Equal(t, []string{"one", "It is broken.", "p"}, []string{all[0].name, all[0].breaks, all[0].dir})
		})
	}
}
