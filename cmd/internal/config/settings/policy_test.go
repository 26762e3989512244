package settings

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"terminalproxy/protocol"
	"terminalproxy/proxy/consent/policy"
)

func TestRulesAboutAgents(t *testing.T) {
	path := userFile(t, `[proxy]
agent = true

[[allow]]
agent = 'claude'
program = 'psql'

[[never]]
program = '~/bin/x'
[[allow]] # another
agent = 'codex'
program = '*'
directory = '~/src/'
host = 'desk'
level = 'drive'
for = '90s'
[[never]]
agent = 'claude-code'
`)
	f, err := User()
	require.NoError(t, err)
	set, err := f.Policy()
	require.NoError(t, err)
	home, err := os.UserHomeDir()
	require.NoError(t, err)
	name := filepath.Base(path)
	require.Equal(t, policy.Set{
		Allow: []policy.Rule{
			{Agent: "claude", Program: "psql", Level: protocol.LevelType, For: 10 * time.Minute, At: name + ":4"},
			{Agent: "codex", Program: "*", Directory: filepath.Join(home, "src"), Host: "desk", Level: protocol.LevelDrive, For: 90 * time.Second, At: name + ":10"},
		},
		Never: []policy.Rule{{Never: true, Program: home + "/bin/x", At: name + ":8"}, {Never: true, Agent: "claude-code", DisplayName: "Claude Code", At: name + ":17"}},
	}, set)
	none, err := (*File)(nil).Policy()
	require.NoError(t, err)
	require.Empty(t, none)
	require.Empty(t, (*File)(nil).NeverRules())
}

// TestAWrongRule is named with its line; of the file only the good nevers count then.
func TestAWrongRule(t *testing.T) {
	for text, want := range map[string]string{
		"[[allow]]\nprogram = 'x'\n":                                           ":1: [[allow]] agent: missing: name the local token that the agent shows",
		"[[allow]]\nagent = 'x'\n":                                             ":1: [[allow]] program: missing",
		"\n[[allow]]\nagent = 'x'\nprogramm = 'y'\n":                           `:4: unknown setting "programm"`,
		"[[allow]]\nagent = 'x'\nprogram = './y'\n":                            `:3: [[allow]] program: must be a name, a path that begins with / or ~/, or "*"`,
		"[[allow]]\nagent = 'x'\nprogram = 'y'\ndirectory = 'z'\n":             ":4: [[allow]] directory: must be a path that begins with / or ~/",
		"[[allow]]\nagent = 'x'\nprogram = 'y'\nlevel = 'all'\n":               `:4: [[allow]] level: must be "type" or "drive"`,
		"[[allow]]\nagent = 'x'\nprogram = 'y'\nfor = '0s'\n":                  `:4: [[allow]] for: must be a time from "1s" to "24h"`,
		"[[allow]]\nagent = 'x'\nprogram = 'y'\nfor = '25h'\n":                 `:4: [[allow]] for: must be a time from "1s" to "24h"`,
		"[[allow]]\nagent = 'x'\nprogram = 7\n":                                ":3: [[allow]] program: must be a text in quotes",
		"[[never]]\nlevel = 'drive'\n":                                         `:2: unknown setting "level"`,
		"[[never]]\n":                                                          ":1: [[never]]: the rule is empty",
		"never = 1\n":                                                          ":1: never: not a rule",
		"never = [{program = 'x'}]\n":                                          ":1: never: not a rule",
		"a = 1\n":                                                              ":1: a: must be in a table",
		"[[alow]]\nagent = 'x'\n":                                              `:1: unknown table "alow"`,
		"[allow]\nagent = 'x'\n":                                               ":1: [allow]: must be in double brackets: there may be several",
		"[look]\nsign = \"\"\"\n[[never]]\n\"\"\"\n[[never]]\nprogram = 'x'\n": ":5: never: not a rule",
	} {
		path := userFile(t, text)
		f, err := User()
		if err == nil {
			_, err = f.Policy()
		}
		require.ErrorContains(t, err, path+want, text)
	}
	userFile(t, "[look]\nnone = 1\n[[allow]]\nagent = 'x'\nprogram = '*'\n[[never]]\n[[never]]\nprogram = 'ssh'\n[[never]]\nagent = 7\n")
	set, err := PolicyNow()
	require.Error(t, err)
	require.Empty(t, set.Allow)
	require.Len(t, set.Never, 1)
	require.Equal(t, "ssh", set.Never[0].Program)
}

// A file that others can write has no rules ([TestOnlyTheUsersOwnFileIsRead]).
func TestAFileThatOthersWriteHasNoRules(t *testing.T) {
	path := userFile(t, "[[allow]]\nagent = 'x'\nprogram = '*'\n")
	set, err := PolicyNow()
	require.NoError(t, err)
	require.Len(t, set.Allow, 1)
	require.NoError(t, os.Chmod(path, 0o666))
	set, err = PolicyNow()
	require.ErrorContains(t, err, path+" has mode 0666")
	require.Empty(t, set)
	require.NoError(t, os.Remove(path))
	set, err = PolicyNow()
	require.NoError(t, err)
	require.Empty(t, set)
}
