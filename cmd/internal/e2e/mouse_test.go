package e2e_test

import (
	"bytes"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// rows returns a text of numbered lines.
func rows(n int) string {
	var text strings.Builder
	for i := range n {
		text.WriteString("row " + strconv.Itoa(i+1) + " of it\n")
	}
	return text.String()
}

func TestAnAgentClicksInVim(t *testing.T) {
	w := newWorld(t, "vim")
	w.write("notes.txt", "日本 bread and milk\neggs\n"+rows(99))
	a := w.agent("claude", eras[1])
	a.runProgram(args{
		"program": "vim", "args": []string{"-u", "NONE", "-n", "--cmd", "set mouse=a ttymouse=sgr ruler", "notes.txt"}, "cwd": w.dir,
		"wait_for": "text", "value": `"notes.txt" 101L`, // it has read the file then
	}, "alt-screen mouse ")
	does := func(with args, shown, said string) { // vim may take its time
		t.Helper()
		a.mustCall("terminal_send", with, said)
		a.mustCall("terminal_wait", args{"for": "text", "value": shown}, "matched")
	}
	does(args{"click": "milk"}, "1,19-17", `typed: click on "milk" at 1,17`)
	does(args{"click_at": "1,4"}, "1,4-3", "typed: click at 1,4") // the second half of a wide character
	does(args{"click": "eggs", "text": "iXX", "keys": []string{"esc"}}, "eXXggs", `click on "eggs" at 2,2, then text (3 bytes), then keys esc`)
	does(args{"click": "bread", "mouse": "double-click", "text": "cjam", "keys": []string{"esc"}}, "日本 jam and milk", "double-click on")
	does(args{"click_at": "1,6", "to": "1,8", "text": "ctea", "keys": []string{"esc"}}, "日本 tea and milk", "typed: drag from 1,6 to 1,8")
	does(args{"click_at": "1,6", "mouse": "press"}, "1,8-6", "typed: press at 1,6")
	does(args{"click_at": "1,8", "mouse": "move"}, "1,10-8", "typed: move at 1,8")
	does(args{"click_at": "1,8", "mouse": "release", "text": "cale", "keys": []string{"esc"}}, "日本 ale and milk", "typed: release at 1,8")
	a.mustCall("terminal_send", args{"mouse": "wheel-down*4", "wait_for": "gone", "value": "日本"}, "typed: wheel-down*4 at ", "matched")
	a.mustFail("terminal_send", args{"click": "of it", "text": "x"}, `"of it" is on the screen 2`, "times, at 1,", "not typed: ", "text (1 byte): not sent")
	a.mustFail("terminal_send", args{"click": "ale"}, `"ale" is not on the screen (capital letters count)`)
	a.mustCall("terminal_send", args{"mouse": "wheel-up*9", "wait_for": "text", "value": "日本"}, "matched")
	does(args{"text": ":set mouse= | echo 6 * 7", "enter": true}, "42", "42")
	a.mustFail("terminal_send", args{"click": "milk"}, "the program does not listen to the mouse: use keys")
	a.mustCall("terminal_send", args{"text": ":wq", "enter": true, "wait_for": "exit"}, "exited 0")
	require.True(t, strings.HasPrefix(w.content("notes.txt"), "日本 ale and milk\neXXggs\nrow 1 of it\n"))
}

func TestAnAgentScrollsInLess(t *testing.T) {
	w := newWorld(t, "less")
	w.write("long.txt", rows(300))
	a := w.agent("claude", eras[1])
	a.runProgram(args{"program": "less", "args": []string{"--mouse", "long.txt"}, "cwd": w.dir, "wait_for": "text", "value": "row 23 of it"}, "mouse ")
	a.mustCall("terminal_send", args{"mouse": "wheel-down*10", "wait_for": "text", "value": "row 33 of it"}, "matched")
	a.mustCall("terminal_send", args{"mouse": "wheel-up*30", "wait_for": "text", "value": "row 1 of it"}, "matched")
	a.mustCall("terminal_send", args{"keys": []string{"q"}, "wait_for": "exit"}, "exited 0")
}

func TestAnAgentClicksInMidnightCommander(t *testing.T) {
	w := newWorld(t, "mc")
	w.write("bread", "white")
	a := w.agent("claude", eras[1])
	a.runProgram(args{"program": "mc", "args": []string{w.dir, w.dir}, "cols": 100, "wait_for": "text", "value": "10Quit"}, "mouse ")
	a.mustCall("terminal_wait", args{"for": "text", "value": "Command"}, "matched") // drawn after the bar of the keys
	a.mustCall("terminal_send", args{"click": "Command", "wait_for": "text", "value": "Find file"}, `typed: click on "Command" at 1,`, "matched")
	a.mustCall("terminal_send", args{"click": "Find file", "wait_for": "text", "value": "[ Cancel ]"}, "matched")
	a.mustCall("terminal_send", args{"click": "[ Cancel ]", "wait_for": "gone", "value": "Start at:"}, "matched")
	a.mustCall("terminal_send", args{"click": "10Quit", "wait_for": "exit"}, "exited 0")
}

func TestAnAgentAnswersADialog(t *testing.T) {
	w := newWorld(t, "dialog")
	a := w.agent("claude", eras[1])
	for button, status := range map[string]string{"< Yes >": "exited 0", "< No  >": "exited 1"} {
		id, _ := a.runProgram(args{"program": "dialog", "args": []string{"--yesno", "Really?", "7", "40"}, "wait_for": "text", "value": "< No  >"}, "mouse ")
		a.mustCall("terminal_send", args{"terminal": id, "click": button, "wait_for": "exit"}, status)
	}
}

func TestAnAgentPicksInFzf(t *testing.T) {
	w := newWorld(t, "fzf")
	w.write("list", "bread\nmilk\neggs\n")
	a := w.agent("claude", eras[1])
	a.runProgram(args{"program": "sh", "args": []string{"-c", "fzf < list > picked"}, "cwd": w.dir, "wait_for": "text", "value": "3/3"}, "mouse ")
	a.mustCall("terminal_send", args{"click": "milk", "mouse": "double-click", "wait_for": "exit"}, "exited 0")
	require.Equal(t, "milk\n", w.content("picked"))
}

// runMouseListener runs the listener with the mouse on, under a grant of level type, and returns
// its session.
func (s *terminal) runMouseListener(flags string) (id string) {
	s.w.t.Helper()
	s.w.write("on", "\x1b[?1000h\x1b[?1006h\r\n  [ OK ]   [ Cancel ]\r\n")
	s.run("proxy --agent --grant type " + flags + " sh -c 'cat on; exec listener heard'")
	s.wait("listening")
	id = s.w.session()
	s.w.requestGrant(id, "--level", "type", "--as", "codex")
	s.waitTitle("[codex types]")
	return id
}

// R47: a button may submit, so the user lets it through and reads where it clicks and on what. The
// wheel only scrolls.
func TestLevelTypeHoldsClicksR47(t *testing.T) {
	w := newWorld(t)
	s := w.terminal(100, 16)
	id := s.runMouseListener("--record session.cast")
	sending := w.start("gateway", "send", id, "--as", "codex", "--mouse", "wheel-down", "--click-at", "1,1")
	s.wait("“codex” wants to wheel-down at 1,1") // a program with windows is not a line prompt
	require.Empty(t, w.content("heard"))
	s.releaseHeld("C-g")
	require.Contains(t, sending.wait().out, "typed: wheel-down at 1,1")
	const wheel = "\x1b[<65;1;1M"
	require.Equal(t, wheel, w.content("heard"))

	sending = w.start("gateway", "send", id, "--as", "codex", "--click", "[ OK ]", "--text", "free")
	s.wait(heldKeys)
	require.Regexp(t, `“codex” wants to click at \d+,5 on "\[ OK \]", then send "free"`, s.screen())
	require.Equal(t, wheel, w.content("heard"), "nothing of it is reported yet")
	s.releaseHeld("C-g")
	got := sending.wait()
	require.Zero(t, got.status, got.err)
	require.Regexp(t, `typed: click on "\[ OK \]" at \d+,5, then text \(4 bytes\)`, got.out)
	require.Regexp(t, `^\x1b\[<65;1;1M\x1b\[<0;5;(\d+)M\x1b\[<0;5;\d+mfree$`, w.content("heard"))

	sending = w.start("gateway", "send", id, "--as", "codex", "--click-at", s.cell("Cancel"))
	s.wait(`on "Cancel"`)
	s.press(`C-\`)
	got = sending.wait()
	got.mustFail(t, 1, `the user did not let click at `)
	require.NotContains(t, w.content("heard"), "mfree\x1b")
	s.wait("codex is stopped")
	s.quitProgram("\x04")

	log := w.mustGateway("audit", "show", "session.cast")
	require.Contains(t, log, "codex uses the mouse under grant 2, wheel-down at 1,1, 10 bytes: the user let it through\n")
	require.Regexp(t, `codex uses the mouse under grant 2, click at \d+,5 on "\[ OK \]", then "free", 2\d bytes: the user let it through\n`, log)
	require.Regexp(t, `codex tries to use the mouse under grant 2, click at \d+,\d+ on "Cancel": refused: user_refused\n`, log)
	require.Regexp(t, `"m", "codex uses the mouse under grant 2, click at \d+,5 on \\"\[ OK \]\\"`, w.content("session.cast"))
}

// cell returns where a text begins in the window, in the agents' row and column numbers.
func (s *terminal) cell(text string) string {
	s.w.t.Helper()
	for i, row := range bytes.Split([]byte(s.screen()), []byte("\n")) {
		if col := bytes.Index(row, []byte(text)); col >= 0 {
			return strconv.Itoa(i+1) + "," + strconv.Itoa(col+1)
		}
	}
	require.FailNow(s.w.t, "not on the screen", text)
	return ""
}

// If a button moves while the user decides, it is not clicked at its old place: the user is asked
// again.
func TestAButtonThatMovedIsAskedAboutAgain(t *testing.T) {
	w := newWorld(t)
	s := w.terminal(100, 16)
	s.run("proxy --agent --grant type sh -c \"printf '\\033[?1000h\\033[?1006h\\033[2;3H[OK]\\033[4;1H'; stty -icanon -echo min 1; head -c1 >/dev/null; printf '\\033[2;3H    \\033[6;9H[OK]'; exec listener heard\"")
	s.wait("[OK]")
	id := w.session()
	w.requestGrant(id, "--level", "type", "--as", "codex")
	sending := w.start("gateway", "send", id, "--as", "codex", "--click", "[OK]")
	s.wait(`“codex” wants to click at 2,4 on "[OK]"`)
	s.typed("x")
	s.wait("listening")
	s.pressWhile("C-g", "click at 2,4")
	s.wait(`“codex” wants to click at 6,10 on "[OK]"`)
	s.releaseHeld("C-g")
	got := sending.wait()
	require.Zero(t, got.status, got.err)
	require.Equal(t, "\x1b[<0;10;6M\x1b[<0;10;6m", w.waitHeard("heard", "m$"))
	s.quitProgram("\x04")
}

// R12: a click on the words of an inner proxy belongs to the program: it grants nothing there.
func TestNoClickAnswersAnotherProxyR12(t *testing.T) {
	w := newWorld(t)
	s := w.terminal(100, 16)
	w.write("on", "\x1b[?1000h\x1b[?1006h")
	s.run("proxy --agent --name outer --grant drive bash --norc --noprofile -c 'proxy --nested --agent --name inner sh -c \"cat on; exec listener heard\"; :'")
	s.wait("listening")
	var outer, inner string
	for _, id := range w.ids(2) {
		if strings.HasPrefix(id, "outer") {
			outer = id
		} else {
			inner = id
		}
	}
	w.requestGrant(outer, "--as", "claude")
	asking := w.start("gateway", "request", inner, "--as", "codex", "--reason", "mine", "--timeout", "15s")
	s.waitQuestion()
	clicks := "\x1b[<0;"
	for _, text := range []string{"Ctrl+G allows", "codex” asks"} {
		got := w.gateway("send", outer, "--as", "claude", "--click", text)
		require.Zero(t, got.status, got.err)
		require.Contains(t, got.out, `typed: click on "`+text+`" at 16,`)
		require.True(t, strings.HasPrefix(w.waitHeard("heard", "m$"), clicks), "it is the listener's")
		require.Contains(t, w.mustGateway("read", inner), "keyboard: user")
	}
	s.press(`C-\`) // the outer proxy's user takes the keyboard back, and the inner question stands
	s.wait("claude is stopped")
	require.Contains(t, w.mustGateway("read", inner), "keyboard: user (codex asks)")
	s.answer("C-g")
	require.Zero(t, asking.wait().status)
	w.waitKeyboard(inner, "codex")
	s.quitProgram("\x04")
}
