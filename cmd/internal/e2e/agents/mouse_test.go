package agents_test

import (
	"bytes"
	"strconv"
	"strings"
	"testing"

	"terminalproxy/cmd/internal/e2e/world"

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
	w := world.New(t, "vim")
	w.Write("notes.txt", "日本 bread and milk\neggs\n"+rows(99))
	a := w.Agent("claude", world.Eras[1])
	a.RunProgram(world.Args{
		"program": "vim", "args": []string{"-u", "NONE", "-n", "--cmd", "set mouse=a ttymouse=sgr ruler", "notes.txt"}, "cwd": w.Dir,
		"wait_for": "text", "value": `"notes.txt" 101L`, // it has read the file then
	}, "alt-screen mouse ")
	does := func(with world.Args, shown, said string) { // vim may take its time
		t.Helper()
		a.MustCall("terminal_send", with, said)
		a.MustCall("terminal_wait", world.Args{"for": "text", "value": shown}, "matched")
	}
	does(world.Args{"click": "milk"}, "1,19-17", `typed: click on "milk" at 1,17`)
	does(world.Args{"click_at": "1,4"}, "1,4-3", "typed: click at 1,4") // the second half of a wide character
	does(world.Args{"click": "eggs", "text": "iXX", "keys": []string{"esc"}}, "eXXggs", `click on "eggs" at 2,2, then text (3 bytes), then keys esc`)
	does(world.Args{"click": "bread", "mouse": "double-click", "text": "cjam", "keys": []string{"esc"}}, "日本 jam and milk", "double-click on")
	does(world.Args{"click_at": "1,6", "to": "1,8", "text": "ctea", "keys": []string{"esc"}}, "日本 tea and milk", "typed: drag from 1,6 to 1,8")
	does(world.Args{"click_at": "1,6", "mouse": "press"}, "1,8-6", "typed: press at 1,6")
	does(world.Args{"click_at": "1,8", "mouse": "move"}, "1,10-8", "typed: move at 1,8")
	does(world.Args{"click_at": "1,8", "mouse": "release", "text": "cale", "keys": []string{"esc"}}, "日本 ale and milk", "typed: release at 1,8")
	a.MustCall("terminal_send", world.Args{"mouse": "wheel-down*4", "wait_for": "gone", "value": "日本"}, "typed: wheel-down*4 at ", "matched")
	a.MustFail("terminal_send", world.Args{"click": "of it", "text": "x"}, `"of it" is on the screen 2`, "times, at 1,", "not typed: ", "text (1 byte): not sent")
	a.MustFail("terminal_send", world.Args{"click": "ale"}, `"ale" is not on the screen (capital letters count)`)
	a.MustCall("terminal_send", world.Args{"mouse": "wheel-up*9", "wait_for": "text", "value": "日本"}, "matched")
	does(world.Args{"text": ":set mouse= | echo 6 * 7", "enter": true}, "42", "42")
	a.MustFail("terminal_send", world.Args{"click": "milk"}, "the program does not listen to the mouse: use keys")
	a.MustCall("terminal_send", world.Args{"text": ":wq", "enter": true, "wait_for": "exit"}, "exited 0")
	require.True(t, strings.HasPrefix(w.Content("notes.txt"), "日本 ale and milk\neXXggs\nrow 1 of it\n"))
}

func TestAnAgentScrollsInLess(t *testing.T) {
	w := world.New(t, "less")
	w.Write("long.txt", rows(300))
	a := w.Agent("claude", world.Eras[1])
	a.RunProgram(world.Args{"program": "less", "args": []string{"--mouse", "long.txt"}, "cwd": w.Dir, "wait_for": "text", "value": "row 23 of it"}, "mouse ")
	a.MustCall("terminal_send", world.Args{"mouse": "wheel-down*10", "wait_for": "text", "value": "row 33 of it"}, "matched")
	a.MustCall("terminal_send", world.Args{"mouse": "wheel-up*30", "wait_for": "text", "value": "row 1 of it"}, "matched")
	a.MustCall("terminal_send", world.Args{"keys": []string{"q"}, "wait_for": "exit"}, "exited 0")
}

func TestAnAgentClicksInMidnightCommander(t *testing.T) {
	w := world.New(t, "mc")
	w.Write("bread", "white")
	a := w.Agent("claude", world.Eras[1])
	a.RunProgram(world.Args{"program": "mc", "args": []string{w.Dir, w.Dir}, "cols": 100, "wait_for": "text", "value": "10Quit"}, "mouse ")
	a.MustCall("terminal_wait", world.Args{"for": "text", "value": "Command"}, "matched") // drawn after the bar of the keys
	a.MustCall("terminal_send", world.Args{"click": "Command", "wait_for": "text", "value": "Find file"}, `typed: click on "Command" at 1,`, "matched")
	a.MustCall("terminal_send", world.Args{"click": "Find file", "wait_for": "text", "value": "[ Cancel ]"}, "matched")
	a.MustCall("terminal_send", world.Args{"click": "[ Cancel ]", "wait_for": "gone", "value": "Start at:"}, "matched")
	a.MustCall("terminal_send", world.Args{"click": "10Quit", "wait_for": "exit"}, "exited 0")
}

func TestAnAgentAnswersADialog(t *testing.T) {
	w := world.New(t, "dialog")
	a := w.Agent("claude", world.Eras[1])
	for button, status := range map[string]string{"< Yes >": "exited 0", "< No  >": "exited 1"} {
		id, _ := a.RunProgram(world.Args{"program": "dialog", "args": []string{"--yesno", "Really?", "7", "40"}, "wait_for": "text", "value": "< No  >"}, "mouse ")
		a.MustCall("terminal_send", world.Args{"terminal": id, "click": button, "wait_for": "exit"}, status)
	}
}

func TestAnAgentPicksInFzf(t *testing.T) {
	w := world.New(t, "fzf")
	w.Write("list", "bread\nmilk\neggs\n")
	a := w.Agent("claude", world.Eras[1])
	a.RunProgram(world.Args{"program": "sh", "args": []string{"-c", "fzf < list > picked"}, "cwd": w.Dir, "wait_for": "text", "value": "3/3"}, "mouse ")
	a.MustCall("terminal_send", world.Args{"click": "milk", "mouse": "double-click", "wait_for": "exit"}, "exited 0")
	require.Equal(t, "milk\n", w.Content("picked"))
}

// runMouseListener runs the listener with the mouse on, under a grant of level type, and returns
// its session.
func runMouseListener(s *world.Terminal, flags string) (id string) {
	s.W.T.Helper()
	s.W.Write("on", "\x1b[?1000h\x1b[?1006h\r\n  [ OK ]   [ Cancel ]\r\n")
	s.Run("proxy --agent --grant type " + flags + " sh -c 'cat on; exec listener heard'")
	s.Wait("listening")
	id = s.W.Session()
	s.W.RequestGrant(id, "--level", "type", "--as", "codex")
	s.WaitTitle("[codex types]")
	return id
}

// R47: a button may submit, so the user lets it through and reads where it clicks and on what. The
// wheel only scrolls.
func TestLevelTypeHoldsClicksR47(t *testing.T) {
	w := world.New(t)
	s := w.Terminal(100, 16)
	id := runMouseListener(s, "--record session.cast")
	sending := w.Start("gateway", "send", id, "--as", "codex", "--mouse", "wheel-down", "--click-at", "1,1")
	s.Wait("“codex” wants to wheel-down at 1,1") // a program with windows is not a line prompt
	require.Empty(t, w.Content("heard"))
	s.ReleaseHeld("C-g")
	require.Contains(t, sending.Wait().Out, "typed: wheel-down at 1,1")
	const wheel = "\x1b[<65;1;1M"
	w.WaitContent("heard", wheel)

	sending = w.Start("gateway", "send", id, "--as", "codex", "--click", "[ OK ]", "--text", "free")
	s.Wait(world.HeldKeys)
	s.Match(`“codex” wants to click at \d+,5 on "\[ OK \]", then send "free"`)
	require.Equal(t, wheel, w.Content("heard"), "nothing of it is reported yet")
	s.ReleaseHeld("C-g")
	got := sending.Wait()
	require.Zero(t, got.Status, got.Err)
	require.Regexp(t, `typed: click on "\[ OK \]" at \d+,5, then text \(4 bytes\)`, got.Out)
	w.WaitHeard("heard", `^\x1b\[<65;1;1M\x1b\[<0;5;(\d+)M\x1b\[<0;5;\d+mfree$`)

	sending = w.Start("gateway", "send", id, "--as", "codex", "--click-at", cell(s, "Cancel"))
	s.Wait(`on "Cancel"`)
	s.Press(`C-\`)
	got = sending.Wait()
	got.MustFail(t, 1, `the user did not let click at `)
	require.NotContains(t, w.Content("heard"), "mfree\x1b")
	s.WaitShown("codex is stopped")
	s.QuitProgram("\x04")

	log := w.MustGateway("audit", "show", "session.cast")
	require.Contains(t, log, "codex uses the mouse under grant 2, wheel-down at 1,1, 10 bytes: the user let it through\n")
	require.Regexp(t, `codex uses the mouse under grant 2, click at \d+,5 on "\[ OK \]", then "free", 2\d bytes: the user let it through\n`, log)
	require.Regexp(t, `codex tries to use the mouse under grant 2, click at \d+,\d+ on "Cancel": refused: user_refused\n`, log)
	require.Regexp(t, `"m", "codex uses the mouse under grant 2, click at \d+,5 on \\"\[ OK \]\\"`, w.Content("session.cast"))
}

// cell returns where a text begins in the window, in the agents' row and column numbers.
func cell(s *world.Terminal, text string) string {
	s.W.T.Helper()
	for i, row := range bytes.Split([]byte(s.Screen()), []byte("\n")) {
		if col := bytes.Index(row, []byte(text)); col >= 0 {
			return strconv.Itoa(i+1) + "," + strconv.Itoa(col+1)
		}
	}
	require.FailNow(s.W.T, "not on the screen", text)
	return ""
}

// If a button moves while the user decides, it is not clicked at its old place: the user is asked
// again.
func TestAButtonThatMovedIsAskedAboutAgain(t *testing.T) {
	w := world.New(t)
	s := w.Terminal(100, 16)
	s.Run("proxy --agent --grant type sh -c \"printf '\\033[?1000h\\033[?1006h\\033[2;3H[OK]\\033[4;1H'; stty -icanon -echo min 1; head -c1 >/dev/null; printf '\\033[2;3H    \\033[6;9H[OK]'; exec listener heard\"")
	s.Wait("[OK]")
	id := w.Session()
	w.RequestGrant(id, "--level", "type", "--as", "codex")
	sending := w.Start("gateway", "send", id, "--as", "codex", "--click", "[OK]")
	s.Wait(`“codex” wants to click at 2,4 on "[OK]"`)
	s.Typed("x")
	s.Wait("listening")
	s.PressWhile("C-g", "click at 2,4")
	s.Wait(`“codex” wants to click at 6,10 on "[OK]"`)
	s.ReleaseHeld("C-g")
	got := sending.Wait()
	require.Zero(t, got.Status, got.Err)
	require.Equal(t, "\x1b[<0;10;6M\x1b[<0;10;6m", w.WaitHeard("heard", "m$"))
	s.QuitProgram("\x04")
}

// R12: a click on the words of an inner proxy belongs to the program: it grants nothing there.
func TestNoClickAnswersAnotherProxyR12(t *testing.T) {
	w := world.New(t)
	s := w.Terminal(100, 16)
	w.Write("on", "\x1b[?1000h\x1b[?1006h")
	s.Run("proxy --agent --name outer --grant drive bash --norc --noprofile -c 'proxy --nested --agent --name inner sh -c \"cat on; exec listener heard\"; :'")
	s.Wait("listening")
	var outer, inner string
	for _, id := range w.IDs(2) {
		if strings.HasPrefix(id, "outer") {
			outer = id
		} else {
			inner = id
		}
	}
	w.RequestGrant(outer, "--as", "claude")
	asking := w.Start("gateway", "request", inner, "--as", "codex", "--reason", "mine", "--timeout", "5m")
	s.WaitQuestion()
	clicks := "\x1b[<0;"
	for _, text := range []string{"Ctrl+G allows", "codex” asks"} {
		got := w.Gateway("send", outer, "--as", "claude", "--click", text)
		require.Zero(t, got.Status, got.Err)
		require.Contains(t, got.Out, `typed: click on "`+text+`" at 16,`)
		require.True(t, strings.HasPrefix(w.WaitHeard("heard", "m$"), clicks), "it is the listener's")
		world.WaitRead(w, inner, "keyboard: user")
	}
	s.Press(`C-\`) // the outer proxy's user takes the keyboard back, and the inner question stands
	s.WaitShown("claude is stopped")
	world.WaitRead(w, inner, "keyboard: user (codex asks)")
	s.Answer("C-g")
	require.Zero(t, asking.Wait().Status)
	w.WaitKeyboard(inner, "codex")
	s.QuitProgram("\x04")
}
