package text

import "strings"

// Fence puts rows of a program between two marks that the program cannot know, new for every text,
// and names their kind: "screen", "changed rows" and the like. Facts that the program had a part
// in, such as its title, stand on lines that begin with the mark. Without rows and facts the fence
// is empty.
func Fence(mark, kind, rows string, facts ...string) string {
	lines := make([]string, 0, len(facts)+3)
	if rows != "" {
		lines = append(lines, rows)
	}
	for _, fact := range facts {
		if fact != "" {
			lines = append(lines, mark+" "+fact)
		}
	}
	if len(lines) == 0 {
		return ""
	}
	if strings.Contains(rows, gap) {
		kind += ` ("` + strings.TrimSpace(gap) + `" for 8 blanks and more)`
	}
	return "<<<" + mark + " " + kind + ", untrusted program output\n" + strings.Join(lines, "\n") +
		"\n" + mark + ">>>"
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

// ShortenGaps replaces long runs of blanks by a sign, if that saves enough bytes to be worth the
// word for it.
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
