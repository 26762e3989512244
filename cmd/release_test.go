package cmd_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"go.yaml.in/yaml/v3"
)

// job is a job of a workflow, as far as these tests go.
type job struct {
	Needs       []string
	Permissions map[string]string
	Steps       []struct {
		Run, Uses string
		With      map[string]string
	}
}

func readJobs(t *testing.T) map[string]job {
	t.Helper()
	text, err := os.ReadFile("../.github/workflows/ci.yml")
	require.NoError(t, err)
	var workflow struct{ Jobs map[string]job }
	require.NoError(t, yaml.Unmarshal(text, &workflow))
	return workflow.Jobs
}

// TestJobsRunWhatIsThere: the scripts that jobs run exist, and jobs wait for jobs.
func TestJobsRunWhatIsThere(t *testing.T) {
	jobs, scripts := readJobs(t), 0
	for name, j := range jobs {
		for _, needed := range j.Needs {
			require.Contains(t, jobs, needed, name)
		}
		for _, step := range j.Steps {
			require.True(t, (step.Run == "") != (step.Uses == ""), name)
			for _, script := range regexp.MustCompile(`(?m)^\.ci/\w+`).FindAllString(step.Run, -1) {
				scripts++
				info, err := os.Stat("../" + script)
				require.NoError(t, err)
				require.NotZero(t, info.Mode()&0o100, script)
			}
		}
	}
	require.Equal(t, 2, scripts)
	for _, name := range []string{"fast", "macos", "wsl"} {
		var lines []string
		for _, step := range jobs[name].Steps {
			lines = append(lines, strings.Split(step.Run, "\n")...)
		}
		require.Contains(t, lines, "make check", name)
	}
}

// TestAReleaseIsCheckedBuiltAndAttested: a tag's job checks the tag first, and attests to each file
// that it uploads but the list of their checksums.
func TestAReleaseIsCheckedBuiltAndAttested(t *testing.T) {
	release := readJobs(t)["release"]
	require.Subset(t, release.Needs, []string{"fast", "whole", "macos"})
	require.Equal(t, map[string]string{"contents": "write", "id-token": "write", "attestations": "write"}, release.Permissions)
	steps := release.Steps[len(release.Steps)-4:]
	require.Equal(t, `.ci/tagged "$GITHUB_REF_NAME" "$GITHUB_SERVER_URL/$GITHUB_REPOSITORY"`, steps[0].Run)
	require.Equal(t, "make dist", steps[1].Run)
	require.Regexp(t, `^actions/attest-build-provenance@`, steps[2].Uses)
	require.Equal(t, "dist/SHA256SUMS", steps[2].With["subject-checksums"])
	require.Regexp(t, `^gh release create "\$GITHUB_REF_NAME" .* dist/\*$`, steps[3].Run)
	makefile, err := os.ReadFile("../Makefile")
	require.NoError(t, err)
	require.Regexp(t, `(?m)^DIST\s+= dist$`, string(makefile))
}

// TestATagNamesItsRelease: .ci/tagged refuses a tag, an address or a changelog of another release.
func TestATagNamesItsRelease(t *testing.T) {
	dir := t.TempDir()
	place := func(name, text string, mode os.FileMode) {
		path := filepath.Join(dir, name)
		require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o700))
		require.NoError(t, os.WriteFile(path, []byte(text), mode))
	}
	for name, mode := range map[string]os.FileMode{".ci/tagged": 0o700, ".ci/nfpm.yaml": 0o600, "cmd/internal/process/version/version.go": 0o600} {
		text, err := os.ReadFile("../" + name)
		require.NoError(t, err)
		place(name, string(text), mode)
	}
	source, err := os.ReadFile("internal/process/version/version.go")
	require.NoError(t, err)
	version := regexp.MustCompile(`const Release = "(.+)"`).FindStringSubmatch(string(source))[1]
	text, err := os.ReadFile("../.ci/nfpm.yaml")
	require.NoError(t, err)
	homepage := regexp.MustCompile(`(?m)^homepage: (https://\S+)$`).FindStringSubmatch(string(text))[1]
	for _, test := range []struct{ tag, repository, heading, says string }{
		{"v" + version, homepage, "## " + version + ", 1 December 2026", ""},
		{"v9" + version, homepage, "## " + version + ", 1 December 2026", "the tag is v9"},
		{"v" + version, homepage + "2", "## " + version + ", 1 December 2026", "the repository is " + homepage + "2,"},
		{"v" + version, homepage, "## Unreleased", "CHANGELOG.md has no heading ## " + version},
	} {
		place("CHANGELOG.md", "# Changelog\n\n"+test.heading+"\n", 0o600)
		out, err := exec.CommandContext(t.Context(), filepath.Join(dir, ".ci/tagged"), test.tag, test.repository).CombinedOutput()
		require.Equal(t, test.says == "", err == nil, "%s", out)
		require.Contains(t, string(out), test.says)
	}
}
