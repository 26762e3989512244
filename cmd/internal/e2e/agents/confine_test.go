package agents_test

import (
	"context"
	"encoding/json"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"terminalproxy/cmd/internal/dev/fakemodel"
	"terminalproxy/cmd/internal/e2e/world"
)

const ownerSecret = "OWNER-0123456789-SECRET"

// reader is how a real agent is made to read a file: by a command, and by its own tool, both
// without asking its user.
type reader struct {
	name        string
	flags       []string
	tool, field string
	refused     string // what it says then
	merge       func(w *world.World, file, settings string)
}

var readers = []reader{
	{"claude", []string{"--allowedTools", "Bash,Read", "-p"}, "Read", "file_path", "", mergeJSON},
	{"codex", []string{"exec", "--skip-git-repo-check", "--model", "gpt-5.5"}, "", "", "Permission denied", mergeCodex},
	{"gemini", []string{"--model", "gemini-2.5-flash", "--yolo", "--prompt"}, "read_file", "file_path", "The user keeps these files from agents", writeWhole},
	{"opencode", []string{"run"}, "read", "filePath", "specified a rule which prevents you", mergeJSON},
	{"copilot", []string{"--allow-all-tools", "--allow-all-paths", "--prompt"}, "view", "path", "sandbox denied path", mergeJSON},
}

// The settings of gateway confine are those that the real agent reads: without them it reads the
// owner token, with them it does not, and doctor says which is the case.
func TestConfinedAgentsCannotReadTheOwnerToken_Client(t *testing.T) {
	t.Parallel()
	for _, p := range readers {
		t.Run(p.name, func(t *testing.T) {
			bin := world.FromNpm(t, p.name)
			w := world.New(t)
			require.NoError(t, os.MkdirAll(w.Path("home/config/terminalproxy"), 0o700))
			token := w.Write("home/config/terminalproxy/owner.token", ownerSecret+"\n")
			chat := world.ChatAgentNamed(p.name)
			var mu sync.Mutex
			var seen string
			url := w.Model(func(_ context.Context, r fakemodel.Request) fakemodel.Turn {
				mu.Lock()
				defer mu.Unlock()
				seen += r.Result
				switch {
				case r.Calls == 0 && p.name == "codex":
					return fakemodel.Turn{Tool: chat.Shell, Args: world.Args{"cmd": "cat " + token}}
				case r.Calls == 0:
					return fakemodel.Turn{Tool: chat.Shell, Args: world.Args{"command": "cat " + token, "description": "a test"}}
				case r.Calls == 1 && p.tool != "":
					return fakemodel.Turn{Tool: p.tool, Args: world.Args{p.field: token}}
				}
				return fakemodel.Turn{Say: "DONE"}
			})
			env := append(chat.SetUp(w, url), "PATH="+filepath.Dir(bin)+":"+filepath.Join(world.Root, "bin")+":"+os.Getenv("PATH"))
			allowOutside(w, p.name)
			read := func() string {
				mu.Lock()
				seen = ""
				mu.Unlock()
				r := w.Prepare(bin, append(p.flags, "read it")...)
				r.Cmd.Env = append(r.Cmd.Env, env...)
				r.Run()
				w.UntilWithin(5*time.Minute, func() bool { // these programs take a minute on a busy machine
					select {
					case <-r.Ended:
						return true
					default:
						return false
					}
				}, func() string { return p.name + " does not end" })
				end := r.Wait()
				mu.Lock()
				defer mu.Unlock()
				return seen + end.Out + end.Err
			}
			require.Contains(t, read(), ownerSecret, "nothing keeps it away")
			gateway := func(args ...string) world.Result {
				r := w.Prepare("gateway", args...)
				r.Cmd.Env = append(r.Cmd.Env, env...)
				r.Run()
				return r.Wait()
			}
			isFree := func() bool {
				free := regexp.MustCompile(`(?m)^warn +agents .*`).FindString(gateway("doctor").Out)
				return strings.Contains(free, p.name)
			}
			require.True(t, isFree())

			var printed struct{ File, Text string }
			require.NoError(t, json.Unmarshal([]byte(gateway("confine", p.name, "--json").Out), &printed))
			p.merge(w, printed.File, printed.Text)
			require.False(t, isFree())
			if p.name == "copilot" { // without it, it runs commands outside of the sandbox
				env = append(env, "PATH="+bundledBwrap(w)+":"+env[len(env)-1][len("PATH="):])
			}
			said := read()
			require.NotContains(t, said, ownerSecret)
			require.Contains(t, said, p.refused)
			if strings.Contains(said, "sandbox required but unavailable") { // of claude
				mergeJSON(w, printed.File, `{"sandbox": {"enabled": false}}`)
				require.True(t, isFree())
				said = read()
				require.Contains(t, said, "DONE")
				require.NotContains(t, said, ownerSecret, "its permissions alone")
			}
		})
	}
}

// bundledBwrap returns a directory with the bwrap that Codex brings along. Copilot CLI asks for its
// version, which that one does not say.
func bundledBwrap(w *world.World) string {
	found, err := filepath.Glob(filepath.Join(filepath.Dir(world.FromNpm(w.T, "codex")), "../@openai/codex-*/vendor/*/codex-resources/bwrap"))
	require.NoError(w.T, err)
	require.NotEmpty(w.T, found)
	require.NoError(w.T, os.Mkdir(w.Path("sandbox"), 0o700))
	w.WriteScript("sandbox/bwrap", "#!/bin/sh\n[ \"$1\" = --version ] && echo bubblewrap 0.8.0 && exit\nexec "+found[0]+" \"$@\"\n")
	return w.Path("sandbox")
}

// allowOutside lets opencode reach files outside of its directory, as its users often do.
func allowOutside(w *world.World, agent string) {
	if agent == "opencode" {
		mergeJSON(w, w.Path("home/config/opencode/opencode.json"), `{"permission": {"external_directory": {"*": "allow"}}}`)
	}
}

// mergeJSON merges settings into a file of an agent.
func mergeJSON(w *world.World, file, settings string) {
	var have, more map[string]any
	if text, err := os.ReadFile(file); err == nil {
		require.NoError(w.T, json.Unmarshal(text, &have))
	}
	require.NoError(w.T, json.Unmarshal([]byte(settings), &more))
	text, err := json.Marshal(mergeMaps(have, more))
	require.NoError(w.T, err)
	writeWhole(w, file, string(text))
}

func mergeMaps(have, more map[string]any) map[string]any {
	all := maps.Clone(have)
	if all == nil {
		all = make(map[string]any)
	}
	for key, value := range more {
		if inner, ok := value.(map[string]any); ok {
			before, _ := all[key].(map[string]any)
			value = mergeMaps(before, inner)
		}
		all[key] = value
	}
	return all
}

// mergeCodex puts the tables at the end of the file, and the setting before them at its head.
func mergeCodex(w *world.World, file, settings string) {
	text, err := os.ReadFile(file)
	require.NoError(w.T, err)
	head, tables, _ := strings.Cut(settings, "\n[")
	rest := strings.Replace(string(text), "sandbox_mode = \"read-only\"\n", "", 1)
	writeWhole(w, file, head+"\n"+rest+"\n["+tables)
}

func writeWhole(w *world.World, file, text string) {
	require.NoError(w.T, os.MkdirAll(filepath.Dir(file), 0o700))
	require.NoError(w.T, os.WriteFile(file, []byte(text), 0o600))
}
