package secretprompt_test

import (
	"os"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"terminalproxy/protocol"
	"terminalproxy/proxy/consent/secretprompt"
	"terminalproxy/proxy/view/corpus"
)

var (
	cooked = secretprompt.Line{Canonical: true, Echo: true}
	noEcho = secretprompt.Line{Canonical: true}
	sudoRS = secretprompt.Line{EchoNewline: true}
	raw    = secretprompt.Line{}
)

func programs(names ...string) func() []string { return func() []string { return names } }

func TestPromptsR21R22(t *testing.T) {
	lines := map[string]secretprompt.Line{"cooked": cooked, "noEcho": noEcho, "sudoRS": sudoRS, "raw": raw}
	for _, c := range corpus.Rows[struct {
		Name, Want, Line, Left, Right, Program, Runs string
		Paste                                        bool
	}](t, "prompts") {
		settings, known := lines[c.Line]
		f := secretprompt.Facts{Known: known, Line: settings, Left: c.Left, Right: c.Right, Paste: c.Paste}
		if c.Runs != "" {
			f.Foreground = programs(c.Program, c.Runs)
		} else if c.Program != "" {
			f.Foreground = programs(c.Program)
		}
		require.Equal(t, protocol.SecretPrompt(c.Want), secretprompt.Judge(f), c.Name)
	}
}

// Programs' prompts for secrets, and the other texts left of the cursor. Neither counts in an
// editor.
func TestRowsOfPublicProgramsR22(t *testing.T) {
	for name, want := range map[string]protocol.SecretPrompt{"asking": protocol.SecretSoft, "ordinary": protocol.SecretNone} {
		data, err := os.ReadFile("testdata/" + name + ".txt")
		require.NoError(t, err)
		rows := strings.Split(strings.TrimSuffix(string(data), "\n"), "\n")
		require.GreaterOrEqual(t, len(rows), 40)
		for _, row := range rows {
			f := secretprompt.Facts{Known: true, Line: raw, Left: row, Foreground: programs("ssh")}
			require.Equal(t, want, secretprompt.Judge(f), "%q", row)
			f.Foreground = programs("vim")
			require.Equal(t, protocol.SecretNone, secretprompt.Judge(f), "%q in vim", row)
		}
	}
}

// An editor or a shell that draws does not cause a read of /proc.
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
	require.Equal(t, len("Password: "), secretprompt.SecretStart("Password: ***"))
	require.Equal(t, len("Password:"), secretprompt.SecretStart("Password:"))
	require.Equal(t, len("Password: "), secretprompt.SecretStart("Password: "))
	require.Equal(t, len("2 * 3 *"), secretprompt.SecretStart("2 * 3 *"), "no question")
}

func TestAFormerPromptLingersR23(t *testing.T) {
	t0 := time.Unix(100, 0)
	on, off := secretprompt.Facts{Known: true, Line: noEcho}, secretprompt.Facts{Known: true, Line: cooked}
	var g secretprompt.Detector
	require.Equal(t, protocol.SecretNone, g.UpdateKind(t0, off))
	_, waits := g.Next()
	require.False(t, waits)
	require.Equal(t, protocol.SecretHard, g.UpdateKind(t0, on))
	require.Equal(t, t0, g.PromptSince())
	require.True(t, g.IsPromptPresent())
	require.Equal(t, protocol.SecretHard, g.UpdateKind(t0.Add(time.Second), off), "it has ended just now")
	require.False(t, g.IsPromptPresent())
	at, waits := g.Next()
	require.True(t, waits)
	require.Equal(t, t0.Add(time.Second+secretprompt.Linger), at)
	require.Equal(t, protocol.SecretHard, g.UpdateKind(at.Add(-1), off))
	require.Equal(t, protocol.SecretHard, g.UpdateKind(at.Add(-1), on), "asked again")
	require.Equal(t, protocol.SecretHard, g.UpdateKind(at.Add(time.Hour), on))
	require.Equal(t, t0, g.PromptSince(), "still the first time")
	require.Equal(t, protocol.SecretHard, g.UpdateKind(at.Add(2*time.Hour), off))
	require.Equal(t, protocol.SecretNone, g.UpdateKind(at.Add(2*time.Hour+secretprompt.Linger), off))
	require.Equal(t, protocol.SecretHard, g.UpdateKind(at.Add(3*time.Hour), on))
	require.Equal(t, at.Add(3*time.Hour), g.PromptSince())
}

func TestDismissedForThisPromptOnlyR25(t *testing.T) {
	now := time.Unix(100, 0)
	line := func(n uint64) secretprompt.Place { return secretprompt.Place{Line: n} }
	ask := func(n uint64) secretprompt.Facts {
		return secretprompt.Facts{Known: true, Line: noEcho, Place: line(n)}
	}
	var g secretprompt.Detector
	g.DismissPrompt(line(5))
	require.Equal(t, protocol.SecretHard, g.UpdateKind(now, ask(5)), "there was nothing to dismiss yet")
	g.DismissPrompt(line(5))
	require.Equal(t, protocol.SecretNone, g.Kind())
	require.Equal(t, protocol.SecretNone, g.UpdateKind(now, ask(5)))
	g.NoteHardPrompt(now)
	require.Equal(t, protocol.SecretNone, g.Kind(), "nor does anybody else's look count")
	require.Equal(t, protocol.SecretHard, g.UpdateKind(now, ask(6)), "it asks again on the next line")
	g.DismissPrompt(line(6))
	require.Equal(t, protocol.SecretNone, g.UpdateKind(now, secretprompt.Facts{Known: true, Line: cooked, Place: line(6)}))
	require.Equal(t, protocol.SecretHard, g.UpdateKind(now, ask(6)), "it had ended in between")
}

func TestSpotKeepsAPromptForAWhile(t *testing.T) {
	now := time.Unix(100, 0)
	var g secretprompt.Detector
	g.NoteHardPrompt(now)
	require.Equal(t, protocol.SecretHard, g.UpdateKind(now, secretprompt.Facts{Known: true, Line: cooked}))
	require.Equal(t, protocol.SecretNone, g.UpdateKind(now.Add(secretprompt.Linger), secretprompt.Facts{Known: true, Line: cooked}))
}

func FuzzJudge(f *testing.F) {
	f.Add("Password: ", "", "sudo", uint8(0))
	f.Add("│ PIN: **", "__│", "pinentry", uint8(3))
	f.Fuzz(func(t *testing.T, left, right, name string, bits uint8) {
		facts := secretprompt.Facts{
			Known: true, Line: secretprompt.Line{Canonical: bits&1 != 0, Echo: bits&2 != 0, EchoNewline: bits&4 != 0},
			Paste: bits&8 != 0, Left: left, Right: right, Foreground: programs(name, "sudo", "vim"),
		}
		kind := secretprompt.Judge(facts)
		if facts.Line.Echo {
			require.Equal(t, protocol.SecretNone, kind)
		}
		if facts.Line.EchoNewline && !facts.Line.Echo {
			require.Equal(t, protocol.SecretHard, kind)
		}
		at := secretprompt.SecretStart(left)
		require.True(t, 0 <= at && at <= len(left))
	})
}
