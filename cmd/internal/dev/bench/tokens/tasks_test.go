package tokens_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// step is something to type, and what shows that it was done: a regular expression on the screen, or the program's end.
type step struct {
	text  string
	keys  []string
	enter bool
	until string
	exit  bool
	// quiet: until stood there before, so only a screen that changed and is quiet shows that it was done.
	quiet bool
	// search: nothing is typed, the row with this is looked for in all that was printed.
	search string
}

// task is a program to operate. Both clients do the same steps, and end with what is to be known or done.
type task struct {
	name    string
	program []string // in a directory with the task's files
	needs   string   // another program
	files   map[string]string
	first   string // on the screen when the program can be operated, or has done its work
	steps   []step
	// follow: every line that the program prints is to be read, from the first on until this is printed.
	follow string
	// apart: each step is a call of its own, because the agent has to read its screen.
	apart bool
	// status is that of the program when it ends.
	status int
	// wanted is what has to have been read, line by line.
	wanted []string
	done   func(dir string) error
}

func numbered(format string, n int) string {
	var b strings.Builder
	for i := 1; i <= n; i++ {
		fmt.Fprintf(&b, format+"\n", i)
	}
	return b.String()
}

// spoken is what a program of a few lines of shell prints: n lines, so many at a time, with pauses in seconds.
func spoken(n, atOnce int, pause, line, last string) []string {
	return []string{"bash", "-c", fmt.Sprintf(`for i in $(seq 1 %d); do printf '%s\n' $i; [ $((i %% %d)) = 0 ] && sleep %s; done; echo '%s'; read -r`,
		n, line, atOnce, pause, last)}
}

// tasks are all of them.
var tasks = slices.Concat(lineTasks, screenTasks)

// place makes the directory of a task.
func (t *task) place(b *testing.B) string {
	b.Helper()
	dir := b.TempDir()
	for name, text := range t.files {
		require.NoError(b, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600))
	}
	return dir
}

// contains and lacks look into a file of the task's.
func contains(dir, name, want string) error {
	saved, err := os.ReadFile(filepath.Join(dir, name))
	if err != nil || strings.Contains(string(saved), want) {
		return err
	}
	return fmt.Errorf("%s does not contain %q", name, want)
}

func lacks(dir, name, unwanted string) error {
	saved, err := os.ReadFile(filepath.Join(dir, name))
	if err != nil || !strings.Contains(string(saved), unwanted) {
		return err
	}
	return fmt.Errorf("%s contains %q", name, unwanted)
}

// ends reports whether the program ends without being operated.
func (t *task) ends() bool { return len(t.steps) > 0 && t.steps[0].exit && t.first == "" }

// check holds what a client read and did against the task.
func (t *task) check(dir, read string) error {
	for _, line := range t.wanted {
		if !strings.Contains(read, line) {
			return fmt.Errorf("%q was not read", line)
		}
	}
	if t.done != nil {
		return t.done(dir)
	}
	return nil
}
