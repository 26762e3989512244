package main

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"terminalproxy/cmd/internal/dev/testneeds"
)

// missing is something that this machine lacks.
type missing struct {
	name     string
	tests    int // that will skip without it
	remedy   string
	required bool // the run fails without it
	compiler bool // for the race detector
}

func (m missing) String() string {
	switch {
	case m.compiler:
		return fmt.Sprintf("%s: no test runs with the race detector: %s", m.name, m.remedy)
	case m.tests == 1:
		return fmt.Sprintf("%s: 1 test will skip: %s", m.name, m.remedy)
	}
	return fmt.Sprintf("%s: %d tests will skip: %s", m.name, m.tests, m.remedy)
}

// debian has the packages whose names are not those of their programs.
var debian = map[string]string{
	"gcc": "gcc libc6-dev", "clang": "clang libc6-dev",
	"man": "man-db", "node": "nodejs", "nvim": "neovim",
	"nohup": "coreutils", "stty": "coreutils", "ps": "procps", "top": "procps",
	"script": "bsdutils", "setsid": "util-linux", "su": "login",
	"ssh": "openssh-client", "sshd": "openssh-server", "psql": "postgresql-client",
	"systemd-analyze": "systemd", "Xvfb": "xvfb",
}

// findMissing lists what the tests of all groups lack: the compiler first, then by the number of
// tests that skip.
func findMissing(ctx context.Context, lanes [][]*group) ([]missing, error) {
	counts := map[string]int{} // of tests, by what they need
	var all []missing
	for _, g := range slices.Concat(lanes...) {
		if err := countNeeds(ctx, g, counts); err != nil {
			return nil, err
		}
		if g.usesRaceDetector() && len(all) == 0 {
			cc, err := exec.CommandContext(ctx, "go", "env", "CC").Output()
			if err != nil {
				return nil, fmt.Errorf("go env CC: %w", err)
			}
			if words := strings.Fields(string(cc)); len(words) == 0 || !isInstalled(words[0]) {
				name := filepath.Base(append(words, "gcc")[0])
				all = append(all, missing{
					name: name, remedy: remedy(name), required: true, compiler: true,
				})
			}
		}
	}
	delete(counts, testneeds.Client)
	compilers := len(all)
	for need, n := range counts {
		switch {
		case need == testneeds.Root && os.Geteuid() != 0:
			all = append(all, missing{name: "root", tests: n, remedy: "sudo make test-as-root"})
		case need != testneeds.Root && need != testneeds.Film && !isInstalled(need):
			all = append(all, missing{
				name: need, tests: n, remedy: remedy(need), required: need == "tmux",
			})
		}
	}
	slices.SortFunc(all[compilers:], func(a, b missing) int {
		return cmp.Or(b.tests-a.tests, strings.Compare(a.name, b.name))
	})
	return all, nil
}

// countNeeds adds the tests that g runs to the counts of what they need.
func countNeeds(ctx context.Context, g *group, counts map[string]int) error {
	pattern := regexp.MustCompile("")
	for _, flag := range g.flags {
		if expr, ok := strings.CutPrefix(flag, "-run="); ok {
			var err error
			if pattern, err = regexp.Compile(expr); err != nil {
				return err
			}
		}
	}
	isClients := func(v string) bool { return strings.HasPrefix(v, "CLIENTS=") }
	clients := os.Getenv("CLIENTS") != "" || slices.ContainsFunc(g.env, isClients)
	args := append([]string{"list", "-e", "-f", "{{.Dir}}"}, g.packages...)
	cmd := exec.CommandContext(ctx, "go", args...)
	cmd.Stderr = os.Stderr
	dirs, err := cmd.Output()
	if err != nil {
		return fmt.Errorf("go list: %w", err)
	}
	for dir := range strings.Lines(string(dirs)) {
		tests, _ := testneeds.Read(strings.TrimSuffix(dir, "\n")) // go test reports errors in a file
		for _, test := range tests {
			skipsAnyway := !clients && slices.Contains(test.Needs, testneeds.Client)
			if !pattern.MatchString(test.Name) || skipsAnyway {
				continue
			}
			for _, need := range test.Needs {
				counts[need]++
			}
		}
	}
	return nil
}

// isInstalled searches PATH, the directories that only root's PATH has, and the packages of
// .ci/package.json.
func isInstalled(program string) bool {
	for _, path := range []string{
		program, "/usr/sbin/" + program, "/sbin/" + program,
		filepath.Join(".ci", "node_modules", ".bin", program),
	} {
		if _, err := exec.LookPath(path); err == nil {
			return true
		}
	}
	return false
}

func remedy(program string) string {
	if program == "mcp-inspector" {
		return "npm install --prefix .ci"
	}
	name := cmp.Or(debian[program], program)
	if isInstalled("apt") {
		return "sudo apt install " + name
	}
	return "install " + name
}
