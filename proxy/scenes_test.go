//go:build linux

package proxy

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"terminalproxy/protocol"
	"terminalproxy/protocol/fake"
	"terminalproxy/proxy/detached/headless"
	"terminalproxy/proxy/terminal/tty"
)

// pair is a program at whose prompt a person and an agent take turns.
type pair struct {
	name    string
	command []string
	files   map[string]string
	ready   string // what its prompt shows
	probe   string // what the agent types: %d is the scene, and its answer ag-%d-2
	run     string // one of the user's commands
	lines   bool   // the kernel collects its lines: it has no history
	shell   bool   // it runs programs
	ticks   bool   // its prompt changes with time: the agent may wait for the next one, and say so
}

const (
	shellProbe = "echo ag-%d-$((1+1))"
	plainRC    = "PS1='$ '\nset -o history\nHISTFILE=\n"
)

var pairs = []pair{
	{name: "bash", command: []string{"bash", "--noprofile", "--rcfile", "rc", "-i"}, files: map[string]string{"rc": plainRC}, ready: "$", probe: shellProbe, run: "echo mine", shell: true},
	{name: "bash with two rows", command: []string{"bash", "--noprofile", "--rcfile", "rc", "-i"}, files: map[string]string{"rc": "PS1='[\\w]\\n> '\nHISTFILE=\n"}, ready: ">", probe: shellProbe, run: "cd .; echo mine", shell: true},
	{name: "bash with a clock", command: []string{"bash", "--noprofile", "--rcfile", "rc", "-i"}, files: map[string]string{"rc": "PS1='\\t $ '\nHISTFILE=\n"}, ready: "$", probe: shellProbe, run: "echo mine", shell: true},
	{name: "zsh", command: []string{"zsh", "-f"}, probe: shellProbe, run: "echo mine", shell: true},
	{name: "zsh with a right prompt", command: []string{"env", "ZDOTDIR=.", "zsh", "-i"}, files: map[string]string{".zshrc": "PS1='%% '\nRPS1='%D{%H:%M:%S} right'\n"}, ready: "right", probe: shellProbe, run: "echo mine", shell: true},
	{name: "zsh that hears of git later", command: []string{"env", "ZDOTDIR=.", "zsh", "-i"}, files: map[string]string{".zshrc": "n=0\nPS1='main %% '\nTMOUT=1\nTRAPALRM() { ((n=!n)); if ((n)); then PS1='main*+ %% '; else PS1='main %% '; fi; zle && zle reset-prompt }\n"}, ready: "%", probe: shellProbe, run: "echo mine", shell: true, ticks: true},
	{name: "zsh with a clock that ticks", command: []string{"env", "ZDOTDIR=.", "zsh", "-i"}, files: map[string]string{".zshrc": "PS1='%D{%H:%M:%S.%3.} %% '\nTMOUT=1\nTRAPALRM() { zle && zle reset-prompt }\n"}, ready: "%", probe: shellProbe, run: "echo mine", shell: true, ticks: true},
	{name: "fish", command: []string{"fish", "--no-config"}, probe: "echo ag-%d-(math 1+1)", run: "echo mine", shell: true},
	{name: "dash", command: []string{"env", "PS1=$ ", "dash", "-i"}, ready: "$", probe: shellProbe, run: "echo mine", lines: true, shell: true},
	{name: "python3", command: []string{"python3", "-q"}, ready: ">>>", probe: `print("ag-%d-" + str(1+1))`, run: "print('mine')"},
	{name: "node", command: []string{"env", "NODE_REPL_HISTORY=", "node"}, ready: ">", probe: `"ag-%d-" + (1+1)`, run: "'mine'"},
	{name: "sqlite3", command: []string{"sqlite3"}, ready: "sqlite>", probe: "select 'ag-%d-' || (1+1);", run: "select 'mine';"},
	{name: "gdb", command: []string{"gdb", "-q", "-nx"}, ready: "(gdb)", probe: `printf "ag-%d-%%d\n", 1+1`, run: "echo mine\\n"},
}

// act is what the user does at a prompt; it ends with an empty line.
type act struct {
	name  string
	keys  func(p pair) []string // in bursts; nil if the program does not know it
	shows string                // the text after the first burst, "" for none
}

func pressing(bursts ...string) func(pair) []string { return func(pair) []string { return bursts } }

var acts = []act{
	{name: "runs a command", keys: func(p pair) []string { return []string{p.run + "\r"} }},
	{name: "presses Enter on an empty line", keys: pressing("\r")},
	{name: "presses it thrice", keys: pressing("\r", "\r", "\r")},
	{name: "erases key by key", keys: pressing("abc", "\x7f\x7f\x7f")},
	{name: "empties the line", keys: pressing("abc def", "\x15")},
	{name: "gives it up", keys: func(p pair) []string {
		if p.name == "sqlite3" {
			return nil // it keeps the line
		}
		return []string{"abc", "\x03"}
	}},
	{name: "recalls history and leaves it", keys: func(p pair) []string {
		if p.lines {
			return nil
		}
		return []string{"\x1b[A", "\x1b[B"}
	}},
	{name: "clears the screen", keys: func(p pair) []string {
		if p.lines {
			return nil
		}
		return []string{"\x0c"}
	}},
	{name: "goes back and cuts", keys: func(p pair) []string {
		if p.lines {
			return nil
		}
		return []string{"abc", "\x01", "\x0b"}
	}},
	{name: "types ahead", keys: func(p pair) []string { return []string{p.run + "\r" + p.run + "\r"} }},
	{name: "runs a program of the whole screen", keys: func(p pair) []string {
		if !p.shell {
			return nil
		}
		return []string{"less rows\r", "G", "/1\r", "q"}
	}, shows: "row 1\nrow 1\nrow 1"},
	{name: "makes a mistake", keys: pressing("nosuchthing;\r")},
}

// scenesYield is how long the agent pauses there after a key of the user's.
const scenesYield = 50 * time.Millisecond

// runScenes is runHosted with that pause, and with the session.
func runScenes(conf headless.Config, yield time.Duration, sessions chan<- *session) headless.Runner {
	return func(ctx context.Context, h *headless.Session) (headless.Result, error) {
		s := newSession(Config{
			Command: h.Command, Args: h.Args, Log: conf.Log, Cols: h.Cols, Rows: h.Rows, headless: h,
			Agent: &AgentConfig{Name: h.Name, Dial: conf.Dial, URL: conf.URL, Yield: yield, Interval: hostedInterval},
		})
		s.term = tty.NewAbsent(h.Cols, h.Rows, func(p []byte) { s.attached.Output.Write(p) })
		defer s.term.Close()
		sessions <- s
		result, err := s.run(ctx)
		return headless.Result{ID: result.ID, Code: result.Code}, sentence(err)
	}
}

// scene is a person and an agent at a program.
type scene struct {
	*typing
	s      *session
	looked int
}

// beginScene starts a program with a person attached.
func beginScene(t *testing.T, files map[string]string, command ...string) *scene {
	t.Helper()
	return beginSceneWith(t, scenesYield, files, command...)
}

func isInstalled(program string) bool {
	_, err := exec.LookPath(program)
	return err == nil
}

// beginSceneWith is beginScene with another pause after a key of the person's.
func beginSceneWith(t *testing.T, yield time.Duration, files map[string]string, command ...string) *scene {
	t.Helper()
	for _, name := range command {
		if name == "env" || strings.Contains(name, "=") {
			continue
		}
		if !isInstalled(name) {
			t.Skipf("%s is not installed", name)
		}
		break
	}
	dir := t.TempDir()
	for name, content := range files {
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(content), 0o600))
	}
	require.NoError(t, os.WriteFile(filepath.Join(dir, "rows"), []byte(strings.Repeat("row 1\n", 200)), 0o600))
	g := newFakeGateway(t)
	sessions := make(chan *session, 1)
	g.serve(headless.Config{}, func(conf headless.Config) *headless.Host { return headless.New(conf, runScenes(conf, yield, sessions)) })
	m := starting(command[0], command[1:]...)
	m.Cwd, m.Cols, m.Rows = dir, 100, 24
	m.Env = []string{"HOME=" + dir, "LANG=C.UTF-8", "INPUTRC=/dev/null", "LESS=", "LESSHISTFILE=-", "HISTFILE=", "VIMINIT="}
	p, id := g.startProgram(m)
	c := &scene{typing: &typing{p: p, id: id}, s: fake.Receive(t, sessions, "the session")}
	c.s.observer.Call(func(time.Time) { c.s.requests.Line().MaxAnswerWait = forever })
	return c
}

// readScreen returns the screen as the agent sees it once the program waits for input, and has
// shown its reaction to the person's keys.
func (c *scene) readScreen() *protocol.Frame {
	c.p.t.Helper()
	var frame *protocol.Frame
	for _, until := range []protocol.Until{{Waiting: true}, {QuietMs: 100}} {
		c.looked++
		id := fmt.Sprint("a-1:w", c.looked)
		c.p.send(&protocol.Wait{RequestID: id, SessionID: c.id, AgentID: "a-1", Until: until, TimeoutMs: 20_000})
		frame = hear(c.p, func(r *protocol.WaitResult) bool { return r.RequestID == id }).Frame
	}
	return frame
}

// waitForRow waits until the cursor's row holds text, or until it no longer does.
func (c *scene) waitForRow(text string, holds bool) {
	c.p.t.Helper()
	for end := time.Now().Add(fake.Soon); ; {
		screen := c.readScreen().Screen
		if strings.Contains(screen.Lines[screen.Cursor.Row], text) == holds {
			return
		}
		require.True(c.p.t, time.Now().Before(end), "%q: %q", text, screen.Lines)
	}
}

// typeKeys types as the person, and returns once the pump has the keys: an agent's input comes after
// them.
func (c *scene) typeKeys(keys string) {
	c.p.t.Helper()
	count := func() uint64 { return c.s.requests.Line().Tracker.TypedLine().Keys() }
	before := count()
	c.p.types(c.id, keys)
	require.Eventually(c.p.t, func() bool { return count() > before }, fake.Soon, time.Millisecond, keys)
}

// questions counts the questions to the user so far, including those about an agent that waits for
// their line.
func (c *scene) questions() uint64 { return c.s.authority.NewestState().Question.Turn }

// forever is longer than a test: what an agent's input waits for has to come as a fact.
const forever = time.Hour

// If the user leaves the prompt empty, in any way, an agent's line follows without a question to
// the user, and runs whole.
func TestTheScenesOfAPair(t *testing.T) {
	for _, p := range pairs {
		t.Run(p.name, func(t *testing.T) {
			t.Parallel()
			c := beginScene(t, p.files, p.command...)
			c.p.waitForText(p.ready)
			c.p.attaches(c.id, 100, 24)
			c.readScreen()
			for n, a := range acts {
				bursts := a.keys(p)
				if bursts == nil {
					continue
				}
				for i, burst := range bursts {
					c.typeKeys(burst)
					if i == 0 {
						c.p.waitForText(a.shows)
					}
					if len(bursts) > 1 {
						c.readScreen()
					}
					if strings.HasPrefix(bursts[0], "abc") { // it is typed, and erased by the last burst
						c.waitForRow(bursts[0], i < len(bursts)-1)
					}
				}
				asked := c.questions()
				r := c.receipt(c.typeParts(text(fmt.Sprintf(p.probe, n)), named("enter")))
				require.Equal(t, protocol.StatusWritten, r.Status, "%s: %s", a.name, r.Message)
				c.p.waitForText(fmt.Sprintf("ag-%d-2", n))
				c.readScreen() // the receipt's frame may have no prompt yet
				if !p.ticks {
					require.Equal(t, asked, c.questions(), "%s: the user was asked", a.name)
				}
			}
		})
	}
}

// SQLite's; there, the agent's input would be the rest of a line.
func TestAnEditorThatKeepsTheLineAtAnInterrupt(t *testing.T) {
	c := beginScene(t, nil, "sqlite3")
	c.p.waitForText("sqlite>")
	c.p.attaches(c.id, 100, 24)
	c.readScreen()
	c.typeKeys("select 1 +")
	c.p.waitForText("select 1 +")
	c.typeKeys("\x03")
	m := c.typeParts(text(" 1;"), named("enter"))
	hear(c.p, func(m *protocol.Snapshot) bool { return m.Keyboard.HeldWhy == protocol.HeldLine })
	c.typeKeys("\x15")
	require.Equal(t, protocol.StatusWritten, c.receipt(m).Status)
}
