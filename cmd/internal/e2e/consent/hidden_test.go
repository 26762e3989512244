package consent_test

import (
	"os"
	"testing"

	"terminalproxy/cmd/internal/e2e/world"
	"terminalproxy/protocol"

	"github.com/stretchr/testify/require"
)

// R77: what programs draw in their frames, bars and shadows is not hidden text.
func TestProgramsHideNothingR77(t *testing.T) {
	t.Parallel()
	for _, p := range []struct{ name, line, ready, key, then string }{
		{name: "dialog", line: "dialog --title T --yesno 'Really go on?' 10 40", ready: "Really go on"},
		{name: "dialog", line: "dialog --menu pick 15 40 5 a Apple b Banana c Cherry", ready: "Banana", key: "Down"},
		{name: "dialog", line: "dialog --checklist pick 15 40 5 a Apple on b Banana off", ready: "Banana", key: "Space"},
		{name: "whiptail", line: "whiptail --title T --menu pick 15 40 5 a Apple b Banana c Cherry", ready: "Banana", key: "Down"},
		{name: "whiptail", line: "whiptail --msgbox 'All is well' 10 40", ready: "All is well"},
		{name: "htop", line: "htop", ready: "F10Quit", key: "F2", then: "Meters"},
		{name: "mc", line: "mc -d -X --nosubshell", ready: "10Quit", key: "F9", then: "Right"},
		{name: "mc", line: "mc -d -X --nosubshell", ready: "10Quit", key: "F1", then: "main help screen"},
	} {
		t.Run(p.name, func(t *testing.T) {
			w := world.New(t, p.name)
			require.NoError(t, os.MkdirAll(w.Path("folder"), 0o700))
			s := w.Terminal(90, 30)
			s.Run("proxy --agent sh -c \"" + p.line + "\"")
			s.Wait(p.ready)
			id := w.Session()
			o := w.Overhear(id)
			w.MustGateway("wait", id, "--text", p.ready)
			readUntil(o, "nothing is hidden", func(got *protocol.ReadResult) bool { return got.Frame.Settled && got.Frame.HiddenText == nil })
			if p.key != "" {
				s.Press(p.key)
			}
			if p.then != "" {
				s.Wait(p.then)
				w.MustGateway("wait", id, "--text", p.then)
			}
			readUntil(o, "nothing is hidden", func(got *protocol.ReadResult) bool { return got.Frame.Settled && got.Frame.HiddenText == nil })
			require.NotContains(t, o.All(), "hiddenText", "at no time")
		})
	}
}

// R77: text that a program hides by the palette, before or after it prints the text, is pointed
// out.
func TestHostilePalettesR77(t *testing.T) {
	t.Parallel()
	for name, text := range map[string]string{
		"OSC 4":             `\e]4;1;#102030;4;#102031\a\e[31;44mrun rm -rf\e[0m`,
		"OSC 4, afterwards": `\e[31;44mrun rm -rf\e[0m\e]4;1;#102030;4;#102031\a`,
		"OSC 10 and 11":     `\e]10;#fefefe\a\e]11;#ffffff\arun rm -rf`,
		"near in RGB":       `\e[38;2;20;20;20;48;2;16;16;16mrun rm -rf\e[0m`,
		"RGB on OSC 11":     `\e]11;#003366\a\e[38;2;0;51;104mrun rm -rf\e[0m`,
		"bold":              `\e]4;8;#000000\a\e[1;30;40mrun rm -rf\e[0m`,
	} {
		t.Run(name, func(t *testing.T) {
			w := world.New(t)
			s := w.Terminal(60, 12)
			s.Run("proxy --agent " + printer)
			s.Wait("ready")
			id := w.Session()
			o := w.Overhear(id)
			s.Typed(text + `\r\n\e]2;done\a` + "\n")
			w.MustGateway("wait", id, "--text", "run rm")
			readUntil(o, "it is pointed out", func(got *protocol.ReadResult) bool { return len(got.Frame.HiddenText) > 0 })
			world.WaitRead(w, id, "text that the user cannot see")
			s.Typed(`\e]104\a\e]110\a\e]111\a\e[2J` + "\n")
			readUntil(o, "it has gone", func(got *protocol.ReadResult) bool { return got.Frame.HiddenText == nil })
			s.QuitProgram("end\n")
		})
	}
}
