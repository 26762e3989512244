package setup

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"terminalproxy/cmd/internal/agents/confine"
	"terminalproxy/cmd/internal/cli"
	"terminalproxy/cmd/internal/cli/clitest"
)

func TestConfine(t *testing.T) {
	clitest.Isolate(t)
	dirs, err := confine.Directories()
	require.NoError(t, err)
	for _, a := range confine.Agents() {
		got := clitest.Command(t, "confine", a.Name)
		require.Equal(t, cli.StatusOK, got.Status, got.Err)
		require.Equal(t, a.Settings(dirs), got.Out)
		require.Contains(t, got.Err, "hint: merge this into "+a.File())
	}
	clitest.RunFailing(t, cli.StatusUsage, "confine: name one of claude, codex, copilot, gemini, opencode, user, devcontainer", "confine")
	clitest.RunFailing(t, cli.StatusUsage, `confine: there are no settings for "cursor"`, "confine", "cursor")
}

// The container gets the agent's token alone of the user's files, and no socket.
func TestConfineInAContainer(t *testing.T) {
	clitest.Isolate(t)
	bin := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(bin, "proxy"), nil, 0o700)) //nolint:gosec // a program
	t.Setenv("PATH", bin)
	got := clitest.Command(t, "confine", "devcontainer")
	require.Equal(t, cli.StatusOK, got.Status, got.Err)
	var c struct {
		Image        string            `json:"image"`
		RunArgs      []string          `json:"runArgs"`
		Mounts       []string          `json:"mounts"`
		ContainerEnv map[string]string `json:"containerEnv"`
		RemoteUser   string            `json:"remoteUser"`
	}
	var all map[string]any
	require.NoError(t, json.Unmarshal([]byte(got.Out), &all))
	delete(all, "name")
	require.Len(t, all, 5)
	require.NoError(t, json.Unmarshal([]byte(got.Out), &c))
	require.Equal(t, "ws://127.0.0.1:7117", c.ContainerEnv["PROXY_GATEWAY"])
	require.NotEqual(t, "root", c.RemoteUser)
	dirs, err := confine.Directories()
	require.NoError(t, err)
	require.Len(t, c.Mounts, 2)
	for _, mount := range c.Mounts {
		require.True(t, strings.HasSuffix(mount, ",type=bind,readonly"), mount)
		for _, dir := range dirs {
			require.NotContains(t, mount, "source="+dir+",")
		}
	}
	require.Contains(t, got.Err, "gateway token create devcontainer --role agent --out "+dirs[0]+"/devcontainer.token")
}

// The script leaves the agent's user a token that only that user can read.
func TestConfineUserScript(t *testing.T) {
	clitest.Isolate(t)
	got := clitest.Command(t, "confine", "user")
	require.Equal(t, cli.StatusOK, got.Status, got.Err)
	dir := t.TempDir()
	home := filepath.Join(dir, "home")
	require.NoError(t, os.Mkdir(home, 0o700))
	for name, text := range map[string]string{
		"gateway": `echo "$@" >> ` + dir + `/called; echo TOKEN`,
		"id":      "exit 1",
		"sudo": `echo "sudo $*" >> ` + dir + `/called
[ "$1" = useradd ] && exit
shift 3; HOME=` + home + ` exec "$@"`,
	} {
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte("#!/bin/sh\n"+text+"\n"), 0o700)) //nolint:gosec // a program
	}
	cmd := exec.CommandContext(t.Context(), "sh", "-s", "helper")
	cmd.Stdin, cmd.Env = strings.NewReader(got.Out), append(os.Environ(), "PATH="+dir+":"+os.Getenv("PATH"))
	out, err := cmd.CombinedOutput()
	require.NoError(t, err, "%s", out)
	called, err := os.ReadFile(filepath.Join(dir, "called"))
	require.NoError(t, err)
	require.Contains(t, string(called), "sudo useradd --create-home helper\n")
	require.Contains(t, string(called), "token create helper --role agent\n")
	token, err := os.ReadFile(filepath.Join(home, "gateway.token"))
	require.NoError(t, err)
	require.Equal(t, "TOKEN\n", string(token))
	info, err := os.Stat(filepath.Join(home, "gateway.token"))
	require.NoError(t, err)
	require.Equal(t, os.FileMode(0o600), info.Mode().Perm())
	require.Contains(t, string(out), "--token-file "+home+"/gateway.token")
}
