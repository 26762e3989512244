package askpass

import (
	"bytes"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// What git tells of a credential becomes the words of git's own prompts.
func TestWhatGitTellsOfACredential(t *testing.T) {
	for lines, want := range map[string][]string{
		"protocol=https\nhost=example.com\n":                                      {"https://example.com", ""},
		"protocol=http\nhost=example.com:8080\nusername=ada\nwwwauth[]=Basic x\n": {"http://example.com:8080", "ada"},
		"protocol=https\nhost=example.com\npath=a/b.git\n\nhost=late\n":           {"https://example.com/a/b.git", ""},
		"protocol=cert\npath=/key\n":                                              nil,
		"protocol=https\n":                                                        nil,
		"protocol\n=\n\x00":                                                       nil,
		"":                                                                        nil,
		"protocol=https\nhost=" + strings.Repeat("x", maxCredential): nil,
	} {
		host, user, known := readCredential(strings.NewReader(lines))
		require.Equal(t, want != nil, known, "%.60q", lines)
		if known {
			require.Equal(t, want, []string{host, user}, lines)
		}
	}
}

// Without a gateway, and for questions that it does not handle, the helper leaves git as it was.
func TestACredentialHelperStaysSilent(t *testing.T) {
	t.Setenv("TERMINALPROXY_DIR", t.TempDir())
	for _, action := range []string{"get", "store", "erase", "capability", ""} {
		var out bytes.Buffer
		require.Zero(t, serveCredential(action, strings.NewReader("protocol=https\nhost=example.com\npassword=x\n"), &out))
		require.Empty(t, out.String(), action)
	}
}
