package consent_test

import (
	"crypto/rand"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"terminalproxy/cmd/internal/e2e/world"

	"github.com/stretchr/testify/require"
)

// tool is a coding agent's shell tool: its commands have no terminal, and the variables of `gateway
// init agent`.
type tool struct {
	*world.World
	desk    *world.Terminal // at which the person sits
	id      string
	serving *world.Server
	// canary is what the person answers. Other tests have others.
	canary string
}

// newCanary makes a word that stands nowhere else on the machine.
func newCanary() string { return "c4n" + strings.ToLower(rand.Text()[:8]) }

// newTool opens a shared terminal, and beside it an agent's shell tool.
func newTool(t *testing.T, programs ...string) *tool {
	t.Helper()
	w := world.New(t, append(programs, "setsid")...)
	w.Env = append(w.Env, "GIT_CONFIG_NOSYSTEM=1", "GIT_TERMINAL_PROMPT=0")
	serving := w.Serve("gateway", "--log") // a gateway that has nothing to do with the desk's process
	s := w.Terminal(120, 30)
	return &tool{w, s, s.RunBash("--record rec.cast"), serving, newCanary()}
}

// start runs a command as the tool does.
func (a *tool) start(line string) *world.Running {
	a.T.Helper()
	r := a.Start("setsid", "--wait", "bash", "-c", a.variables()+line+"\nexit $?")
	a.T.Cleanup(func() {
		if a.T.Failed() {
			a.T.Log(line, r.Out.String(), r.Err.String())
		}
	})
	return r
}

// variables are the lines of gateway init agent.
func (a *tool) variables() string { a.T.Helper(); return a.MustGateway("init", "agent") }

// answer waits for a question that contains words, presses Ctrl+G until that counts, and types.
func (a *tool) answer(words, text string) {
	a.T.Helper()
	pressed := time.Time{}
	a.desk.See("the line for the answer to "+words, func(screen string) bool {
		if strings.Contains(screen, "Enter sends") {
			return true
		}
		if asks(screen, words) && time.Since(pressed) > held {
			a.desk.Press("C-g")
			pressed = time.Now()
		}
		return false
	})
	a.desk.Typed(text)
	a.desk.Press("Enter")
	a.desk.WaitGone("Enter sends")
}

// held is longer than the time between two presses that count as one of a held key.
const held = 400 * time.Millisecond

// press waits for a question that contains words, and presses a key until it is gone.
func (a *tool) press(words, key string) {
	a.T.Helper()
	a.waitQuestion(words)
	pressed := time.Time{}
	a.desk.See("the end of the question", func(screen string) bool {
		if !asks(screen, words) {
			return true
		}
		if time.Since(pressed) > held {
			a.desk.Press(key)
			pressed = time.Now()
		}
		return false
	})
}

// refuse refuses a question that contains words, and opens the menu, so that the agent may ask
// again at once.
func (a *tool) refuse(words string) {
	a.T.Helper()
	a.press(words, "C-\\")
	a.desk.OpenMenu("no agent has the keyboard")
	a.desk.Press("Enter")
	a.desk.WaitGone("no agent has the keyboard")
}

func (a *tool) waitQuestion(words string) {
	a.T.Helper()
	a.desk.See(words, func(screen string) bool { return asks(screen, words) })
}

// asks reports whether a question with these words stands on a screen.
func asks(screen, words string) bool {
	screen = strings.Join(strings.Fields(screen), " ")
	return strings.Contains(screen, words) && strings.Contains(screen, "Ctrl+\\ refuses")
}

// noCanary fails if the canary is anywhere but in the program that it is for.
func (a *tool) noCanary(heard *world.Overheard, results ...world.Result) {
	a.T.Helper()
	for _, r := range results {
		require.NotContains(a.T, r.Out+r.Err, a.canary)
	}
	require.NotContains(a.T, heard.All(), a.canary, "what an agent can see")
	require.NotContains(a.T, a.desk.Screen(), a.canary)
	require.Greater(a.T, searchFiles(a.T, a.Dir, a.canary), 3)
	searchProcesses(a.T, a.World, a.canary)
}

// gitServer serves a repository over HTTP to those who know the password.
func gitServer(a *tool) (url string) {
	a.T.Helper()
	for _, line := range []string{
		"init -q --bare repo.git", "init -q work", "-C work -c user.name=a -c user.email=a@b commit -q --allow-empty -m x",
		"-C work push -q ../repo.git HEAD:refs/heads/main", "-C repo.git symbolic-ref HEAD refs/heads/main", "-C repo.git update-server-info",
	} {
		got := a.Do("git", strings.Fields(line)...)
		require.Zero(a.T, got.Status, line+got.Err)
	}
	files := http.FileServer(http.Dir(a.Dir))
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if user, password, _ := r.BasicAuth(); user != "ada" || password != a.canary {
			w.Header().Set("WWW-Authenticate", `Basic realm="x"`)
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		files.ServeHTTP(w, r)
	}))
	a.T.Cleanup(server.Close)
	return server.URL + "/repo.git"
}

// git in an agent's own shell asks the user for name and password, and the agent sees neither. Under
// an agent that takes GIT_ASKPASS from its commands it asks by a credential helper. What the user runs
// asks as before.
func TestGitAsksTheUser(t *testing.T) {
	t.Parallel()
	for _, way := range []string{"variables", "credential helper"} {
		t.Run(way, func(t *testing.T) {
			a := newTool(t, "git")
			heard := a.Overhear(a.id)
			url := gitServer(a)
			start := a.start
			if way == "credential helper" {
				a.Write("home/.gitconfig", a.MustGateway("init", "git"))
				start = func(line string) *world.Running { return a.start("unset GIT_ASKPASS SSH_ASKPASS; " + a.asAgent(line)) }
			}
			clone := start("git clone -q " + url + " cloned")
			a.answer("wants your answer for git at “"+strings.Split(url, "/")[2]+"”: “git clone -q "+url+" cloned”", "ada")
			a.answer("wants your password for git", a.canary)
			got := clone.Wait()
			require.Zero(t, got.Status, got.Err)
			require.FileExists(t, a.Path("cloned/.git/HEAD"))
			readAll(heard)
			a.noCanary(heard, got)

			refused := start("git clone -q " + url + " again")
			a.press("wants your answer for git", "C-\\")
			refused.Wait().MustFail(t, 128, "the user refused the answer for git. Do not try again or another way; say what you wanted to do")

			fill := start("printf 'protocol=https\\nhost=x.invalid\\nusername=ada\\n\\n' | git credential fill").Wait()
			require.Equal(t, 128, fill.Status)
			require.Empty(t, fill.Out)
			if way == "variables" {
				require.Contains(t, fill.Err, "git credential would print the password")
				stored := start("git -c credential.helper=store clone -q " + url + " stored").Wait()
				require.NotZero(t, stored.Status)
				require.Contains(t, stored.Err, "git would write the password to a file")
			}
			a.desk.Typed("git clone " + url + " mine\n") // GIT_TERMINAL_PROMPT is 0
			a.desk.Wait("terminal prompts disabled")
			a.desk.QuitProgram("exit 0\n")
			var said []string
			for _, e := range a.Audited("rec.cast.audit.jsonl") {
				if e.Kind == "secret" {
					said = append(said, e.Program+" "+e.Fate)
				}
			}
			require.Equal(t, []string{"git answer", "git answer", "git refuse"}, said)
			a.noCanary(heard)
		})
	}
}

// What may not ask, or would have the answer go elsewhere, gets nothing but a sentence for the
// agent, and the user is not asked. A wrapper in the helper's place takes its environment along.
func TestOnlyTheProgramThatAsksGetsTheAnswer(t *testing.T) {
	a := newTool(t, "git", "ssh-keygen", "mkfifo")
	require.Zero(t, a.Do("ssh-keygen", "-q", "-t", "ed25519", "-N", a.canary, "-f", a.Path("key")).Status)
	const (
		misuse = "only sudo, ssh, git and gpg may ask: run the command, not the helper"
		output = "the answer would not go to the program that asks"
	)
	for name, c := range map[string]struct{ line, wrapper, sentence string }{
		"by hand":             {`"$SUDO_ASKPASS" "Password: "`, "", misuse},
		"in $()":              {`x=$("$SUDO_ASKPASS" "Password: ") && echo "got $x"`, "", misuse},
		"to a cat":            {`"$SUDO_ASKPASS" "Password: " | cat; exit 1`, "", misuse},
		"in a fake ssh":       {"ln -sf $(command -v bash) ssh; ./ssh -c '\"$SUDO_ASKPASS\" x; exit 1'", "", misuse},
		"in a fake sudo":      {"cp $(command -v bash) sudo; ./sudo -c '\"$SUDO_ASKPASS\" x; exit 1'", "", "the program called sudo is not root's"},
		"git credential fill": {"printf 'protocol=https\\nhost=x.invalid\\nusername=ada\\n\\n' | git credential fill", "", "git credential would print the password"},
		"to a file":           {"", `exec "$SUDO_ASKPASS" "$1" > to`, output},
		"to a FIFO":           {"", `rm -f fifo; mkfifo fifo; cat fifo & exec "$SUDO_ASKPASS" "$1" > fifo`, output},
	} {
		if c.wrapper != "" {
			wrapper := a.WriteScript("wrapper", "#!/bin/bash\n"+c.wrapper+"\n")
			c.line = "SSH_ASKPASS=" + wrapper + " ssh-keygen -y -f key"
		}
		got := a.start(c.line).Wait()
		require.NotZero(t, got.Status, name)
		require.Empty(t, got.Out, name)
		require.Contains(t, got.Err, c.sentence, name)
	}
	require.Zero(t, a.Do("mkfifo", "hold").Status)
	a.WriteScript("wrapper", "#!/bin/bash\nread -r line < hold &\nexec \"$SUDO_ASKPASS\" \"$1\"\n")
	held := a.start("SSH_ASKPASS=$PWD/wrapper ssh-keygen -y -f key") // its pipe has another holder
	a.Until(func() bool { return strings.Contains(held.Err.String(), "another process could read the answer") }, held.Err.String)
	a.Write("hold", "\n")
	require.NotZero(t, held.Wait().Status)
	require.NotContains(t, a.desk.Screen(), "refuses")
	require.Empty(t, a.Content("to"))
}

// ssh asks about a host that it does not know, and for a key's passphrase.
func TestSshAsksTheUser(t *testing.T) {
	a := newTool(t, "ssh", "ssh-keygen")
	heard := a.Overhear(a.id)
	a.Sshd()
	require.Zero(t, a.Do("ssh-keygen", "-q", "-p", "-P", "", "-N", a.canary, "-f", a.Path("user")).Status)
	login := "ssh -F none -i user -o IdentitiesOnly=yes -o PreferredAuthentications=publickey -o StrictHostKeyChecking=ask " +
		"-o UserKnownHostsFile=known -p " + a.Content("port") + " 127.0.0.1 echo logged in"
	no := a.start(login)
	a.refuse("needs your yes for ssh")
	got := no.Wait()
	require.Equal(t, 255, got.Status)
	require.Equal(t, 1, strings.Count(got.Err, "the user refused"), got.Err)

	yes := a.start(login)
	a.waitQuestion("key fingerprint is SHA256:")
	a.press("needs your yes for ssh", "C-g")
	a.answer("wants your password for ssh", a.canary)
	got = yes.Wait()
	require.Zero(t, got.Status, got.Err)
	require.Equal(t, "logged in\n", got.Out)
	readAll(heard)
	a.noCanary(heard, got)
}

// findProcess waits for a process of the world that runs a program, and returns it.
func findProcess(t *testing.T, dir, name string) (pid int) {
	t.Helper()
	for end := time.Now().Add(world.Patience); pid == 0 && time.Now().Before(end); time.Sleep(world.Glance) {
		entries, err := os.ReadDir("/proc")
		require.NoError(t, err)
		for _, e := range entries {
			line, _ := os.ReadFile("/proc/" + e.Name() + "/cmdline")
			cwd, _ := os.Readlink("/proc/" + e.Name() + "/cwd") // of a closed process only root may
			first, _, _ := strings.Cut(string(line), "\x00")
			if strings.HasPrefix(filepath.Base(first), name) && (isWithin(cwd, dir) || isWithin(first, dir)) {
				pid, _ = strconv.Atoi(e.Name())
			}
		}
	}
	require.NotZero(t, pid, name)
	return pid
}

// isWithin reports whether a path is a directory or lies in it.
func isWithin(path, dir string) bool { return path == dir || strings.HasPrefix(path, dir+"/") }
