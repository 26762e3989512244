package agents_test

import (
	"testing"

	"terminalproxy/cmd/internal/e2e/world"

	"github.com/stretchr/testify/require"
)

// R65: psql is a line prompt, and its pager is not.
func TestPsqlR65(t *testing.T) {
	w := world.New(t, "psql", "less")
	s := w.Terminal(100, 40)
	id := s.RunGranted("type", "env LC_ALL=C psql -X -h "+world.Postgres(w)+" -U test postgres", "postgres=#")
	free := func(what ...string) {
		require.Zero(t, w.Gateway(append([]string{"send", id, "--as", "codex", "--timeout", "5m"}, what...)...).Status)
		require.NotContains(t, s.Screen(), world.HeldKeys)
	}
	asked := func(question string, what ...string) {
		sending := w.Start("gateway", append([]string{"send", id, "--as", "codex"}, what...)...)
		s.Wait(question)
		s.ReleaseHeld("C-g")
		require.Zero(t, sending.Wait().Status)
	}
	free("--text", `#\! touch hit`)
	free("--text", wideText) // would remove the # and accept the line
	free("ctrl-u")
	free("--text", "select 6*7")
	asked(`runs: "select 6*7"`, "enter")
	s.Wait("\npostgres-#")
	free("--text", "from generate_series(1, 200);")
	asked(`runs: "from generate_series(1, 200);"`, "enter")
	s.Match(`\n +42\n:`) // less
	asked(`wants to send "q"`, "--text", "q")
	s.WaitGone("\n:")
	free("--text", `\q`)
	asked(`runs: "\\q" · typed: `, "enter") // with the pager's key
	require.Zero(t, s.Status())
	require.NoFileExists(t, w.Path("hit"))
}
