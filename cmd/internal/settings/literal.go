package settings

import (
	"fmt"
	"strconv"
	"strings"
)

// Literal is a value as a file says it (TOML 1.0).
func Literal(value any) string {
	switch v := value.(type) {
	case string:
		if strings.ContainsAny(v, "\\\"") && !strings.ContainsFunc(v, func(r rune) bool { return r == '\'' || r < ' ' || r == 0x7f }) {
			return "'" + v + "'"
		}
		return quoted(v)
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

// quoted is a basic string.
func quoted(text string) string {
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
