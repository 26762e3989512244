// Package version describes the build of any command: its release, commit and day.
package version

import (
	"runtime/debug"
	"strings"
)

// Release is the newest in CHANGELOG.md, or the first to come. The commit tells later builds apart.
const Release = "0.1.0"

// String returns the release. A build from a checkout adds its commit and the commit's day, as in
// "0.1.0 (commit 0123456789ab, 2026-11-22)". Any goroutine may call it.
func String() string { return describeBuild(readSettings()) }

// Date returns the day of the build's commit, as in 2026-11-22, or "" if it is unknown.
func Date() string { return commitDay(readSettings()) }

// readSettings returns the build's settings by their names. It is empty without build information.
func readSettings() map[string]string {
	found := make(map[string]string)
	if info, ok := debug.ReadBuildInfo(); ok {
		for _, s := range info.Settings {
			found[s.Key] = s.Value
		}
	}
	return found
}

func describeBuild(settings map[string]string) string {
	commit := settings["vcs.revision"]
	if commit == "" {
		return Release
	}
	about := "commit " + commit[:min(12, len(commit))]
	if settings["vcs.modified"] == "true" {
		about += " with changes"
	}
	if day := commitDay(settings); day != "" {
		about += ", " + day
	}
	return Release + " (" + about + ")"
}

func commitDay(settings map[string]string) string {
	day, _, _ := strings.Cut(settings["vcs.time"], "T")
	return day
}
