package browser_test

import (
	"flag"
	"fmt"
	"os"
	"strconv"
	"strings"
	"testing"
	"unicode"

	"github.com/stretchr/testify/require"

	"terminalproxy/proxy/terminal/screen"
)

var update = flag.Bool("update", false, "rewrite the page's table of widths")

// widths returns the columns of every character, as the model counts them: how far the cursor moves
// when the character follows a letter.
func widths() []uint8 {
	s := screen.New(screen.Config{Cols: 8, Rows: 1})
	all := make([]uint8, unicode.MaxRune+1)
	for r := range all {
		all[r] = 1
		if r < ' ' || r >= 0x7f && r < 0xa0 || r >= 0xd800 && r < 0xe000 {
			continue
		}
		s.Feed([]byte("\r\x1b[Ka" + string(rune(r))))
		all[r] = uint8(s.Cursor().Col - 1)
	}
	return all
}

// table returns where widths is n, as width.js reads it.
func table(widths []uint8, n uint8) string {
	var out []string
	last := 0
	for r := 0; r <= len(widths); r++ {
		in := r < len(widths) && widths[r] == n
		if in == (len(out)%2 == 0) {
			out = append(out, strconv.FormatInt(int64(r-last), 36))
			last = r
		}
	}
	if len(out)%2 == 1 { // the last entry counts the characters of another width that follow
		out = out[:len(out)-1]
	}
	return strings.Join(out, " ")
}

// The page counts columns as the model does. go test -run TestWidths -update makes the table.
func TestWidths(t *testing.T) {
	t.Parallel()
	all := widths()
	want := fmt.Sprintf("// Made by cmd/internal/dev/browser from the terminal model; see width.js.\nexport const wide = '%s';\nexport const zero = '%s';\n",
		table(all, 2), table(all, 0))
	if *update {
		require.NoError(t, os.WriteFile(static+"/widths.js", []byte(want), 0o600))
	}
	is, err := os.ReadFile(static + "/widths.js")
	require.NoError(t, err)
	require.Equal(t, want, string(is), "made anew by go test ./cmd/internal/dev/browser -run TestWidths -update")
}
