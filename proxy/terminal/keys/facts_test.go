package keys

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"terminalproxy/proxy/view/corpus"
)

// facts are what functions make of bytes or of a name.
var facts = map[string]func(in string) string{
	"idle": func(in string) string {
		idle := false
		eachUnit(Bindings{}, []byte(in), func(u Unit) { idle = u.Kind == Idle })
		return yes(idle)
	},
	"submits":        func(in string) string { return yes(MaySubmit([]byte(in), false)) },
	"letter":         func(in string) string { c, ok := Letter([]byte(in)); return map[bool]string{true: string(c)}[ok] },
	"cursor row":     func(in string) string { return fmt.Sprint(CursorReport([]byte(in))) },
	"cursor reports": func(in string) string { return fmt.Sprint(CursorReports([]byte(in))) },
	"mode report":    func(in string) string { return fmt.Sprint(ModeReport([]byte(in))) },
	"clean paste":    CleanPaste,
	"grant key in":   func(in string) string { key, _ := FindGrantKey([]byte(in)); return key.String() },
	"grant key":      func(in string) string { key, _ := ParseGrantKey(in); return key.Label() },
	"reclaim key":    func(in string) string { key, _ := ParseReclaimKey(in); return key.String() },
	"presses":        func(in string) string { key, _ := Parse(in); return fmt.Sprint(key.Count) },
	"press is": func(in string) string {
		key, _ := Parse(in)
		switch {
		case key.IsText():
			return "text"
		case key.IsEnter():
			return "enter"
		case key.Interrupts():
			return "interrupt"
		}
		return ""
	},
}

// refusals are errors that contain what a row says.
var refusals = map[string]func(name string) error{
	"no press":       func(name string) error { _, err := Parse(name); return err },
	"no grant key":   func(name string) error { _, err := ParseGrantKey(name); return err },
	"no reclaim key": func(name string) error { _, err := ParseReclaimKey(name); return err },
	"not encoded": func(name string) error {
		key, err := Parse(name)
		if err == nil {
			_, err = key.Encode(Modes{})
		}
		return err
	},
}

func yes(is bool) string { return map[bool]string{true: "yes", false: "no"}[is] }

// TestFacts checks each row of testdata/facts.tsv.
func TestFacts(t *testing.T) {
	for _, c := range corpus.Rows[struct{ What, In, Want string }](t, "facts") {
		if refuse := refusals[c.What]; refuse != nil {
			require.ErrorContains(t, refuse(c.In), c.Want, "%s: %q", c.What, c.In)
			continue
		}
		require.Contains(t, facts, c.What)
		require.Equal(t, c.Want, facts[c.What](c.In), "%s: %q", c.What, c.In)
	}
	require.False(t, MaySubmit([]byte("make \t"), true), "the kernel's line takes a tab as it is")
	b := Bindings{}.WithDefaults()
	require.Equal(t, `Ctrl+\ Ctrl+G`, b.Reclaim.Label()+" "+b.Grant.Label())
}
