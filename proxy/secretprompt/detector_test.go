package secretprompt_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"terminalproxy/protocol"
	"terminalproxy/proxy/secretprompt"
)

var (
	cooked = secretprompt.Line{Canonical: true, Echo: true}
	noEcho = secretprompt.Line{Canonical: true}
	sudoRS = secretprompt.Line{EchoNewline: true}
	raw    = secretprompt.Line{}
)

func programs(names ...string) func() []string { return func() []string { return names } }

func TestR21HardPrompts(t *testing.T) {
	for _, c := range []struct {
		name string
		f    secretprompt.Facts
		want protocol.SecretPrompt
	}{
		{"a shell's command runs", secretprompt.Facts{Known: true, Line: cooked}, protocol.SecretNone},
		{"sudo, passwd, ssh, getpass, read -s", secretprompt.Facts{Known: true, Line: noEcho}, protocol.SecretHard},
		{"sudo-rs", secretprompt.Facts{Known: true, Line: sudoRS}, protocol.SecretHard},
		{"its words do not matter", secretprompt.Facts{Known: true, Line: noEcho, Left: "vim "}, protocol.SecretHard},
		{"an editor", secretprompt.Facts{Known: true, Line: raw, Left: "some text"}, protocol.SecretNone},
		{"the program has ended", secretprompt.Facts{Line: noEcho}, protocol.SecretNone},
		{"input from a pipe", secretprompt.Facts{Known: true, Line: noEcho, Mute: true}, protocol.SecretNone},
		{"input from a pipe, a prompt", secretprompt.Facts{Known: true, Line: noEcho, Mute: true, Left: "Password: "}, protocol.SecretSoft},
		{"input from a pipe, sudo-rs", secretprompt.Facts{Known: true, Line: sudoRS, Mute: true}, protocol.SecretHard},
	} {
		require.Equal(t, c.want, secretprompt.Judge(c.f), c.name)
	}
}

func TestR22SoftPrompts(t *testing.T) {
	for _, c := range []struct {
		name        string
		left, right string
		program     string
		runs        string
		paste       bool
		want        protocol.SecretPrompt
	}{
		{name: "ssh", left: "ada@host's password: ", program: "ssh", want: protocol.SecretSoft},
		{name: "ssh, keyboard interactive", left: "(ada@host) Password:", want: protocol.SecretSoft},
		{name: "a key", left: "Enter passphrase for key '/home/ada/.ssh/id_ed25519': ", want: protocol.SecretSoft},
		{name: "sudo on another machine", left: "[sudo] password for ada: ", program: "ssh", want: protocol.SecretSoft},
		{name: "pwfeedback", left: "[sudo] password for ada: ****", program: "sudo", want: protocol.SecretSoft},
		{name: "bullets", left: "Password: •••", want: protocol.SecretSoft},
		{name: "one-time code", left: "TOTP: ", want: protocol.SecretSoft},
		{name: "pin", left: "Enter PIN for authenticator:", want: protocol.SecretSoft},
		{name: "api token", left: "Paste your API token here:  ", want: protocol.SecretSoft},
		{name: "mosh, in capitals", left: "PASSWORD:", want: protocol.SecretSoft},
		{name: "pinentry under git", left: "│ Passphrase: ", right: "_____________ │", program: "git", want: protocol.SecretSoft},
		{name: "pinentry, typed into", left: "│ Passphrase: ***", right: "__________ │", program: "git", want: protocol.SecretSoft},
		{name: "pinentry by name", left: "something", program: "pinentry-curses", want: protocol.SecretSoft},
		{name: "systemd-ask-password by name", left: "🔐 Key: (press TAB for no echo) ", program: "systemd-ask-pas", want: protocol.SecretSoft},
		{name: "sudo by name", left: "Kennwort für ada? ", program: "sudo", want: protocol.SecretSoft},
		{name: "fish read --silent", left: "Password: ", program: "fish", paste: true, want: protocol.SecretSoft},

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
		{name: "sudo in sudo asks", left: "Kennwort? ", program: "sudo", runs: "su", want: protocol.SecretSoft},
		{name: "gpg --edit-key", left: "gpg> ", program: "gpg", paste: true},
		{name: "nothing", program: "top"},
	} {
		chain := []string{c.program, c.runs}
		if c.runs == "" {
			chain = chain[:1]
		}
		got := secretprompt.Judge(secretprompt.Facts{
			Known: true, Line: raw, Left: c.left, Right: c.right, Paste: c.paste, Foreground: programs(chain...),
		})
		require.Equal(t, c.want, got, c.name)
	}
}

// Nobody looks at /proc for an editor or a shell that draws.
func TestTheForegroundIsAskedForSeldom(t *testing.T) {
	asked := 0
	f := secretprompt.Facts{Known: true, Line: raw, Left: "text", Paste: true, Foreground: func() []string { asked++; return nil }}
	secretprompt.Judge(f)
	f.Line = cooked
	secretprompt.Judge(f)
	f.Line = noEcho
	secretprompt.Judge(f)
	require.Zero(t, asked)
}

func TestField(t *testing.T) {
	require.Equal(t, len("Password: "), secretprompt.Field("Password: ***"))
	require.Equal(t, len("Password:"), secretprompt.Field("Password:"))
	require.Equal(t, len("Password: "), secretprompt.Field("Password: "))
	require.Equal(t, len("2 * 3 *"), secretprompt.Field("2 * 3 *"), "no question")
}

func TestR23AFormerPromptLingers(t *testing.T) {
	t0 := time.Unix(100, 0)
	on, off := secretprompt.Facts{Known: true, Line: noEcho}, secretprompt.Facts{Known: true, Line: cooked}
	var g secretprompt.Detector
	require.Equal(t, protocol.SecretNone, g.See(t0, off))
	_, waits := g.Next()
	require.False(t, waits)
	require.Equal(t, protocol.SecretHard, g.See(t0, on))
	require.Equal(t, t0, g.Since())
	require.True(t, g.Holds())
	require.Equal(t, protocol.SecretHard, g.See(t0.Add(time.Second), off), "it has ended just now")
	require.False(t, g.Holds())
	at, waits := g.Next()
	require.True(t, waits)
	require.Equal(t, t0.Add(time.Second+secretprompt.Linger), at)
	require.Equal(t, protocol.SecretHard, g.See(at.Add(-1), off))
	require.Equal(t, protocol.SecretHard, g.See(at.Add(-1), on), "asked again")
	require.Equal(t, protocol.SecretHard, g.See(at.Add(time.Hour), on))
	require.Equal(t, t0, g.Since(), "still the first time")
	require.Equal(t, protocol.SecretHard, g.See(at.Add(2*time.Hour), off))
	require.Equal(t, protocol.SecretNone, g.See(at.Add(2*time.Hour+secretprompt.Linger), off))
	require.Equal(t, protocol.SecretHard, g.See(at.Add(3*time.Hour), on))
	require.Equal(t, at.Add(3*time.Hour), g.Since())
}

func TestR25DismissedForThisPromptOnly(t *testing.T) {
	now := time.Unix(100, 0)
	line := func(n uint64) secretprompt.Place { return secretprompt.Place{Line: n} }
	ask := func(n uint64) secretprompt.Facts {
		return secretprompt.Facts{Known: true, Line: noEcho, Place: line(n)}
	}
	var g secretprompt.Detector
	g.Dismiss(line(5))
	require.Equal(t, protocol.SecretHard, g.See(now, ask(5)), "there was nothing to dismiss yet")
	g.Dismiss(line(5))
	require.Equal(t, protocol.SecretNone, g.Kind())
	require.Equal(t, protocol.SecretNone, g.See(now, ask(5)))
	g.Spot(now)
	require.Equal(t, protocol.SecretNone, g.Kind(), "nor does anybody else's look count")
	require.Equal(t, protocol.SecretHard, g.See(now, ask(6)), "it asks again on the next line")
	g.Dismiss(line(6))
	require.Equal(t, protocol.SecretNone, g.See(now, secretprompt.Facts{Known: true, Line: cooked, Place: line(6)}))
	require.Equal(t, protocol.SecretHard, g.See(now, ask(6)), "it had ended in between")
}

func TestSpotKeepsAPromptForAWhile(t *testing.T) {
	now := time.Unix(100, 0)
	var g secretprompt.Detector
	g.Spot(now)
	require.Equal(t, protocol.SecretHard, g.See(now, secretprompt.Facts{Known: true, Line: cooked}))
	require.Equal(t, protocol.SecretNone, g.See(now.Add(secretprompt.Linger), secretprompt.Facts{Known: true, Line: cooked}))
}

func FuzzJudge(f *testing.F) {
	f.Add("Password: ", "", "sudo", uint8(0))
	f.Add("│ PIN: **", "__│", "pinentry", uint8(3))
	f.Fuzz(func(t *testing.T, left, right, name string, bits uint8) {
		facts := secretprompt.Facts{
			Known: true, Line: secretprompt.Line{Canonical: bits&1 != 0, Echo: bits&2 != 0, EchoNewline: bits&4 != 0},
			Mute: bits&8 != 0, Paste: bits&16 != 0, Left: left, Right: right, Foreground: programs(name, "sudo", "vim"),
		}
		kind := secretprompt.Judge(facts)
		if facts.Line.Echo {
			require.Equal(t, protocol.SecretNone, kind)
		}
		if facts.Line.EchoNewline && !facts.Line.Echo {
			require.Equal(t, protocol.SecretHard, kind)
		}
		at := secretprompt.Field(left)
		require.True(t, 0 <= at && at <= len(left))
	})
}
