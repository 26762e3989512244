package world

import (
	"strings"
)

func LongText(lines int) string {
	var b strings.Builder
	for n := range lines {
		b.WriteString(strings.Repeat("line ", n%4+1))
		b.WriteString(strings.Repeat("3", n%3+1) + "\n")
	}
	return b.String()
}
