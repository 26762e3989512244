package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"terminalproxy/cmd/internal/cli"
	"terminalproxy/cmd/internal/cli/clitest"
)

const (
	unitDir = "../../contrib/systemd"
	unit    = "terminalproxy-gateway.service"
)

// analyze runs systemd-analyze on the unit as it would be here, with this test's binary as the
// command.
func analyze(t *testing.T, args ...string) (out string, err error) {
	t.Helper()
	bin, err := exec.LookPath("systemd-analyze")
	if err != nil {
		t.Skip("systemd-analyze is not installed: the unit is not checked (Debian's package systemd has it)")
	}
	content, err := os.ReadFile(filepath.Join(unitDir, unit))
	require.NoError(t, err)
	self, err := os.Executable()
	require.NoError(t, err)
	path := filepath.Join(t.TempDir(), unit)
	require.NoError(t, os.WriteFile(path, []byte(strings.ReplaceAll(string(content), "/usr/local/bin/gateway", self)), 0o600))
	got, err := exec.CommandContext(t.Context(), bin, append(args, path)...).CombinedOutput()
	return string(got), err
}

// systemd knows every directive of the unit, and rates what it may do as safe.
func TestSystemdTakesTheUnit(t *testing.T) {
	out, err := analyze(t, "verify", "--man=no")
	require.NoError(t, err, out)
	require.Empty(t, strings.TrimSpace(out), "a directive that systemd ignores is a warning")

	out, err = analyze(t, "security", "--offline=true", "--no-pager")
	if err != nil && strings.Contains(out, "unrecognized option") {
		t.Skip("this systemd-analyze knows no --offline: the unit is not rated")
	}
	require.NoError(t, err, out)
	found := regexp.MustCompile(`Overall exposure level for \S+: (\d+\.\d)`).FindStringSubmatch(out)
	require.NotNil(t, found, out)
	exposure, err := strconv.ParseFloat(found[1], 64)
	require.NoError(t, err)
	require.LessOrEqual(t, exposure, 1.5, out) // from 0, safe, to 10
}

// The unit's command lines are valid, with the settings beside it.
func TestTheUnitsCommandsAreOurs(t *testing.T) {
	clitest.Isolate(t)
	content, err := os.ReadFile(filepath.Join(unitDir, unit))
	require.NoError(t, err)
	example, err := os.ReadFile(filepath.Join(unitDir, "gateway.toml"))
	require.NoError(t, err)
	lines := regexp.MustCompile(`(?m)^ExecStart(?:Pre)?=/usr/local/bin/gateway (.*)$`).FindAllStringSubmatch(string(content), -1)
	require.Len(t, lines, 2)
	all := strings.ReplaceAll(string(example), "\n#", "\n") // also the commented lines, except for the certificate and prose
	all = regexp.MustCompile(`(?m)^(tls-.*|listen = ":.*| .*|)\n`).ReplaceAllString(all, "")
	require.Contains(t, all, "\npage = true")
	for _, content := range []string{string(example), all} {
		file := clitest.SettingsFile(t, content)
		for _, line := range lines {
			args := strings.Fields(strings.ReplaceAll(line[1], "/etc/terminalproxy/gateway.toml", file))
			got := clitest.Command(t, append(args, "--check")...)
			require.Equal(t, cli.StatusOK, got.Status, "%s\n%s", got.Err, content)
		}
	}
}
