package tokens_test

import (
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
}
