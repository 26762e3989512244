package guard_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"terminalproxy/proxy/guard"
)

var (
	cooked = guard.Line{Canonical: true, Echo: true}
	noEcho = guard.Line{Canonical: true}
	sudoRS = guard.Line{EchoNewline: true}
	raw    = guard.Line{}
)

func programs(names ...string) func() []string { return func() []string { return names } }

func TestR21HardPrompts(t *testing.T) {
	for _, c := range []struct {
		name string
		f    guard.Facts
		want guard.Kind
	}{
		{"a shell's command runs", guard.Facts{Known: true, Line: cooked}, guard.Off},
		{"sudo, passwd, ssh, getpass, read -s", guard.Facts{Known: true, Line: noEcho}, guard.Hard},
		{"sudo-rs", guard.Facts{Known: true, Line: sudoRS}, guard.Hard},
		{"its words do not matter", guard.Facts{Known: true, Line: noEcho, Left: "vim "}, guard.Hard},
		{"an editor", guard.Facts{Known: true, Line: raw, Left: "some text"}, guard.Off},
		{"the program has ended", guard.Facts{Line: noEcho}, guard.Off},
		{"input from a pipe", guard.Facts{Known: true, Line: noEcho, Mute: true}, guard.Off},
		{"input from a pipe, a prompt", guard.Facts{Known: true, Line: noEcho, Mute: true, Left: "Password: "}, guard.Soft},
		{"input from a pipe, sudo-rs", guard.Facts{Known: true, Line: sudoRS, Mute: true}, guard.Hard},
	} {
		require.Equal(t, c.want, guard.Judge(c.f), c.name)
	}
}

func TestR22SoftPrompts(t *testing.T) {
	for _, c := range []struct {
		name        string
		left, right string
		program     string
		runs        string
		paste       bool
		want        guard.Kind
	}{
		{name: "ssh", left: "ada@host's password: ", program: "ssh", want: guard.Soft},
		{name: "ssh, keyboard interactive", left: "(ada@host) Password:", want: guard.Soft},
		{name: "a key", left: "Enter passphrase for key '/home/ada/.ssh/id_ed25519': ", want: guard.Soft},
		{name: "sudo on another machine", left: "[sudo] password for ada: ", program: "ssh", want: guard.Soft},
		{name: "pwfeedback", left: "[sudo] password for ada: ****", program: "sudo", want: guard.Soft},
		{name: "bullets", left: "Password: •••", want: guard.Soft},
		{name: "one-time code", left: "TOTP: ", want: guard.Soft},
		{name: "pin", left: "Enter PIN for authenticator:", want: guard.Soft},
		{name: "api token", left: "Paste your API token here:  ", want: guard.Soft},
		{name: "mosh, in capitals", left: "PASSWORD:", want: guard.Soft},
		{name: "pinentry under git", left: "│ Passphrase: ", right: "_____________ │", program: "git", want: guard.Soft},
		{name: "pinentry, typed into", left: "│ Passphrase: ***", right: "__________ │", program: "git", want: guard.Soft},
		{name: "pinentry by name", left: "something", program: "pinentry-curses", want: guard.Soft},
		{name: "systemd-ask-password by name", left: "🔐 Key: (press TAB for no echo) ", program: "systemd-ask-pas", want: guard.Soft},
		{name: "sudo by name", left: "Kennwort für ada? ", program: "sudo", want: guard.Soft},
		{name: "fish read --silent", left: "Password: ", program: "fish", paste: true, want: guard.Soft},

		{name: "vim on password:", left: "password:", program: "vim", paste: true},
		{name: "vi without pastes", left: "password:", program: "vi"},
		{name: "less", left: "password:", program: "less"},
		{name: "remote vim", left: "password:", program: "ssh", paste: true},
		{name: "grep at a prompt", left: "ada@host:~$ grep -r password:", program: "bash", paste: true},
		{name: "grep at an old prompt", left: "ada@host:~$ grep -r password:", program: "bash"},
		{name: "grep as root", left: "root@host:/# grep -r password:", program: "ssh"},
		{name: "grep's output", left: "config.yml:3:password: hunter2"},
		{name: "fish at its prompt", left: "ada@host ~> echo password:", program: "fish", paste: true},
		{name: "text goes on", left: "password:", right: " hunter2"},
		{name: "text goes on left of the cursor", left: "password: hunter2"},
		{name: "a form's other field", left: "user name: "},
		{name: "hot plug", left: "hotplug: "},
		{name: "spin", left: "spinning: "},
		{name: "words far away", left: "the password has been sent by mail long ago, and now we would like to know your name:"},
		{name: "python's prompt", left: ">>> token:"},
		{name: "sudo runs a shell", left: "# ", program: "sudo", runs: "bash"},
		{name: "sudo runs an editor", left: "password:", program: "sudo", runs: "vim"},
		{name: "sudo in sudo asks", left: "Kennwort? ", program: "sudo", runs: "su", want: guard.Soft},
		{name: "gpg --edit-key", left: "gpg> ", program: "gpg", paste: true},
		{name: "nothing", program: "top"},
	} {
		chain := []string{c.program, c.runs}
		if c.runs == "" {
			chain = chain[:1]
		}
		got := guard.Judge(guard.Facts{
			Known: true, Line: raw, Left: c.left, Right: c.right, Paste: c.paste, Foreground: programs(chain...),
		})
		require.Equal(t, c.want, got, c.name)
	}
}

// Nobody looks at /proc for an editor or a shell that draws.
func TestTheForegroundIsAskedForSeldom(t *testing.T) {
	asked := 0
	f := guard.Facts{Known: true, Line: raw, Left: "text", Paste: true, Foreground: func() []string { asked++; return nil }}
	guard.Judge(f)
	f.Line = cooked
	guard.Judge(f)
	f.Line = noEcho
	guard.Judge(f)
	require.Zero(t, asked)
}

func TestField(t *testing.T) {
	require.Equal(t, len("Password: "), guard.Field("Password: ***"))
	require.Equal(t, len("Password:"), guard.Field("Password:"))
	require.Equal(t, len("Password: "), guard.Field("Password: "))
	require.Equal(t, len("2 * 3 *"), guard.Field("2 * 3 *"), "no question")
}

func TestR23TheGuardLingers(t *testing.T) {
	t0 := time.Unix(100, 0)
	on, off := guard.Facts{Known: true, Line: noEcho}, guard.Facts{Known: true, Line: cooked}
	var g guard.Guard
	require.Equal(t, guard.Off, g.See(t0, off))
	_, waits := g.Next()
	require.False(t, waits)
	require.Equal(t, guard.Hard, g.See(t0, on))
	require.Equal(t, t0, g.Since())
	require.True(t, g.Holds())
	require.Equal(t, guard.Hard, g.See(t0.Add(time.Second), off), "it has ended just now")
	require.False(t, g.Holds())
	at, waits := g.Next()
	require.True(t, waits)
	require.Equal(t, t0.Add(time.Second+guard.Linger), at)
	require.Equal(t, guard.Hard, g.See(at.Add(-1), off))
	require.Equal(t, guard.Hard, g.See(at.Add(-1), on), "asked again")
	require.Equal(t, guard.Hard, g.See(at.Add(time.Hour), on))
	require.Equal(t, t0, g.Since(), "still the first time")
	require.Equal(t, guard.Hard, g.See(at.Add(2*time.Hour), off))
	require.Equal(t, guard.Off, g.See(at.Add(2*time.Hour+guard.Linger), off))
	require.Equal(t, guard.Hard, g.See(at.Add(3*time.Hour), on))
	require.Equal(t, at.Add(3*time.Hour), g.Since())
}

func TestR25DismissedForThisPromptOnly(t *testing.T) {
	now := time.Unix(100, 0)
	line := func(n uint64) guard.Place { return guard.Place{Line: n} }
	ask := func(n uint64) guard.Facts { return guard.Facts{Known: true, Line: noEcho, Place: line(n)} }
	var g guard.Guard
	g.Dismiss(line(5))
	require.Equal(t, guard.Hard, g.See(now, ask(5)), "there was nothing to dismiss yet")
	g.Dismiss(line(5))
	require.Equal(t, guard.Off, g.Kind())
	require.Equal(t, guard.Off, g.See(now, ask(5)))
	g.Spot(now, guard.Hard)
	require.Equal(t, guard.Off, g.Kind(), "nor does anybody else's look count")
	require.Equal(t, guard.Hard, g.See(now, ask(6)), "it asks again on the next line")
	g.Dismiss(line(6))
	require.Equal(t, guard.Off, g.See(now, guard.Facts{Known: true, Line: cooked, Place: line(6)}))
	require.Equal(t, guard.Hard, g.See(now, ask(6)), "it had ended in between")
}

func TestSpotKeepsTheGuardOnForAWhile(t *testing.T) {
	now := time.Unix(100, 0)
	var g guard.Guard
	g.Spot(now, guard.Off)
	require.Equal(t, guard.Off, g.Kind())
	g.Spot(now, guard.Hard)
	require.Equal(t, guard.Hard, g.See(now, guard.Facts{Known: true, Line: cooked}))
	require.Equal(t, guard.Off, g.See(now.Add(guard.Linger), guard.Facts{Known: true, Line: cooked}))
}

func TestKindWords(t *testing.T) {
	require.Equal(t, []string{"", "soft", "hard"}, []string{guard.Off.String(), guard.Soft.String(), guard.Hard.String()})
}

func FuzzJudge(f *testing.F) {
	f.Add("Password: ", "", "sudo", uint8(0))
	f.Add("│ PIN: **", "__│", "pinentry", uint8(3))
	f.Fuzz(func(t *testing.T, left, right, name string, bits uint8) {
		facts := guard.Facts{
			Known: true, Line: guard.Line{Canonical: bits&1 != 0, Echo: bits&2 != 0, EchoNewline: bits&4 != 0},
			Mute: bits&8 != 0, Paste: bits&16 != 0, Left: left, Right: right, Foreground: programs(name, "sudo", "vim"),
		}
		kind := guard.Judge(facts)
		if facts.Line.Echo {
			require.Equal(t, guard.Off, kind)
		}
		if facts.Line.EchoNewline && !facts.Line.Echo {
			require.Equal(t, guard.Hard, kind)
		}
		at := guard.Field(left)
		require.True(t, 0 <= at && at <= len(left))
	})
}
