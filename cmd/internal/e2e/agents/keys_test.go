package agents_test

import (
	"strings"
	"testing"

	"terminalproxy/cmd/internal/e2e/world"

	"github.com/stretchr/testify/require"
)

// keyModes are the keyboard modes that programs turn on, with some keys and the bytes that xterm
// and kitty send for them. They are enough to show that the mode reaches the encoder, whose own
// tests cover every key in every mode.
var keyModes = []struct {
	name, on string
	keys     string
	want     string
	refused  map[string]string // keys that the mode cannot express, with their errors
}{
	{
		name: "none", keys: "up home f1 f13 ctrl-x alt-x alt-enter shift-tab backspace kp-enter kp-left menu ctrl-right",
		want:    "\x1b[A\x1b[H\x1bOP\x1b[1;2P\x18\x1bx\x1b\r\x1b[Z\x7f\r\x1b[D\x1b[29~\x1b[1;5C",
		refused: map[string]string{"shift-enter": "alt-enter or ctrl-j", "ctrl-shift-x": "leave out shift-", "super-x": "leave out super-", "mute": "the kitty protocol", "f36": "no key is called"},
	},
	{
		name: "application cursor and keypad", on: `\e[?1h\e=`, keys: "up home ctrl-up kp-enter kp-5 kp-left",
		want: "\x1bOA\x1bOH\x1b[1;5A\x1bOM\x1bOu\x1bOD",
	},
	{
		name: "modifyOtherKeys 2 as CSI u", on: `\e[>4;2m\e[>4;1f`, keys: "ctrl-x ctrl-shift-x shift-enter",
		want: "\x1b[120;5u\x1b[88;6u\x1b[13;2u",
	},
	{
		name: "kitty 31", on: `\e[=31u`, keys: "a A enter ctrl-a ä",
		want: "\x1b[97;;97u\x1b[97:65;2;65u\x1b[13u\x1b[97;5u\x1b[228;;228u",
	},
}

// A key is sent in the encoding of the active mode, and refused if the mode cannot express it.
func TestNamedKeysInEveryMode(t *testing.T) {
	t.Parallel()
	for _, m := range keyModes {
		t.Run(m.name, func(t *testing.T) {
			w, a := world.NewAgent(t)
			id, _ := a.RunProgram(world.Args{
				"program": "sh", "args": []string{"-c", "printf '" + m.on + "'; exec listener got"}, "cwd": w.Dir, "wait_for": "text", "value": "listening",
			}, "matched")
			a.MustCall("terminal_send", keysOf(strings.Fields(m.keys)...))
			w.WaitContent("got", m.want)
			for key, says := range m.refused {
				a.MustFail("terminal_send", keysOf(key), says, "not typed")
			}
			require.Equal(t, m.want, w.Content("got"), "what is refused is not typed as something else")
			a.MustCall("terminal_close", world.Args{"terminal": id, "force": true})
		})
	}
}

// mapped are keys, each with Vim's name for it.
const mapped = "up Up shift-up S-Up ctrl-left C-Left home Home ctrl-end C-End pageup PageUp insert Insert delete Del " +
	"f1 F1 f12 F12 shift-f5 S-F5 tab Tab shift-tab S-Tab backspace BS enter CR space Space ctrl-x C-X alt-x M-x " +
	"ctrl-shift-x C-S-X shift-enter S-CR ctrl-enter C-CR ctrl-tab C-Tab alt-enter M-CR ctrl-alt-x C-M-x"

// Vim and Neovim turn modifyOtherKeys on, and take each key for the one that was named.
func TestVimSeesEachNamedKey(t *testing.T) {
	t.Parallel()
	for _, vim := range []string{"vim", "nvim"} {
		t.Run(vim, func(t *testing.T) {
			w := world.New(t, vim)
			var script, want strings.Builder
			var keys []string
			for words := strings.Fields(mapped); len(words) > 0; words = words[2:] {
				script.WriteString("nnoremap <" + words[1] + "> <Cmd>call writefile(['" + words[1] + "'], 'got', 'a')<CR>\n")
				want.WriteString(words[1] + "\n")
				keys = append(keys, words[0])
			}
			// terminfo has this name, and Neovim believes terminfo.
			script.WriteString("nnoremap <F17> <Cmd>call writefile(['S-F5'], 'got', 'a')<CR>\n")
			a := w.Agent("claude", world.Eras[1])
			a.RunProgram(world.Args{
				"program": vim, "args": []string{"-N", "-u", "NONE", "-i", "NONE", "-n", "-S", w.Write("keys.vim", script.String())}, "cwd": w.Dir,
				"wait_for": "regex", "value": `^~`,
			}, "matched")
			a.MustCall("terminal_wait", world.Args{"for": "idle", "value": "300ms"})
			a.MustCall("terminal_send", keysOf(keys...))
			w.WaitContent("got", want.String())
			a.MustCall("terminal_send", world.Args{"text": ":q!", "enter": true, "wait_for": "exit"}, "exited 0")
		})
	}
}
