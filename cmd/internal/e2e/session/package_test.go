package session_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"testing"

	"terminalproxy/cmd/internal/e2e/world"

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
		"sh", world.MustAbs(t, world.Checkout), dir, umask, runtime.GOARCH)
	cmd.Env = append(os.Environ(), "TZ="+zone)
	out, err := cmd.CombinedOutput()
	require.NoError(t, err, "%s", out)
	content, err := os.ReadFile(filepath.Join(dir, "dist", "SHA256SUMS"))
	require.NoError(t, err)
	return string(content)
}

// Made twice, in two places and circumstances, the packages have the same bytes. The .deb is
// installed below a directory of the test's own, used, and removed without a trace. What is made of
// the archive for other package managers is used, too.
func TestPackages_RootClient(t *testing.T) {
	world.Clients(t)
	if runtime.GOOS != "linux" {
		t.Skip("the packages are for Linux")
	}
	commit, err := exec.CommandContext(t.Context(), "git", "-C", world.Checkout, "rev-parse", "--short=12", "HEAD").Output()
	if err != nil {
		t.Skip("there is no history here: packages name a commit")
	}
	w := world.New(t, "make", "tar", "man")
	sums := dist(t, w.Path("one"), "022", "UTC")
	for _, name := range []string{
		"-linux-" + runtime.GOARCH + ".tar.gz", runtime.GOARCH + ".deb", ".rpm", ".cdx.json", "terminalproxy.rb",
		"-flake.tar.gz", "-oci.tar", "terminalproxy-0.1.0.tgz", "terminalproxy-linux-*-0.1.0.tgz",
	} {
		require.Regexp(t, strings.ReplaceAll(regexp.QuoteMeta(name), `\*`, `\w+`)+`\n`, sums)
	}
	require.Equal(t, 9, strings.Count(sums, "\n"), sums)
	require.Equal(t, sums, dist(t, w.Path("somewhere else"), "077", "Asia/Tokyo"))

	archives, err := filepath.Glob(w.Path("one/dist/*-linux-*.tar.gz"))
	require.NoError(t, err)
	require.Len(t, archives, 1)
	require.NoError(t, os.Mkdir(w.Path("unpacked"), 0o700))
	require.Zero(t, w.Do("tar", "-xzf", archives[0], "-C", w.Path("unpacked"), "--strip-components=1").Status)
	require.FileExists(t, w.Path("unpacked/share/doc/terminalproxy/THIRD-PARTY"))
	require.Zero(t, w.Do("make", "-C", world.MustAbs(t, world.Checkout), "uninstall", "PREFIX="+w.Path("unpacked")).Status)
	require.Empty(t, files(t, w.Path("unpacked")))

	debs, err := filepath.Glob(w.Path("one/dist/*.deb"))
	require.NoError(t, err)
	require.Len(t, debs, 1)
	dpkg := runDpkg(w, "disk")
	dpkg("--install", debs[0])
	bin := w.Path("disk/usr/bin")
	require.Contains(t, w.Do(bin+"/proxy", "--version").Out, strings.TrimSpace(string(commit)))
	require.Contains(t, w.Do(bin+"/gateway", "version").Out, strings.TrimSpace(string(commit)))
	require.Contains(t, w.Do("man", "-M", w.Path("disk/usr/share/man"), "proxy").Out, "--only-this-program")
	require.FileExists(t, w.Path("disk/usr/share/zsh/vendor-completions/_proxy"))
	licences := w.Content("disk/usr/share/doc/terminalproxy/THIRD-PARTY")
	require.Contains(t, licences, "==== github.com/creack/pty: LICENSE\n")
	checkPolicy(w, debs[0])

	s := w.Terminal(100, 24)
	s.Run("PATH=" + bin + ":$PATH; proxy --agent listener heard")
	s.Wait("listening") // until then the key would be the line discipline's
	id := w.Session()
	require.Contains(t, w.Do(bin+"/gateway", "ls").Out, id)
	s.Press("C-d")
	require.Zero(t, s.Status())

	dpkg("--purge", "terminalproxy")
	if left, err := os.ReadDir(w.Path("disk/usr")); err == nil {
		require.Empty(t, left)
	}
	t.Run("npm", func(t *testing.T) { checkInstalledByNpm(t, w, strings.TrimSpace(string(commit))) })
}

// checkPolicy has lintian compare the .deb with Debian's policy.
func checkPolicy(w *world.World, deb string) {
	w.T.Helper()
	if _, err := exec.LookPath("lintian"); err != nil {
		w.T.Log("lintian is not installed: Debian's policy is not checked")
		return
	}
	judged := w.Do("lintian", "--allow-root", "--fail-on", "error,warning", deb)
	require.Zero(w.T, judged.Status, judged.Out+judged.Err)
	require.Empty(w.T, judged.Out)
}

// checkInstalledByNpm installs the packages for npm from their files.
func checkInstalledByNpm(t *testing.T, w *world.World, commit string) {
	if _, err := exec.LookPath("npm"); err != nil {
		t.Skip("npm is not installed: its packages are made, and not installed")
	}
	packages, err := filepath.Glob(w.Path("one/dist/*.tgz"))
	require.NoError(t, err)
	require.Len(t, packages, 2)
	installed := w.Do("npm", append([]string{
		"install", "--global", "--prefix", w.Path("npm"), "--offline", "--ignore-scripts", "--no-audit", "--no-fund",
	}, packages...)...)
	require.Zero(t, installed.Status, installed.Err)
	require.Contains(t, w.Do(w.Path("npm/bin/proxy"), "--version").Out, commit)
	require.Contains(t, w.Do(w.Path("npm/bin/gateway"), "version").Out, commit)
	require.Equal(t, 7, w.Do(w.Path("npm/bin/proxy"), "sh", "-c", "exit 7").Status)
}

// runDpkg returns dpkg for an empty system below a directory of the world.
func runDpkg(w *world.World, dir string) func(args ...string) {
	w.T.Helper()
	if _, err := exec.LookPath("dpkg"); err != nil {
		w.T.Skip("dpkg is not installed: the .deb is made, and not installed")
	}
	program := []string{"dpkg"}
	if os.Geteuid() != 0 {
		program = []string{"unshare", "--map-root-user", "dpkg"}
		if out, err := w.Command("unshare", "--map-root-user", "true").CombinedOutput(); err != nil {
			world.NeedsRoot(w.T, "to install the .deb, as there are no user namespaces: "+string(out))
		}
	}
	require.NoError(w.T, os.MkdirAll(w.Path(dir+"/var/lib/dpkg/info"), 0o755))
	require.NoError(w.T, os.MkdirAll(w.Path(dir+"/var/lib/dpkg/updates"), 0o755))
	w.Write(dir+"/var/lib/dpkg/status", "")
	return func(args ...string) {
		w.T.Helper()
		cmd := w.Command(program[0], append(program[1:], append([]string{"--root=" + w.Path(dir), "--force-script-chrootless"}, args...)...)...)
		cmd.Env = append(cmd.Env, "PATH="+os.Getenv("PATH")+":/usr/sbin:/sbin") // dpkg looks for ldconfig
		out, err := cmd.CombinedOutput()
		require.NoError(w.T, err, "%s", out)
	}
}
