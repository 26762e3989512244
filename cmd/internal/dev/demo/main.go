// Command demo plays both sides of a session: a scripted agent, through the real gateway and MCP
// server, edits a file in an editor that runs under proxy; a scripted user gives it the keyboard
// and takes it back midway. The demo prints what each side saw and checks the file. `make demo`
// runs it.
//
// With -record FILE it goes slowly enough for a person to follow and records the user's screen,
// including the proxy's own lines: `make picture` draws the README's picture from that.
package main

import (
	"cmp"
	"context"
	"errors"
	"flag"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

func main() {
	record := flag.String("record", "", "record the user's screen to `FILE`, at a slow pace")
	flag.Parse()
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	defer cancel()
	if *record != "" {
		*record, _ = filepath.Abs(*record)
	}
	bin, _ := filepath.Abs(cmp.Or(flag.Arg(0), "bin")) // the editor runs elsewhere
	if err := run(ctx, bin, *record); err != nil {
		fmt.Fprintf(os.Stderr, "demo: %v\n", err)
		os.Exit(1)
	}
}

// script is what agent and user do in one editor.
type script struct {
	editor string
	args   []string
	first  []string       // keys before the text
	more   map[string]any // the input that the agent repeats
	midway string         // is on the screen after a few repetitions
	quit   string         // what the user types at the end
	edits  bool           // the file changes
}

// editors, the best first: the demo uses the first installed one.
var editors = []script{
	{
		editor: "vim", args: []string{"-u", "NONE", "-n"}, first: []string{"G", "o"}, edits: true,
		more: naggingInput, midway: nagging + "\n" + nagging, quit: "\x1b:wq\r",
	},
	{
		editor: "vi", first: []string{"G", "o"}, edits: true,
		more: naggingInput, midway: nagging + "\n" + nagging, quit: "\x1b:wq\r",
	},
	{
		editor: "nano", args: []string{"-I"}, first: []string{"ctrl-end"}, edits: true,
		more: naggingInput, midway: nagging + "\n" + nagging, quit: "\x18y\r",
	},
	{
		editor: "less",
		more:   map[string]any{"keys": []string{"j"}, "settle_ms": 50}, midway: "(END)", quit: "q",
	},
}

var naggingInput = map[string]any{"text": nagging, "keys": []string{"enter"}, "settle_ms": 50}

func chooseEditor() (script, error) {
	for _, s := range editors {
		if _, err := exec.LookPath(s.editor); err == nil {
			return s, nil
		}
	}
	return script{}, errors.New("vim, vi, nano and less are all missing: install one and " +
		"try again")
}

const (
	start    = "Shopping list\n- bread\n"
	typed    = "- apples, as the agent typed them"
	words    = len("- apples,") // the first part when it is typed slowly
	nagging  = "- and more that no one asked for"
	reason   = "add apples to your list"
	maxLines = 200 // lines that the agent types unless it is stopped
	limit    = 30 * time.Second
)

func run(ctx context.Context, bin, record string) error {
	s, err := chooseEditor()
	if err != nil {
		return err
	}
	dir, err := os.MkdirTemp("", "proxy-demo-")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(dir) }()
	if err := useOwnDirectories(dir); err != nil {
		return err
	}
	file := filepath.Join(dir, "list.txt")
	if err := os.WriteFile(file, []byte(start), 0o600); err != nil {
		return err
	}
	printStep("the user runs", "proxy --agent %s list.txt", s.editor)
	cols := chooseCols(windowCols())
	if record != "" {
		cols = mostCols
	}
	u, err := openTerminal(ctx, dir, cols, terminalCommand(bin, record, s))
	if err != nil {
		return err
	}
	if record != "" {
		u.slow, s.more = true, slowDown(s.more)
	}
	defer u.close()
	if err := u.waitFor(ctx, "bread"); err != nil {
		return err
	}
	u.printScreen("the user's terminal")
	u.pauseToRead(ctx, 2*time.Second)
	return perform(ctx, bin, s, u, file)
}

// useOwnDirectories gives the demo a gateway of its own, so that it cannot see your open sessions,
// and a state of its own, so that your first sessions still say that they are shared.
func useOwnDirectories(dir string) error {
	state := filepath.Join(dir, "state")
	return errors.Join(os.Setenv("TERMINALPROXY_DIR", filepath.Join(dir, "run")),
		os.Setenv("XDG_STATE_HOME", state),
		os.MkdirAll(filepath.Join(state, "terminalproxy"), 0o700),
		os.WriteFile(filepath.Join(state, "terminalproxy", "starts"), []byte("..."), 0o600))
}

// terminalCommand returns the command for the user's terminal. Another proxy around it makes the
// recording, since a proxy does not record its own lines.
func terminalCommand(bin, record string, s script) []string {
	proxy := filepath.Join(bin, "proxy")
	args := append([]string{proxy, "--agent", s.editor}, s.args...)
	if record != "" {
		args = append([]string{proxy, "--record", record}, args...)
	}
	return append(args, "list.txt")
}

// slowDown returns an input after which the agent waits for a while.
func slowDown(more map[string]any) map[string]any {
	more = maps.Clone(more)
	more["settle_ms"] = 600
	return more
}

// perform plays the agent against the user.
func perform(ctx context.Context, bin string, s script, u *terminal, file string) error {
	client := mcp.NewClient(&mcp.Implementation{Name: "demo-agent", Version: "1"}, nil)
	server := exec.CommandContext(ctx, filepath.Join(bin, "gateway"), "mcp")
	agent, err := client.Connect(ctx, &mcp.CommandTransport{Command: server}, nil)
	if err != nil {
		return fmt.Errorf("start gateway mcp: %w", err)
	}
	defer func() { _ = agent.Close() }()
	a := &caller{ctx: ctx, session: agent}
	a.waitForTerminal()
	a.callAndPrint("terminal_list", nil)
	a.callAndPrint("terminal_send", map[string]any{"text": "typed without asking"})

	asked := a.startCall("terminal_request_control", map[string]any{
		"reason": reason, "timeout_ms": 20000,
	})
	if err := u.waitFor(ctx, "Ctrl+G"); err != nil {
		return err
	}
	u.printScreen("the user is asked")
	u.pauseToRead(ctx, 4*time.Second)
	printStep("the user presses", "Ctrl+G")
	u.answerQuestion(ctx, "\a")
	a.printAnswer(asked)
	if s.edits {
		if err := typeLine(ctx, s, u, a); err != nil {
			return err
		}
	}
	flooding := a.sendUntilRefused(s)
	if err := u.waitFor(ctx, s.midway); err != nil {
		return err
	}
	printStep("the user presses", "Ctrl+\\, while the agent goes on and on")
	u.pressKeys("\x1c")
	refusal := <-flooding
	printStep("the agent is told", "")
	printQuoted(refusal)
	if err := u.waitFor(ctx, "keyboard is yours"); err != nil {
		return err
	}
	u.printScreen("the keyboard is the user's again")
	u.pauseToRead(ctx, 3*time.Second)
	a.callAndPrint("terminal_send", map[string]any{"text": "one more try"})
	return quitAndCheck(ctx, s, u, file)
}

// typeLine has the agent type its line, while the user watches.
func typeLine(ctx context.Context, s script, u *terminal, a *caller) error {
	a.callAndPrint("terminal_send", map[string]any{"keys": s.first})
	if u.slow {
		a.callAndPrint("terminal_send", map[string]any{"text": typed[:words]})
		u.pauseToRead(ctx, time.Second)
		a.callAndPrint("terminal_send", map[string]any{"text": typed[words:]})
	} else {
		a.callAndPrint("terminal_send", map[string]any{
			"text": typed, "wait_for": "text", "value": typed,
		})
	}
	if err := u.waitFor(ctx, typed); err != nil {
		return err
	}
	u.printScreen("the user watches the agent type")
	u.pauseToRead(ctx, time.Second)
	// A new line keeps later input off the checked line.
	a.callAndPrint("terminal_send", map[string]any{"keys": []string{"enter"}})
	return nil
}

// quitAndCheck has the user save and quit, and checks the file.
func quitAndCheck(ctx context.Context, s script, u *terminal, file string) error {
	if s.edits {
		printStep("the user", "saves and quits")
	} else {
		printStep("the user", "quits")
	}
	u.pressKeys(s.quit)
	if err := u.waitForEnd(ctx); err != nil {
		return err
	}
	got, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	text := string(got)
	switch {
	case !strings.HasPrefix(text, start), !s.edits && text != start:
		return fmt.Errorf("the list was damaged: %q", shorten(text))
	case s.edits && !strings.Contains(text, typed+"\n"):
		return fmt.Errorf("the agent's line is missing: %q", shorten(text))
	case strings.Count(text, nagging) >= maxLines:
		return errors.New("the agent typed to its end: the reclaim key did nothing")
	case strings.Contains(text, "without asking"), strings.Contains(text, "one more try"):
		return errors.New("the agent typed without a grant")
	}
	if !s.edits {
		printStep("the file", "is unchanged: %s only shows it "+
			"(install vim, vi or nano to see the demo edit)", s.editor)
		fmt.Println("\nThe demo passed.")
		return nil
	}
	printStep("the file", "has the agent's line, and %d of the %d more "+
		"that the agent would have typed without the key", strings.Count(text, nagging), maxLines)
	fmt.Println("\nThe demo passed.")
	return nil
}

func printStep(actor, step string, args ...any) {
	if step != "" {
		actor += ": " + fmt.Sprintf(step, args...)
	}
	fmt.Println("\n== " + actor)
}

func shorten(s string) string {
	if len(s) > 300 {
		return s[:300] + "..."
	}
	return s
}
