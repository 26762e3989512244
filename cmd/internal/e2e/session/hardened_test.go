package session_test

import (
	"fmt"
	"regexp"
	"strings"
	"testing"

	"terminalproxy/cmd/internal/e2e/world"

	"github.com/stretchr/testify/require"
)

// complaints matches the beginnings of shells' error messages.
var complaints = regexp.MustCompile(`(?i)read-?only|unbound|restricted|not set|error|bad |invalid|cannot|not found|fish: |bash: |zsh: |rc:|marks`)

// Whatever is readonly, unset or restricted, the lines of `gateway marks` and `gateway init` print
// nothing, and the shell keeps its own hooks.
func TestStartFilesNeverComplain(t *testing.T) {
	t.Parallel()
	hardened := map[string][]string{
		"bash": {
			"readonly PROMPT_COMMAND='echo audited >> log'", "readonly PROMPT_COMMAND", "declare -ra PROMPT_COMMAND=(true 'echo audited >> log')",
			"readonly PS0", "readonly PS0=x", "readonly PS1='% '", "readonly PS0 PS1 PROMPT_COMMAND", "set -eu", "set -euo pipefail", "set -o posix", "set -o posix; set -eu; readonly PROMPT_COMMAND",
			"unset PROMPT_COMMAND PS0", "set -u; unset PWD HOSTNAME", "readonly LC_ALL=C.UTF-8", "readonly PWD", "IFS=_", "shopt -s nullglob failglob extglob", "set -f",
			"readonly precmd_functions=(); __bp_imported=yes", "LATE readonly PS1", "LATE readonly PROMPT_COMMAND", "LATE set -r", "LATE readonly LC_ALL", "PROMPT_COMMAND=()", "export -n PS1; unset PS1",
		},
		"zsh": {
			"readonly PS1='% '", "typeset -ra precmd_functions=()", "typeset -ra preexec_functions=()", "readonly PROMPT_EOL_MARK=%", "setopt err_exit no_unset", "setopt ksh_arrays",
			"setopt sh_word_split ksh_arrays no_unset", "unset HOST", "LATE readonly PS1", "LATE typeset -r precmd_functions", "LATE setopt restricted", "unset PROMPT_EOL_MARK", "emulate sh", "setopt warn_create_global",
		},
		"fish": {"set -e SHLVL", "functions -e fish_prompt", "set -e hostname", "function fish_prompt; false; end"},
	}
	start := map[string]string{"bash": "bash --rcfile rc -i", "zsh": "zsh -i", "fish": "fish --no-config -i --init-command 'source rc'"}
	for shell, cases := range hardened {
		for _, lines := range []string{"marks", "init"} {
			t.Run(shell+" "+lines, func(t *testing.T) {
				w := world.New(t, shell)
				w.Env = append(w.Env, "ZDOTDIR="+w.Dir, "TERMINALPROXY_INIT=off")
				printed := w.Gateway(lines, shell)
				require.Zero(t, printed.Status, printed.Err)
				for _, c := range cases {
					late, isLate := strings.CutPrefix(c, "LATE ")
					rc := fmt.Sprintf("%s\n%s\n", c, printed.Out)
					if isLate {
						rc = fmt.Sprintf("%s\n%s\n", printed.Out, late)
					}
					for _, name := range []string{"rc", ".zshrc"} {
						w.Write(name, rc)
					}
					st := w.Stage(start[shell] + "; echo over=$?")
					for n := range 3 { // some complain at the second prompt
						st.TypeKeys(fmt.Sprintf("echo r''un%d\n", n))
						st.WaitSent(fmt.Sprintf("run%d\r\n", n))
					}
					st.TypeKeys("exit 0\n")
					st.WaitEnd()
					require.Contains(t, st.Sent(), "over=0", c)
					seen := regexp.MustCompile(`\x1b\][^\a\x1b]*(\a|\x1b\\)`).ReplaceAllString(st.Sent(), "")
					require.NotRegexp(t, complaints, seen, c)
				}
			})
		}
	}
}
