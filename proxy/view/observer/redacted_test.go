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
	"terminalproxy/proxy/view/snapshot"
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

func dots(n int) string { return strings.Repeat("•", n) }

func TestFramesCoverSecretsR28(t *testing.T) {
	o := newWatched(80, 4)
	o.FeedNow([]byte("export GITHUB=1 " + token + " # x\r\n"))
	f := o.Frame(time.Now())
	require.Equal(t, "export GITHUB=1 "+dots(40)+" # x", f.Screen.Lines[0])
	require.Equal(t, 1, f.Redactions)
	require.NotContains(t, sent(t, o), token[4:])
	require.Contains(t, o.model.RowText(0), token, "the user's own screen is as it was")
}

func TestNoRedactShowsThemR28(t *testing.T) {
	o := newWatched(80, 4)
	o.redacted.open = true
	o.FeedNow([]byte(token))
	require.Contains(t, o.Frame(time.Now()).Screen.Lines[0], token)
	require.Contains(t, o.rollingText(), token)
}

// Over two rows, behind wide characters, and with its first part scrolled away.
func TestWrappedR29(t *testing.T) {
	o := newWatched(20, 3)
	o.FeedNow([]byte("日本 " + token))
	require.Equal(t, []string{"日本 " + dots(15), dots(20), dots(5)}, o.Frame(time.Now()).Screen.Lines)
	require.Equal(t, 1, o.Frame(time.Now()).Redactions)
	for range 6 {
		require.NotContains(t, sent(t, o), "Ab3x")
		o.FeedNow([]byte("\r\n"))
	}
	require.Contains(t, o.model.HistoryText(0), "Ab3x")
}

func TestBrokenByTheProgramAtTheEdgeR29(t *testing.T) {
	o := newWatched(20, 3)
	o.FeedNow([]byte("\x1b[?7l\x1b[H" + token[:20] + "\x1b[2H" + token[20:] + "\x1b[3H x"))
	require.Equal(t, []string{dots(20), dots(20), " x"}, o.Frame(time.Now()).Screen.Lines)
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

// A row changes for an agent when it is covered or uncovered, though nothing was printed into it.
func TestDifferencesR29(t *testing.T) {
	o := newWatched(80, 4)
	o.FeedNow([]byte("a row that stays as it is, and that is long enough to be worth leaving out\r\n"))
	o.FeedNow([]byte("pip install hf_tra"))
	first := shownFrame(o)
	require.Equal(t, "pip install "+dots(6), first.Screen.Lines[1], "it may become a token")
	o.FeedNow([]byte("\r\n"))
	f := shownFrame(o)
	shrinkToDelta(f, o.sent.findScreen(first.Seq), false)
	require.Equal(t, []protocol.Row{{Row: 1, Text: "pip install hf_tra"}}, f.Changed)
	require.NotEqual(t, first.Screen.Hash, f.Screen.Hash)

	seq := shownFrame(o).Seq
	o.FeedNow([]byte("a " + token + " b"))
	f = shownFrame(o)
	shrinkToDelta(f, o.sent.findScreen(seq), false)
	require.Equal(t, []protocol.Row{{Row: 2, Text: "a " + dots(40) + " b"}}, f.Changed)
}

// Text that is not shown can neither be waited for nor be a condition.
func TestNoWaitConfirmsAGuessR28(t *testing.T) {
	o := newWatched(80, 4)
	met := map[string]bool{}
	wait := func(id string, u protocol.Until) {
		c, err := snapshot.Compile(u)
		require.NoError(t, err)
		o.OpenWait(time.Now(), false, snapshot.Wait{ID: id, Condition: c, Done: func(snapshot.Result) { met[id] = true }}, func(err error) { require.NoError(t, err) })
	}
	wait("text", protocol.Until{Text: token[:10]})
	wait("regex", protocol.Until{Regex: `ghp_[A-M]`})
	wait("scrolled by", protocol.Until{Text: "Ab3xAb3x"})
	wait("shown", protocol.Until{Text: "done " + dots(40) + "."})
	for _, b := range []byte("done " + token + ".\r\n" + token + "\r\n\n\n\n\n\nready\r\n") {
		o.FeedNow([]byte{b})
	}
	wait("later", protocol.Until{Regex: `Ab3x`})
	wait("ready", protocol.Until{Text: "ready"})
	require.Equal(t, map[string]bool{"shown": true, "ready": true}, met)
	require.Error(t, o.CheckExpectation(&protocol.Expect{Text: token[:8]}))
	wait("gone", protocol.Until{Gone: token[:8]})
	require.True(t, met["gone"], "nor does it say when a token leaves the screen")
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

func TestTitleAndArgumentsR28(t *testing.T) {
	o := newWatched(80, 4)
	require.Equal(t, "Authorization: Bearer "+dots(len(claim)), o.Redact("Authorization: Bearer "+claim, -1))
	o.FeedNow([]byte("\x1b]2;login " + token + " \u202eevil\U000e0041\a"))
	require.Equal(t, "login "+dots(40)+" evil", o.Frame(time.Now()).Screen.Title)
	require.Equal(t, "login "+dots(40)+" evil", o.waitView().Title(), "a wait confirms no guess")
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
