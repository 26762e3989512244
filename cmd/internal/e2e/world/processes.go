package world

import (
	"errors"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// ChildOf returns the only child of a process.
func ChildOf(t *testing.T, pid string) string {
	t.Helper()
	data, err := os.ReadFile("/proc/" + pid + "/task/" + pid + "/children")
	if errors.Is(err, os.ErrNotExist) {
		t.Skip("this kernel does not list a process's children")
	}
	require.NoError(t, err)
	children := strings.Fields(string(data))
	require.Len(t, children, 1)
	return children[0]
}

// InFront reports whether a program of that name runs in the foreground of its terminal (proc(5),
// stat).
func (w *World) InFront(name string) bool {
	for _, process := range w.Processes() {
		pid, _, _ := strings.Cut(process, " ")
		stat, _ := os.ReadFile("/proc/" + pid + "/stat")
		_, rest, ok := strings.Cut(string(stat), "("+name+") ")
		if f := strings.Fields(rest); ok && len(f) > 5 && f[0] != "T" && f[2] == f[5] {
			return true
		}
	}
	return false
}

func (s *Terminal) Shell() string { return strings.TrimSpace(s.Format("#{pane_pid}")) }
