package tokens_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// tmuxKey is the name of a key there.
func tmuxKey(key string) string {
	if letter, ok := strings.CutPrefix(key, "ctrl-"); ok {
		return "C-" + letter
	}
	if key == "esc" {
		return "Escape"
	}
	return strings.ToUpper(key[:1]) + key[1:]
}

// pane is a program in tmux, and a client that keeps count.
type pane struct {
	b    *testing.B
	dir  string
	bill *bill
}

func newPane(b *testing.B, c *bill) *pane {
	b.Helper()
	if !installed("tmux") {
		b.Skip("tmux is not installed")
	}
	p := &pane{b: b, dir: b.TempDir(), bill: c}
	conf := "set -g status off\nset -g remain-on-exit on\nset -g default-terminal tmux-256color\nset -g history-limit 10000\n"
	require.NoError(b, os.WriteFile(filepath.Join(p.dir, "conf"), []byte(conf), 0o600))
	return p
}

// start starts a program, which ends with the benchmark.
func (p *pane) start(dir string, program []string) {
	p.b.Helper()
	p.tmux(append([]string{"new-session", "-d", "-x", "80", "-y", "24", "-c", dir}, program...)...)
	p.b.Cleanup(func() { p.tmux("kill-server") })
}

func (p *pane) tmux(args ...string) string {
	p.b.Helper()
	cmd := exec.Command("tmux", append([]string{"-S", filepath.Join(p.dir, "tmux"), "-f", filepath.Join(p.dir, "conf")}, args...)...)
	cmd.Env = environ()
	out, err := cmd.CombinedOutput()
	require.NoError(p.b, err, string(out))
	return string(out)
}

// screen is the screen as tmux shows it, without what the tools leave out as well: blanks and empty rows at the end.
func (p *pane) screen() string {
	return strings.TrimRight(p.tmux("capture-pane", "-p"), "\n")
}

func (p *pane) exited() bool {
	return strings.TrimSpace(p.tmux("display-message", "-p", "#{pane_dead}")) == "1"
}

// settle looks every half second until the screen shows what it is looked at for and is still, or has been redrawn for
// two seconds since. said is what was typed.
func (p *pane) settle(said string, s step) error {
	wanted, before, began, met := regexp.MustCompile("(?m)"+s.until), "", time.Now(), false
	var metAt time.Time
	p.bill.call(said, "")
	for {
		time.Sleep(pollEvery)
		now := p.screen()
		if !met {
			p.bill.call("capture", now)
		}
		met = s.exit && p.exited() || !s.exit && wanted.MatchString(now)
		switch {
		case !met:
			metAt = time.Time{}
		case metAt.IsZero():
			metAt = time.Now()
		}
		if met && (now == before || time.Since(metAt) > 2*time.Second) {
			return nil
		}
		before = now
		if time.Since(began) > patience {
			return fmt.Errorf("%q does not come: %s", s.until, now)
		}
	}
}

// withTmux does a task by typing and looking at the whole screen.
func withTmux(b *testing.B, t *task, c *bill, _ string) error {
	dir, p := t.place(b), newPane(b, c)
	p.start(dir, t.program)
	said := strings.Join(t.program, " ")
	for t.follow != "" && !strings.Contains(c.text.String(), t.follow) {
		time.Sleep(pollEvery)
		p.bill.call(said, p.screen())
		said = "capture"
	}
	if t.follow == "" && t.first != "" {
		if err := p.settle(said, step{until: t.first}); err != nil {
			return err
		}
	}
	for _, s := range t.steps {
		if s.search != "" {
			p.bill.call("capture all", p.tmux("capture-pane", "-p", "-S", "-"))
			continue
		}
		if err := p.settle(p.types(s, said), s); err != nil {
			return err
		}
	}
	return t.check(dir, c.text.String())
}

// types types a step and names it; one without anything to type is the program's own, which said names.
func (p *pane) types(s step, said string) string {
	keys := s.keys
	if s.enter {
		keys = append(keys[:len(keys):len(keys)], "enter")
	}
	if s.text == "" && keys == nil {
		return said
	}
	if s.text != "" {
		literal := s.text
		if strings.HasSuffix(literal, ";") { // would separate two commands of tmux
			literal = strings.TrimSuffix(literal, ";") + `\;`
		}
		p.tmux("send-keys", "-l", "--", literal)
	}
	for _, key := range keys {
		p.tmux("send-keys", tmuxKey(key))
	}
	return "send " + s.text + strings.Join(keys, " ")
}
