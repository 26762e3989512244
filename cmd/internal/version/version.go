// Package version names the build of a command. It must not know which command that is.
package version

import "runtime/debug"

// String is the module's version, and for a build from a checkout the commit; "unknown" without build information. It may
// be called from any goroutine.
func String() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "unknown"
	}
	v := info.Main.Version
	for _, s := range info.Settings {
		if s.Key == "vcs.revision" && v == "(devel)" {
			v += " " + s.Value[:min(12, len(s.Value))]
		}
	}
	return v
}
