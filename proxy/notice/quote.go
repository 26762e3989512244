package notice

import (
	"strings"

	"github.com/clipperhouse/displaywidth"
)

// mark stands before every row of a quoted text but the first: whatever the text is, no row of it can pass for words of the
// proxy's own.
const mark = "│ "

// Quote lays out somebody else's text behind head, between quotation marks that the text must not hold, on at most most rows
// of cols columns, and the keys as [Rows] does. If not all of it fits, its end says how many characters are not shown.
func Quote(cols, most int, head, text, keys string) string {
	say := head + "“" + text + "”"
	if displaywidth.String(say)+displaywidth.String(keys)+3 <= cols {
		return Rows(cols, most, say, keys)
	}
	body, foot := fold(max(1, cols-2-displaywidth.String(mark)), most, say, keys)
	if body == nil {
		return Rows(cols, most, say, keys)
	}
	for i := range body[1:] {
		body[i+1] = mark + body[i+1]
	}
	return " " + strings.Join(append(body, foot...), "\n ")
}

// fold cuts say and keys into rows of at most cols columns, most in all. There is no body where keys leave no room for one.
func fold(cols, most int, say, keys string) (body, foot []string) {
	most = max(1, most)
	body = wrap(say, cols)
	if keys != "" {
		foot = pack(keys, cols)
		foot = foot[:min(len(foot), max(1, most/2, most-len(body), min(most-1, answers(keys, cols))))]
	}
	if space := most - len(foot); space == 0 {
		return nil, foot
	} else if len(body) > space {
		body = cut(body[:space], say, cols)
	}
	return body, foot
}

// answers is how many rows the first two keys take: those that answer a question.
func answers(keys string, cols int) int {
	if parts := strings.SplitN(keys, dot, 3); len(parts) > 2 {
		keys = parts[0] + dot + parts[1]
	}
	return len(pack(keys, cols))
}
