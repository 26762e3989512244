package cmd_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"
)

// pages returns the README and the pages in docs that it links to, by path.
func pages(t *testing.T) map[string]string {
	t.Helper()
	names, err := filepath.Glob("../docs/*.md")
	require.NoError(t, err)
	require.NotEmpty(t, names)
	all := make(map[string]string)
	for _, name := range append(names, "../README.md") {
		text, err := os.ReadFile(name)
		require.NoError(t, err)
		all[name] = string(text)
	}
	return all
}

// folded returns all pages with their line breaks folded, so that a sentence is found however it is
// wrapped.
func folded(t *testing.T) string {
	t.Helper()
	var all strings.Builder
	for _, text := range pages(t) {
		all.WriteString(strings.Join(strings.Fields(text), " ") + "\n")
	}
	return all.String()
}

// The documents make the promise of a reclaim word for word.
func TestThePromiseR19(t *testing.T) {
	require.Contains(t, folded(t), "When reclaim returns no further agent byte enters the terminal, and agent bytes the program has not read are discarded; bytes it has read, including text left unsubmitted on its line, stay.")
}

// The README itself says what a grant does not protect against, and so does the page on safety.
func TestTheLimitR50(t *testing.T) {
	const limit = "The grant protects against mistakes and against agents that act only through the gateway. A process running as your user is not contained; use another user or a container for that."
	for _, name := range []string{"../README.md", "../docs/safety.md"} {
		require.Contains(t, strings.Join(strings.Fields(pages(t)[name]), " "), limit, name)
	}
}

// TestWhatIsBestEffortR27 covers R30 too: the documents do not overstate the secret guard and the
// covering of tokens.
func TestWhatIsBestEffortR27(t *testing.T) {
	require.Contains(t, folded(t), "Password prompts of remote programs and of programs that read raw keys (ssh sessions, sudo with asterisks, forms) are recognised by their looks, best effort")
	require.Contains(t, folded(t), "Covering secrets is defence in depth and no guarantee")
}

// A reader decides in a few seconds. The picture is small enough for any connection.
func TestTheREADMEIsShort(t *testing.T) {
	require.Less(t, strings.Count(pages(t)["../README.md"], "\n"), 136)
	picture, err := os.Stat("../docs/demo.svg")
	require.NoError(t, err)
	require.Less(t, picture.Size(), int64(200<<10))
}

// The pictures of the web page are small, and a page names each of them.
func TestPicturesOfThePage(t *testing.T) {
	all, err := filepath.Glob("../docs/page/*.png")
	require.NoError(t, err)
	require.Len(t, all, 10)
	for _, path := range all {
		picture, err := os.Stat(path)
		require.NoError(t, err)
		require.Less(t, picture.Size(), int64(60<<10), path)
		require.Contains(t, pages(t)["../docs/page.md"], "](page/"+filepath.Base(path)+")")
	}
}

// TestChangelogEntriesAreShort holds each entry to one thing, on one or two lines.
func TestChangelogEntriesAreShort(t *testing.T) {
	text, err := os.ReadFile("../CHANGELOG.md")
	require.NoError(t, err)
	entries := regexp.MustCompile(`(?m)^- (?:.*\n)(?:  .*\n)*`).FindAllString(string(text), -1)
	require.NotEmpty(t, entries)
	for _, entry := range entries {
		words := strings.Join(strings.Fields(strings.TrimPrefix(entry, "- ")), " ")
		require.LessOrEqual(t, utf8.RuneCountInString(words), 160, words)
		require.LessOrEqual(t, strings.Count(entry, "\n"), 2, words)
	}
}

var link = regexp.MustCompile(`\]\(([^)#]+)(#[^)]*)?\)`)

// targets returns the files within the project that a page links to, and checks that they exist.
func targets(t *testing.T, page, text string) []string {
	t.Helper()
	var names []string
	for _, m := range link.FindAllStringSubmatch(text, -1) {
		if strings.Contains(m[1], "://") {
			continue
		}
		target := filepath.Join(filepath.Dir(page), m[1])
		_, err := os.Stat(target)
		require.NoError(t, err, "%s links to %s", page, m[1])
		names = append(names, target)
	}
	return names
}

// Every link within the project names an existing file, and every page is linked from the README.
func TestLinksLeadSomewhere(t *testing.T) {
	linked := map[string]bool{"../README.md": true}
	for page, text := range pages(t) {
		for _, target := range targets(t, page, text) {
			if page == "../README.md" {
				linked[target] = true
			}
		}
	}
	for page := range pages(t) {
		require.True(t, linked[page], "the README does not link to %s", page)
	}
}

// The files and commands that contributors' pages and checks name exist.
func TestContributorsFindTheirWay(t *testing.T) {
	makefile, err := os.ReadFile("../Makefile")
	require.NoError(t, err)
	all := pages(t)
	require.NoError(t, filepath.WalkDir("../.github", func(path string, entry os.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		text, err := os.ReadFile(path)
		all[path] = string(text)
		targets(t, path, string(text))
		return err
	}))
	require.Contains(t, all["../.github/workflows/ci.yml"], "- run: .ci/run\n")
	require.FileExists(t, "../.ci/run")
	goal := regexp.MustCompile("(?m)(?:^|`|&& |sudo |run: )make ([a-z]+)")
	found := 0
	for page, text := range all {
		for _, m := range goal.FindAllStringSubmatch(text, -1) {
			found++
			require.Regexp(t, `(?m)^`+m[1]+`:`, string(makefile), "%s: make %s", page, m[1])
		}
	}
	require.Greater(t, found, 15)
}
