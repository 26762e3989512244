package cmd_test

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// sizeBudgets bound the stripped programs, in KiB, as make builds them for linux/amd64.
var sizeBudgets = map[string]int64{"proxy": 12_000, "gateway": 19_928}

// neverInProxy are packages for which proxy runs gateway, or does without.
var neverInProxy = []string{"image", "golang.org/x/image/font", "github.com/go-fonts/dejavu/dejavusansmono", "text/template", "github.com/spf13/cobra", "github.com/nats-io/nats.go"}

// TestProgramsAreSmall holds both programs to their budgets.
func TestProgramsAreSmall(t *testing.T) {
	if runtime.GOOS != "linux" || runtime.GOARCH != "amd64" {
		t.Skip("the budgets are those of linux/amd64")
	}
	for name, budget := range sizeBudgets {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), name)
			args := append([]string{"build", "-o", path}, strings.Fields(makeValue(t, "COMPILE = ", "\n"))...)
			if name == "proxy" {
				args = append(args, "-tags", makeValue(t, "PROXY_TAGS = -tags ", "\n"))
			}
			ldflags := makeValue(t, `BUILD   = go build $(COMPILE) -ldflags "`, `"`)
			runGo(t, append(args, "-ldflags", ldflags, "./"+name)...)
			info, err := os.Stat(path)
			require.NoError(t, err)
			require.LessOrEqual(t, info.Size()>>10, budget, "KiB; go tool nm -size -sort size says what is large in a binary with symbols")
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
