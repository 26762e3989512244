package requests

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"terminalproxy/protocol"
	"terminalproxy/proxy/consent/control"
	"terminalproxy/proxy/terminal/keys"
	"terminalproxy/proxy/terminal/screen"
)

// An Escape needs time to be read alone, an interrupt to discard only what came before it, and a
// text to be read before its Enter, which is a separate step.
func TestKeysGetTheTimeThatTheyNeed(t *testing.T) {
	for names, want := range map[string]string{
		"a b enter":          `"a" 0s, "b" 0s | "\r" 0s`,
		"y kp-enter":         `"y" 0s | "\r" 0s`,
		"a*2 enter*2":        `"a" 0s, "a" 0s | "\r" 0s, "\r" 0s`,
		"down enter":         `"\x1b[B" 0s, "\r" 0s`,
		"a down enter":       `"a" 0s, "\x1b[B" 0s, "\r" 0s`,
		"a alt-enter ctrl-j": `"a" 0s, "\x1b\r" 0s, "\n" 0s`,
		"esc : w enter":      `"\x1b" 60ms, ":" 0s, "w" 0s | "\r" 0s`,
		"a enter b enter c":  `"a" 0s | "\r" 0s, "b" 0s | "\r" 0s, "c" 0s`,
		"ctrl-c up enter":    `"\x03" 60ms, "\x1b[A" 0s, "\r" 0s`,
		"ctrl-c enter":       `"\x03" 60ms, "\r" 0s`,
	} {
		var runs []string
		for _, run := range splitBeforeEnter(names) {
			pieces, err := keyPieces(run, keys.Modes{}, keys.CtrlKey{}, true)
			require.NoError(t, err, names)
			var got []string
			for _, p := range pieces {
				got = append(got, fmt.Sprintf("%q %v", p.Bytes, p.Gap.Round(time.Millisecond)))
			}
			runs = append(runs, strings.Join(got, ", "))
		}
		require.Equal(t, want, strings.Join(runs, " | "), names)
	}
	require.Equal(t, []string{""}, splitBeforeEnter("  "), "who names no key is told")
	require.Equal(t, []string{"a nokey enter"}, splitBeforeEnter("a nokey enter"), "and who names one that is none")
}

// published is control in a given state.
type published struct {
	Control
	state control.State
}

func (p published) NewestState() control.State { return p.state }

// foreground is the program with its name.
type foreground struct {
	Program
	name string
}

func (p foreground) Foreground() string { return p.name }

// While a proxy runs inside, an agent may not press any key that may be its grant key.
func TestAnotherProxysGrantKeyIsItsUsers(t *testing.T) {
	for name, pressed := range map[string]string{
		"ctrl-g": "Ctrl+G", "ctrl-]": "Ctrl+]", "ctrl-^": "Ctrl+^", "ctrl-o": "Ctrl+O", "a ctrl-_": "Ctrl+_",
		"ctrl-e": "", "ctrl-c": "", "ctrl-y": "", "enter": "", "a": "", "up": "", "esc": "",
	} {
		for _, modes := range []screen.Modes{{}, {KittyFlags: 1}, {KittyFlags: 31}, {ModifyOtherKeys: 2}} {
			for _, program := range []string{"proxy", "sh"} {
				e := &encoder{Config: &Config{
					Control: published{state: control.State{Phase: control.Granted, Level: protocol.LevelDrive}}, Program: foreground{name: program},
				}}
				_, err := e.encodeSteps(&delivery{steps: splitSteps(&protocol.Input{InputKind: protocol.InputKeys, Data: name})}, 0, modes)
				if pressed == "" || program == "sh" {
					require.NoError(t, err, "%s in %s", name, program)
					continue
				}
				no, refused := errors.AsType[*refusal](err)
				require.True(t, refused, "%s %+v", name, modes)
				require.Equal(t, protocol.CodeReservedKey, no.code)
				require.Contains(t, no.message, pressed+" may give control")
			}
		}
	}
}

// An agent's text holds neither the reclaim key nor an answer to the program's queries, in any
// encoding and under any level. The key by its name needs level drive.
func TestWhatOnlyTheUserAndTheTerminalSend(t *testing.T) {
	reclaim, err := keys.ParseReclaimKey(`ctrl-\`)
	require.NoError(t, err)
	encode := func(level protocol.Level, kind protocol.InputKind, data string) (string, error) {
		e := &encoder{Config: &Config{ReclaimKey: reclaim, Control: published{state: control.State{Phase: control.Granted, Level: level}}, Program: foreground{name: "sh"}}}
		pieces, err := e.encodeSteps(&delivery{steps: splitSteps(&protocol.Input{InputKind: kind, Data: data})}, 0, screen.Modes{})
		var all strings.Builder
		for _, p := range pieces {
			all.Write(p.Bytes)
		}
		return all.String(), err
	}
	const (
		key    = protocol.CodeReservedKey
		answer = protocol.CodeForbidden
	)
	for data, code := range map[string]protocol.Code{
		"ls\n": "", "\x1b[A": "", "\x1b[92u": "",
		"ls\x1c": key, "\x1b[92;5u": key, "\x1b[92;5:3u": key, "\x1b[27;5;92~": key,
		"\x1b[?62;22c": answer, "ls\x1b[>1;2c": answer, "\x1b]11;rgb:0/0/0\x1b\\": answer, "\x1b[0n": answer, "\x1b[I": answer, "\x1b[O": answer,
	} {
		for _, level := range []protocol.Level{protocol.LevelType, protocol.LevelDrive} {
			for _, kind := range []protocol.InputKind{protocol.InputText, protocol.InputRaw} {
				_, err := encode(level, kind, data)
				no, refused := errors.AsType[*refusal](err)
				require.Equal(t, code != "", refused, "%s %q", kind, data)
				if refused {
					require.Equal(t, code, no.code, "%s %q: %s", kind, data, no.message)
				}
			}
		}
	}
	for _, name := range []string{`ctrl-\`, `a ctrl-\ b`, `ctrl-\*2`} {
		_, err := encode(protocol.LevelType, protocol.InputKeys, name)
		no, refused := errors.AsType[*refusal](err)
		require.True(t, refused, name)
		require.Equal(t, key, no.code)
	}
	typed, err := encode(protocol.LevelDrive, protocol.InputKeys, `a ctrl-\ b`)
	require.NoError(t, err)
	require.Equal(t, "a\x1cb", typed)
}
