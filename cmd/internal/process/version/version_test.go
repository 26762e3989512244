package version

import (
	"os"
	"regexp"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestWhatABuildIsCalled(t *testing.T) {
	commit := map[string]string{"vcs.revision": "0123456789abcdef0123456789abcdef01234567", "vcs.time": "2026-11-22T21:03:27Z"}
	require.Equal(t, Release+" (commit 0123456789ab, 2026-11-22)", describeBuild(commit))
	commit["vcs.modified"] = "true"
	require.Equal(t, Release+" (commit 0123456789ab with changes, 2026-11-22)", describeBuild(commit))
	require.Equal(t, Release+" (commit 0123)", describeBuild(map[string]string{"vcs.revision": "0123"}))
	require.Equal(t, Release, describeBuild(nil))
	require.Equal(t, Release, String(), "a test's binary knows no commit")
	require.Empty(t, Date())
}

// TestTheReleaseIsTheChangelogs: the newest release stands below the changes that are not released.
// Before the first release the changelog says so and names the version of the builds.
func TestTheReleaseIsTheChangelogs(t *testing.T) {
	changes, err := os.ReadFile("../../../../CHANGELOG.md")
	require.NoError(t, err)
	heads := regexp.MustCompile(`(?m)^## (.*)$`).FindAllStringSubmatch(string(changes), 2)
	require.NotEmpty(t, heads)
	require.Equal(t, "Unreleased", heads[0][1])
	if len(heads) == 1 {
		require.Contains(t, string(changes), "No version is released yet; builds name themselves "+Release+" ")
		return
	}
	require.NotContains(t, string(changes), "No version is released yet")
	require.Regexp(t, `^`+regexp.QuoteMeta(Release)+`, \d{4}-\d\d-\d\d$`, heads[1][1])
}
