package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"terminalproxy/cmd/internal/cli"
	"terminalproxy/cmd/internal/cli/clitest"
)

// A directory that cannot be used is named with its cause and the next step.
func TestPlacesThatCannotBeUsed(t *testing.T) {
	for _, c := range []struct {
		variable, value string // @FILE is a file, @DIR an empty directory
		args            []string
		status          int
		want            string
	}{
		{"TERMINALPROXY_DIR", "@FILE", []string{"ls"}, cli.StatusNoGateway, "gateway: connect: @FILE is not a directory: remove it, or set TERMINALPROXY_DIR to a directory of yours\nhint: gateway doctor "},
		{"TERMINALPROXY_DIR", "@DIR/x/y", []string{"ls"}, cli.StatusNoGateway, "mkdir @DIR/x/y: no such file or directory; set TERMINALPROXY_DIR to a directory of yours\n"},
		{"TERMINALPROXY_DIR", "@DIR/" + strings.Repeat("x", 100), []string{"ls"}, cli.StatusNoGateway, ": set TERMINALPROXY_DIR to a shorter directory\nhint: gateway doctor "},
		{"TERMINALPROXY_DIR", "@DIR/" + strings.Repeat("x", 100), []string{"doctor"}, cli.StatusRefused, "gateway: doctor: 1 of "},
		{"PROXY_GATEWAY", "unix:@DIR/s", []string{"ls"}, cli.StatusNoGateway, "gateway: connect: no gateway answers: nothing serves the socket @DIR/s\nhint: correct --gateway or PROXY_GATEWAY"},
		{"XDG_STATE_HOME", "@FILE", []string{"request", "x", "--reason", "r"}, cli.StatusRefused, "hint: set XDG_STATE_HOME to a directory in which you can write\n"},
		{"XDG_STATE_HOME", "@FILE", []string{"token", "create", "x", "--role", "agent"}, cli.StatusUsage, "hint: set XDG_STATE_HOME to a directory in which you can write\n"},
		{"XDG_CONFIG_HOME", "@FILE", []string{"token", "create", "x", "--local"}, cli.StatusRefused, "hint: set XDG_CONFIG_HOME to a directory in which you can write\n"},
	} {
		clitest.Isolate(t)
		dir := t.TempDir()
		file := filepath.Join(dir, "file")
		require.NoError(t, os.WriteFile(file, nil, 0o600))
		replace := strings.NewReplacer("@FILE", file, "@DIR", dir).Replace
		t.Setenv(c.variable, replace(c.value))
		got := clitest.Command(t, c.args...)
		require.Equal(t, c.status, got.Status, "%v: %s", c, got.Err)
		require.Contains(t, got.Err, replace(c.want), "%v", c.args)
	}
}
