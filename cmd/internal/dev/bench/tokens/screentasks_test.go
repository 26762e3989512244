package tokens_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
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
	{
		// Fill in a form.
		name: "form", needs: "dialog", program: []string{"bash", "-c", `dialog --form Order 12 50 3 Name: 1 1 "" 1 10 20 0 City: 2 1 "" 2 10 20 0 Zip: 3 1 "" 3 10 10 0 2> order`},
		first: `Zip:`,
		steps: []step{
			{text: "Ada", keys: []string{"down"}, until: `Name: +Ada`},
			{text: "London", keys: []string{"down"}, until: `City: +London`},
			{text: "E1 6AN", until: `Zip: +E1 6AN`},
			{keys: []string{"enter"}, exit: true},
		},
		done: func(dir string) error { return contains(dir, "order", "Ada\nLondon\nE1 6AN") },
	},
	{
		// Take both changes of the other file.
		name: "vimdiff", program: []string{"vim", "-d", "-u", "NONE", "-n", "--cmd", "set shortmess+=F", "-c", "windo set nofoldenable | wincmd w", "ours.txt", "theirs.txt"},
		files: map[string]string{
			"ours.txt":   numbered("entry %d", 30),
			"theirs.txt": strings.NewReplacer("entry 5\n", "entry 5 new\n", "entry 25\n", "entry 25 new\n").Replace(numbered("entry %d", 30)),
		},
		first: `entry 20 .*entry 20`,
		steps: []step{
			{text: "]cdo", until: `entry 5 new.*entry 5 new`},
			{text: "]cdo", until: `entry 25 new.*entry 25 new`},
			{text: ":wqa", enter: true, exit: true},
		},
		done: func(dir string) error {
			return errors.Join(contains(dir, "ours.txt", "entry 5 new\n"), contains(dir, "ours.txt", "entry 25 new\n"))
		},
	},
	{
		// A menu below a clock that is drawn ten times a second.
		name: "clock", program: []string{"python3", "-c", `import os, select, sys, time, tty
tty.setcbreak(0); n = 1; print("\x1b[?1049h\x1b[2J", end="")
while True:
    rows = [time.strftime("%T") + ".%03d" % (time.time() % 1 * 1000), ""] + [("> " if i == n else "  ") + "item %d" % i for i in (1, 2, 3)]
    print("\x1b[H" + "\r\n".join(rows), end="", flush=True)
    key = os.read(0, 1) if select.select([0], [], [], .1)[0] else b""
    if key == b"j": n = n % 3 + 1
    if key == b"q": break
print("\x1b[?1049lchosen:", n); open("chosen", "w").write("chosen: %d\n" % n)`},
		first: `> item 1`,
		steps: []step{
			{text: "j", until: `^> item 2`},
			{text: "j", until: `^> item 3`},
			{text: "q", exit: true},
		},
		done: func(dir string) error { return contains(dir, "chosen", "chosen: 3\n") },
	},
	{
		// The debugger's full screen.
		name: "gdb-tui", needs: "gdb", program: []string{"gdb", "-q", "-nx", "-tui"}, first: `\(gdb\) *$`,
		steps: []step{
			{text: "print 6*7", enter: true, until: `= 42 *$`},
			{text: "print /x 51966", enter: true, until: `= 0xcafe *$`},
			{text: "quit", enter: true, exit: true},
		},
		wanted: []string{"= 42", "= 0xcafe"},
	},
	{
		// Record a change, and repeat it. It asks the terminal nothing: a late answer would become a part of the
		// record, as it would of an eager person's.
		name: "vim-macro", program: []string{"vim", "-u", "NONE", "-n", "--cmd", "set t_RV= t_RB= t_RF= t_u7= | silent! set t_RK=", "list.txt"},
		files: map[string]string{"list.txt": numbered("item %d", 20)}, first: `^"list\.txt" 20`,
		steps: []step{
			{text: "qaI- ", until: `^- item 1$`},
			{keys: []string{"esc"}, until: `^- item 1$`, quiet: true},
			{text: "jq4@a", until: `^- item 5$`},
			{text: ":wq", enter: true, exit: true},
		},
		done: func(dir string) error {
			return errors.Join(contains(dir, "list.txt", "- item 5\nitem 6\n"), contains(dir, "list.txt", "- item 1\n"))
		},
	},
	{
		// Find a word in a long text.
		name: "less-search", program: []string{"less", "long.txt"},
		files: map[string]string{"long.txt": numbered("%d: one of the lines of a text that somebody wrote", 150) + "here is the needle\n" + numbered("%d: more", 100)}, first: `^23: `,
		steps: []step{
			{text: "/needle", enter: true, until: `^here is the needle`},
			{text: "q", exit: true},
		},
		wanted: []string{"here is the needle"},
	},
	{
		// Drop one of three commits.
		name: "rebase", needs: "git", program: []string{"bash", "-c", `git init -q . && git config user.name a && git config user.email a@b && for i in 1 2 3; do
			echo $i > $i; git add $i; git commit -qm "change $i"; done; git -c sequence.editor='vim -u NONE -n --cmd "set shortmess+=F"' rebase -i --root; git log --format=%s | tee log`},
		first: `^pick .* change 3`,
		steps: []step{
			{text: "2Gcwdrop", until: `^drop .* change 2`},
			{keys: []string{"esc"}, until: `^drop .* change 2`, quiet: true},
			{text: ":wq", enter: true, exit: true},
		},
		done: func(dir string) error {
			return errors.Join(contains(dir, "log", "change 3\nchange 1\n"), lacks(dir, "log", "change 2"))
		},
	},
	{
		// Write the message of a commit.
		name: "commit", needs: "git", program: []string{"bash", "-c", `git init -q . && git add list && git -c user.name=a -c user.email=a@b -c core.editor='nano --ignorercfiles' commit -q && git log --format=%s | tee log`},
		files: map[string]string{"list": numbered("entry %d", 3)}, first: `\^X Exit`,
		steps: []step{
			{text: "list: begin with three entries", until: `^list: begin with three entries`},
			{keys: []string{"ctrl-o"}, until: `File Name to Write`},
			{keys: []string{"enter"}, until: `Wrote \d+ lines`},
			{keys: []string{"ctrl-x"}, exit: true},
		},
		done: func(dir string) error { return contains(dir, "log", "list: begin with three entries\n") },
	},
	{
		// Make a directory in a file manager.
		name: "mc", needs: "mc", program: []string{"mc", "-u", "-d", "-a", "-S", "nicedark"}, first: `10 ?Quit`,
		steps: []step{
			{keys: []string{"f7"}, until: `Create a new Directory`},
			{text: "harvest", until: `harvest`},
			{keys: []string{"enter"}, until: `/harvest`},
			{keys: []string{"f10"}, exit: true},
		},
		done: func(dir string) error {
			_, err := os.Stat(filepath.Join(dir, "harvest"))
			return err
		},
	},
	{
		// A program that redraws all of its screen all the time.
		name: "top", needs: "top", program: []string{"top", "-d", "0.2"}, first: `load average`,
		steps:  []step{{text: "q", exit: true}},
		wanted: []string{"load average"},
	},
}
