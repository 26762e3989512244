package redact_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"terminalproxy/proxy/view/redact"
)

func own(t *testing.T, add, allow []string) *redact.Own {
	t.Helper()
	o, err := redact.NewOwn(add, allow)
	require.NoError(t, err)
	return o
}

func TestRulesOfTheUsersOwn(t *testing.T) {
	token := "ghp_" + strings.Repeat("a1B2", 9)
	for _, c := range []struct {
		add, allow []string
		in, want   string
	}{
		{[]string{"ACME-[0-9]+"}, nil, "id ACME-123 and ACME-4\nACME-5 x", "id •••••••• and ••••••\n•••••• x"},
		{[]string{"pin: ([0-9]+)"}, nil, "pin: 1234 pin: no", "pin: •••• pin: no"},
		{[]string{"a(b)?"}, nil, "a ab", "• a•"},
		{[]string{"[a-z]+", "[b-d]+"}, nil, "abcde 1", "••••• 1"},
		{[]string{"日+"}, nil, "x日日y", "x••••y"},
		{nil, nil, token + " x", strings.Repeat("•", 40) + " x"},
		{nil, []string{"ghp_.*"}, token + " x", token + " x"},
		{nil, []string{"hp_[a-zA-Z0-9]*"}, token + " x", strings.Repeat("•", 40) + " x"},
		{[]string{"ghp_a"}, []string{"ghp_.*"}, token + " x", "•••••" + token[5:] + " x"},
		{[]string{"x"}, nil, token + " x", strings.Repeat("•", 40) + " •"},
		{[]string{"a1B2"}, nil, token + " x", strings.Repeat("•", 40) + " x"},
	} {
		got, n := own(t, c.add, c.allow).Text(c.in, -1)
		require.Equal(t, c.want, got, "%q %q", c.add, c.allow)
		require.Equal(t, c.want != c.in, n > 0)
	}
}

// A rule also applies to text that a row breaks in two, and only to the requested lines.
func TestOwnRulesInRows(t *testing.T) {
	r := redact.Rows{
		Own: own(t, []string{"ACME-[0-9]+"}, nil), Text: []string{"see ACME-12", "34 and so", "ACME-5"}, Cols: 11, At: -1,
		Wrapped: func(i int) bool { return i == 0 },
	}
	require.Equal(t, []redact.CoverOf{{Row: 0, From: 4, To: 11, Begins: true}, {Row: 1, From: 0, To: 2}, {Row: 2, From: 0, To: 6, Begins: true}}, r.AppendCovers(nil, 0))
	require.Equal(t, []redact.CoverOf{{Row: 1, From: 0, To: 6, Begins: true}}, r.AppendCovers(nil, 1)[1:])
}

func TestInvalidOwnRulesAreRefused(t *testing.T) {
	for want, add := range map[string][]string{
		`add: "(": error parsing`:               {"a", "("},
		`add: "a*": matches the empty`:          {"a*"},
		"add: has 33 expressions, the limit is": strings.Split(strings.Repeat("a,", 32)+"a", ","),
	} {
		_, err := redact.NewOwn(add, nil)
		require.ErrorContains(t, err, want)
		_, err = redact.NewOwn(nil, add)
		require.ErrorContains(t, err, strings.Replace(want, "add", "allow", 1))
	}
	_, err := redact.NewOwn(nil, nil)
	require.NoError(t, err)
}
