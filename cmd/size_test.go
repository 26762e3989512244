package cmd_test

import (
	"bytes"
	"cmp"
	"context"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// sizeBudgets bound the stripped programs, in KiB, as make builds them for linux/amd64.
var sizeBudgets = map[string]int64{"proxy": 12_000, "gateway": 19_928}

// neverInProxy are packages for which proxy runs gateway, or does without.
var neverInProxy = []string{"image", "golang.org/x/image/font", "github.com/go-fonts/dejavu/dejavusansmono", "text/template", "github.com/spf13/cobra", "github.com/nats-io/nats.go"}

// TestProgramsAreSmall holds both programs to their budgets, and lists the largest packages of one
// that has outgrown its own.
func TestProgramsAreSmall(t *testing.T) {
	t.Parallel()
	if runtime.GOOS != "linux" || runtime.GOARCH != "amd64" {
		t.Skip("the budgets are those of linux/amd64")
	}
	for name, budget := range sizeBudgets {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			path := filepath.Join(t.TempDir(), name)
			args := append([]string{"build", "-o", path}, strings.Fields(makeValue(t, "COMPILE = ", "\n"))...)
			if name == "proxy" {
				args = append(args, "-tags", makeValue(t, "PROXY_TAGS = -tags ", "\n"))
			}
			ldflags := makeValue(t, `BUILD   = go build $(COMPILE) -ldflags "`, `"`)
			runGo(t, append(args, "-ldflags", ldflags, "./"+name)...)
			info, err := os.Stat(path)
			require.NoError(t, err)
			if size := info.Size() >> 10; size > budget {
				runGo(t, append(args, "./"+name)...) // with symbols
				t.Errorf("%s has %d KiB, of at most %d. Its largest packages, in KiB:\n%s", name, size, budget, largestPackages(runGo(t, "tool", "nm", "-size", path)))
			}
		})
	}
	linked := strings.Fields(string(runGo(t, "list", "-deps", "./proxy")))
	for _, name := range neverInProxy {
		require.NotContains(t, linked, name)
	}
}

// makeValue returns what stands in the Makefile between two texts.
func makeValue(t *testing.T, before, after string) string {
	t.Helper()
	makefile, err := os.ReadFile("../Makefile")
	require.NoError(t, err)
	_, value, found := strings.Cut(string(makefile), before)
	require.True(t, found, before)
	value, _, _ = strings.Cut(value, after)
	return value
}

func runGo(t *testing.T, args ...string) []byte {
	t.Helper()
	cmd := exec.CommandContext(context.WithoutCancel(t.Context()), "go", args...)
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	out, err := cmd.Output()
	require.NoError(t, err, "go %s", args)
	return out
}

// largestPackages sums the sizes of symbols by package. Unset memory (B) is in no file.
func largestPackages(symbols []byte) string {
	sizes := make(map[string]int64)
	for line := range bytes.Lines(symbols) {
		fields := strings.Fields(string(line))
		if len(fields) < 4 || strings.EqualFold(fields[2], "b") {
			continue
		}
		size, _ := strconv.ParseInt(fields[1], 10, 64) // go tool nm prints numbers
		dir, last := "", fields[3]
		if at := strings.LastIndex(last, "/"); at >= 0 {
			dir, last = last[:at+1], last[at+1:]
		}
		last, _, _ = strings.Cut(last, ".")
		sizes[dir+last] += size
	}
	var text strings.Builder
	names := slices.SortedFunc(maps.Keys(sizes), func(a, b string) int { return cmp.Compare(sizes[b], sizes[a]) })
	for _, name := range names[:min(30, len(names))] {
		text.WriteString(strconv.FormatInt(sizes[name]>>10, 10) + " " + name + "\n")
	}
	return text.String()
}
