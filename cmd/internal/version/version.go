// Package version names the build of a command. It must not know which command that is.
package version

import (
	"runtime/debug"
	"strings"
)

// Release is the newest one in CHANGELOG.md. What is built after it is told apart by its commit.
const Release = "0.1.0"

// String is the release, and for a build from a checkout its commit and the commit's day, as in "0.1.0 (commit 0123456789ab,
// 2026-11-22)". It may be called from any goroutine.
func String() string { return name(settings()) }

// Date is the day of the build's commit, as in 2026-11-22, "" where it is not known.
func Date() string { return day(settings()) }

// settings are those of the build, by their names; none without build information.
func settings() map[string]string {
	found := make(map[string]string)
	if info, ok := debug.ReadBuildInfo(); ok {
		for _, s := range info.Settings {
			found[s.Key] = s.Value
		}
	}
	return found
}

func name(settings map[string]string) string {
	commit := settings["vcs.revision"]
	if commit == "" {
		return Release
	}
	about := "commit " + commit[:min(12, len(commit))]
	if settings["vcs.modified"] == "true" {
		about += " with changes"
	}
	if on := day(settings); on != "" {
		about += ", " + on
	}
	return Release + " (" + about + ")"
}

func day(settings map[string]string) string {
	on, _, _ := strings.Cut(settings["vcs.time"], "T")
	return on
}
