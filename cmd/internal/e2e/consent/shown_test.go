package consent_test

import (
	"fmt"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"

	"terminalproxy/cmd/internal/e2e/world"
	"terminalproxy/cmd/internal/tui/pictures"
	"terminalproxy/protocol"

	"github.com/stretchr/testify/require"
)

// printer prints each line that it reads, with its escapes (printf %b). It reads raw keys: a
// canonical line without echo would be a password.
const printer = `bash -c 'stty -echo -icanon; echo ready; while read -r line && [ "$line" != end ]; do printf "%b" "$line"; done'`

// R43 and R8: the sequences that are dropped while an agent drives; everything else passes.
func TestEscapesWhileAnAgentDrivesR43(t *testing.T) {
	t.Parallel()
	for _, flags := range []string{"", "--allow-escapes "} {
		t.Run("flags "+flags, func(t *testing.T) {
			w := world.New(t)
			s := w.Terminal(80, 24)
			raw := s.Recording()
			s.Run("proxy --agent --grant drive " + flags + printer)
			s.Wait("ready")
			id := w.Session()

			s.Typed(`\e]52;c;dXNlcg==\a\e[21t\e[4;2h\e[4lone` + "\n")
			s.Wait("one")
			w.WaitHeard(raw, "one")
			require.Contains(t, w.Content(raw), "\x1b]52;c;dXNlcg==\a\x1b[21t\x1b[4h\x1b[4lone", "without a grant only KAM goes")

			w.RequestGrant(id)
			s.WaitTitle("[cli drives]")
			w.WaitHeard(raw, `(?s)\x1b\[2l.*\x1b\[2l`) // at the start, and as the grant begins
			w.MustGateway("send", id, "--text", `\e]52;c;YWdlbnQ=\a\e]2;quiet evil\a\e[21t\e[2h\e[1mtwo\e[0m`, "--enter")
			s.Wait("two")
			s.WaitTitle("[cli drives] quiet evil")
			got := w.Content(raw)
			require.NotContains(t, got, "\x1b[2h")
			if flags != "" {
				require.Contains(t, got, "\x1b]52;c;YWdlbnQ=\a\x1b]2;quiet evil\a\x1b[21t\x1b[1mtwo")
			} else {
				require.Contains(t, got, "\x1b[1mtwo")
				for _, gone := range []string{"YWdlbnQ=", "\x1b]2;quiet evil"} {
					require.NotContains(t, got, gone)
				}
				require.Equal(t, 1, strings.Count(got, "\x1b[21t"), "the one from before the grant")
			}
			s.QuitProgram("end\n")
		})
	}
}

// R28: agents see no secret, neither in the text nor in its picture. The user's own screen is
// unchanged. A flag turns this off.
func TestAgentsSeeNoTokenR28(t *testing.T) {
	t.Parallel()
	token := "gh" + "p_" + strings.Repeat("Zk9q", 9)
	for _, flags := range []string{"", "--no-redact "} {
		t.Run("flags "+flags, func(t *testing.T) {
			w := world.New(t)
			s := w.Terminal(60, 12)
			s.Run("proxy --agent " + flags + printer)
			s.Wait("ready")
			id := w.Session()
			s.Typed(`\e[?25l\e[H\e[2JGITHUB=1 and a little more to wrap it ` + token + `\r\nthen this` + "\n")
			s.Wait("then this")
			require.Contains(t, strings.ReplaceAll(s.Screen(), "\n", ""), token)
			text, pixels := w.Agent("claude", world.Eras[0]).ReadPicture("terminal_wait", world.Args{"for": "text", "value": "then this"})
			_, text, _ = strings.Cut(text, "<<<")
			want, _, err := pictures.FitPNG(protocol.Screen{Cols: 60, Rows: 12, Lines: strings.Split(text, "\n")[1:4]}, 1568)
			require.NoError(t, err)
			require.Equal(t, want, pixels, "the picture is that of the text")
			w.MustGateway("read", id, "--svg", w.Path("svg"))
			require.Equal(t, flags != "", strings.Contains(w.Content("svg"), "Zk9q"))
			if flags != "" {
				require.Contains(t, strings.ReplaceAll(w.MustGateway("read", id), "\n", ""), token)
			} else {
				shown := w.MustGateway("read", id)
				require.NotContains(t, shown, "Zk9q")
				require.Contains(t, shown, "one place holds what looks like a secret")
				require.Contains(t, shown, "it "+strings.Repeat("•", 22)+"\n"+strings.Repeat("•", 18)+"\nthen this")
				all := w.MustGateway("--json", "read", id, "--history", "100")
				require.NotContains(t, all, "Zk9q")
				require.Contains(t, all, `"redactions":`)
			}
			s.QuitProgram("end\n")
		})
	}
}

// startDisplay starts a separate X server.
func startDisplay(w *world.World, more ...string) string {
	w.T.Helper()
	read, write, err := os.Pipe()
	require.NoError(w.T, err)
	defer read.Close()
	cmd := exec.CommandContext(w.Ctx, "Xvfb", append([]string{"-displayfd", "3", "-screen", "0", "800x600x24", "-nolisten", "tcp"}, more...)...)
	cmd.ExtraFiles = []*os.File{write}
	require.NoError(w.T, cmd.Start())
	require.NoError(w.T, write.Close())
	w.T.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait() // killed
	})
	var number int
	_, err = fmt.Fscan(read, &number)
	require.NoError(w.T, err)
	return fmt.Sprintf(":%d", number)
}

// xterm opens a window that covers the display, and runs the command line in it.
func xterm(w *world.World, line string) *world.Running {
	w.T.Helper()
	return w.Start("xterm", "-geometry", "140x50+0+0", "-e", "bash", "-c", line)
}

// pressKeyInX presses a key as a person does, on the window under the pointer.
func pressKeyInX(w *world.World, name string) {
	w.T.Helper()
	out, err := w.Command("xdotool", "key", name).CombinedOutput()
	require.NoError(w.T, err, "%s", out)
}

// lock makes xterm send nothing for any key, then listens.
const lock = `printf "\033[2h"; exec listener heard`

// R8: a program that locks xterm's keyboard while an agent drives does not keep the user from
// taking it back.
func TestAProgramCannotLockTheUserOutR8_Client(t *testing.T) {
	w := world.OnDisplays(t, "xterm")
	w.Env = append(w.Env, "DISPLAY="+startDisplay(w))
	x := xterm(w, `proxy --agent --allow-escapes --grant drive bash -c 'read -r; `+lock+`'`)
	id := w.Session()
	w.RequestGrant(id)
	w.WaitKeyboard(id, "cli (drive)")
	w.MustGateway("send", id, "--enter", "--until", "text=listening")
	pressKeyInX(w, "ctrl+backslash")
	w.WaitKeyboard(id, "user")
	pressKeyInX(w, "x")
	w.WaitHeard("heard", "x")
	require.NotContains(t, w.Content("heard"), "\x1c", "the key is the user's, not the program's")
	pressKeyInX(w, "ctrl+d")
	require.Zero(t, x.Wait().Status)
}

// The control run of the test above: without the proxy, xterm is locked. xterm handles its window's
// events in order, and no lock holds a mouse report back, so the report shows that xterm has
// handled the keys before it.
func TestWithoutTheProxyTheKeyboardIsLockedR8_Client(t *testing.T) {
	w := world.OnDisplays(t, "xterm")
	w.Env = append(w.Env, "DISPLAY="+startDisplay(w))
	x := xterm(w, `stty raw -echo; tty > tty; exec listener heard`)
	name := strings.TrimSpace(w.WaitHeard("tty", `^/dev/pts/\d+\n$`))
	tty, err := os.OpenFile(name, os.O_WRONLY, 0)
	require.NoError(t, err)
	defer tty.Close()
	w.Until(func() bool { pressKeyInX(w, "a"); return strings.Contains(w.Content("heard"), "a") }, func() string { return "no key arrives" })

	_, err = tty.WriteString("\x1b[?1000;1006h\x1b[2h\x1b[6n")
	require.NoError(t, err)
	w.WaitHeard("heard", `^a+\x1b\[\d+;\d+R$`)
	pressKeyInX(w, "ctrl+backslash")
	pressKeyInX(w, "b")
	out, err := w.Command("xdotool", "click", "1").CombinedOutput()
	require.NoError(t, err, "%s", out)
	w.WaitHeard("heard", `m$`)

	_, err = tty.WriteString("\x1b[2l")
	require.NoError(t, err)
	w.Until(func() bool { pressKeyInX(w, "c"); return strings.Contains(w.Content("heard"), "c") }, func() string { return w.Content("heard") })
	require.Regexp(t, `^a+\x1b\[\d+;\d+R\x1b\[<0;\d+;\d+M\x1b\[<0;\d+;\d+mc+$`, w.Content("heard"), "nothing came while it was locked")
	pressKeyInX(w, "ctrl+d")
	x.Wait()
}

// kitty opens a window in which the command line runs. It draws with OpenGL in software.
func kitty(w *world.World, line string) *world.Running {
	w.T.Helper()
	w.Env = append(w.Env, "LIBGL_ALWAYS_SOFTWARE=1", "KITTY_DISABLE_WAYLAND=1")
	return w.Start("kitty", "--config", "NONE", "-o", "update_check_interval=0", "-o", "confirm_os_window_close=0",
		"-o", "shell_integration=disabled", "--start-as", "maximized", "bash", "-c", line)
}

// R10: with any key encoding of the program, the user takes the keyboard back, with Num Lock on
// too.
func TestAProgramWithKittysKeyboardR10_Client(t *testing.T) {
	for _, flags := range []string{"1", "7", "31"} {
		t.Run("flags "+flags, func(t *testing.T) {
			w := world.OnDisplays(t, "kitty")
			w.Env = append(w.Env, "DISPLAY="+startDisplay(w))
			x := kitty(w, `proxy --agent --grant drive bash -c 'printf "\033[>`+flags+`u"; exec listener heard'`)
			id := w.Session()
			w.RequestGrant(id)
			w.WaitKeyboard(id, "cli (drive)")
			w.MustGateway("wait", id, "--text", "listening")
			pressKeyInX(w, "Num_Lock")
			pressKeyInX(w, "ctrl+backslash")
			w.WaitKeyboard(id, "user")
			pressKeyInX(w, "x")
			w.WaitHeard("heard", "x|120")
			require.NotContains(t, w.Content("heard"), "92", "the key is the user's, not the program's, also as it goes up")
			_ = x.Cmd.Process.Signal(syscall.SIGTERM)
			x.Wait()
		})
	}
}
