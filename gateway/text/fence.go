package text

import "strings"

// Fence puts rows of a program between two marks that the program cannot know, a new one for every text, and says what they
// are: kind is "screen", "changed rows" and the like. Facts that the program had a part in, as its title, stand on lines that
// begin with the mark. Where there is neither a row nor a fact, there is no fence.
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
	return "<<<" + mark + " " + kind + ", untrusted program output\n" + strings.Join(lines, "\n") + "\n" + mark + ">>>"
}

// Bounds of a run of blanks that is written as a gap: behind a row's text, and in front of it, where blanks may be the
// indentation of a program's lines.
const (
	gap       = "  \u2026  "
	minGap    = 8
	minIndent = 25
	// minGained is how many bytes the gaps of a text save, or there are none.
	minGained = 60
)

// Gaps is rows with a sign for long runs of blanks, where that saves bytes worth the word for it.
func Gaps(rows []string) []string {
	out, gained := make([]string, len(rows)), 0
	for i, row := range rows {
		out[i] = gaps(row)
		gained += len(row) - len(out[i])
	}
	if gained < minGained {
		return rows
	}
	return out
}

func gaps(row string) string {
	var b strings.Builder
	for i := 0; i < len(row); {
		if row[i] != ' ' {
			b.WriteByte(row[i])
			i++
			continue
		}
		n := run(row[i:], func(c byte) bool { return c == ' ' })
		if n >= minIndent || n >= minGap && i > 0 {
			b.WriteString(gap)
		} else {
			b.WriteString(row[i : i+n])
		}
		i += n
	}
	return b.String()
}
