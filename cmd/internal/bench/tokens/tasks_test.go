package tokens_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
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

var tasks = []task{
	{
		// Edit two lines and save.
		name: "vim", program: []string{"vim", "-u", "NONE", "-n", "notes.txt"},
		files: map[string]string{"notes.txt": numbered("line %d of a note that has some length to it", 60)}, first: `^"notes\.txt" 60`,
		steps: []step{
			{text: "2GA and milk", until: `2 of .* and milk`},
			{keys: []string{"esc"}, until: `and milk`},
			{text: "50Gdd", until: `line 51`},
			{text: ":wq", enter: true, exit: true},
		},
		done: func(dir string) error {
			return errors.Join(contains(dir, "notes.txt", "line 2 of a note that has some length to it and milk\n"), lacks(dir, "notes.txt", "line 50"))
		},
	},
	{
		// Page through 150 lines.
		name: "less", program: []string{"less", "long.txt"},
		files: map[string]string{"long.txt": numbered("%d: one of the lines of a text that somebody wrote", 150)}, first: `^23: `,
		steps: []step{
			{keys: []string{"space"}, until: `^46: `},
			{keys: []string{"space"}, until: `^69: `},
			{keys: []string{"space"}, until: `^92: `},
			{keys: []string{"space"}, until: `^115: `},
			{keys: []string{"space"}, until: `^138: `},
			{keys: []string{"space"}, until: `^150: `},
		},
		wanted: []string{"1: one", "75: one", "150: one"},
	},
	{
		// Compute five things.
		name: "python", program: []string{"python3", "-q"}, first: `>>> *$`,
		steps: []step{
			{text: "6*7", enter: true, until: `^42$`},
			{text: "sum(range(101))", enter: true, until: `^5050$`},
			{text: "2**64", enter: true, until: `^18446744073709551616$`},
			{text: "len('strawberry')", enter: true, until: `^10$`},
			{text: "sorted([3,1,2])", enter: true, until: `^\[1, 2, 3\]$`},
		},
		wanted: []string{"42", "5050", "18446744073709551616", "10", "[1, 2, 3]"},
	},
	{
		// 400 lines, how did it end.
		name: "build", program: spoken(400, 40, "0.2", "cc -O2 -Wall -c -o build/part%d.o src/part.c", "build: 1 error"),
		first: `build: 1 error`, wanted: []string{"build: 1 error"},
	},
	{
		// Choose the third of five.
		name: "dialog", program: []string{"dialog", "--menu", "Pick one", "15", "40", "5", "a", "Apples", "b", "Bread", "c", "Cheese", "d", "Dates", "e", "Eggs"},
		first: `Cheese`,
		steps: []step{
			{keys: []string{"down"}, until: `Cheese`},
			{keys: []string{"down"}, until: `Cheese`},
			{keys: []string{"enter"}, exit: true},
		},
	},
	{
		// Read all of 120 lines.
		name: "log", program: spoken(120, 4, "0.15", "2026-11-21 12:00:00 INFO request %d was answered", "log: end"),
		first: `request 1 was`, follow: "log: end", wanted: strings.Split(strings.TrimSpace(numbered("INFO request %d was answered", 120)), "\n"),
	},
	{
		// A build of 2,000 lines fails in line 60: with what?
		name: "failed-build", program: []string{"bash", "-c", `for i in $(seq 2000); do
			if [ $i = 60 ]; then echo "src/part60.c:12:7: error: unknown type name 'sise_t'"; else echo "cc -O2 -Wall -c -o build/part$i.o src/part$i.c"; fi
		done; echo "make: *** [Makefile:8: build/part60.o] Error 1"; exit 2`},
		steps:  []step{{exit: true}, {search: "error:"}},
		status: 2, wanted: []string{"unknown type name 'sise_t'"},
	},
	{
		// Change a line and save.
		name: "nano", program: []string{"nano", "--ignorercfiles", "notes.txt"},
		files: map[string]string{"notes.txt": numbered("line %d of a note", 12)}, first: `Read 12 lines`,
		steps: []step{
			{keys: []string{"down", "down", "end"}, until: `line 3 of a note`},
			{text: " and bread", until: `line 3 of a note and bread`},
			{keys: []string{"ctrl-o"}, until: `File Name to Write`},
			{keys: []string{"enter"}, until: `Wrote 12 lines`},
			{keys: []string{"ctrl-x"}, exit: true},
		},
		done: func(dir string) error { return contains(dir, "notes.txt", "line 3 of a note and bread\n") },
	},
	{
		// Find one of 500.
		name: "fzf", needs: "fzf", program: []string{"bash", "-c", `seq -f "item %g of a list" 500 | fzf > chosen`}, first: `500/500`,
		steps: []step{
			{text: "137", until: `1/500`},
			{keys: []string{"enter"}, exit: true},
		},
		done: func(dir string) error { return contains(dir, "chosen", "item 137 of a list\n") },
	},
	{
		// A few commands in a shell.
		name: "shell", program: []string{"bash", "--norc", "--noprofile", "-i"}, first: `[$#] *$`,
		files: map[string]string{"a.txt": numbered("%d bottles", 30)},
		steps: []step{
			{text: "wc -l a.txt", enter: true, until: `^30 a.txt$`},
			{text: "mkdir -p deep/er && cp a.txt deep/er/b.txt && ls -R", enter: true, until: `^b.txt$`},
			{text: "grep -n 17 deep/er/b.txt", enter: true, until: `^17:17 bottles$`},
			{text: "sha256sum a.txt | cut -c1-16", enter: true, until: `^[0-9a-f]{16}$`},
			{text: "exit", enter: true, exit: true},
		},
		wanted: []string{"30 a.txt", "17:17 bottles"},
	},
	{
		// Choose the hunks of a commit.
		name: "git-add", needs: "git", program: []string{"bash", "-c", `git init -q . && git add list && git -c user.name=a -c user.email=a@b commit -qm one &&
			sed -i -e '2s/$/ changed/' -e '28s/$/ changed/' list && git -c core.pager=cat add -p`},
		files: map[string]string{"list": numbered("entry %d", 30)}, first: `\(1/2\) Stage this hunk`,
		steps: []step{
			{text: "n", enter: true, until: `\(2/2\) Stage this hunk`},
			{text: "y", enter: true, exit: true},
		},
	},
	{
		// Compute in a debugger.
		name: "gdb", program: []string{"gdb", "-q", "-nx"}, first: `\(gdb\) *$`,
		steps: []step{
			{text: "print 6*7", enter: true, until: `= 42$`},
			{text: "print /x 51966", enter: true, until: `= 0xcafe$`},
			{text: "print 17-9", enter: true, until: `= 8$`},
			{text: "quit", enter: true, exit: true},
		},
		wanted: []string{"= 42", "= 0xcafe", "= 8"},
	},
}

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
