package protocol

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestCompilePattern(t *testing.T) {
	for _, fits := range []string{"error", `^\d+L, \d+B written$`, `(?i)fail(ed|ure)`, `[0-9a-f]{40}`, strings.Repeat("x", MaxPattern), `\p{L}{1,100}`} {
		re, err := CompilePattern("regex", fits)
		require.NoError(t, err, fits)
		require.Equal(t, fits, re.String())
	}
	for pattern, say := range map[string]string{
		"(":                          `field "regex": is no RE2 regular expression: missing closing ): "("`,
		`(?=x)`:                      `field "regex": is no RE2 regular expression: invalid or unsupported Perl syntax: "(?="`,
		`x{1001}`:                    `field "regex": is no RE2 regular expression: invalid repeat count: "{1001}"`,
		`([0-9]?[0-9]?){300}x`:       `at most 1200; repeat less`,
		`((a?){30}b?){30}`:           `at most 1200; repeat less`,
		strings.Repeat(`\w{99}`, 20): `field "regex": is too large a regular expression: `,
	} {
		_, err := CompilePattern("regex", pattern)
		require.ErrorContains(t, err, say, pattern)
	}
}
