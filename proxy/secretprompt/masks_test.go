package secretprompt_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"terminalproxy/protocol"
	"terminalproxy/proxy/secretprompt"
)

// desk is a row of cells with a cursor, and a user whose keys are counted.
type desk struct {
	masks secretprompt.Masks
	row   []rune
	place secretprompt.Place
	typed secretprompt.Typed
}

// prints puts text at a column, and the cursor behind it. A look follows.
func (d *desk) prints(col int, text string) bool {
	for len(d.row) < 80 {
		d.row = append(d.row, ' ')
	}
	for _, r := range text {
		d.row[col] = r
		col++
	}
	return d.looks(col)
}

func (d *desk) looks(col int) bool {
	return d.masks.See(secretprompt.Spot{
		Place: d.place, Col: col, Typed: d.typed, Asked: func(col int) bool {
			left := strings.TrimRight(string(d.row[:col]), " ")
			return left != "" && secretprompt.Asks(left[len(left)-1:])
		},
		Sign: func(col int) bool { return col < len(d.row) && secretprompt.Sign(string(d.row[col])) },
	}, false)
}

func (d *desk) keys(text string) { d.typed.Count([]byte(text)) }

func TestR78SignsForKeys(t *testing.T) {
	for name, play := range map[string]func(d *desk) bool{
		"a sign for each key": func(d *desk) bool {
			d.prints(0, "Geheim  ")
			d.keys("a")
			require.False(t, d.prints(8, "*"), "one may be chance")
			d.keys("b")
			return d.prints(9, "*")
		},
		"behind a question one is enough": func(d *desk) bool {
			d.prints(0, "Geheim? ")
			d.keys("a")
			return d.prints(8, "●")
		},
		"several in one write": func(d *desk) bool {
			d.prints(0, "│ ")
			d.keys("abc")
			return d.prints(2, "•••")
		},
		"keys faster than the signs": func(d *desk) bool {
			d.prints(0, "Geheim> ")
			d.keys("ab")
			d.prints(8, "*")
			return d.prints(9, "*")
		},
		"in place of underscores": func(d *desk) bool {
			d.prints(0, "│ ______ │")
			d.looks(2)
			d.keys("ab")
			return d.prints(2, "**")
		},
		"the line drawn anew, in two writes": func(d *desk) bool {
			d.prints(0, "Geheim> ")
			for n, signs := range []string{"*", "**", "***"} {
				d.keys("a")
				d.looks(0)
				if d.prints(8, signs) {
					return n == 1
				}
			}
			return false
		},
		"with an asterisk in it": func(d *desk) bool {
			d.prints(0, "Geheim  ")
			d.keys("a")
			d.prints(8, "*")
			d.keys("*")
			d.prints(9, "*")
			d.keys("b")
			return d.prints(10, "*")
		},
		"the user typed before it asked": func(d *desk) bool {
			d.keys("./ask")
			d.prints(0, "./ask")
			d.place.Line++
			d.prints(0, "Geheim? ")
			d.keys("a")
			return d.prints(8, "*")
		},
	} {
		var d desk
		require.True(t, play(&d), name)
		_, on := d.masks.First()
		require.True(t, on, name)
	}
}

func TestR78WhatIsNoPrompt(t *testing.T) {
	for name, play := range map[string]func(d *desk) bool{
		"what is typed is shown": func(d *desk) bool {
			d.prints(0, "$ ")
			d.keys("ab")
			return d.prints(2, "ab")
		},
		"asterisks are typed": func(d *desk) bool {
			d.prints(0, "Name: ")
			on := false
			for i := range 3 {
				d.keys("*")
				on = on || d.prints(6+i, "*")
			}
			return on
		},
		"the cursor moves over asterisks": func(d *desk) bool {
			d.prints(0, "*** rule ***")
			on := d.looks(0)
			for i := range 4 {
				d.keys("l")
				on = on || d.looks(i+1)
			}
			return on
		},
		"more signs than keys": func(d *desk) bool {
			d.prints(0, "$ ")
			d.keys("a")
			return d.prints(2, "***")
		},
		"nobody types": func(d *desk) bool {
			d.prints(0, "Progress: ")
			return d.prints(10, "*") || d.prints(11, "*") || d.prints(12, "***")
		},
		"a list goes on in the next row": func(d *desk) bool {
			d.prints(0, "* one")
			d.keys("o")
			d.place.Line++
			on := d.prints(0, "* ")
			d.keys("a")
			return on || d.prints(2, "a")
		},
		"a sign, and then text": func(d *desk) bool {
			d.prints(0, "| ")
			d.keys("a")
			on := d.prints(2, "*")
			d.keys("b")
			on = on || d.prints(3, "b")
			d.keys("c")
			return on || d.prints(4, "*")
		},
	} {
		var d desk
		require.False(t, play(&d), name)
	}
}

func TestR78TheEndOfAPrompt(t *testing.T) {
	var d desk
	d.prints(0, "Geheim? ")
	d.keys("ab")
	require.True(t, d.prints(8, "**"))
	first, _ := d.masks.First()
	require.Equal(t, 8, first)
	require.True(t, d.looks(8), "all of it erased")
	require.True(t, d.looks(3), "the program draws elsewhere")
	require.True(t, d.looks(9), "and comes back")
	d.place.Line++
	require.True(t, d.looks(0))
	require.False(t, d.looks(0), "the answer was given")
	_, on := d.masks.First()
	require.False(t, on)
}

// R26: the characters are counted, in any encoding, and not kept.
func TestR78KeysAreCounted(t *testing.T) {
	var typed secretprompt.Typed
	typed.Count([]byte("aß*\r\x7f\x01日•"))
	require.Equal(t, secretprompt.Typed{Text: 5, Signs: 2}, typed)
}

func TestR78WordsAndForms(t *testing.T) {
	for _, left := range []string{
		"Kennwort: ", "Passwort für ada: ", "Mot de passe : ", "Contraseña: ", "PIN: ", "Passphrase: ", "密码：", "Senha: ", "Пароль: ",
	} {
		require.True(t, secretprompt.Prompt(left, ""), left)
	}
	for _, left := range []string{"Spinner: ", "Name: ", "$ grep Kennwort:", "Kennwort: geheim"} {
		require.False(t, secretprompt.Prompt(left, ""), left)
	}
	form := func(args ...string) protocol.SecretPrompt {
		return secretprompt.Judge(secretprompt.Facts{
			Known: true, Line: raw, Left: "│ ", Foreground: programs("sh", args[0]), Arguments: func() []string { return args },
		})
	}
	require.Equal(t, protocol.SecretSoft, form("dialog", "--title", "x", "--passwordbox", "Geheim", "10", "40"))
	require.Equal(t, protocol.SecretSoft, form("whiptail", "--passwordbox", "Geheim", "10", "40"))
	require.Equal(t, protocol.SecretSoft, form("gum", "input", "--password"))
	require.Equal(t, protocol.SecretNone, form("dialog", "--inputbox", "password", "10", "40"))
	require.Equal(t, protocol.SecretNone, form("mysql", "--password"))
	masked := secretprompt.Facts{Known: true, Line: raw, Masked: true, Paste: true, Foreground: programs("vim")}
	require.Equal(t, protocol.SecretSoft, secretprompt.Judge(masked), "whatever asks")
	masked.Line = cooked
	require.Equal(t, protocol.SecretNone, secretprompt.Judge(masked))
}

// FuzzMasks: whatever happens, there is no prompt while nobody types.
func FuzzMasks(f *testing.F) {
	f.Add([]byte("ab**\x01*"), false)
	f.Fuzz(func(t *testing.T, moves []byte, types bool) {
		var d desk
		for _, m := range moves {
			if types {
				d.keys("a")
			}
			on := false
			switch {
			case m < 8:
				d.place.Line = uint64(m)
				on = d.looks(0)
			default:
				on = d.prints(int(m)%70, string([]rune("*•x● ")[int(m)%5]))
			}
			require.False(t, on && !types)
		}
	})
}
