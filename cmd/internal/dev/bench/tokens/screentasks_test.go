package tokens_test

import (
	"errors"
)

// screenTasks are of programs that draw a screen.
var screenTasks = []task{
	{
		// Edit two lines and save.
		name: "vim", program: []string{"vim", "-u", "NONE", "-n", "notes.txt"},
		files: map[string]string{"notes.txt": numbered("line %d of a note that has some length to it", 60)}, first: `^"notes\.txt" 60`,
		steps: []step{
			{text: "2GA and milk", until: `2 of .* and milk`},
			{keys: []string{"esc"}, until: `and milk`, quiet: true},
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
		wanted: []string{"1: one", "75: one", "150: one"}, apart: true,
	},
	{
		// Choose the third of five.
		name: "dialog", program: []string{"dialog", "--menu", "Pick one", "15", "40", "5", "a", "Apples", "b", "Bread", "c", "Cheese", "d", "Dates", "e", "Eggs"},
		first: `Cheese`,
		steps: []step{
			{keys: []string{"down"}, until: `Cheese`, quiet: true},
			{keys: []string{"down"}, until: `Cheese`, quiet: true},
			{keys: []string{"enter"}, exit: true},
		},
	},
	{
		// Change a line and save.
		name: "nano", program: []string{"nano", "--ignorercfiles", "notes.txt"},
		files: map[string]string{"notes.txt": numbered("line %d of a note", 12)}, first: `Read 12 lines`,
		steps: []step{
			{keys: []string{"down", "down", "end"}, until: `line 3 of a note`, quiet: true},
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
}
