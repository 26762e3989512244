package desk

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"terminalproxy/protocol"
	"terminalproxy/proxy/display/notice"
	"terminalproxy/proxy/terminal/screen"
)

// shown are outputs of programs over which a question is drawn.
var shown = []string{
	"$ make\r\nok\r\n$ ",
	"\x1b[?1049h\x1b[2J\x1b[3;5r\x1b[?6h\x1b[4h\x1b[1;33;44mone\r\ntwo\x1b7\x1b[2;2H",
	strings.Repeat("世e\u0301", 300) + "\x1b(0\x0e\x1b[?7l\x1b[?25l",
	"\x1b[?69h\x1b[2;9s\x1b]8;;https://x\x1b\\link\x1b[7m" + strings.Repeat("\r\nrow", 30),
}

// A program's own words leave nothing on the screen: after the question the screen is as without them, and so is what the program prints then.
func FuzzAQuestionLeavesNoTrace(f *testing.F) {
	for _, words := range []string{
		"", "[sudo] password for ada: ", "\x1b[2J\x1b[1;1H\x1b[?1049h\x1b]0;x\x07\x1bc\x9b5m", "\x1b[200~\x1bP$qm\x1b\\",
		strings.Repeat("\x1b[31mA\x1b[0m\r\n", 64<<10/11), strings.Repeat("x", 64<<10), strings.Repeat("\x00\x7f\x80\xff", 16<<10),
		"\u202e\u2067drowssap\u2066\u202c \u0627\u0644\u0643\u0644\u0645\u0629 \u05e1\u05d9\u05e1\u05de\u05d4",
		"e" + strings.Repeat("\u0301", 5000), "\u0301\u20dd\ufe0f", strings.Repeat("👩‍👩‍👧‍👦", 200), "क्षि\u200dक", strings.Repeat("世", 3000),
	} {
		for i := range shown {
			f.Add(words, uint8(i), uint8(80-17*i), uint8(24-5*i))
		}
	}
	f.Fuzz(func(t *testing.T, words string, output, cols, rows uint8) {
		size := screen.Config{Cols: max(1, int(cols)), Rows: max(1, int(rows))}
		model, user := screen.New(size), screen.New(size)
		before := []byte(shown[int(output)%len(shown)])
		model.Feed(before)
		user.Feed(before)
		text := New(Config{}).wordQuestion(&protocol.SecretAsk{
			Kind: protocol.SecretText, Prompt: words,
			Asker: protocol.SecretAsker{Program: "git", Command: words, Cwd: words, Host: words},
		}, ada)
		line := notice.Rows(size.Cols, size.Rows-1, text, "Ctrl+G answers")
		row := notice.TopRow(model, line)
		user.Feed(notice.Draw(nil, model, row, notice.Reverse, line))
		require.Equal(t, model.Cursor(), user.Cursor(), "while it is drawn the cursor stays")
		user.Feed(notice.Erase(nil, model, row, line))
		requireSame(t, model, user)
		after := []byte("qx\r\nq\x1b8q")
		model.Feed(after)
		user.Feed(after)
		requireSame(t, model, user)
	})
}

// requireSame checks that two screens look alike and behave alike.
func requireSame(t *testing.T, want, got *screen.Screen) {
	t.Helper()
	_, rows := want.Size()
	for y := range rows {
		require.Equal(t, string(want.AppendRowANSI(nil, y)), string(got.AppendRowANSI(nil, y)), "row %d", y)
	}
	require.Equal(t, want.Cursor(), got.Cursor())
	require.Equal(t, want.Modes(), got.Modes())
	require.Equal(t, want.Alt(), got.Alt())
	require.Equal(t, want.Title(), got.Title())
	require.Equal(t, string(want.AppendPen(nil)), string(got.AppendPen(nil)))
}
