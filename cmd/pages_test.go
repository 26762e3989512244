package cmd_test

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

const (
	// maxFingerprints and maxLongSentences bound, in percent, the lines of a page that hold a
	// fingerprint word and its sentences of more than longSentence words.
	maxFingerprints  = 3
	maxLongSentences = 5
	longSentence     = 25
)

var (
	inlineCode = regexp.MustCompile("``[^`]*``|`[^`]*`")
	pageLink   = regexp.MustCompile(`!?\[([^\]]*)\]\([^)]*\)`)
	// escapedBracket ends a link in the author's eyes, and not in Markdown's.
	escapedBracket = regexp.MustCompile(`[^\\]\\\]\(`)
	listItem       = regexp.MustCompile(`^\s*([-*]|\d+\.)\s+`)
	sentenceEnd    = regexp.MustCompile(`[.!?]["”)*]*\s+`)
	abbreviation   = regexp.MustCompile(`\b(e\.g|i\.e|etc|vs)\.`)
)

// pageWords counts in one page.
type pageWords struct {
	lines, sentences wordCount
	found            []string // the lines and sentences that are counted
}

// TestPages holds every page that people read to the limits above.
func TestPages(t *testing.T) {
	for _, path := range listPages(t) {
		t.Run(strings.TrimPrefix(path, "../"), func(t *testing.T) {
			source, err := os.ReadFile(path)
			require.NoError(t, err)
			require.NotRegexp(t, escapedBracket, inlineCode.ReplaceAllString(string(source), "code"), "the backslash takes the bracket from a link: write two")
			checkTables(t, string(source))
			words := countPage(string(source))
			hard := words.lines.isAbove(maxFingerprints) || words.sentences.isAbove(maxLongSentences)
			require.False(t, hard, "%d of %d lines hold a word that .github/CONTRIBUTING.md advises against, %d of %d sentences have over %d words:\n%s",
				words.lines.count, words.lines.total, words.sentences.count, words.sentences.total, longSentence, strings.Join(words.found, "\n"))
		})
	}
}

// checkTables finds tables whose head has another number of cells than the rule beneath it: they are
// shown as plain text (GitHub Flavored Markdown, section 4.10).
func checkTables(t *testing.T, source string) {
	t.Helper()
	head := ""
	for line := range strings.Lines(source) {
		if strings.HasPrefix(line, "|---") {
			require.Equal(t, strings.Count(line, "|"), strings.Count(inlineCode.ReplaceAllString(head, ""), "|"), "the head of a table: %s", head)
		}
		head = line
	}
}

func listPages(t *testing.T) []string {
	t.Helper()
	var pages []string
	for _, pattern := range []string{"../*.md", "../docs/*.md", "../protocol/*.md", "../.github/*.md", "../contrib/*.md", "../contrib/*/*.md", "../contrib/*/skills/*/*.md"} {
		found, err := filepath.Glob(pattern)
		require.NoError(t, err)
		pages = append(pages, found...)
	}
	require.Contains(t, pages, "../docs/safety.md")
	return pages
}

func countPage(source string) (words pageWords) {
	for _, block := range splitPage(source) {
		for _, line := range block {
			words.lines.total++
			if fingerprint.MatchString(inlineCode.ReplaceAllString(line, "code")) {
				words.lines.count++
				words.found = append(words.found, line)
			}
		}
		if strings.HasPrefix(block[0], "|") {
			continue
		}
		for _, sentence := range splitSentences(strings.Join(block, " ")) {
			words.sentences.total++
			if n := len(strings.Fields(sentence)); n > longSentence {
				words.sentences.count++
				words.found = append(words.found, sentence)
			}
		}
	}
	return words
}

// splitPage returns the paragraphs, the items of lists and the rows of tables, each as its lines,
// without headings and code.
func splitPage(source string) (blocks [][]string) {
	inCode, isNew := false, true
	for line := range strings.Lines(source) {
		line = strings.TrimRight(line, " \n")
		text := strings.TrimSpace(line)
		switch {
		case strings.HasPrefix(text, "```"):
			inCode, isNew = !inCode, true
		case inCode:
		case text == "", strings.HasPrefix(text, "#"), strings.HasPrefix(text, "<"):
			isNew = true
		case isNew, listItem.MatchString(line), strings.HasPrefix(text, "|"):
			blocks = append(blocks, []string{listItem.ReplaceAllString(text, "")})
			isNew = false
		default:
			last := len(blocks) - 1
			blocks[last] = append(blocks[last], text)
		}
	}
	return blocks
}

// splitSentences counts code and the address of a link as one word.
func splitSentences(text string) []string {
	text = pageLink.ReplaceAllString(text, "$1")
	text = inlineCode.ReplaceAllString(text, "code")
	text = abbreviation.ReplaceAllString(text, "$1")
	return slices.DeleteFunc(sentenceEnd.Split(text+" ", -1), func(s string) bool { return strings.TrimSpace(s) == "" })
}
