package cmd_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
)

// source is a Go file of the module.
type source struct {
	path, dir string // from the module's root, with slashes
	text      string
	files     *token.FileSet
	tree      *ast.File
	isTest    bool
}

func (s *source) at(n ast.Node) string { return s.files.Position(n.Pos()).String() }

// sources parses every Go file of the module once.
var sources = sync.OnceValues(func() (all []*source, err error) {
	skip := wordSet("testdata node_modules .ci .git")
	err = filepath.WalkDir("..", func(name string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && skip[d.Name()]:
			return filepath.SkipDir
		case d.IsDir(), !strings.HasSuffix(name, ".go"):
			return nil
		}
		text, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		s := &source{text: string(text), files: token.NewFileSet(), isTest: strings.HasSuffix(name, "_test.go")}
		s.path = strings.TrimPrefix(filepath.ToSlash(name), "../")
		s.dir = path.Dir(s.path)
		s.tree, err = parser.ParseFile(s.files, name, text, parser.ParseComments|parser.SkipObjectResolution)
		all = append(all, s)
		return err
	})
	return all, err
})

// eachSource passes on the files that are tests, or those that are not, beneath some directories of
// the module.
func eachSource(t *testing.T, areTests bool, look func(s *source), beneath ...string) {
	t.Helper()
	all, err := sources()
	require.NoError(t, err)
	found := 0
	for _, s := range all {
		for _, dir := range beneath {
			if s.isTest == areTests && strings.HasPrefix(s.dir+"/", strings.TrimPrefix(dir+"/", "./")) {
				found++
				look(s)
				break
			}
		}
	}
	require.Positive(t, found, beneath)
}

// everywhere are the directories of the programs, and those of what tests and measures them.
var everywhere = []string{"cmd", "proxy", "gateway", "protocol", "contrib"}
