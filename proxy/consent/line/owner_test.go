package line_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"terminalproxy/proxy/consent/line"
)

// TestTheLinesOwner walks through the states of the diagram.
func TestTheLinesOwner(t *testing.T) {
	waits := line.Activity{Group: 7, Prompt: line.Editor, Read: true, Waits: true, Known: true}
	with := func(change func(d *line.Activity)) line.Activity {
		d := waits
		change(&d)
		return d
	}
	runs := with(func(d *line.Activity) { d.Waits = false })
	for name, c := range map[string]struct {
		does  func(p *typing)
		doing line.Activity
		want  line.Owner
		shown string
	}{
		"nobody typed":                      {func(*typing) {}, waits, line.Free, ""},
		"a key stands there":                {func(p *typing) { p.user("l", "l") }, waits, line.Taken, "l"},
		"a key is on its way":               {func(p *typing) { p.user("l", "") }, runs, line.Pending, ""},
		"a key was not read":                {func(p *typing) { p.user("l", "") }, with(func(d *line.Activity) { d.Read = false }), line.Pending, ""},
		"a key left nothing":                {func(p *typing) { p.user("\x0c", "") }, waits, line.Free, ""},
		"it was erased":                     {func(p *typing) { p.user("l", "l"); p.user("\x7f", "\b \b") }, waits, line.Free, ""},
		"submitted":                         {func(p *typing) { p.user("l", "l"); p.user("\r", "\r\n") }, runs, line.Pending, ""},
		"submitted, and answered":           {func(p *typing) { p.user("l", "l"); p.user("\r", "\r\n$ ") }, waits, line.Free, ""},
		"submitted, and asked for the rest": {func(p *typing) { p.user("for", "for"); p.user("\r", "\r\n> ") }, waits, line.Taken, "for\n> "},
		"the same, before it waits":         {func(p *typing) { p.user("for", "for"); p.user("\r", "\r\n> ") }, runs, line.Taken, "for\n> "},
		"Enter expanded the history in place": {
			func(p *typing) { p.user("!!", "!!"); p.user("\r", "\r\x1b[K$ ls -l") }, waits, line.Taken, "ls -l",
		},
		"Enter expanded the history behind the next prompt": {
			func(p *typing) { p.user("!!", "!!"); p.user("\r", "\r\n$ ls -l") }, waits, line.Taken, "ls -l",
		},
		"expanded, before it is shown": {
			func(p *typing) { p.user("!!", "!!"); p.user("\r", "\r\x1b[K$ ls -l") }, runs, line.Pending, "",
		},
		"expanded, and erased by the user": {
			func(p *typing) { p.user("!!", "!!"); p.user("\r", "\r\n$ ls"); p.user("\x15", "\r\x1b[K$ ") }, waits, line.Free, "",
		},
		"expanded, and submitted": {
			func(p *typing) { p.user("!!", "!!"); p.user("\r", "\r\n$ ls"); p.user("\r", "\r\nfile\r\n$ ") }, waits, line.Free, "",
		},
		"an agent typed behind the next prompt": {
			func(p *typing) { p.user("l", "l"); p.user("\r", "\r\n$ "); p.agent("who", "who") }, waits, line.Free, "",
		},
		"output that begins like the prompt and ends without a newline": {
			func(p *typing) { p.user("l", "l"); p.user("\r", "\r\n$ off$ ") }, waits, line.Free, "",
		},
		"a blank": {func(p *typing) { p.user(" ", " ") }, waits, line.Taken, " "},
		"submitted, and evaluated": {
			func(p *typing) { p.user("l", "l"); p.user("\r", "\r\n") }, with(func(d *line.Activity) { d.Waits, d.Sleeps = false, true }), line.Free, "",
		},
		"submitted to another program": {
			func(p *typing) { p.user("l", "l"); p.user("\r", "\r\n") }, with(func(d *line.Activity) { d.Waits, d.Group = false, 8 }), line.Free, "",
		},
		"submitted where there is no line": {
			func(p *typing) { p.user("l", "l"); p.user("\r", "\r\n") }, with(func(d *line.Activity) { d.Waits, d.Prompt = false, line.None }), line.Free, "",
		},
		"a system that does not tell, at once": {
			func(p *typing) { p.user("l", "l"); p.user("\r", "\r\n") }, with(func(d *line.Activity) { d.Waits, d.Known = false, false }), line.Pending, "",
		},
		"a system that does not tell, after a moment": {
			func(p *typing) { p.user("l", "l"); p.user("\r", "\r\n$ ") }, with(func(d *line.Activity) { d.Waits, d.Known, d.Quiet = false, false, true }), line.Free, "",
		},
		"the user lets agents type":    {func(p *typing) { p.user("l", "l"); p.tracker.AllowAgents() }, waits, line.Free, ""},
		"given up":                     {func(p *typing) { p.user("l", "l"); p.user("\x03", "^C\r\n$ ") }, waits, line.Free, ""},
		"given up, before it is shown": {func(p *typing) { p.user("l", "l"); p.user("\x03", "") }, waits, line.Free, ""},
		"given up, and kept": {
			func(p *typing) { p.user("l", "l"); p.user("\x03", "") }, with(func(d *line.Activity) { d.KeepsLine = true }), line.Taken, "l",
		},
		"a clock ticks": {
			func(p *typing) { p.user("\x0c", ""); p.shows("\r\x1b[K10:01 $ ") }, waits, line.Free, "",
		},
		"git answers": {
			func(p *typing) {
				p.user("l", "l")
				p.tracker.ReadPrompt(p.m)
				p.shows("\r\x1b[Kmain* $ l")
				p.tracker.ReadPrompt(p.m)
			}, waits, line.Taken, "l",
		},
		"git answers, and the user erases": {
			func(p *typing) {
				p.user("l", "l")
				p.tracker.ReadPrompt(p.m)
				p.shows("\r\x1b[Kmain* $ l")
				p.tracker.ReadPrompt(p.m)
				p.user("\x7f", "\b \b")
			}, waits, line.Free, "",
		},
		"a late echo is no new prompt": {
			func(p *typing) { p.user("l", ""); p.tracker.ReadPrompt(p.m); p.shows("l"); p.tracker.ReadPrompt(p.m) }, waits, line.Taken, "l",
		},
		"so is that of the prompt's last character": {
			func(p *typing) { p.user("$", ""); p.tracker.ReadPrompt(p.m); p.shows("$"); p.tracker.ReadPrompt(p.m) }, waits, line.Taken, "$",
		},
		"what was collected, and read raw": {
			func(p *typing) {
				p.cooked = true
				p.tracker.Spell = func() uint64 { return 3 }
				p.user("q", "q")
			}, with(func(d *line.Activity) { d.Prompt, d.Spell = line.Cooked, 5 }), line.Free, "",
		},
		"what is still collected": {
			func(p *typing) {
				p.cooked = true
				p.tracker.Spell = func() uint64 { return 3 }
				p.user("q", "q")
			}, with(func(d *line.Activity) { d.Prompt, d.Spell = line.Cooked, 3 }), line.Taken, "q",
		},
	} {
		t.Run(name, func(t *testing.T) {
			prompt := "$ "
			if name == "a clock ticks" {
				prompt = "10:00 $ "
			}
			p := newTyping(t, 40, 8, prompt)
			c.does(p)
			owner, b := line.OwnerOf(p.m, c.doing, p.tracker.TypedLine())
			require.Equal(t, c.want, owner)
			require.Equal(t, c.shown, b.Text())
		})
	}
}
