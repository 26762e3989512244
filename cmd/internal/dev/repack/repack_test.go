package main

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

const (
	manifest = "../../../../.ci/nfpm.yaml"
	epoch    = "1795381407"
)

// makeArchives writes an archive of each system, whose programs print it and their arguments.
func makeArchives(t *testing.T) (dir string) {
	t.Helper()
	dir = t.TempDir()
	r := release{Name: "terminalproxy", dir: dir}
	for _, system := range []string{"darwin-amd64", "darwin-arm64", "linux-amd64", "linux-arm64"} {
		top := "terminalproxy-1.2.3-" + system
		script := []byte("#!/bin/sh\necho " + system + " ${0##*/} $$ \"$@\"\n")
		require.NoError(t, r.writeArchive(top+".tar.gz", []file{
			{name: top + "/bin/", mode: 0o755},
			{name: top + "/bin/proxy", mode: 0o755, content: script},
			{name: top + "/bin/gateway", mode: 0o755, content: script},
			{name: top + "/share/doc/terminalproxy/LICENSE", mode: 0o644, content: []byte("MIT")},
			{name: top + "/share/doc/terminalproxy/README.md", mode: 0o644},
			{name: top + "/share/doc/terminalproxy/THIRD-PARTY", mode: 0o644},
			{name: top + "/share/doc/terminalproxy/docs/README.md", mode: 0o644, content: []byte("other")},
		}))
	}
	return dir
}

func repackAll(t *testing.T) (dir string) {
	t.Helper()
	dir = makeArchives(t)
	require.NoError(t, repackArchives(manifest, "1.2.3", dir, epoch))
	return dir
}

func readFile(t *testing.T, dir, name string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(dir, name))
	require.NoError(t, err)
	return string(text)
}

// unpack returns what a tar archive holds, by name.
func unpack(t *testing.T, packed string) (headers map[string]*tar.Header, contents map[string]string) {
	t.Helper()
	var from io.Reader = strings.NewReader(packed)
	if strings.HasPrefix(packed, "\x1f\x8b") {
		unzipped, err := gzip.NewReader(from)
		require.NoError(t, err)
		from = unzipped
	}
	headers, contents = make(map[string]*tar.Header), make(map[string]string)
	for in := tar.NewReader(from); ; {
		header, err := in.Next()
		if errors.Is(err, io.EOF) {
			return headers, contents
		}
		require.NoError(t, err)
		require.NotContains(t, headers, header.Name)
		content, err := io.ReadAll(in)
		require.NoError(t, err)
		headers[header.Name], contents[header.Name] = header, string(content)
	}
}

// runIfInstalled runs a program that this machine may lack.
func runIfInstalled(t *testing.T, name string, args ...string) string {
	t.Helper()
	if _, err := exec.LookPath(name); err != nil {
		t.Logf("%s is not installed: the syntax is not checked", name)
		return ""
	}
	var diagnosis bytes.Buffer
	cmd := exec.CommandContext(t.Context(), name, args...)
	cmd.Stderr = &diagnosis
	out, err := cmd.Output()
	require.NoError(t, err, "%s %s", out, &diagnosis)
	return string(out)
}

func TestTheSameArchivesGiveTheSameBytes(t *testing.T) {
	one, two := repackAll(t), repackAll(t)
	names, err := os.ReadDir(one)
	require.NoError(t, err)
	require.Len(t, names, 4+1+1+5+1)
	for _, name := range names {
		require.Equal(t, readFile(t, one, name.Name()), readFile(t, two, name.Name()), name.Name())
	}
}

// Each address of the formula and of the flake is that of an archive, with its checksum, in the
// place of its system.
func TestFormulaAndFlakeNameTheArchives(t *testing.T) {
	dir := repackAll(t)
	_, flake := unpack(t, readFile(t, dir, "terminalproxy-1.2.3-flake.tar.gz"))
	entry := regexp.MustCompile(`url (?:= )?"(\S+)/releases/download/v1\.2\.3/(\S+)";?\s+sha256 (?:= )?"(\w+)"`)
	for name, text := range map[string]string{
		"formula": readFile(t, dir, "terminalproxy.rb"), "flake": flake["terminalproxy/flake.nix"],
	} {
		found := entry.FindAllStringSubmatch(text, -1)
		require.Len(t, found, 4, name)
		for _, f := range found {
			require.Contains(t, readFile(t, "", manifest), "homepage: "+f[1]+"\n")
			require.Equal(t, sumHex([]byte(readFile(t, dir, f[2]))), f[3], name)
		}
	}
	formula := strings.Join(strings.Fields(readFile(t, dir, "terminalproxy.rb")), " ")
	require.Regexp(t, `on_linux do on_intel do url \S+linux-amd64.tar.gz" sha256 \S+ end on_arm do url \S+linux-arm64`, formula)
	require.Regexp(t, `on_macos do on_intel do url \S+darwin-amd64.tar.gz" sha256 \S+ end on_arm do url \S+darwin-arm64`, formula)
	runIfInstalled(t, "ruby", "-c", filepath.Join(dir, "terminalproxy.rb"))

	path := filepath.Join(t.TempDir(), "flake.nix")
	require.NoError(t, os.WriteFile(path, []byte(flake["terminalproxy/flake.nix"]), 0o600))
	for _, system := range []string{"x86_64-linux linux-amd64", "aarch64-darwin darwin-arm64"} {
		name, archive, _ := strings.Cut(system, " ")
		require.Regexp(t, name+` = \{\s+url = "\S+`+archive, flake["terminalproxy/flake.nix"])
		out := runIfInstalled(t, "nix-instantiate", "--store", "dummy://", "--eval", "--strict", "--expr", `((import `+path+`).outputs {
			self = null;
			nixpkgs.legacyPackages.`+name+` = { stdenvNoCC.mkDerivation = it: it; fetchurl = it: it.url; };
		}).packages.`+name+`.default.src`)
		require.True(t, out == "" || strings.Contains(out, archive), out)
	}
}

// npm links the launcher as the program. The launcher becomes the program of the machine's package,
// wherever npm put that. Without it, the launcher names the missing package.
func TestTheLauncherBecomesTheProgram(t *testing.T) {
	dir, modules := repackAll(t), t.TempDir()
	system := "terminalproxy-" + runtime.GOOS + "-" + processors[runtime.GOARCH].NPM
	install := func(name, to string) {
		_, contents := unpack(t, readFile(t, dir, name+"-1.2.3.tgz"))
		for path, content := range contents {
			at := filepath.Join(modules, to, strings.TrimPrefix(path, "package/"))
			require.NoError(t, os.MkdirAll(filepath.Dir(at), 0o700))
			require.NoError(t, os.WriteFile(at, []byte(content), 0o700)) //nolint:gosec // programs
		}
	}
	install("terminalproxy", "terminalproxy")
	linked := filepath.Join(modules, "gateway")
	require.NoError(t, os.Symlink("terminalproxy/bin/gateway", linked))
	out, err := exec.CommandContext(t.Context(), linked, "ls").CombinedOutput()
	require.ErrorContains(t, err, "exit status 127")
	require.Contains(t, string(out), "gateway: the package "+system+" is not installed")
	for _, place := range []string{system, "terminalproxy/node_modules/" + system} {
		install(system, place)
		// The shell prints its own process id first, which the program keeps.
		out, err := exec.CommandContext(t.Context(), "sh", "-c", `echo $$; exec "$@"`, "sh", linked, "two words", "").CombinedOutput()
		require.NoError(t, err, "%s", out)
		pid, printed, _ := strings.Cut(string(out), "\n")
		require.Equal(t, runtime.GOOS+"-"+runtime.GOARCH+" gateway "+pid+" two words \n", printed)
		require.NoError(t, os.RemoveAll(filepath.Join(modules, place)))
	}
}

func TestPackagesForNpmRunNoScripts(t *testing.T) {
	dir := repackAll(t)
	_, contents := unpack(t, readFile(t, dir, "terminalproxy-1.2.3.tgz"))
	var about struct {
		Name, Version, License string
		Bin                    map[string]string
		OptionalDependencies   map[string]string
		Scripts                map[string]string
	}
	require.NoError(t, json.Unmarshal([]byte(contents["package/package.json"]), &about))
	require.Equal(t, "terminalproxy 1.2.3 MIT", about.Name+" "+about.Version+" "+about.License)
	require.Equal(t, map[string]string{"proxy": "bin/proxy", "gateway": "bin/gateway"}, about.Bin)
	require.Len(t, about.OptionalDependencies, 4)
	for name, version := range about.OptionalDependencies {
		headers, contents := unpack(t, readFile(t, dir, name+"-"+version+".tgz"))
		require.Equal(t, int64(0o755), headers["package/bin/proxy"].Mode)
		require.Equal(t, "MIT", contents["package/LICENSE"])
		require.NotContains(t, contents["package/package.json"], "scripts")
		var system struct{ OS, CPU []string }
		require.NoError(t, json.Unmarshal([]byte(contents["package/package.json"]), &system))
		require.Equal(t, "terminalproxy-"+system.OS[0]+"-"+system.CPU[0], name)
	}
	require.Empty(t, about.Scripts)
}

// followDescriptor returns the blob, which has the size and the digest that the descriptor names.
func followDescriptor(t *testing.T, blobs map[string]string, d descriptor) string {
	t.Helper()
	blob := blobs["blobs/"+strings.Replace(d.Digest, ":", "/", 1)]
	require.Equal(t, "sha256:"+sumHex([]byte(blob)), d.Digest)
	require.Len(t, blob, d.Size)
	return blob
}

func TestTheImageHasAnAgentBesideTheGateway(t *testing.T) {
	_, blobs := unpack(t, readFile(t, repackAll(t), "terminalproxy-1.2.3-oci.tar"))
	require.JSONEq(t, `{"imageLayoutVersion":"1.0.0"}`, blobs["oci-layout"])
	var index, systems struct{ Manifests []descriptor }
	require.NoError(t, json.Unmarshal([]byte(blobs["index.json"]), &index))
	require.Len(t, index.Manifests, 1)
	require.NoError(t, json.Unmarshal([]byte(followDescriptor(t, blobs, index.Manifests[0])), &systems))
	require.Len(t, systems.Manifests, 2)
	for _, system := range systems.Manifests {
		require.Equal(t, "linux", system.Platform["os"])
		var image struct {
			Config descriptor
			Layers []descriptor
		}
		require.NoError(t, json.Unmarshal([]byte(followDescriptor(t, blobs, system)), &image))
		var config struct {
			OS, Architecture string
			Config           struct {
				User       string
				Entrypoint []string
			}
			RootFS struct {
				DiffIDs []string `json:"diff_ids"`
			}
		}
		require.NoError(t, json.Unmarshal([]byte(followDescriptor(t, blobs, image.Config)), &config))
		require.Equal(t, system.Platform["architecture"], config.Architecture)
		require.Equal(t, "10001:10001", config.Config.User)
		require.Len(t, image.Layers, 1)
		headers, contents := unpack(t, followDescriptor(t, blobs, image.Layers[0]))
		unzipped, err := gzip.NewReader(strings.NewReader(followDescriptor(t, blobs, image.Layers[0])))
		require.NoError(t, err)
		layer, err := io.ReadAll(unzipped)
		require.NoError(t, err)
		require.Equal(t, []string{"sha256:" + sumHex(layer)}, config.RootFS.DiffIDs)
		require.Contains(t, contents["usr/bin/"+config.Config.Entrypoint[0]], "echo linux-"+config.Architecture)
		require.Equal(t, "MIT", contents["usr/share/doc/terminalproxy/LICENSE"])
		for name, owner := range map[string]int{"var/lib/terminalproxy/": 10001, "home/agent/": 10002} {
			require.Equal(t, owner, headers[name].Uid)
			require.Equal(t, int64(0o700), headers[name].Mode)
			require.Contains(t, contents["etc/passwd"], ":/"+strings.TrimSuffix(name, "/")+":")
		}
		require.Equal(t, int64(0o1777), headers["tmp/"].Mode)
	}
}

func TestWhatCannotBeRepacked(t *testing.T) {
	dir := makeArchives(t)
	require.ErrorContains(t, repackArchives(manifest, "1.2.3", dir, "soon"), "SOURCE_DATE_EPOCH")
	require.ErrorContains(t, repackArchives(manifest, "9.9.9", dir, epoch), "holds no archive")
	require.Error(t, repackArchives(filepath.Join(dir, "none"), "1.2.3", dir, epoch))
	part := filepath.Join(dir, "part.yaml")
	require.NoError(t, os.WriteFile(part, []byte("name: terminalproxy\n"), 0o600))
	require.ErrorContains(t, repackArchives(part, "1.2.3", dir, epoch), "homepage is missing")
	bad := filepath.Join(dir, "terminalproxy-1.2.3-linux-amd64.tar.gz")
	whole := readFile(t, "", bad)
	require.NoError(t, os.WriteFile(bad, []byte(whole[:len(whole)/2]), 0o600))
	require.ErrorContains(t, repackArchives(manifest, "1.2.3", dir, epoch), "linux-amd64")
	r := release{dir: dir}
	require.NoError(t, r.writeArchive(filepath.Base(bad), nil))
	require.ErrorContains(t, repackArchives(manifest, "1.2.3", dir, epoch), "programs or documents are missing")
	require.NoError(t, r.writeArchive("terminalproxy-1.2.3-linux-mips.tar.gz", nil))
	require.NoError(t, os.WriteFile(bad, []byte(whole), 0o600))
	require.ErrorContains(t, repackArchives(manifest, "1.2.3", dir, epoch), "linux-mips.tar.gz: npm, Homebrew and Nix have no names")
}
