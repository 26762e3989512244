package session_test

import (
	"os"
	"strings"
	"testing"

	"terminalproxy/cmd/internal/e2e/world"

	"github.com/stretchr/testify/require"
)

// Go raises the soft limit for itself. No program that proxy or gateway starts may see that,
// whichever way it is started: programs with select(2) break above 1024.
func TestProgramsHaveTheUsersLimitOfOpenFiles(t *testing.T) {
	t.Parallel()
	const limit = "777"
	const onExit = "[[on]]\nevent = 'exit'\nrun = ['%']\n"
	const onAsked = "[[on]]\nevent = 'asked'\nrun = ['%']\n"
	for _, c := range []struct {
		name, config, run string
		more              []string // what else writes it, beside the program %
		asks              bool     // an agent asks while the program runs; Enter ends the program
	}{
		{name: "program in the foreground", run: "proxy %"},
		{name: "program without job control", run: `sh -c "proxy --agent %; true"`},
		{name: "program in the background", run: "proxy --agent % & wait"},
		{name: "program in place of the proxy", run: "proxy % < /dev/null 2>&1 | cat"},
		{name: "program of a session within a session", run: "proxy --agent bash -c 'proxy --agent --nested %'"},
		{name: "program that outlives its window", run: "proxy --keep --agent %"},
		{name: "program without a terminal", run: "gateway run %"},
		{name: "rule at the end", config: onExit, run: "proxy --agent true"},
		{name: "rule while the program runs", config: onAsked, run: "proxy --agent sh -c 'read x'", asks: true},
		{name: "tmux that shows a notification", run: "proxy --agent --notify terminal --notify-after 0s sh -c 'read x'", more: []string{"tmux"}, asks: true},
		{name: "coding agent of a chat", run: "proxy --chat claude", more: []string{"claude"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := world.New(t)
			script := w.WriteScript("limit", "#!/bin/sh\nulimit -Sn >> "+w.Path("limits")+"\n")
			if c.config != "" {
				w.WriteConfig(strings.ReplaceAll(c.config, "%", script))
			}
			for _, name := range c.more {
				require.NoError(t, os.MkdirAll(w.Path("fakes"), 0o700))
				require.NoError(t, os.Symlink(script, w.Path("fakes/"+name)))
			}
			s := w.Terminal(100, 24)
			s.RunToEnd("ulimit -Sn " + limit)
			s.Run(`PATH="` + w.Path("fakes") + `:$PATH"; ` + strings.ReplaceAll(c.run, "%", script))
			if c.asks {
				asking := w.Start("gateway", "request", w.Session(), "--reason", "to see", "--as", "codex")
				s.WaitQuestion()
				w.WaitHeard("limits", `\d\n$`)
				s.Answer(`C-\`)
				asking.Wait()
				s.Press("Enter")
			}
			s.Status()
			w.WaitHeard("limits", `\d\n$`)
			require.Empty(t, strings.ReplaceAll(w.Content("limits"), limit+"\n", ""))
		})
	}
}
