// Command demo plays both sides of a session: a scripted agent, through the real gateway and MCP server, edits a file in
// an editor that runs under proxy; a scripted user gives it the keyboard and takes it back midway. The demo prints what
// each side saw and checks the file. `make demo` runs it.
//
// With -record FILE it does the same at a pace that a person can follow and records the user's screen, the proxy's own
// lines included: `make picture` draws the README's picture from that.
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
	more   map[string]any // what the agent sends over and over
	midway string         // is on the screen when it has done so a few times
	quit   string         // what the user types at the end
	edits  bool           // the file changes
}

// editors, the best first: the demo takes what the machine has.
var editors = []script{
	{editor: "vim", args: []string{"-u", "NONE", "-n"}, first: []string{"G", "o"}, more: another, midway: nagging + "\n" + nagging, quit: "\x1b:wq\r", edits: true},
	{editor: "vi", first: []string{"G", "o"}, more: another, midway: nagging + "\n" + nagging, quit: "\x1b:wq\r", edits: true},
	{editor: "nano", args: []string{"-I"}, first: []string{"ctrl-end"}, more: another, midway: nagging + "\n" + nagging, quit: "\x18y\r", edits: true},
	{editor: "less", more: map[string]any{"keys": []string{"j"}, "settle_ms": 50}, midway: "(END)", quit: "q"},
}

// another is one more line that nobody asked for.
var another = map[string]any{"text": nagging, "keys": []string{"enter"}, "settle_ms": 50}

func choose() (script, error) {
	for _, s := range editors {
		if _, err := exec.LookPath(s.editor); err == nil {
			return s, nil
		}
	}
	return script{}, errors.New("none of vim, vi, nano and less is installed: install one and try again")
}

const (
	start   = "Shopping list\n- bread\n"
	typed   = "- apples, as the agent typed them"
	words   = len("- apples,") // what comes first when it is typed slowly
	nagging = "- and more that nobody asked for"
	reason  = "add apples to your list"
	most    = 200 // lines that the agent would type if nobody stopped it
	limit   = 30 * time.Second
)

func run(ctx context.Context, bin, record string) error {
	s, err := choose()
	if err != nil {
		return err
	}
	dir, err := os.MkdirTemp("", "proxy-demo-")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(dir) }()
	// A gateway of the demo's own: the sessions you have open are none of its business.
	if err := os.Setenv("TERMINALPROXY_DIR", filepath.Join(dir, "run")); err != nil {
		return err
	}
	file := filepath.Join(dir, "list.txt")
	if err := os.WriteFile(file, []byte(start), 0o600); err != nil {
		return err
	}
	say("the user runs", "proxy --agent %s list.txt", s.editor)
	u, err := openTerminal(ctx, dir, command(bin, record, s))
	if err != nil {
		return err
	}
	if record != "" {
		u.slow, s.more = true, slower(s.more)
	}
	defer u.close()
	if err := u.waitFor(ctx, "bread"); err != nil {
		return err
	}
	u.show("the user's terminal")
	u.rest(ctx, 2*time.Second)
	return perform(ctx, bin, s, u, file)
}

// command is what runs in the user's terminal. A recording is made by another proxy around it, since the proxy's own
// lines are not in its recording.
func command(bin, record string, s script) []string {
	proxy := filepath.Join(bin, "proxy")
	args := append([]string{proxy, "--agent", s.editor}, s.args...)
	if record != "" {
		args = append([]string{proxy, "--record", record}, args...)
	}
	return append(args, "list.txt")
}

// slower is an input after which the agent looks on for a while before the next one.
func slower(more map[string]any) map[string]any {
	more = maps.Clone(more)
	more["settle_ms"] = 600
	return more
}

// perform plays the agent against the user.
func perform(ctx context.Context, bin string, s script, u *terminal, file string) error {
	client := mcp.NewClient(&mcp.Implementation{Name: "demo-agent", Version: "1"}, nil)
	agent, err := client.Connect(ctx, &mcp.CommandTransport{Command: exec.CommandContext(ctx, filepath.Join(bin, "gateway"), "mcp")}, nil)
	if err != nil {
		return fmt.Errorf("start gateway mcp: %w", err)
	}
	defer func() { _ = agent.Close() }()
	a := &caller{ctx: ctx, session: agent}
	a.tell("terminal_list", nil)
	a.tell("terminal_send", map[string]any{"text": "typed without asking"})

	asked := a.start("terminal_request_control", map[string]any{"reason": reason, "timeout_ms": 20000})
	if err := u.waitFor(ctx, "Ctrl+G"); err != nil {
		return err
	}
	u.show("the user is asked")
	u.rest(ctx, 4*time.Second)
	say("the user presses", "Ctrl+G")
	u.answer(ctx, "\a")
	a.finish(asked)
	if s.edits {
		if err := edit(ctx, s, u, a); err != nil {
			return err
		}
	}
	flooding := a.loop(s)
	if err := u.waitFor(ctx, s.midway); err != nil {
		return err
	}
	say("the user presses", "Ctrl+\\, while the agent goes on and on")
	u.press("\x1c")
	said := <-flooding
	say("the agent is told", "")
	quote(said)
	if err := u.waitFor(ctx, "keyboard is yours"); err != nil {
		return err
	}
	u.show("the keyboard is the user's again")
	u.rest(ctx, 3*time.Second)
	a.tell("terminal_send", map[string]any{"text": "one more try"})
	return leave(ctx, s, u, file)
}

// edit has the agent type its line, while the user watches.
func edit(ctx context.Context, s script, u *terminal, a *caller) error {
	a.tell("terminal_send", map[string]any{"keys": s.first})
	if u.slow {
		a.tell("terminal_send", map[string]any{"text": typed[:words]})
		u.rest(ctx, time.Second)
		a.tell("terminal_send", map[string]any{"text": typed[words:]})
	} else {
		a.tell("terminal_send", map[string]any{"text": typed, "wait_for": "text", "value": typed})
	}
	if err := u.waitFor(ctx, typed); err != nil {
		return err
	}
	u.show("the user watches the agent type")
	u.rest(ctx, time.Second)
	// A new line keeps what follows off the checked one.
	a.tell("terminal_send", map[string]any{"keys": []string{"enter"}})
	return nil
}

// leave has the user save and quit, and checks the file.
func leave(ctx context.Context, s script, u *terminal, file string) error {
	if s.edits {
		say("the user", "saves and quits")
	} else {
		say("the user", "quits")
	}
	u.press(s.quit)
	if err := u.wait(ctx); err != nil {
		return err
	}
	got, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	text := string(got)
	switch {
	case !strings.HasPrefix(text, start), !s.edits && text != start:
		return fmt.Errorf("the list was damaged: %q", short(text))
	case s.edits && !strings.Contains(text, typed+"\n"):
		return fmt.Errorf("the agent's line is missing: %q", short(text))
	case strings.Count(text, nagging) >= most:
		return errors.New("the agent typed to its end: the reclaim key did nothing")
	case strings.Contains(text, "without asking"), strings.Contains(text, "one more try"):
		return errors.New("the agent typed without a grant")
	}
	if !s.edits {
		say("the file", "is unchanged: %s only shows it (install vim, vi or nano to see the demo edit)", s.editor)
		fmt.Println("\nThe demo passed.")
		return nil
	}
	say("the file", "has the agent's line, and %d of the %d more that the agent would have typed without the key", strings.Count(text, nagging), most)
	fmt.Println("\nThe demo passed.")
	return nil
}

func say(who, what string, args ...any) {
	if what != "" {
		who += ": " + fmt.Sprintf(what, args...)
	}
	fmt.Println("\n== " + who)
}

func short(s string) string {
	if len(s) > 300 {
		return s[:300] + "..."
	}
	return s
}
