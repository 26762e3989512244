package session_test

import (
	"os"
	"strings"
	"testing"
	"time"

	"terminalproxy/cmd/internal/e2e/world"

	"github.com/stretchr/testify/require"
)

// bashCompletion is the package that bash needs to complete most programs, gateway included.
const bashCompletion = "/usr/share/bash-completion/bash_completion"

// shellsWithCompletions says how each shell is started with the completions below share, where a
// package installs them.
var shellsWithCompletions = map[string]struct {
	program string
	files   map[string]string // content by name in the world
	links   map[string]string // directory below share by name in the world
}{
	"bash": {
		program: "bash --noprofile --rcfile completes -i",
		files:   map[string]string{"completes": "PS1='> '\n. " + bashCompletion + "\n"},
		links:   map[string]string{"home/.local/share/bash-completion": "bash-completion"},
	},
	"bash without bash-completion": {
		program: "bash --noprofile --rcfile completes -i",
		files:   map[string]string{"completes": "PS1='> '\n. share/bash-completion/completions/proxy\n"},
	},
	"zsh": {
		program: "env ZDOTDIR=. zsh -i",
		files:   map[string]string{".zshrc": "PS1='> '\nfpath=($PWD/share/zsh/site-functions $fpath)\nautoload -Uz compinit && compinit -u -d dump\n"},
	},
	"fish": {
		program: "fish -C 'function fish_prompt; echo \"> \"; end; set -g fish_autosuggestion_enabled 0; set -g fish_greeting'",
		links:   map[string]string{"home/config/fish/completions": "fish/vendor_completions.d"},
	},
}

// Tab in the real shells completes proxy's flags, their values and files, then a program and its
// files as without proxy. For gateway it completes commands, running sessions, and the values that
// a flag knows.
func TestShellsComplete(t *testing.T) {
	t.Parallel()
	for name, shell := range shellsWithCompletions {
		t.Run(name, func(t *testing.T) {
			plain := name == "bash without bash-completion"
			if _, err := os.Stat(bashCompletion); name == "bash" && err != nil {
				t.Skip("bash-completion is not installed (Debian's package of that name)")
			}
			needs, _, _ := strings.Cut(name, " ")
			w := world.New(t, needs)
			w.MustGateway("manual", "share")
			for file, content := range shell.files {
				w.Write(file, content)
			}
			require.NoError(t, os.MkdirAll(w.Path("home/.local/share/fish/generated_completions"), 0o700)) // otherwise fish generates them in the background
			require.NoError(t, os.MkdirAll(w.Path("home/config/fish"), 0o700))
			for link, to := range shell.links {
				require.NoError(t, os.Symlink(w.Path("share/"+to), w.Path(link)))
			}
			w.Write("alpha.txt", "")
			user := w.Terminal(100, 24)
			user.RunListener("--agent")
			id := w.Session()
			s := w.Terminal(100, 24)
			s.Run("exec " + shell.program)
			s.Wait(">")
			cases := [][2]string{
				{"proxy --agen", "proxy --agent"},
				{"proxy --grant dr", "--grant drive"},
				{"proxy --grant=ty", "--grant=type"},
				{"proxy --agent --record al", "--record alpha.txt"},
				{"proxy --agent liste", "--agent listener"},
				{"proxy -- liste", "-- listener"},
				{"proxy --agent --for 1h listener al", "1h listener alpha.txt"},
			}
			if !plain {
				cases = append(cases, [][2]string{
					{"gateway recl", "gateway reclaim"},
					{"gateway read " + id[:2], "gateway read " + id},
					{"gateway grant " + id + " --level dr", "--level drive"},
				}...)
			}
			for _, c := range cases {
				s.Typed(c[0])
				s.Wait(c[0])
				completeTo(s, c[1])
				s.Press("C-u")
				s.WaitGone(c[1])
			}
			user.Press("C-d")
			require.Zero(t, user.Status())
			s.Press("C-d")
		})
	}
}

// completeTo presses Tab until a text stands on the screen. It retries because gateway must answer
// within a second, which a loaded machine can miss.
func completeTo(s *world.Terminal, text string) {
	s.W.T.Helper()
	var screen string
	var pressed time.Time
	s.W.Until(func() bool {
		if screen = s.Screen(); strings.Contains(screen, text) {
			return true
		}
		if time.Since(pressed) > 5*time.Second {
			pressed = time.Now()
			s.Press("Tab")
		}
		return false
	}, func() string { return text + ":\n" + screen })
}
