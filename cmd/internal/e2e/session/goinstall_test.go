package session_test

import (
	"archive/zip"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"terminalproxy/cmd/internal/e2e/world"

	"github.com/stretchr/testify/require"
)

// TestGoInstallFromAModuleProxy_Client publishes the module under another path on a module proxy of files,
// where go install finds both programs. Go refuses that to a module with replace lines.
func TestGoInstallFromAModuleProxy_Client(t *testing.T) {
	t.Parallel()
	world.Clients(t)
	const module, version = "example.org/terminalproxy", "v0.1.0"
	dir := t.TempDir()
	run := func(env []string, name string, args ...string) string {
		cmd := exec.CommandContext(t.Context(), name, args...)
		cmd.Dir, cmd.Env = dir, append(os.Environ(), env...)
		out, err := cmd.CombinedOutput()
		require.NoError(t, err, "%s %s\n%s", name, args, out)
		return strings.TrimSpace(string(out))
	}
	copied := filepath.Join(dir, "copy")
	for name := range strings.Lines(run(nil, "git", "-C", world.MustAbs(t, world.Checkout), "ls-files", "-co", "--exclude-standard")) {
		copyIfThere(t, filepath.Join(world.Checkout, strings.TrimSpace(name)), filepath.Join(copied, strings.TrimSpace(name)))
	}
	run(nil, filepath.Join(copied, ".ci", "module"), module)
	publishModule(t, copied, filepath.Join(dir, "published"), module, version)
	env := []string{
		"GOPROXY=file://" + filepath.Join(dir, "published") + ",file://" + filepath.Join(run(nil, "go", "env", "GOMODCACHE"), "cache", "download"),
		"GOMODCACHE=" + filepath.Join(dir, "modules"), "GOSUMDB=off", "GOFLAGS=-modcacherw", "GOBIN=" + filepath.Join(dir, "bin"),
		"CGO_ENABLED=0", "GOTOOLCHAIN=local",
	}
	for program, asked := range map[string]string{"proxy": "--version", "gateway": "version"} {
		run(env, "go", "install", "-trimpath", "-ldflags=-s -w", module+"/cmd/"+program+"@"+version)
		require.Contains(t, run(nil, filepath.Join(dir, "bin", program), asked), "0.1.0")
	}
}

// copyIfThere copies a file that git lists, unless it is deleted and not committed yet.
func copyIfThere(t *testing.T, from, to string) {
	t.Helper()
	info, err := os.Lstat(from)
	if err != nil || !info.Mode().IsRegular() {
		return
	}
	text, err := os.ReadFile(from)
	require.NoError(t, err)
	require.NoError(t, os.MkdirAll(filepath.Dir(to), 0o700))
	require.NoError(t, os.WriteFile(to, text, info.Mode().Perm()))
}

// publishModule writes what a module proxy has of a module (https://go.dev/ref/mod#goproxy-protocol).
// Directories with a go.mod of their own are other modules.
func publishModule(t *testing.T, dir, to, module, version string) {
	t.Helper()
	at := filepath.Join(to, module, "@v")
	require.NoError(t, os.MkdirAll(at, 0o700))
	write := func(name, text string) {
		require.NoError(t, os.WriteFile(filepath.Join(at, name), []byte(text), 0o600))
	}
	manifest, err := os.ReadFile(filepath.Join(dir, "go.mod"))
	require.NoError(t, err)
	write("list", version+"\n")
	write(version+".info", `{"Version":"`+version+`"}`)
	write(version+".mod", string(manifest))
	file, err := os.Create(filepath.Join(at, version+".zip"))
	require.NoError(t, err)
	archive := zip.NewWriter(file)
	for _, name := range files(t, dir) {
		if strings.HasPrefix(name, filepath.Join("contrib", "cluster")+"/") {
			continue
		}
		text, err := os.ReadFile(filepath.Join(dir, name))
		require.NoError(t, err)
		entry, err := archive.Create(module + "@" + version + "/" + name)
		require.NoError(t, err)
		_, err = entry.Write(text)
		require.NoError(t, err)
	}
	require.NoError(t, archive.Close())
	require.NoError(t, file.Close())
}
