package session_test

import (
	"fmt"
	"regexp"
	"strings"
	"testing"

	"terminalproxy/cmd/internal/e2e/world"
)

// queries are the questions whose answer programs wait for, and the answers (xterm ctlseqs, kitty
// protocols). They leave out optional questions that programs bound by another one, such as kitty's
// for graphics.
var queries = []struct{ name, asked, answered string }{
	{"DA1", `\x1b\[0?c`, `\x1b\[\?[\d;]+c`},
	{"DA2", `\x1b\[>0?c`, `\x1b\[>[\d;]+c`},
	{"DA3", `\x1b\[=0?c`, `\x1bP!\|[0-9A-F]+\x1b\\`},
	{"XTVERSION", `\x1b\[>0?q`, `\x1bP>\|[^\x1b]+\x1b\\`},
	{"status", `\x1b\[5n`, `\x1b\[0n`},
	{"cursor", `\x1b\[6n`, `\x1b\[\d+;\d+R`},
	{"DEC cursor", `\x1b\[\?6n`, `\x1b\[\?\d+;\d+R`},
	{"light or dark", `\x1b\[\?996n`, `\x1b\[\?997;[12]n`},
	{"kitty flags", `\x1b\[\?u`, `\x1b\[\?\d+u`},
	{"modifyOtherKeys", `\x1b\[\?4m`, `\x1b\[>4;\dm`},
	{"DEC mode", `\x1b\[\?\d+\$p`, `\x1b\[\?\d+;\d\$y`},
	{"mode", `\x1b\[\d+\$p`, `\x1b\[\d+;\d\$y`},
	{"colours", `\x1b\]1[012];\?(?:\x07|\x1b\\)`, `\x1b\]1[012];rgb:`},
	{"palette", `\x1b\]4;\d+;\?(?:\x07|\x1b\\)`, `\x1b\]4;\d+;rgb:`},
	{"XTGETTCAP", `\x1bP\+q[0-9A-Fa-f]+\x1b\\`, `\x1bP[01]\+r`},
	{"DECRQSS", `\x1bP\$q[^\x1b]*\x1b\\`, `\x1bP[01]\$r`},
	{"sizes", `\x1b\[1[468]t`, `\x1b\[[468];\d+;\d+t`},
}

// unanswered counts the questions in a program's output, and names those that have no answer in its
// input.
func unanswered(wrote, read string) (asked int, missing []string) {
	for _, q := range queries {
		n := len(regexp.MustCompile(q.asked).FindAllString(wrote, -1))
		if got := len(regexp.MustCompile(q.answered).FindAllString(read, -1)); got != n {
			missing = append(missing, fmt.Sprintf("%s: asked %d times, answered %d times", q.name, n, got))
		}
		asked += n
	}
	return asked, missing
}

// allAnswered waits until at least that many questions were asked, and all of them answered.
func allAnswered(w *world.World, least int) {
	w.T.Helper()
	var asked int
	var missing []string
	w.Until(func() bool {
		asked, missing = unanswered(w.Content("wrote"), w.Content("read"))
		return asked >= least && len(missing) == 0
	}, func() string {
		return fmt.Sprintf("%d questions\n%s\n%q", asked, strings.Join(missing, "\n"), w.Content("wrote"))
	})
}

// Each question that a real program asks as it starts in a terminal without a user is answered
// once, so that no program waits for its own time limit.
func TestNoProgramWaitsForAnAnswerR62(t *testing.T) {
	t.Parallel()
	for _, p := range []struct {
		program []string
		ready   string
		asks    int // at least
	}{
		{[]string{"vim", "-N", "-u", "DEFAULTS", "-n", "notes.txt"}, `\[New`, 3},
		{[]string{"nvim", "-u", "NONE", "-n", "notes.txt"}, `^notes.txt +0,0-1`, 1},
		{[]string{"fish", "--no-config"}, world.Prompt, 0},
		{[]string{"less", "notes.txt"}, `^bread`, 0},
		{[]string{"gh", "auth", "login"}, `GitHub Enterprise`, 0},
		{[]string{"fzf", "--height", "40%", "--reverse"}, `/\d+`, 1},
		{[]string{"htop"}, `F10Quit`, 0},
		{[]string{"mc"}, `10Quit`, 0},
		{[]string{"nano", "--ignorercfiles", "notes.txt"}, `Exit`, 0},
		{[]string{"dialog", "--msgbox", "hello", "0", "0"}, `hello`, 0},
		{[]string{"bash", "--norc", "--noprofile", "-i"}, world.Prompt, 0},
		{[]string{"zsh", "-f"}, world.Prompt, 0},
		{[]string{"python3", "-q"}, `^>>>`, 0},
		{[]string{"gdb", "-nx", "-q"}, `^\(gdb\)`, 0},
	} {
		t.Run(p.program[0], func(t *testing.T) {
			w := world.New(t, p.program[0])
			if p.program[0] != "vim" && p.program[0] != "nvim" {
				w.Write("notes.txt", "bread\n")
			}
			a := w.Agent("claude", world.Eras[1])
			id, _ := a.RunProgram(world.Args{
				"program": "tap", "args": append([]string{"wrote", "read"}, p.program...), "cwd": w.Dir, "wait_for": "regex", "value": p.ready,
			}, "matched")
			a.MustCall("terminal_wait", world.Args{"for": "idle", "value": "300ms"})
			allAnswered(w, p.asks)
			a.MustCall("terminal_close", world.Args{"terminal": id, "force": true})
		})
	}
}

// The same for the agents, which ask the most.
func TestTheAgentsAreAnsweredR62_Client(t *testing.T) {
	for _, p := range world.CodingAgents {
		t.Run(p.Name, func(t *testing.T) {
			bin := world.FromNpm(t, p.Name)
			w := world.New(t)
			_, url := w.ServeAnswers()
			r := w.Prepare("gateway", append([]string{"run", "--", "tap", "wrote", "read", bin}, p.Prompt...)...)
			r.Cmd.Env = append(r.Cmd.Env, p.SetUp(w, url)...)
			r.Run()
			id := w.Session()
			t.Cleanup(func() { w.Gateway("close", id, "--force"); r.Wait() })
			w.MustGateway("wait", id, "--regex", p.Ready, "--timeout", "5m")
			allAnswered(w, 2)
		})
	}
}
