package protocol

import (
	"encoding/json"
	"flag"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

var update = flag.Bool("update", false, "rewrite testdata/wire.txt; a line may only gain a field")

// Older peers read these bytes: every message with all of its fields, and with none.
func TestWireBytes(t *testing.T) {
	var b strings.Builder
	for _, kind := range Kinds() {
		frame, err := Encode(full(kind))
		require.NoError(t, err)
		empty, err := json.Marshal(newMessage(kind))
		require.NoError(t, err)
		b.WriteString(string(frame) + "\n" + kind + " " + string(empty) + "\n")
	}
	path := filepath.Join("testdata", "wire.txt")
	if *update {
		require.NoError(t, os.WriteFile(path, []byte(b.String()), 0o600))
	}
	want, err := os.ReadFile(path) //nolint:gosec // one of this test's files
	require.NoError(t, err)
	require.Equal(t, string(want), b.String())
}

// A message that has a check and is not in the list could be sent and not read.
func TestEveryMessageIsInTheList(t *testing.T) {
	files, err := filepath.Glob("*.go")
	require.NoError(t, err)
	var declared, listed []string
	for _, name := range files {
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, 0)
		require.NoError(t, err)
		for _, d := range file.Decls {
			if f, ok := d.(*ast.FuncDecl); ok && f.Recv != nil && f.Name.Name == "check" {
				declared = append(declared, f.Recv.List[0].Type.(*ast.StarExpr).X.(*ast.Ident).Name)
			}
		}
	}
	for _, m := range messages {
		listed = append(listed, reflect.TypeOf(m.zero).Elem().Name())
	}
	require.ElementsMatch(t, declared, listed)
}

func TestCopiesLeaveTheOriginalAlone(t *testing.T) {
	for _, kind := range Kinds() {
		m, sent := full(kind), full(kind)
		got := Forward(m, "request-2", "sender-2")
		require.Equal(t, sent, m, kind)
		require.Equal(t, KindOf(m), KindOf(got))
		h := headOf(got)
		if h.request >= 0 {
			require.Equal(t, "request-2", RequestID(got))
		}
		if h.sender >= 0 {
			require.Equal(t, "sender-2", fieldText(got, h.sender))
		}
		require.Equal(t, SessionID(m), SessionID(got))
	}
}
