package secretprompt_test

import (
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"terminalproxy/protocol"
	"terminalproxy/proxy/consent/secretprompt"
	"terminalproxy/proxy/view/corpus"
)

// desk is a row of cells with a cursor, and a user whose keys are counted.
type desk struct {
	masks secretprompt.Masks
	row   []rune
	place secretprompt.Place
	typed secretprompt.Typed
}

// prints puts text at a column, the cursor behind it, and looks.
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
	return d.masks.UpdateMasks(secretprompt.Spot{
		Place: d.place, Col: col, Typed: d.typed, Asked: func(col int) bool {
			left := strings.TrimRight(string(d.row[:col]), " ")
			return left != "" && secretprompt.EndsQuestion(left[len(left)-1:])
		},
		Sign: func(col int) bool { return col < len(d.row) && secretprompt.IsSign(string(d.row[col])) },
	}, false)
}

func (d *desk) keys(text string) { d.typed.AddText([]byte(text)) }

// A program that draws a sign for each key asks for a secret, until the answer is given.
func TestSignsForKeysR78(t *testing.T) {
	for _, c := range corpus.Rows[struct{ Name, Looks, Steps string }](t, "masks") {
		var d desk
		looks := ""
		for _, step := range strings.Split(c.Steps, ";") {
			where, text, prints := strings.Cut(step, " ")
			col, err := strconv.Atoi(where)
			switch {
			case step == "next":
				d.place.Line++
				continue
			case err != nil:
				d.keys(step)
				continue
			case prints:
				looks += map[bool]string{true: "!", false: "."}[d.prints(col, text)]
			default:
				looks += map[bool]string{true: "!", false: "."}[d.looks(col)]
			}
		}
		require.Equal(t, c.Looks, looks, c.Name)
		_, on := d.masks.SecretColumn()
		require.Equal(t, strings.HasSuffix(looks, "!"), on, c.Name)
	}
	var d desk
	d.prints(0, "Geheim? ")
	d.keys("ab")
	d.prints(8, "**")
	first, _ := d.masks.SecretColumn()
	require.Equal(t, 8, first)
}

// R26: the characters are counted, in any encoding, and not kept.
func TestKeysAreCountedR78(t *testing.T) {
	var typed secretprompt.Typed
	typed.AddText([]byte("aß*\r\x7f\x01日•"))
	require.Equal(t, secretprompt.Typed{Text: 5, Signs: 2}, typed)
}

func TestWordsAndFormsR78(t *testing.T) {
	for left, want := range map[string]bool{
		"Kennwort: ": true, "Passwort für ada: ": true, "Mot de passe : ": true, "Contraseña: ": true, "PIN: ": true, "Passphrase: ": true, "密码：": true,
		"Senha: ": true, "Пароль: ": true, "Spinner: ": false, "Name: ": false, "$ grep Kennwort:": false, "Kennwort: geheim": false,
	} {
		require.Equal(t, want, secretprompt.IsSecretQuestion(left, ""), left)
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

// FuzzMasks checks that there is no prompt while no one types.
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
