package tokens_test

import (
	"errors"
	"strings"
)

// lineTasks are of programs that ask and answer line by line.
var lineTasks = []task{
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
	{
		// Answer what npm asks, and read the result.
		name: "npm-init", needs: "npm", program: []string{"npm", "init", "--offline", "--no-update-notifier"}, first: `package name:`,
		steps: []step{
			{text: "shop", enter: true, until: `version:.*$`},
			{text: "2.0.0", enter: true, until: `description:`},
			{text: "sells apples", enter: true, until: `entry point:`},
			{enter: true, until: `test command:`},
			{text: "node test", enter: true, until: `git repository:`},
			{enter: true, until: `keywords:`},
			{enter: true, until: `author:`},
			{text: "Ada", enter: true, until: `license:`},
			{enter: true, until: `type:`},
			{enter: true, until: `Is this OK`},
			{text: "yes", enter: true, exit: true},
		},
		done: func(dir string) error {
			return errors.Join(contains(dir, "package.json", `"version": "2.0.0"`), contains(dir, "package.json", `"author": "Ada"`))
		},
	},
	{
		// Run a command at a prompt that holds another person's unfinished line, and put that back.
		name: "half-line", program: []string{"bash", "--norc", "--noprofile", "-c", `while read -r -e -i "$left" -p '> ' line; do
			left=''; [ "$line" = bye ] && exit; eval "$line"; done`, "bash"},
		files: map[string]string{"a.txt": numbered("%d bottles", 30)}, first: `^> *$`,
		steps: []step{
			{text: "git commit -m 'half a", until: `half a$`},
			{keys: []string{"ctrl-u"}, until: `^> *$`, quiet: true},
			{text: "wc -l a.txt", enter: true, until: `^30 a.txt$`},
			{keys: []string{"ctrl-y"}, until: `> git commit -m 'half a$`},
			{keys: []string{"ctrl-u"}, until: `^> *$`, quiet: true},
			{text: "bye", enter: true, exit: true},
		},
		wanted: []string{"30 a.txt"},
	},
	{
		// A small database.
		name: "sqlite", needs: "sqlite3", program: []string{"sqlite3", "-interactive", "-init", "/dev/null", "shop.db"}, first: `sqlite> *$`,
		steps: []step{
			{text: "create table item (name text, price int);", enter: true, until: `int\);`, quiet: true},
			{text: "insert into item values ('apple', 2), ('bread', 40);", enter: true, until: `40\);`, quiet: true},
			{text: "select sum(price) from item;", enter: true, until: `^42$`},
			{text: ".quit", enter: true, exit: true},
		},
		wanted: []string{"42"},
	},
	{
		// A bar that is drawn over itself, and what it ends with.
		name: "progress", program: []string{"bash", "-c", `for i in $(seq 0 2 100); do printf '\rdownloading [%-50s] %3d%%' "$(printf '#%.0s' $(seq 0 $((i/2))))" $i; sleep .04; done
			printf '\nsaved 3 files, 1 was damaged\n'; read -r`}, first: `^saved 3 files`,
		wanted: []string{"saved 3 files, 1 was damaged"},
	},
	{
		// Compute in another language.
		name: "node", needs: "node", program: []string{"node"}, first: `^> *$`,
		steps: []step{
			{text: "6*7", enter: true, until: `^42$`},
			{text: "[3,1,2].sort()", enter: true, until: `^\[ 1, 2, 3 \]$`},
			{text: "new Set('strawberry').size", enter: true, until: `^8$`},
			{text: ".exit", enter: true, exit: true},
		},
		wanted: []string{"42", "[ 1, 2, 3 ]"},
	},
	{
		// Five questions in a row.
		name: "wizard", program: []string{"bash", "-c", `for q in Name City Zip Country Colour; do read -r -p "$q: " a; echo "$q=$a" >> answers; done; echo "saved $(wc -l < answers) answers"`},
		first: `^Name:`,
		steps: []step{
			{text: "Ada", enter: true, until: `^City:`},
			{text: "London", enter: true, until: `^Zip:`},
			{text: "E1 6AN", enter: true, until: `^Country:`},
			{text: "UK", enter: true, until: `^Colour:`},
			{text: "green", enter: true, exit: true},
		},
		done: func(dir string) error { return contains(dir, "answers", "Zip=E1 6AN\nCountry=UK\nColour=green\n") },
	},
	{
		// A numbered menu of the shell.
		name: "select", program: []string{"bash", "-c", `PS3='which? '; select f in apples bread cheese quit; do [ "$f" = quit ] && break; echo "you chose $f" | tee -a chosen; done`},
		first: `^which\?`,
		steps: []step{
			{text: "3", enter: true, until: `^you chose cheese$`},
			{text: "1", enter: true, until: `^you chose apples$`},
			{text: "4", enter: true, exit: true},
		},
		done: func(dir string) error { return contains(dir, "chosen", "you chose cheese\nyou chose apples\n") },
	},
	{
		// Stop a job, look, and end it.
		name: "jobs", program: []string{"bash", "--norc", "--noprofile", "-i"}, first: `[$#] *$`,
		steps: []step{
			{text: "sleep 6000", enter: true, until: `sleep 6000$`, quiet: true},
			{keys: []string{"ctrl-z"}, until: `Stopped +sleep 6000`},
			{text: "kill %1; wait; echo over", enter: true, until: `^over$`},
			{text: "exit", enter: true, exit: true},
		},
		wanted: []string{"Stopped"},
	},
}
