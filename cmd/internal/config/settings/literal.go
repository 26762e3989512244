package settings

import (
	"fmt"
	"strconv"
	"strings"
)

// Literal returns a value in the syntax of a file (TOML 1.0).
func Literal(value any) string {
	switch v := value.(type) {
	case string:
		if strings.ContainsAny(v, "\\\"") &&
			!strings.ContainsFunc(v, func(r rune) bool {
				return r == '\'' || r < ' ' || r == 0x7f
			}) {
			return "'" + v + "'"
		}
		return quoteText(v)
	case []string:
		all := make([]any, len(v))
		for i := range v {
			all[i] = v[i]
		}
		return Literal(all)
	case []any:
		parts := make([]string, len(v))
		for i := range v {
			parts[i] = Literal(v[i])
		}
		return "[" + strings.Join(parts, ", ") + "]"
	case bool:
		return strconv.FormatBool(v)
	}
	return fmt.Sprint(value)
}

// quoteText returns a basic string.
func quoteText(text string) string {
	var b strings.Builder
	b.WriteByte('"')
	for _, r := range strings.ToValidUTF8(text, "�") {
		switch {
		case r == '"' || r == '\\':
			b.WriteByte('\\')
			b.WriteRune(r)
		case r < ' ' || r >= 0x7f && r < 0xa0:
			fmt.Fprintf(&b, `\u%04X`, r)
		default:
			b.WriteRune(r)
		}
	}
	b.WriteByte('"')
	return b.String()
}
