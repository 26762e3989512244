package askpass

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// A git that keeps its trace free of passwords may ask; one that is told otherwise may not.
func TestWhichGitPrintsPasswords(t *testing.T) {
	for settings, want := range map[string]bool{
		"":                                          false,
		"GIT_TRACE_REDACT=0":                        false,
		"GIT_CURL_VERBOSE=1":                        false,
		"GIT_TRACE_CURL=1 GIT_TRACE_REDACT=1":       false,
		"GIT_TRACE_CURL=1 GIT_TRACE_REDACT=0":       true,
		"GIT_TRACE_CURL=/f GIT_TRACE_REDACT=":       true,
		"GIT_CURL_VERBOSE= GIT_TRACE_REDACT=False":  true,
		"GIT_CURL_VERBOSE=1 GIT_TRACE_REDACT=off":   true,
		"GIT_CURL_VERBOSE=1 GIT_TRACE_REDACT=no":    true,
		"GIT_CURL_VERBOSE=1 GIT_TRACE_REDACT=00":    true,
		"GIT_CURL_VERBOSE=1 GIT_TRACE_REDACT=false": true,
	} {
		require.Equal(t, want, printsPasswords(func(name string) (string, bool) {
			for _, one := range strings.Fields(settings) {
				if value, isIt := strings.CutPrefix(one, name+"="); isIt {
					return value, true
				}
			}
			return "", false
		}), settings)
	}
}

func TestWhichHelperIsTheStore(t *testing.T) {
	for helper, want := range map[string]bool{
		"store": true, "store --file=x": true, "/usr/lib/git-core/git-credential-store": true,
		"!git-credential-store": true, "!git credential-store --file x": true,
		"!'/usr/lib/git-core/git-credential-store' --file x": true,
		"cache": false, "!gh auth git-credential": false, "osxkeychain": false,
	} {
		got := false
		for word := range strings.FieldsSeq(helper) {
			got = got || isStore(word)
		}
		require.Equal(t, want, got, helper)
	}
}
