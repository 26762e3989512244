// Command mutants shows that the tests notice a broken promise. Each file in patches breaks one
// promise in one package, and the tests of that package must then fail before their timeout. It
// prints which test noticed each patch, and which patches stayed unnoticed.
//
//	go run ./cmd/internal/dev/mutants            # all
//	go run ./cmd/internal/dev/mutants reclaim    # those whose name contains a word
//
// A patch is the output of `git diff` after a sentence that names the broken promise. Its line
// numbers do not count, so that it outlives changes around it: the old lines of a hunk must stand
// at exactly one place in the package. The checkout stays as it is: the compiler gets the changed
// file in place of the original (go help build, -overlay).
package main

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, os.Args[1:], os.Stdout); err != nil {
		fmt.Fprintf(os.Stderr, "mutants: %v\n", err)
		os.Exit(1)
	}
}

// errUnnoticed: the package's tests do not notice a patch.
var errUnnoticed = errors.New("not every patch was noticed")

// run tries all mutants whose name contains one of words.
func run(ctx context.Context, words []string, out io.Writer) error {
	root, err := moduleRoot(ctx)
	if err != nil {
		return err
	}
	all, err := loadMutants(os.DirFS(root), words)
	if err != nil {
		return err
	}
	green := make(map[string]bool) // packages whose tests pass as they are
	for _, m := range all {
		if !green[m.dir] {
			if output, err := testPackage(ctx, root, m.dir, ""); err != nil {
				return fmt.Errorf("the tests of %s fail as they are: %w\n%s", m.dir, err, output)
			}
			green[m.dir] = true
		}
		verdict, by, tried := m.runTests(ctx, root)
		if tried != nil {
			return fmt.Errorf("%s: %w", m.name, tried)
		}
		if by == "" {
			err = errUnnoticed
			by = m.breaks
		}
		fmt.Fprintf(out, "%-9s %-18s %s\n          %s\n", verdict, m.dir, m.name, by)
	}
	return err
}

func moduleRoot(ctx context.Context) (string, error) {
	path, err := exec.CommandContext(ctx, "go", "env", "GOMOD").Output()
	if err != nil {
		return "", fmt.Errorf("go env: %w", err)
	}
	return filepath.Dir(strings.TrimSpace(string(path))), nil
}

var failure = regexp.MustCompile(`--- FAIL: (\S+)`)

// runTests tests the mutant's package with the mutant in it. by is the test that noticed, or "".
func (m *mutant) runTests(ctx context.Context, root string) (verdict, by string, err error) {
	dir, err := os.MkdirTemp("", "mutant-")
	if err != nil {
		return "", "", err
	}
	defer func() { _ = os.RemoveAll(dir) }()
	replace := make(map[string]string)
	for name, text := range m.files {
		original := filepath.Join(root, filepath.FromSlash(name))
		changed := filepath.Join(dir, filepath.Base(name))
		replace[original] = changed
		if err := os.WriteFile(changed, text, 0o600); err != nil {
			return "", "", err
		}
	}
	overlay, err := json.Marshal(map[string]any{"Replace": replace})
	if err != nil {
		return "", "", err
	}
	if err := os.WriteFile(filepath.Join(dir, "overlay.json"), overlay, 0o600); err != nil {
		return "", "", err
	}
	output, failed := testPackage(ctx, root, m.dir, filepath.Join(dir, "overlay.json"))
	switch {
	case ctx.Err() != nil:
		return "", "", ctx.Err()
	case failed == nil:
		return "SURVIVES", "", nil
	case bytes.Contains(output, []byte("panic: test timed out")):
		return "HANGS", "", nil
	case bytes.Contains(output, []byte("[build failed]")),
		bytes.Contains(output, []byte("[setup failed]")):
		return "", "", fmt.Errorf("it does not compile:\n%s", output)
	}
	if test := failure.FindSubmatch(output); test != nil {
		return "noticed", string(test[1]), nil
	}
	return "noticed", "the package as a whole", nil
}

// testPackage runs a package's own tests, with an overlay unless it is "".
func testPackage(ctx context.Context, root, dir, overlay string) (output []byte, err error) {
	args := []string{"test", "-vet=off", "-timeout=10m"}
	if overlay != "" {
		args = append(args, "-failfast", "-overlay", overlay)
	}
	cmd := exec.CommandContext(ctx, "go", append(args, "./"+dir)...)
	cmd.Dir = root
	return cmd.CombinedOutput()
}

// mutant is a patch, applied.
type mutant struct {
	name, breaks string
	dir          string            // of its package, below the module's root
	files        map[string][]byte // by name below the module's root
}

const patches = "cmd/internal/dev/mutants/patches"

// loadMutants applies every patch whose name contains one of words, or all without words.
func loadMutants(root fs.FS, words []string) ([]*mutant, error) {
	names, err := fs.Glob(root, patches+"/*.patch")
	if err != nil {
		return nil, err
	}
	var all []*mutant
	for _, path := range names {
		name := strings.TrimSuffix(filepath.Base(path), ".patch")
		isMatch := func(word string) bool { return strings.Contains(name, word) }
		if len(words) > 0 && !slices.ContainsFunc(words, isMatch) {
			continue
		}
		text, err := fs.ReadFile(root, path)
		if err != nil {
			return nil, err
		}
		m := &mutant{name: name, files: make(map[string][]byte)}
		if err := m.applyPatch(root, string(text)); err != nil {
			return nil, fmt.Errorf("%s: %w", path, err)
		}
		all = append(all, m)
	}
	if len(all) == 0 {
		return nil, fmt.Errorf("there is no such patch in %s", patches)
	}
	slices.SortStableFunc(all, func(a, b *mutant) int { return cmp.Compare(a.dir, b.dir) })
	return all, nil
}

var target = regexp.MustCompile(`(?m)^\+\+\+ b/(\S+)/[^/\s]+\.go$`)

// applyPatch makes the changed files.
func (m *mutant) applyPatch(root fs.FS, patch string) error {
	head, _, _ := strings.Cut(patch, "\n@@")
	m.breaks, _, _ = strings.Cut(head, "\n")
	in := target.FindAllStringSubmatch(patch, -1)
	if len(in) != 1 || strings.HasPrefix(m.breaks, "---") || strings.HasPrefix(m.breaks, "diff ") {
		return errors.New("want a sentence that says what breaks, and then a patch of one file")
	}
	m.dir = in[0][1]
	for i, hunk := range strings.Split(strings.TrimSuffix(patch, "\n"), "\n@@") {
		if i == 0 {
			continue // the head
		}
		_, lines, _ := strings.Cut(hunk, "\n")
		var before, after string
		for line := range strings.SplitSeq(lines, "\n") {
			switch line[:min(1, len(line))] {
			case "-":
				before += line[1:] + "\n"
			case "+":
				after += line[1:] + "\n"
			case " ":
				before, after = before+line[1:]+"\n", after+line[1:]+"\n"
			}
		}
		if err := m.replaceLines(root, before, after); err != nil {
			return err
		}
	}
	return nil
}

// replaceLines changes lines that stand once in the package.
func (m *mutant) replaceLines(root fs.FS, before, after string) error {
	names, err := fs.Glob(root, m.dir+"/*.go")
	if err != nil {
		return err
	}
	found := 0
	for _, name := range names {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		text, changed := m.files[name]
		if !changed {
			if text, err = fs.ReadFile(root, name); err != nil {
				return err
			}
		}
		whole := "\n" + string(text)
		for at, from := 0, 0; ; from = at + 1 {
			if at = strings.Index(whole[from:], "\n"+before); at < 0 {
				break
			}
			at += from
			found++
			m.files[name] = []byte(whole[1:at+1] + after + whole[at+1+len(before):])
		}
	}
	if found != 1 {
		return fmt.Errorf("these lines stand at %d places in %s, and not at one: "+
			"the code has changed, or moved\n%s", found, m.dir, before)
	}
	return nil
}
