package redact_test

import (
	"os"
	"strings"
	"testing"

	"github.com/clipperhouse/displaywidth"
	"github.com/stretchr/testify/require"

	"terminalproxy/proxy/view/redact"
)

var none *redact.Own // without rules of the user

// corpus reads testdata. The dots within the secrets keep other people's scanners calm.
func corpus(t testing.TB, name string) []string {
	t.Helper()
	data, err := os.ReadFile("testdata/" + name)
	require.NoError(t, err)
	return strings.Split(strings.TrimSuffix(strings.ReplaceAll(string(data), "·", ""), "\n"), "\n")
}

// secret returns a line of the corpus and its secret part.
func secret(marked string) (line, part string) {
	before, rest, _ := strings.Cut(marked, "«")
	part, after, _ := strings.Cut(rest, "»")
	return before + part + after, part
}

func TestSecretsR28(t *testing.T) {
	lines := corpus(t, "secrets.txt")
	require.Len(t, lines, 40)
	for _, marked := range lines {
		line, part := secret(marked)
		got, n := none.Text(line, -1)
		require.Equal(t, strings.Replace(line, part, strings.Repeat("•", len(part)), 1), got)
		require.Equal(t, 1, n, line)
	}
}

func TestLookAlikesR28(t *testing.T) {
	lines := corpus(t, "lookalikes.txt")
	require.Len(t, lines, 40)
	for _, line := range lines {
		got, n := none.Text(line, -1)
		require.Equal(t, line, got)
		require.Zero(t, n)
	}
}

// Whatever part of a secret has been printed, the characters that make it a secret are never
// visible.
func TestHalfPaintedR29(t *testing.T) {
	prefixes := []string{
		"sk-ant-", "sk-proj-", "sk-svcacct-", "sk_live_", "rk_live_", "github_pat_", "ghp_", "gho_", "ghs_", "ghu_", "ghr_", "npm_", "hf_",
		"pypi-", "glpat-", "xoxb-", "xoxp-", "xoxe-", "xapp-", "AKIA", "ASIA", "AIza", "sk-", "eyJ",
	}
	for _, marked := range corpus(t, "secrets.txt") {
		line, part := secret(marked)
		at := strings.Index(line, part)
		seen := 0 // of the secret, at most its prefix may be
		for _, p := range prefixes {
			if strings.HasPrefix(part, p) {
				seen = len(p)
				break
			}
		}
		if strings.HasPrefix(part, "eyJ") {
			seen = 10 // the beginning of a header, the same in all
		}
		for n := at + 1; n < at+len(part); n++ {
			got, _ := none.Text(line[:n], n)
			shown := strings.TrimRight(got[at:], "•")
			if strings.HasSuffix(line[:at], ":") && strings.Contains(line, "@") && len(shown) <= len("65535") {
				shown = strings.Trim(shown, "0123456789") // it may be the number of a port so far
			}
			require.LessOrEqual(t, len(shown), seen, "%q", got)
		}
	}
}

func TestPasswordInAURLWithTheSignThatEndsIt(t *testing.T) {
	got, _ := none.Text("amqp://a:p@ss:w0rd@mq/vhost me@example.com", -1)
	require.Equal(t, "amqp://a:•••••••••@mq/vhost me@example.com", got)
}

func TestWideCharactersKeepTheColumnsR29(t *testing.T) {
	in := "日本 DB_PASSWORD='日本語abc日本' x"
	got, n := none.Text(in, -1)
	require.Equal(t, 1, n)
	require.Equal(t, "日本 DB_PASSWORD='•••••••••••••' x", got)
	require.Equal(t, displaywidth.String(in), displaywidth.String(got))
}

const body = "MIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSjAgEAAoIBAQC7VJTUt9Us8cKj"

func TestPrivateKeysR28(t *testing.T) {
	dots := func(s string) string { return strings.Repeat("•", len(s)) }
	head, tail := "-----BEGIN "+"RSA PRIVATE KEY-----", "-----END "+"RSA PRIVATE KEY-----"
	tests := []struct{ name, in, want string }{
		{"whole", "a\n" + head + "\n" + body + "\nabc=\n" + tail + "\nb", "a\n" + head + "\n" + dots(body) + "\n••••\n" + tail + "\nb"},
		{"being printed", head + "\n" + body + "\nMII", head + "\n" + dots(body) + "\n•••"},
		{"begin scrolled away", "MIIab\n" + body + "\nabc=\n" + tail, "•••••\n" + dots(body) + "\n••••\n" + tail},
		{"the middle of one", body + "\n" + body, dots(body) + "\n" + dots(body)},
		{"on one line", head + `\n` + body + `\n` + tail, head + dots(`\n`+body+`\n`) + tail},
		{"with headers", head + "\nProc-Type: 4,ENCRYPTED\n\n" + body + "\n" + tail, head + "\n" + dots("Proc-Type: 4,ENCRYPTED") + "\n\n" + dots(body) + "\n" + tail},
		{"cut off", head + "\n" + body + "\n$ ls\nREADME", head + "\n" + dots(body) + "\n$ ls\nREADME"},
		{"a public one", "-----BEGIN PUBLIC KEY-----\nabc=\n-----END PUBLIC KEY-----", "-----BEGIN PUBLIC KEY-----\nabc=\n-----END PUBLIC KEY-----"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, _ := none.Text(tt.in, -1)
			require.Equal(t, tt.want, got)
		})
	}
}

func TestPrivateKeyInAnEditorR28(t *testing.T) {
	in := " 1 -----BEGIN " + "PRIVATE KEY-----\n 2 " + body + "\n 3 abc=\n 4 -----END " + "PRIVATE KEY-----\n~"
	got, n := none.Text(in, -1)
	require.Equal(t, 3, n)
	dots := strings.Repeat("•", 2+len(body)) // the number of the row as well
	require.Equal(t, " 1 -----BEGIN "+"PRIVATE KEY-----\n "+dots+"\n ••••••\n • -----END "+"PRIVATE KEY-----\n~", got)
}

func TestNothingIsPrintedNowhere(t *testing.T) {
	spans := none.Find(nil, []string{"hf_abc", "hf_abc"}, redact.Place{Line: 1, Offset: 6}, nil)
	require.Equal(t, []redact.Span{{Line: 1, From: 0, To: 6}}, spans)
	require.Empty(t, none.Find(nil, []string{"hf_abc", "hf_abc"}, redact.Nowhere, nil))
}

func TestCover(t *testing.T) {
	require.Equal(t, "a•••e", redact.Cover("abcde", 1, 4))
	require.Equal(t, "abcde", redact.Cover("abcde", 4, 2))
	require.Equal(t, "abc••", redact.Cover("abcde", 3, 99))
	require.Equal(t, "••", redact.Cover("abcde", -3, 99)[:len("••")])
}

func TestANSI(t *testing.T) {
	row := "\x1b[0;1mab\x1b[0;38;5;2mc日本d\x1b[0m"
	require.Equal(t, "\x1b[0;1ma•\x1b[0;38;5;2m•••本d\x1b[0m", redact.ANSI(row, func(col int) bool { return col >= 1 && col < 4 }))
	require.Equal(t, row, redact.ANSI(row, func(int) bool { return false }))
}

// FuzzText checks that covering keeps every line as wide as it was, and that covering again changes
// nothing.
func FuzzText(f *testing.F) {
	for _, name := range []string{"secrets.txt", "lookalikes.txt"} {
		for _, line := range corpus(f, name) {
			f.Add(strings.NewReplacer("«", "", "»", "").Replace(line), len(line)/2)
		}
	}
	f.Add("-----BEGIN "+"PRIVATE KEY-----\n"+body+"\n-----END "+"PRIVATE KEY-----", -1)
	f.Fuzz(func(t *testing.T, in string, at int) {
		got, n := none.Text(in, at)
		if (n == 0) != (got == in) && !strings.Contains(in, "•") {
			t.Fatalf("%q became %q, and %d were counted", in, got, n)
		}
		a, b := strings.Split(in, "\n"), strings.Split(got, "\n")
		if len(a) != len(b) {
			t.Fatalf("%q became %q", in, got)
		}
	})
}
