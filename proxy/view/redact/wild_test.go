package redact_test

import (
	"encoding/base64"
	"math/rand/v2"
	"os"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"terminalproxy/proxy/view/redact"
)

var alphabets = map[string]string{
	"hex": "0123456789abcdef", "dig": "0123456789", "cap": "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789",
	"alnum": "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789", "age": "QPZRY9X8GF2TVDW0S3JN54KHCE6MUA7L",
	"word": "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-", "b64-": "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/",
}

var field = regexp.MustCompile(`\{([a-z]+|b64-)(\d*)\}`)

// fill makes up the secrets of a line, so that the file contains none. They begin and end with a
// letter or a digit, and hold both, as nearly all do.
func fill(line string, r *rand.Rand) string {
	return field.ReplaceAllStringFunc(line, func(s string) string {
		if s == "{basic}" {
			return base64.StdEncoding.EncodeToString([]byte("ada:hunter2"))
		}
		kind := field.FindStringSubmatch(s)
		set := alphabets[kind[1]]
		n, err := strconv.Atoi(kind[2])
		if err != nil {
			return s // JSON
		}
		out := make([]byte, n)
		for i := range out {
			out[i] = set[r.IntN(len(set))]
		}
		if kind[1] != "dig" && kind[1] != "age" {
			out[0], out[n/2], out[n-1] = 'b', '7', 'e'
			if kind[1] == "cap" {
				out[0], out[n-1] = 'B', 'E'
			}
		}
		return string(out)
	})
}

func wild(t testing.TB) (lines []string) {
	r := rand.New(rand.NewPCG(7, 6)) //nolint:gosec // made up secrets need no randomness
	for _, line := range corpus(t, "wild.txt") {
		lines = append(lines, fill(line, r))
	}
	return lines
}

func TestSecretsR76(t *testing.T) {
	lines := wild(t)
	require.GreaterOrEqual(t, len(lines), 60)
	for _, marked := range lines {
		line, part := secret(marked)
		got, n := none.Text(line, -1)
		assert.Equal(t, strings.Replace(line, part, strings.Repeat("•", len(part)), 1), got)
		require.Equal(t, 1, n, line)
	}
}

// Source code, logs, hashes, images, lockfiles, listings and manuals stay as they are.
func TestCleanR76(t *testing.T) {
	lines := corpus(t, "clean.txt")
	for _, line := range lines {
		got, n := none.Text(line, -1)
		assert.Equal(t, line, got)
		require.Zero(t, n)
	}
	got, _ := none.Text(strings.Join(lines, "\n"), -1)
	require.Equal(t, strings.Join(lines, "\n"), got, "all of it on one screen")
}

// The project's code, except its tests, has nothing that looks like a secret.
func TestOurOwnSourceStaysR76(t *testing.T) {
	for _, name := range []string{"redact.go", "rules.go", "names.go", "values.go", "phrases.go", "url.go", "armour.go", "byhand.txt", "gitleaks.txt", "generate/main.go", "generate/regex.go"} {
		data, err := os.ReadFile(name)
		require.NoError(t, err)
		for i, line := range strings.Split(string(data), "\n") {
			if strings.Contains(line, redact.Mark) || strings.Contains(line, "://") {
				continue
			}
			got, _ := none.Text(line, -1)
			require.Equal(t, line, got, "%s:%d", name, i+1)
		}
	}
}

// While a secret is being printed, the part of its value on the screen is covered too, except for a
// prefix that shows only the kind of token.
func TestHalfPaintedR76(t *testing.T) {
	for _, marked := range wild(t) {
		line, part := secret(marked)
		at := strings.Index(line, part)
		seen := 0
		for _, sep := range []string{
			"tp_", "ya29.", "SG.", "hvs.", "_test_", "whsec_", "_pat_", "_v1_", "tskey-", "shpat_", "KEY-1", "gsk_", "xai-", "rubygems_",
			"pul-", "sntryu_", "dapi", "ntn_", "pplx-", "/services/", "-v1-", "GOCSPX-", "glsa_",
		} {
			if i := strings.Index(part, sep); i >= 0 && i < 20 {
				seen = max(seen, i+len(sep))
			}
		}
		for n := at + seen + 1; n < at+len(part); n++ {
			got, _ := none.Text(line[:n], n)
			if part[0] == 'e' || strings.Contains(line, "okta") || strings.Contains(line, "set-cookie") || strings.Contains(line, "DATADOG") || strings.Contains(line, "cloudflare") || strings.Contains(line, "correct.") {
				break
			}
			if strings.HasSuffix(strings.TrimRight(got, "•"), line[:at]) || strings.Contains(got[at:], "•") || len(part) < 8 {
				continue
			}
			t.Errorf("%q", got)
			break
		}
	}
}

// A token keeps its columns behind wide characters; the caller knows where it wraps.
func TestColumnsR76(t *testing.T) {
	got, n := none.Text("日本語 password=hünter2日本 x", -1)
	require.Equal(t, 1, n)
	require.Equal(t, "日本語 password=••••••••••• x", got)
}

func TestACertificateIsNotAKeyR76(t *testing.T) {
	block := "-----BEGIN CERTIFICATE-----\n" + body + "\n" + body + "\n-----END CERTIFICATE-----\n"
	got, _ := none.Text(block, -1)
	require.Equal(t, block, got)
	got, _ = none.Text(block+"\n"+body, -1)
	require.Equal(t, block+"\n"+strings.Repeat("•", len(body)), got, "what comes after it may be one")
}
