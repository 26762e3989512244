package notice

import (
	"strings"

	"github.com/clipperhouse/displaywidth"
)

// quoteMark begins every row of a quoted text but the first, so that no row looks like the proxy's
// own text.
const quoteMark = "│ "

// Quote lays out foreign text after head, between quotation marks that the text must not contain,
// on at most most rows of cols columns, and the keys as [Rows] does. If the text does not fit, its
// end counts the characters that are not shown.
func Quote(cols, most int, head, text, keys string) string {
	quoted := head + "“" + text + "”"
	if displaywidth.String(quoted)+displaywidth.String(keys)+3 <= cols {
		return Rows(cols, most, quoted, keys)
	}
	body, foot := foldRows(max(1, cols-2-displaywidth.String(quoteMark)), most, quoted, keys)
	if body == nil {
		return Rows(cols, most, quoted, keys)
	}
	for i := range body[1:] {
		body[i+1] = quoteMark + body[i+1]
	}
	return " " + strings.Join(append(body, foot...), "\n ")
}

// foldRows cuts text and keys into rows of at most cols columns, most in all. body is nil if the
// keys leave no room for it.
func foldRows(cols, most int, text, keys string) (body, foot []string) {
	most = max(1, most)
	body = wrapText(text, cols)
	if keys != "" {
		foot = packKeys(keys, cols)
		room := max(1, most/2, most-len(body), min(most-1, countAnswerRows(keys, cols)))
		foot = foot[:min(len(foot), room)]
	}
	if space := most - len(foot); space == 0 {
		return nil, foot
	} else if len(body) > space {
		body = cutLast(body[:space], text, cols)
	}
	return body, foot
}

// countAnswerRows returns how many rows the first two keys take: those that answer a question.
func countAnswerRows(keys string, cols int) int {
	if parts := strings.SplitN(keys, keySeparator, 3); len(parts) > 2 {
		keys = parts[0] + keySeparator + parts[1]
	}
	return len(packKeys(keys, cols))
}
