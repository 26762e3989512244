package agents_test

import (
	"strings"
	"testing"

	"terminalproxy/cmd/internal/e2e/world"

	"github.com/stretchr/testify/require"
)

func TestAnAgentClicksInVim(t *testing.T) {
	w, a := world.NewAgent(t, "vim")
	w.Write("notes.txt", "日本 bread and milk\neggs\n"+numbered(99))
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
	does(world.Args{"click": "bread", "mouse": "double-click", "text": "cjam", "keys": []string{"esc"}}, "日本 jam and milk", "double-click on")
	does(world.Args{"click_at": "1,6", "to": "1,8", "text": "ctea", "keys": []string{"esc"}}, "日本 tea and milk", "typed: drag from 1,6 to 1,8")
	a.MustCall("terminal_send", world.Args{"mouse": "wheel-down*4", "wait_for": "gone", "value": "日本"}, "typed: wheel-down*4 at ", "matched")
	a.MustFail("terminal_send", world.Args{"click": "世界", "text": "x"}, `"世界" is on the screen 2`, "times, at 1,", "not typed: ", "text (1 byte): not sent")
	a.MustFail("terminal_send", world.Args{"click": "tea"}, `"tea" is not on the screen (capital letters count)`)
	does(lineOf(":set mouse= | echo 6 * 7"), "42", "42")
	a.MustFail("terminal_send", world.Args{"click": "line 20"}, "the program does not listen to the mouse: use keys")
	a.MustCall("terminal_send", world.Args{"text": ":wq", "enter": true, "wait_for": "exit"}, "exited 0")
	require.True(t, strings.HasPrefix(w.Content("notes.txt"), "日本 tea and milk\neggs\n"))
}

// Clicks and the wheel reach programs that listen to the mouse. Each send waits for what the next one
// needs; the last one ends the program.
func TestAnAgentClicksInRealPrograms(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		needs   string
		program []string
		ready   string
		sends   []world.Args
		ends    string
	}{
		{"less", []string{"less", "--mouse", "long"}, "line 23", []world.Args{{"mouse": "wheel-down*10", "value": "line 33"}, {"mouse": "wheel-up*30", "value": "line 1 "}, keysOf("q")}, "exited 0"},
		{"mc", []string{"mc", "--nosubshell"}, "Command", []world.Args{{"click": "Command", "value": "Find file"}, {"click": "Find file", "value": "[ Cancel ]"}, {"click": "[ Cancel ]", "wait_for": "gone", "value": "Start at:"}, {"click": "10Quit"}}, "exited 0"},
		{"dialog", []string{"dialog", "--yesno", "Really?", "7", "40"}, "< No  >", []world.Args{{"click": "< No  >"}}, "exited 1"},
		{"fzf", []string{"sh", "-c", "fzf < long | grep -q '^line 7 '"}, "60/60", []world.Args{{"click": "line 7 ", "mouse": "double-click"}}, "exited 0"},
	} {
		t.Run(c.needs, func(t *testing.T) {
			w, a := world.NewAgent(t, c.needs)
			w.Write("long", numbered(60))
			a.RunProgram(world.Args{"program": c.program[0], "args": c.program[1:], "cwd": w.Dir, "wait_for": "text", "value": c.ready}, "mouse ")
			for i, send := range c.sends {
				wanted := "matched"
				if i == len(c.sends)-1 {
					send["wait_for"], wanted = "exit", c.ends
				} else if send["wait_for"] == nil {
					send["wait_for"] = "text"
				}
				a.MustCall("terminal_send", send, wanted)
			}
		})
	}
}

// R47: a button may submit, so the user lets it through and reads where it clicks and on what.
func TestLevelTypeHoldsClicksR47(t *testing.T) {
	w := world.New(t)
	s := w.Terminal(100, 16)
	w.Write("on", "\x1b[?1000h\x1b[?1006h\r\n  [ OK ]\r\n")
	s.Run("proxy --agent --grant type --record session.cast sh -c 'cat on; exec listener heard'")
	s.Wait("listening")
	id := w.Session()
	w.RequestGrant(id, "--level", "type", "--as", "codex")
	s.WaitTitle("[codex types]")
	sending := w.Start("gateway", "send", id, "--as", "codex", "--click", "[ OK ]", "--text", "free")
	s.Wait(world.HeldKeys)
	s.Match(`“codex” wants to click at \d+,5 on "\[ OK \]", then send "free"`)
	require.Empty(t, w.Content("heard"), "nothing of it is reported yet")
	s.ReleaseHeld("C-g")
	got := sending.Wait()
	require.Zero(t, got.Status, got.Err)
	require.Regexp(t, `typed: click on "\[ OK \]" at \d+,5, then text \(4 bytes\)`, got.Out)
	heard := w.WaitHeard("heard", `^\x1b\[<0;5;(\d+)M\x1b\[<0;5;\d+mfree$`)

	sending = w.Start("gateway", "send", id, "--as", "codex", "--mouse", "wheel-down", "--click-at", "1,1")
	s.Wait("“codex” wants to wheel-down at 1,1") // a program with windows is not a line prompt
	s.Press(`C-\`)
	sending.Wait().MustFail(t, 1, `the user did not let wheel-down at 1,1`)
	s.QuitProgram("\x04")
	require.Equal(t, heard+"\x04", w.Content("heard"))

	log := w.MustGateway("audit", "show", "session.cast")
	require.Regexp(t, `codex uses the mouse under grant 2, click at \d+,5 on "\[ OK \]", then "free", 2\d bytes: the user let it through\n`, log)
	require.Contains(t, log, "codex tries to use the mouse under grant 2, wheel-down at 1,1: refused: user_refused\n")
	require.Regexp(t, `"m", "codex uses the mouse under grant 2, click at \d+,5 on \\"\[ OK \]\\"`, w.Content("session.cast"))
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
