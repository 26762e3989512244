package top

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestCut(t *testing.T) {
	for _, c := range []struct {
		text  string
		width int
		want  string
		fit   string
	}{
		{"abc", 3, "abc", "abc"},
		{"abcd", 3, "ab…", "ab…"},
		{"日本語", 5, "日本…", "日本…"},
		{"日本語", 4, "日…", "日… "},
		{"abc", 1, "", " "},
		{"abc", 0, "", ""},
		{"abc", -1, "", ""},
		{"", 2, "", "  "},
	} {
		require.Equal(t, c.want, cutText(c.text, c.width), "%q in %d", c.text, c.width)
		require.Equal(t, c.fit, fitText(c.text, c.width), "%q in %d", c.text, c.width)
	}
}

func TestWrap(t *testing.T) {
	for _, c := range []struct {
		text  string
		width int
		want  []string
	}{
		{"one two three", 20, []string{"one two three"}},
		{"one two three", 7, []string{"one two", "three"}},
		{"one two three", 4, []string{"one", "two", "thre", "e"}},
		{"日本語", 4, []string{"日本", "語"}},
		{"ab", 0, []string{"a", "b"}},
		{"", 5, []string{""}},
	} {
		require.Equal(t, c.want, wrapText(c.text, c.width), "%q in %d", c.text, c.width)
	}
}
