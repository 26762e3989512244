package text

import (
	"fmt"
	"strconv"
	"strings"
)

// Fence puts rows of a program between two marks that the program cannot know, new for every text.
// kind names the rows if neither their form nor the text before them does; "" otherwise. Facts that
// the program influences, such as its title, stand on lines that begin with the mark, as does the
// number of rows that repeat the one before. Without rows and facts the fence is empty.
func Fence(mark, kind, rows string, facts ...string) string {
	lines := make([]string, 0, len(facts)+3)
	if rows != "" {
		lines = append(lines, foldRows(mark, rows))
	}
	for _, fact := range facts {
		if fact != "" {
			lines = append(lines, mark+" "+fact)
		}
	}
	if len(lines) == 0 {
		return ""
	}
	if kind != "" {
		kind += ", "
	}
	return "<<<" + mark + " " + kind + "untrusted\n" + strings.Join(lines, "\n") + "\n" + mark + ">>>"
}

// foldRows replaces the repetitions of a row by their number where that is shorter.
func foldRows(mark, rows string) string {
	return fold(rows, func(first, next string, _ int) bool { return first == next },
		func(first string, n int) string {
			return fmt.Sprintf("%s\n%s %d more rows like this", first, mark, n-1)
		})
}

// FoldNumbered replaces equal neighbours among numbered rows, see [Numbered], by one row with the
// numbers of all: "9-23| ~".
func FoldNumbered(rows string) string {
	return fold(rows, func(first, next string, n int) bool {
		number, text, ok := cutNumber(first)
		more, same, also := cutNumber(next)
		return ok && also && text == same && more == number+n
	}, func(first string, n int) string {
		number, text, _ := cutNumber(first)
		return strings.TrimRight(fmt.Sprintf("%d-%d| %s", number, number+n-1, text), " ")
	})
}

// fold replaces each run of rows that repeat the first one by a shorter text. repeats decides that;
// n is the distance of next from first.
func fold(rows string, repeats func(first, next string, n int) bool,
	shorten func(first string, n int) string,
) string {
	all := strings.Split(rows, "\n")
	out := make([]string, 0, len(all))
	for i := 0; i < len(all); {
		n := 1
		for i+n < len(all) && repeats(all[i], all[i+n], n) {
			n++
		}
		long := strings.Join(all[i:i+n], "\n")
		if n > 1 {
			if short := shorten(all[i], n); len(short) < len(long) {
				long = short
			}
		}
		out, i = append(out, long), i+n
	}
	return strings.Join(out, "\n")
}

// cutNumber splits a row such as "12| text", see [Numbered].
func cutNumber(row string) (number int, text string, ok bool) {
	head, text, ok := strings.Cut(row, "|")
	if number, err := strconv.Atoi(head); ok && err == nil {
		return number, strings.TrimPrefix(text, " "), true
	}
	return 0, row, false
}

// Bounds of a run of blanks that becomes a gap: behind a row's text, and in front of it, where
// blanks may be the indentation of a program's lines.
const (
	gap       = "  \u2026  "
	minGap    = 8
	minIndent = 25
	// minGained is the number of bytes that gaps must save, or the text gets no gaps.
	minGained = 60
)

// ShortenGaps replaces long runs of blanks by an ellipsis, if that saves enough bytes.
func ShortenGaps(rows []string) []string {
	out, gained := make([]string, len(rows)), 0
	for i, row := range rows {
		out[i] = withGaps(row)
		gained += len(row) - len(out[i])
	}
	if gained < minGained {
		return rows
	}
	return out
}

func withGaps(row string) string {
	var b strings.Builder
	for i := 0; i < len(row); {
		if row[i] != ' ' {
			b.WriteByte(row[i])
			i++
			continue
		}
		n := runLength(row[i:], func(c byte) bool { return c == ' ' })
		if n >= minIndent || n >= minGap && i > 0 {
			b.WriteString(gap)
		} else {
			b.WriteString(row[i : i+n])
		}
		i += n
	}
	return b.String()
}
