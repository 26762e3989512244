package terminals

import (
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"terminalproxy/proxy/terminal/keys"
	"terminalproxy/proxy/view/corpus"
)

// env is an environment of NAME=VALUE words.
func env(words string) func(string) string {
	return func(name string) string {
		for _, word := range strings.Fields(words) {
			if value, ok := strings.CutPrefix(word, name+"="); ok {
				return value
			}
		}
		return ""
	}
}

// grantKey is a grant key by its name.
func grantKey(t *testing.T, name string) keys.CtrlKey {
	t.Helper()
	key, err := keys.ParseGrantKey(name)
	require.NoError(t, err)
	return key
}

// TestTheGrantKeyArrives: the key of a user who names none, and what the question calls it.
func TestTheGrantKeyArrives(t *testing.T) {
	for _, c := range []struct{ env, reclaim, name, grant, label string }{
		{"", `ctrl-\`, "", "ctrl-g", "Ctrl+G"},
		{"TERM=dumb", `ctrl-\`, "", "ctrl-g", "Ctrl+G"},
		{"TERM_PROGRAM=iTerm.app", `ctrl-\`, "", "ctrl-g", "Ctrl+G"},
		{"TERM_PROGRAM=vscode", `ctrl-\`, "VS Code", "ctrl-g", "Ctrl+Alt+G"},
		{"TERM_PROGRAM=vscode TMUX=/tmp/x,1,0", `ctrl-\`, "tmux", "ctrl-g", "Ctrl+G"},
		{"ZELLIJ=0 TERM_PROGRAM=vscode", `ctrl-\`, "zellij", "ctrl-]", "Ctrl+]"},
		{"ZELLIJ=0 TMUX=/tmp/x,1,0", `ctrl-\`, "zellij", "ctrl-]", "Ctrl+]"},
		{"ZELLIJ=0", "ctrl-]", "zellij", "ctrl-^", "Ctrl+^"},
		{"STY=1.pts-0", `ctrl-\`, "screen", "ctrl-g", "Ctrl+G"},
		{"TERMINAL_EMULATOR=JetBrains-JediTerm", `ctrl-\`, "JetBrains", "ctrl-g", "Ctrl+G"},
		{"WT_SESSION=1", `ctrl-\`, "Windows Terminal", "ctrl-g", "Ctrl+G"},
	} {
		here := Find(env(c.env))
		name := ""
		if here != nil {
			name = here.Name
		}
		require.Equal(t, c.name, name, c.env)
		reclaim, err := keys.ParseReclaimKey(c.reclaim)
		require.NoError(t, err)
		grant := here.GrantKey(reclaim)
		require.Equal(t, c.grant, grant.String(), c.env)
		require.Equal(t, c.label, here.Label(grant), c.env)
		require.Equal(t, "Ctrl+^", here.Label(grantKey(t, "ctrl-^")), "%s: another one is called by its name", c.env)
		if here != nil && here.ask == nil {
			kept, err := here.FindKept(t.Context(), grant)
			require.NoError(t, err)
			require.True(t, kept == nil || here.Instead == c.label, "%s: what the question names arrives", c.env)
			kept, err = here.FindKept(t.Context(), reclaim)
			require.NoError(t, err)
			for _, k := range kept {
				require.NotEqual(t, reclaim.String(), k.Key, "%s: and so does the reclaim key", c.env)
			}
		}
	}
}

// TestVSCodesSettingsFreeBothKeys: against the lists of commands that VS Code keeps from the shell,
// as of each version that testdata has. Each command that is taken off the list is on it, and none
// that is left runs by one of the keys.
func TestVSCodesSettingsFreeBothKeys(t *testing.T) {
	lists, err := filepath.Glob("testdata/vscode-*.tsv")
	require.NoError(t, err)
	require.NotEmpty(t, lists)
	free := map[string]bool{"ctrl-g": true, `ctrl-\`: true, "ctrl-4": true} // Ctrl+4 sends Ctrl+\ on layouts without that key
	known := make(map[string]string)
	for _, k := range vsCode {
		known[k.Command] = k.Key
	}
	for _, list := range lists {
		keptFrom := make(map[string]bool)
		for _, row := range corpus.Rows[struct{ Command, Key string }](t, strings.TrimSuffix(filepath.Base(list), ".tsv")) {
			keptFrom[row.Command] = true
			off := "-" + row.Command
			require.Equal(t, free[row.Key], slices.Contains(VSCodeSettings(), off), "%s: %s, key %q", list, row.Command, row.Key)
			if key := known[row.Command]; key != "" {
				require.Equal(t, key, row.Key, "%s: %s", list, row.Command)
			}
		}
		for _, k := range vsCode {
			require.True(t, keptFrom[k.Command], "%s: %s", list, k.Command)
		}
	}
}

// TestTmuxKeeps: what tmux says, as of 3.3 and 3.5.
func TestTmuxKeeps(t *testing.T) {
	kept := tmuxKeeps("C-b\nNone\n", "bind-key    -T root C-g                   display-message hi\n"+
		`bind-key -r -T root C-\\                 select-pane -l`+"\n"+`bind-key    -T root "C-]"  next-window`+"\nbind-key    -T root MouseDown1Pane select-pane -t =\n")
	require.Equal(t, []Kept{
		{Key: "ctrl-b", As: "ctrl-b", Does: "is tmux's prefix"},
		{Key: "ctrl-g", As: "ctrl-g", Does: "runs display-message hi"},
		{Key: `ctrl-\`, As: `ctrl-\`, Does: "runs select-pane -l"},
		{Key: "ctrl-]", As: "ctrl-]", Does: "runs next-window"},
	}, kept)
	require.Equal(t, `Ctrl+\`, kept[2].Label())
}

// TestTmuxIsAsked: a real one.
func TestTmuxIsAsked(t *testing.T) {
	if _, err := exec.LookPath("tmux"); err != nil {
		t.Skip("there is no tmux")
	}
	dir := t.TempDir()
	socket := dir + "/s"
	run := func(args ...string) string {
		out, err := exec.CommandContext(t.Context(), "tmux", append([]string{"-S", socket, "-f", "/dev/null"}, args...)...).CombinedOutput()
		require.NoError(t, err, "%s", out)
		return strings.TrimSpace(string(out))
	}
	run("new-session", "-d", "sleep", "600", ";", "set-option", "-g", "prefix", "C-g", ";", "bind-key", "-n", `C-\`, "select-pane", "-l")
	t.Cleanup(func() { _ = exec.Command("tmux", "-S", socket, "kill-server").Run() })
	t.Setenv("TMUX", socket+",1,0")
	here := Find(env("TMUX=" + socket))
	require.True(t, here.AsksMultiplexer())
	for name, does := range map[string]string{"ctrl-g": "is tmux's prefix", `ctrl-\`: "runs select-pane -l", "ctrl-]": ""} {
		key, err := keys.ParseReclaimKey(name)
		if name == "ctrl-g" {
			key, err = keys.ParseGrantKey(name)
		}
		require.NoError(t, err)
		kept, err := here.FindKept(t.Context(), key)
		require.NoError(t, err)
		if does == "" {
			require.Empty(t, kept)
			continue
		}
		require.Equal(t, []Kept{{Key: name, As: name, Does: does}}, kept)
	}
	t.Setenv("TMUX", dir+"/none,1,0")
	_, err := here.FindKept(t.Context(), grantKey(t, "ctrl-g"))
	require.Error(t, err)
}
