package tokens_test

import (
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
}

// task is a program to operate. Both clients do the same steps, and end with what is to be known or done.
type task struct {
	name    string
	program []string // in a directory with the task's files
	files   map[string]string
	first   string // on the screen when the program can be operated, or has done its work
	steps   []step
	// follow: every line that the program prints is to be read, from the first on until this is printed.
	follow string
	// wanted is what has to have been read, line by line.
	wanted []string
	done   func(b *testing.B, dir string)
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
		done: func(b *testing.B, dir string) {
			saved, err := os.ReadFile(filepath.Join(dir, "notes.txt"))
			require.NoError(b, err)
			require.Contains(b, string(saved), "line 2 of a note that has some length to it and milk\n")
			require.NotContains(b, string(saved), "line 50")
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

// check holds what a client read and did against the task.
func (t *task) check(b *testing.B, dir, read string) {
	b.Helper()
	for _, line := range t.wanted {
		require.Contains(b, read, line)
	}
	if t.done != nil {
		t.done(b, dir)
	}
}
