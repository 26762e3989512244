package e2e_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// dist makes the packages for this machine's processor, with a umask and a time zone. It works on a
// copy of the checkout, with its history and changes, at the path dir. It returns the content of
// SHA256SUMS.
func dist(t *testing.T, dir, umask, zone string) (sums string) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "sh", "-ec", `umask $3
		git clone --quiet --shared --no-checkout "$1" "$2"
		git -C "$2" reset --quiet
		(cd "$1" && git ls-files -z --cached --others --exclude-standard | tar --null --ignore-failed-read -cf - -T -) | tar -C "$2" -xf -
		mkdir -p "$2/.ci/bin" && cp -p "$1"/.ci/bin/nfpm* "$2/.ci/bin"
		make -C "$2" --no-print-directory dist "TARGETS=linux/$4"`,
		"sh", mustAbs(t, checkout), dir, umask, runtime.GOARCH)
	cmd.Env = append(os.Environ(), "TZ="+zone)
	out, err := cmd.CombinedOutput()
	require.NoError(t, err, "%s", out)
	content, err := os.ReadFile(filepath.Join(dir, "dist", "SHA256SUMS"))
	require.NoError(t, err)
	return string(content)
}

// Made twice, in two places and circumstances, the packages have the same bytes. The .deb is
// installed below a directory of the test's own, used, and removed without a trace.
func TestPackages(t *testing.T) {
	clients(t)
	if runtime.GOOS != "linux" {
		t.Skip("the packages are for Linux")
	}
	commit, err := exec.CommandContext(t.Context(), "git", "-C", checkout, "rev-parse", "--short=12", "HEAD").Output()
	if err != nil {
		t.Skip("there is no history here: packages name a commit")
	}
	w := newWorld(t, "make", "tar", "man")
	sums := dist(t, w.path("one"), "022", "UTC")
	require.Len(t, strings.Split(strings.TrimSpace(sums), "\n"), 4, sums)
	require.Equal(t, sums, dist(t, w.path("somewhere else"), "077", "Asia/Tokyo"))

	archives, err := filepath.Glob(w.path("one/dist/*.tar.gz"))
	require.NoError(t, err)
	require.Len(t, archives, 1)
	require.NoError(t, os.Mkdir(w.path("unpacked"), 0o700))
	require.Zero(t, w.do("tar", "-xzf", archives[0], "-C", w.path("unpacked"), "--strip-components=1").status)
	require.FileExists(t, w.path("unpacked/share/doc/terminalproxy/THIRD-PARTY"))
	require.Zero(t, w.do("make", "-C", mustAbs(t, checkout), "uninstall", "PREFIX="+w.path("unpacked")).status)
	require.Empty(t, files(t, w.path("unpacked")))

	debs, err := filepath.Glob(w.path("one/dist/*.deb"))
	require.NoError(t, err)
	require.Len(t, debs, 1)
	dpkg := w.dpkg("disk")
	dpkg("--install", debs[0])
	bin := w.path("disk/usr/bin")
	require.Contains(t, w.do(bin+"/proxy", "--version").out, strings.TrimSpace(string(commit)))
	require.Contains(t, w.do(bin+"/gateway", "version").out, strings.TrimSpace(string(commit)))
	require.Contains(t, w.do("man", "-M", w.path("disk/usr/share/man"), "proxy").out, "--only-this-program")
	require.FileExists(t, w.path("disk/usr/share/zsh/vendor-completions/_proxy"))
	licences := w.content("disk/usr/share/doc/terminalproxy/THIRD-PARTY")
	require.Contains(t, licences, "==== github.com/creack/pty: LICENSE\n")

	s := w.terminal(100, 24)
	s.run("PATH=" + bin + ":$PATH; proxy --agent listener heard")
	s.wait("listening") // until then the key would be the line discipline's
	id := w.session()
	require.Contains(t, w.do(bin+"/gateway", "ls").out, id)
	s.press("C-d")
	require.Zero(t, s.status())

	dpkg("--purge", "terminalproxy")
	if left, err := os.ReadDir(w.path("disk/usr")); err == nil {
		require.Empty(t, left)
	}
}

// dpkg returns dpkg for an empty system below a directory of the world.
func (w *world) dpkg(dir string) func(args ...string) {
	w.t.Helper()
	if _, err := exec.LookPath("dpkg"); err != nil {
		w.t.Skip("dpkg is not installed: the .deb is made, and not installed")
	}
	program := []string{"dpkg"}
	if os.Geteuid() != 0 {
		program = []string{"unshare", "--map-root-user", "dpkg"}
		if out, err := w.command("unshare", "--map-root-user", "true").CombinedOutput(); err != nil {
			needsRoot(w.t, "to install the .deb, as there are no user namespaces: "+string(out))
		}
	}
	require.NoError(w.t, os.MkdirAll(w.path(dir+"/var/lib/dpkg/info"), 0o755))
	require.NoError(w.t, os.MkdirAll(w.path(dir+"/var/lib/dpkg/updates"), 0o755))
	w.write(dir+"/var/lib/dpkg/status", "")
	return func(args ...string) {
		w.t.Helper()
		cmd := w.command(program[0], append(program[1:], append([]string{"--root=" + w.path(dir), "--force-script-chrootless"}, args...)...)...)
		cmd.Env = append(cmd.Env, "PATH="+os.Getenv("PATH")+":/usr/sbin:/sbin") // dpkg looks for ldconfig
		out, err := cmd.CombinedOutput()
		require.NoError(w.t, err, "%s", out)
	}
}
