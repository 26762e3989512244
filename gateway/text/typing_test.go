package text_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"terminalproxy/gateway/text"
	"terminalproxy/protocol"
)

var words = text.MouseWords{On: "--click", At: "--click-at", Act: "--mouse", To: "--drag-to"}

func mouse(p protocol.InputPart) *protocol.InputPart {
	p.InputKind = protocol.InputMouse
	return &p
}

func TestPoint(t *testing.T) {
	for _, c := range []struct {
		on, at, act, to string
		want            *protocol.InputPart
	}{
		{},
		{on: "OK", want: mouse(protocol.InputPart{Data: "click", On: "OK"})},
		{at: "5,12", want: mouse(protocol.InputPart{Data: "click", At: &protocol.Cell{Row: 4, Col: 11}})},
		{at: " 5 , 12 ", act: "right-click", want: mouse(protocol.InputPart{Data: "right-click", At: &protocol.Cell{Row: 4, Col: 11}})},
		{act: "wheel-up", want: mouse(protocol.InputPart{Data: "wheel-up"})},
		{act: "Shift-Wheel-Down*3", want: mouse(protocol.InputPart{Data: "Shift-Wheel-Down*3"})},
		{on: "OK", to: "7,1", want: mouse(protocol.InputPart{Data: "drag", On: "OK", To: &protocol.Cell{Row: 6}})},
		{at: "1,1", act: "ctrl-drag", to: "1000,1000", want: mouse(protocol.InputPart{Data: "ctrl-drag", At: &protocol.Cell{}, To: &protocol.Cell{Row: 999, Col: 999}})},
	} {
		got, err := text.ParseMouse(words, c.on, c.at, c.act, c.to)
		require.NoError(t, err)
		require.Equal(t, c.want, got)
	}
}

// spelled writes parts in the tests' notation.
func spelled(parts []protocol.InputPart) string {
	var all []string
	for _, p := range parts {
		all = append(all, fmt.Sprintf("%s %q", p.InputKind, p.Data))
	}
	return strings.Join(all, ", ")
}

func TestOrderAndKinds(t *testing.T) {
	long := strings.Repeat("x", 257)
	for _, c := range []struct {
		name string
		what text.Typing
		want string
	}{
		{"text alone", text.Typing{Text: "ls"}, `text "ls"`},
		{"text and Enter", text.Typing{Text: "ls", Enter: true}, `text "ls", keys "enter"`},
		{"a line's end is Enter", text.Typing{Text: "ls\r\n"}, `text "ls", keys "enter"`},
		{"once", text.Typing{Text: "ls\n", Enter: true}, `text "ls", keys "enter"`},
		{"and alone", text.Typing{Text: "\n"}, `keys "enter"`},
		{"before the keys", text.Typing{Text: "vi\n", Keys: []string{"esc"}}, `text "vi", keys "enter", keys "esc"`},
		{"several lines", text.Typing{Text: "a\nb"}, `lines "a\nb"`},
		{"the end of the last of several lines is Enter, too", text.Typing{Text: "cat <<E\nhi\nE\n"}, `lines "cat <<E\nhi\nE", keys "enter"`},
		{"an empty line at the end stays", text.Typing{Text: "def f():\n pass\n\n"}, `lines "def f():\n pass\n", keys "enter"`},
		{"also before Enter", text.Typing{Text: "def f():\n pass\n", Enter: true}, `lines "def f():\n pass\n", keys "enter"`},
		{"a long line", text.Typing{Text: long, Enter: true}, `lines "` + long + `", keys "enter"`},
		{"a paste is what it is", text.Typing{Paste: "a\nb\n", Enter: true}, `paste "a\nb\n", keys "enter"`},
		{"keys by what they type", text.Typing{Keys: []string{"ctrl-x", " ", "\t", "\n"}}, `keys "ctrl-x space tab enter"`},
		{
			"the mouse comes first",
			text.Typing{Mouse: mouse(protocol.InputPart{Data: "click", On: "Name"}), Text: "ada", Keys: []string{"tab"}, Enter: true},
			`mouse "click", text "ada", keys "tab", keys "enter"`,
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			parts, err := c.what.Parts()
			require.NoError(t, err)
			require.Equal(t, c.want, spelled(parts))
			require.NoError(t, protocol.Check(&protocol.Input{RequestID: "r", Parts: parts}))
		})
	}
	for say, what := range map[string]text.Typing{
		"nothing to type":         {},
		"has no name":             {Keys: []string{"a", ""}},
		"cannot be used together": {Text: "a", Paste: "b"},
	} {
		_, err := what.Parts()
		require.ErrorContains(t, err, say)
	}
}
