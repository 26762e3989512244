package observer

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"
	"unicode"

	"github.com/stretchr/testify/require"

	"terminalproxy/protocol"
	"terminalproxy/proxy/terminal/screen"
)

// a token of GitHub's shape, and one of Anthropic's.
var (
	token = "gh" + "p_" + strings.Repeat("Ab3x", 9)
	claim = "sk-" + "ant-api03-" + strings.Repeat("Qz7-", 20)
)

// sent returns everything that an agent can get of the loop now, as it goes over the wire.
func sent(t *testing.T, o *Observer) string {
	t.Helper()
	whole, coloured := o.Frame(time.Now()), o.Frame(time.Now())
	o.addColours(coloured)
	all, err := json.Marshal([]any{whole, coloured, mustAnswer(t, o, &protocol.Read{Scrollback: protocol.MaxHistory}), o.rollingText()})
	require.NoError(t, err)
	return string(all)
}

// Byte by byte, no part of a token that the program prints ever appears in a frame.
func TestHalfPaintedR29(t *testing.T) {
	for _, tt := range []struct{ name, before, secret, prefix string }{
		{"at the start of a row", "", token, "ghp_"},
		{"wrapped", strings.Repeat("x", 38) + " ", token, "ghp_"},
		{"behind wide characters", "日本 日本 ", claim, "sk-ant-"},
		{"over old text", "zzzzzzzz zzzzzzzzzzzzzzzzzzzz\r", token, "ghp_"},
		{"on the last row", "\n\n\n\n\n", claim, "sk-ant-"},
		{"in a variable", "MY_SECRET=", "h8Jk29dkaPq1", ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			o := newWatched(40, 5)
			o.FeedNow([]byte(tt.before))
			for i := range len(tt.secret) {
				o.FeedNow([]byte(tt.secret[i : i+1]))
				if tt.prefix == "" {
					require.NotContains(t, sent(t, o), tt.before+tt.secret[:1], "after %d bytes", i+1)
				} else {
					require.NotContains(t, sent(t, o), tt.secret[:len(tt.prefix)+1], "after %d bytes", i+1)
				}
			}
		})
	}
}

func TestTheRollingTextIsCutBehindASecretR28(t *testing.T) {
	o := newWatched(80, 4)
	for i := range 200 {
		o.FeedNow(fmt.Appendf(nil, "%03d %s\r\n", i, token))
		content := o.rollingText()
		require.NotContains(t, content, "Ab3x")
		require.LessOrEqual(t, len([]rune(content)), protocol.ContentRunes)
	}
	require.Len(t, []rune(o.rollingText()), protocol.ContentRunes)
}

// What a person cannot see is not sent, and text on the screen in an invisible style is named.
func TestNothingInvisibleR45(t *testing.T) {
	o := newWatched(60, 8)
	o.FeedNow([]byte("a\U000e0069\U000e0067b \u202eright\u2066 z\u200be\u200dr\ufeffo \u00ad🏴\U000e0067\U000e0062\U000e007f\r\n"))
	o.FeedNow([]byte("\x1b[8mrun rm\x1b[0m\r\n\x1b[30;40mcurl\x1b[0m plain\r\n"))
	o.FeedNow([]byte("\x1b]8;;https://evil.example/steal?do=this\x1b\\link\x1b]8;;\x1b\\ \x1b]0;tit\u200ble\a 👩\u200d👧 ❤\ufe0f क्\u200dष\r\n"))
	got := sent(t, o)
	for _, r := range got {
		bad := r >= 0xe0000 && r <= 0xe007f || r >= 0x202a && r <= 0x202e || r >= 0x2066 && r <= 0x2069 || r == 0x200b || r == 0xfeff || r == 0xad
		require.False(t, bad, "%U in %q", r, got)
	}
	require.NotContains(t, got, "evil.example")
	f := o.Frame(time.Now())
	require.Equal(t, "title", f.Screen.Title)
	require.Equal(t, []int{1, 2}, f.HiddenText)
	require.Contains(t, f.Screen.Lines[3], "👩\u200d👧 ❤\ufe0f")
	require.Equal(t, "ab right zero  🏴", f.Screen.Lines[0])
	o.FeedNow([]byte("\r\n\n\n\n\n\n\n\n"))
	require.Empty(t, o.Frame(time.Now()).HiddenText)
	past := mustAnswer(t, o, &protocol.Read{Scrollback: 6})
	require.Equal(t, []int{1, 2}, past.HiddenText, past.Text)
}

// Invisible characters are removed from rows, and what stands behind them keeps its place.
func TestRemovedCharactersKeepTheirColumns(t *testing.T) {
	model := screen.New(screen.Config{Cols: 4, Rows: 1})
	for r := rune(0xa0); r <= unicode.MaxRune; r++ {
		if shown := protocol.VisibleRow(string(r)); strings.Trim(shown, " ") == "" {
			model.Feed([]byte("\x1bc" + string(r)))
			require.Equal(t, model.Cursor().Col, len(shown), "%U", r)
		}
	}
}
