package e2e_test

import (
	"fmt"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"terminalproxy/cmd/internal/pictures"
	"terminalproxy/protocol"
)

// printer prints each line that it reads, with its escapes (printf %b). It reads raw keys: a
// canonical line without echo would be a password.
const printer = `bash -c 'stty -echo -icanon; echo ready; while read -r line && [ "$line" != end ]; do printf "%b" "$line"; done'`

// R43 and R8: the sequences that are dropped while an agent drives; everything else passes.
func TestEscapesWhileAnAgentDrivesR43(t *testing.T) {
	t.Parallel()
	for _, flags := range []string{"", "--allow-escapes "} {
		t.Run("flags "+flags, func(t *testing.T) {
			w := newWorld(t)
			s := w.terminal(80, 24)
			raw := s.recording()
			s.run("proxy --agent --grant drive " + flags + printer)
			s.wait("ready")
			id := w.session()

			s.typed(`\e]52;c;dXNlcg==\a\e[21t\e[4;2h\e[4lone` + "\n")
			s.wait("one")
			w.waitHeard(raw, "one")
			require.Contains(t, w.content(raw), "\x1b]52;c;dXNlcg==\a\x1b[21t\x1b[4h\x1b[4lone", "without a grant only KAM goes")

			w.requestGrant(id)
			s.waitTitle("[cli drives]")
			w.waitHeard(raw, `(?s)\x1b\[2l.*\x1b\[2l`) // at the start, and as the grant begins
			w.mustGateway("send", id, "--text", `\e]52;c;YWdlbnQ=\a\e]2;quiet evil\a\e[21t\e[2h\e[1mtwo\e[0m`, "--enter")
			s.wait("two")
			s.waitTitle("[cli drives] quiet evil")
			got := w.content(raw)
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
			s.quitProgram("end\n")
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
			w := newWorld(t)
			s := w.terminal(60, 12)
			s.run("proxy --agent " + flags + printer)
			s.wait("ready")
			id := w.session()
			s.typed(`\e[?25l\e[H\e[2JGITHUB=1 and a little more to wrap it ` + token + `\r\nthen this` + "\n")
			s.wait("then this")
			require.Contains(t, strings.ReplaceAll(s.screen(), "\n", ""), token)
			text, pixels := w.agent("claude", eras[0]).readPicture("terminal_wait", args{"for": "text", "value": "then this"})
			_, text, _ = strings.Cut(text, "<<<")
			want, _, err := pictures.FitPNG(protocol.Screen{Cols: 60, Rows: 12, Lines: strings.Split(text, "\n")[1:4]}, 1568)
			require.NoError(t, err)
			require.Equal(t, want, pixels, "the picture is that of the text")
			w.mustGateway("read", id, "--svg", w.path("svg"))
			require.Equal(t, flags != "", strings.Contains(w.content("svg"), "Zk9q"))
			if flags != "" {
				require.Contains(t, strings.ReplaceAll(w.mustGateway("read", id), "\n", ""), token)
			} else {
				shown := w.mustGateway("read", id)
				require.NotContains(t, shown, "Zk9q")
				require.Contains(t, shown, "one place holds what looks like a secret")
				require.Contains(t, shown, "it "+strings.Repeat("•", 22)+"\n"+strings.Repeat("•", 18)+"\nthen this")
				all := w.mustGateway("--json", "read", id, "--history", "100")
				require.NotContains(t, all, "Zk9q")
				require.Contains(t, all, `"redactions":`)
			}
			s.quitProgram("end\n")
		})
	}
}

// display starts a separate X server.
func (w *world) display(more ...string) string {
	w.t.Helper()
	read, write, err := os.Pipe()
	require.NoError(w.t, err)
	defer read.Close()
	cmd := exec.CommandContext(w.ctx, "Xvfb", append([]string{"-displayfd", "3", "-screen", "0", "800x600x24", "-nolisten", "tcp"}, more...)...)
	cmd.ExtraFiles = []*os.File{write}
	require.NoError(w.t, cmd.Start())
	require.NoError(w.t, write.Close())
	w.t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait() // killed
	})
	var number int
	_, err = fmt.Fscan(read, &number)
	require.NoError(w.t, err)
	return fmt.Sprintf(":%d", number)
}

// xterm opens a window that covers the display, and runs the command line in it.
func (w *world) xterm(line string) *running {
	w.t.Helper()
	return w.start("xterm", "-geometry", "140x50+0+0", "-e", "bash", "-c", line)
}

// key presses a key as a person does, on the window under the pointer.
func (w *world) key(name string) {
	w.t.Helper()
	out, err := w.command("xdotool", "key", name).CombinedOutput()
	require.NoError(w.t, err, "%s", out)
}

// lock makes xterm send nothing for any key, then listens.
const lock = `printf "\033[2h"; exec listener heard`

// R8: a program that locks xterm's keyboard while an agent drives does not keep the user from
// taking it back.
func TestAProgramCannotLockTheUserOutR8(t *testing.T) {
	w := onDisplays(t, "xterm")
	w.env = append(w.env, "DISPLAY="+w.display())
	x := w.xterm(`proxy --agent --allow-escapes --grant drive bash -c 'read -r; ` + lock + `'`)
	id := w.session()
	w.requestGrant(id)
	w.waitKeyboard(id, "cli (drive)")
	w.mustGateway("send", id, "--enter", "--until", "text=listening")
	w.key("ctrl+backslash")
	w.waitKeyboard(id, "user")
	w.key("x")
	w.waitHeard("heard", "x")
	require.NotContains(t, w.content("heard"), "\x1c", "the key is the user's, not the program's")
	w.key("ctrl+d")
	require.Zero(t, x.wait().status)
}

// The control run of the test above: without the proxy, xterm is locked. xterm handles its window's
// events in order, and no lock holds a mouse report back, so the report shows that xterm has
// handled the keys before it.
func TestWithoutTheProxyTheKeyboardIsLockedR8(t *testing.T) {
	w := onDisplays(t, "xterm")
	w.env = append(w.env, "DISPLAY="+w.display())
	x := w.xterm(`stty raw -echo; tty > tty; exec listener heard`)
	name := strings.TrimSpace(w.waitHeard("tty", `^/dev/pts/\d+\n$`))
	tty, err := os.OpenFile(name, os.O_WRONLY, 0)
	require.NoError(t, err)
	defer tty.Close()
	w.until(func() bool { w.key("a"); return strings.Contains(w.content("heard"), "a") }, func() string { return "no key arrives" })

	_, err = tty.WriteString("\x1b[?1000;1006h\x1b[2h\x1b[6n")
	require.NoError(t, err)
	w.waitHeard("heard", `^a+\x1b\[\d+;\d+R$`)
	w.key("ctrl+backslash")
	w.key("b")
	out, err := w.command("xdotool", "click", "1").CombinedOutput()
	require.NoError(t, err, "%s", out)
	w.waitHeard("heard", `m$`)

	_, err = tty.WriteString("\x1b[2l")
	require.NoError(t, err)
	w.until(func() bool { w.key("c"); return strings.Contains(w.content("heard"), "c") }, func() string { return w.content("heard") })
	require.Regexp(t, `^a+\x1b\[\d+;\d+R\x1b\[<0;\d+;\d+M\x1b\[<0;\d+;\d+mc+$`, w.content("heard"), "nothing came while it was locked")
	w.key("ctrl+d")
	x.wait()
}

// kitty opens a window in which the command line runs. It draws with OpenGL in software.
func (w *world) kitty(line string) *running {
	w.t.Helper()
	w.env = append(w.env, "LIBGL_ALWAYS_SOFTWARE=1", "KITTY_DISABLE_WAYLAND=1")
	return w.start("kitty", "--config", "NONE", "-o", "update_check_interval=0", "-o", "confirm_os_window_close=0",
		"-o", "shell_integration=disabled", "--start-as", "maximized", "bash", "-c", line)
}

// R10: with any key encoding of the program, the user takes the keyboard back, with Num Lock on
// too.
func TestAProgramWithKittysKeyboardR10(t *testing.T) {
	for _, flags := range []string{"1", "7", "31"} {
		t.Run("flags "+flags, func(t *testing.T) {
			w := onDisplays(t, "kitty")
			w.env = append(w.env, "DISPLAY="+w.display())
			x := w.kitty(`proxy --agent --grant drive bash -c 'printf "\033[>` + flags + `u"; exec listener heard'`)
			id := w.session()
			w.requestGrant(id)
			w.waitKeyboard(id, "cli (drive)")
			w.mustGateway("wait", id, "--text", "listening")
			w.key("Num_Lock")
			w.key("ctrl+backslash")
			w.waitKeyboard(id, "user")
			w.key("x")
			w.waitHeard("heard", "x|120")
			require.NotContains(t, w.content("heard"), "92", "the key is the user's, not the program's, also as it goes up")
			_ = x.cmd.Process.Signal(syscall.SIGTERM)
			x.wait()
		})
	}
}
