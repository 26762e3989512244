// Command mutants shows that the tests notice when a promise is broken: each file in patches breaks one, in one package, and
// the tests of that package must fail, by themselves and before their time is over. It says which test noticed, and which
// patches nobody noticed.
//
//	go run ./cmd/internal/mutants            # all
//	go run ./cmd/internal/mutants reclaim    # those whose name contains a word
//
// A patch is what `git diff` prints, with a sentence before it that says what is broken. Its line numbers do not count: a hunk
// belongs where its lines stand in its package, which must be one place, so that it outlives changes around it. The checkout is
// not written to: the compiler is given the changed file in place of the one there (go help build, -overlay).
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

// errUnnoticed is for patches that their package's tests do not notice.
var errUnnoticed = errors.New("not every patch was noticed")

// run tries all mutants whose name contains one of words.
func run(ctx context.Context, words []string, out io.Writer) error {
	root, err := moduleRoot(ctx)
	if err != nil {
		return err
	}
	all, err := load(os.DirFS(root), words)
	if err != nil {
		return err
	}
	green := make(map[string]bool) // packages whose tests pass as they are
	for _, m := range all {
		if !green[m.dir] {
			if said, err := test(ctx, root, m.dir, ""); err != nil {
				return fmt.Errorf("the tests of %s fail as they are: %w\n%s", m.dir, err, said)
			}
			green[m.dir] = true
		}
		verdict, by, tried := m.try(ctx, root)
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

// try runs the tests of the mutant's package with the mutant in it. by is the test that noticed, "" for none.
func (m *mutant) try(ctx context.Context, root string) (verdict, by string, err error) {
	dir, err := os.MkdirTemp("", "mutant-")
	if err != nil {
		return "", "", err
	}
	defer func() { _ = os.RemoveAll(dir) }()
	replace := make(map[string]string)
	for name, text := range m.files {
		replace[filepath.Join(root, filepath.FromSlash(name))] = filepath.Join(dir, filepath.Base(name))
		if err := os.WriteFile(filepath.Join(dir, filepath.Base(name)), text, 0o600); err != nil {
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
	said, failed := test(ctx, root, m.dir, filepath.Join(dir, "overlay.json"))
	switch {
	case ctx.Err() != nil:
		return "", "", ctx.Err()
	case failed == nil:
		return "SURVIVES", "", nil
	case bytes.Contains(said, []byte("panic: test timed out")):
		return "HANGS", "", nil
	case bytes.Contains(said, []byte("[build failed]")), bytes.Contains(said, []byte("[setup failed]")):
		return "", "", fmt.Errorf("it does not compile:\n%s", said)
	}
	if test := failure.FindSubmatch(said); test != nil {
		return "noticed", string(test[1]), nil
	}
	return "noticed", "the package as a whole", nil
}

// test runs a package's own tests.
func test(ctx context.Context, root, dir, overlay string) (said []byte, err error) {
	args := []string{"test", "-vet=off", "-timeout=3m"}
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

const patches = "cmd/internal/mutants/patches"

// load applies every patch whose name contains one of words, or all without words.
func load(root fs.FS, words []string) ([]*mutant, error) {
	names, err := fs.Glob(root, patches+"/*.patch")
	if err != nil {
		return nil, err
	}
	var all []*mutant
	for _, path := range names {
		name := strings.TrimSuffix(filepath.Base(path), ".patch")
		if len(words) > 0 && !slices.ContainsFunc(words, func(w string) bool { return strings.Contains(name, w) }) {
			continue
		}
		text, err := fs.ReadFile(root, path)
		if err != nil {
			return nil, err
		}
		m := &mutant{name: name, files: make(map[string][]byte)}
		if err := m.apply(root, string(text)); err != nil {
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

// apply makes the changed files.
func (m *mutant) apply(root fs.FS, patch string) error {
	head, _, _ := strings.Cut(patch, "\n@@")
	m.breaks, _, _ = strings.Cut(head, "\n")
	in := target.FindAllStringSubmatch(patch, -1)
	if len(in) != 1 || strings.HasPrefix(m.breaks, "---") || strings.HasPrefix(m.breaks, "diff ") {
		return errors.New("a sentence is wanted that says what is broken, and then a patch of one file")
	}
	m.dir = in[0][1]
	for i, hunk := range strings.Split(strings.TrimSuffix(patch, "\n"), "\n@@") {
		if i == 0 {
			continue // the head
		}
		_, lines, _ := strings.Cut(hunk, "\n")
		var was, is string
		for line := range strings.SplitSeq(lines, "\n") {
			switch line[:min(1, len(line))] {
			case "-":
				was += line[1:] + "\n"
			case "+":
				is += line[1:] + "\n"
			case " ":
				was, is = was+line[1:]+"\n", is+line[1:]+"\n"
			}
		}
		if err := m.replace(root, was, is); err != nil {
			return err
		}
	}
	return nil
}

// replace changes lines that stand once in the package.
func (m *mutant) replace(root fs.FS, was, is string) error {
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
			if at = strings.Index(whole[from:], "\n"+was); at < 0 {
				break
			}
			at += from
			found++
			m.files[name] = []byte(whole[1:at+1] + is + whole[at+1+len(was):])
		}
	}
	if found != 1 {
		return fmt.Errorf("these lines stand at %d places in %s, and not at one: the code has changed, or moved\n%s", found, m.dir, was)
	}
	return nil
}
