package session_test

import (
	"encoding/base64"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"terminalproxy/cmd/internal/e2e/world"

	"github.com/stretchr/testify/require"
)

// data joins the data of all events of one code.
func data(events [][2]string, code string) string {
	var b strings.Builder
	for _, e := range events {
		if e[0] == code {
			b.WriteString(e[1])
		}
	}
	return b.String()
}

// recordShell records a session as s.cast in which both an agent and the user type into a shell.
func recordShell(w *world.World) *world.Terminal {
	w.T.Helper()
	s := w.Terminal(100, 24)
	id := s.RunBash("--grant drive --yield 0s --record s.cast")
	w.RequestGrant(id, "--as", "codex")
	w.MustGateway("send", id, "--as", "codex", "--text", "echo one two", "--enter", "--until", "text=one two")
	s.Resize(90, 20)
	w.MustGateway("wait", id, "--idle", "300ms")
	w.MustGateway("send", id, "--as", "codex", "--paste", w.Write("paste", "echo pasted"))
	w.MustGateway("send", id, "--as", "codex", "ctrl-u")
	w.MustGateway("send", id, "--as", "codex", `ctrl-\`) // under level drive an agent may press it for the program
	s.Typed("echo mine\n")
	s.Wait("mine\n$")
	s.Press(`C-\`)
	s.WaitTitle("[observed]")
	require.Equal(w.T, 4, w.Gateway("send", id, "--as", "codex", "--text", "too late").Status)
	s.Typed("exit 7\n")
	require.Equal(w.T, 7, s.Status())
	return s
}

func TestARecordingTellsWhoTypedR12(t *testing.T) {
	w := world.New(t)
	s := recordShell(w)
	events := w.CastEvents("s.cast")
	require.Equal(t, "echo one two\r\x1b[200~echo pasted\x1b[201~\x15\x1c", data(events, "i"))
	require.Contains(t, data(events, "A"), `"agent":"codex"`)
	require.Contains(t, data(events, "r"), "90x20")
	require.Equal(t, "7", data(events, "x"))
	require.Contains(t, data(events, "o"), "mine")
	marks := data(events, "m")
	require.Regexp(t, `codex asks for control \(drive\) \[gateway request, under [^]]+\]: to test`, marks)
	for _, want := range []string{"codex gets the keyboard from --grant: grant 2", "grant 2 of codex ends: reclaimed", "codex types under grant 2, keys, 1 byte: with the reclaim key"} {
		require.Contains(t, marks, want)
	}
	var user []int
	for i, e := range events {
		if e[0] == "U" {
			require.Empty(t, e[1], "that, not what")
			user = append(user, i)
		}
	}
	require.NotEmpty(t, user)

	var typed strings.Builder
	refused := 0
	for _, e := range w.Audited("s.cast", "--agent", "codex") {
		if e.Kind != "input" {
			continue
		}
		b, err := base64.StdEncoding.DecodeString(e.Bytes)
		require.NoError(t, err)
		require.Len(t, b, e.Written)
		if e.Written == 0 {
			require.Equal(t, "no_grant", e.Reason)
			refused++
			continue
		}
		require.EqualValues(t, 2, e.Epoch)
		require.NotNil(t, e.Picture)
		typed.Write(b)
	}
	require.Equal(t, data(events, "i"), typed.String(), "the log and the recording agree")
	require.Equal(t, 1, refused)

	shown := w.MustGateway("audit", "show", "s.cast", "--agent", "codex")
	for _, want := range []string{
		"codex types under grant 2, text, then keys, 13 bytes", "typed: echo one two\\r\n", "as: ctrl-u", "on the screen before it: bash, 100x24",
		"on the screen before it: bash, 90x20", "| $ echo one two\n", "grant 2 of codex ends: reclaimed", "codex tries to type without a grant",
	} {
		require.Contains(t, shown, want)
	}
	require.NotContains(t, shown, "the user typed")
	require.Contains(t, w.MustGateway("audit", "show", "s.cast"), "the user typed")
	require.Contains(t, w.MustGateway("render", "s.cast"), "\none two\n")

	w.Write("bad"+".audit.jsonl", strings.Replace(w.Content("s.cast.audit.jsonl"), `"written":13`, `"written":31`, 1))
	bad := w.Gateway("audit", "verify", "bad")
	require.Equal(t, 1, bad.Status)
	require.Regexp(t, `line \d+: its hash does not match`, bad.Err)

	// Debian's asciinema reads the older format, to which gateway render converts the recording.
	if _, err := exec.LookPath("asciinema"); err != nil {
		t.Skip("asciinema is not installed: it does not play the recording")
	}
	w.MustGateway("render", "--v2", "old.cast", "s.cast")
	s.Resize(100, 24)
	screen, status := s.RunToEnd("asciinema play -i 0.01 -s 100 old.cast")
	require.Zero(t, status)
	for _, want := range []string{"$ echo one two", "\none two\n", "\nmine\n", "exit 7"} {
		require.Contains(t, screen, want)
	}
	cat, status := s.RunToEnd("asciinema cat old.cast > seen")
	require.Zero(t, status, cat)
	require.Equal(t, data(events, "o"), w.Content("seen"))
}

// player returns the directory of asciinema-player's code.
func player(t *testing.T) string {
	t.Helper()
	world.Clients(t)
	if _, err := exec.LookPath("node"); err != nil {
		t.Skip("node is not installed")
	}
	for _, dir := range []string{os.Getenv("ASCIINEMA_PLAYER"), filepath.Join("..", "..", "..", "..", ".ci", "node_modules", "asciinema-player")} {
		dist, err := filepath.Abs(filepath.Join(dir, "dist"))
		if err == nil && dir != "" {
			if _, err := os.Stat(filepath.Join(dist, "index.js")); err == nil {
				return dist
			}
		}
	}
	t.Skip("asciinema-player is not installed: npm install asciinema-player@3.17.0, or name its directory in $ASCIINEMA_PLAYER")
	return ""
}

func TestAsciinemaPlayerPlaysTheRecording_Client(t *testing.T) {
	dist := player(t)
	script, err := filepath.Abs(filepath.Join("testdata", "play.mjs"))
	require.NoError(t, err)
	w := world.New(t, "node")
	recordShell(w)
	played := w.Do("node", script, dist, w.Path("s.cast"))
	require.Zero(t, played.Status, played.Err)
	got := world.Reply[struct {
		Output, Input  string
		Markers, Sizes []string
	}](t, played.Out)
	events := w.CastEvents("s.cast")
	require.Equal(t, data(events, "o"), got.Output)
	require.Equal(t, data(events, "i"), got.Input)
	require.Equal(t, data(events, "m"), strings.Join(got.Markers, ""))
	require.Contains(t, got.Sizes, "90x20")
}

// R26: what the user types and the program does not show is in no file.
func TestHiddenTypingIsInNoFileR26(t *testing.T) {
	t.Parallel()
	const canary = "hunter2canary"
	for _, flags := range []string{"", "--agent --grant drive --yield 0s "} {
		t.Run("flags "+flags, func(t *testing.T) {
			w := world.New(t)
			s := w.Terminal(100, 24)
			s.RunListener(flags + "--record s.cast --log log --log-level debug")
			var seen strings.Builder
			if flags != "" {
				id := w.Session()
				w.RequestGrant(id, "--as", "codex")
				w.MustGateway("send", id, "--as", "codex", "--text", "agent")
				s.Typed(canary)
				w.WaitHeard("heard", canary)
				w.MustGateway("send", id, "--as", "codex", "--text", "again")
				seen.WriteString(w.MustGateway("read", id, "--json") + w.MustGateway("ls", "--json"))
			}
			s.Typed(canary + "\x04")
			require.Zero(t, s.Status())
			require.Contains(t, w.Content("heard"), canary)
			require.NotContains(t, seen.String(), canary)
			require.Contains(t, data(w.CastEvents("s.cast"), "o"), "listening")
			require.Contains(t, w.MustGateway("audit", "show", "s.cast"), "the user typed")
			require.NoError(t, filepath.WalkDir(w.Dir, func(path string, d fs.DirEntry, err error) error {
				if err == nil && d.Type().IsRegular() && d.Name() != "heard" {
					content, err := os.ReadFile(path)
					require.NoError(t, err)
					require.NotContains(t, string(content), canary, path)
				}
				return err
			}))
		})
	}
}

func TestARecordingSurvivesAKilledProxy(t *testing.T) {
	w := world.New(t)
	s := w.Terminal(100, 24)
	pid := s.RunListener("--agent --grant drive --record s.cast")
	id := w.Session()
	w.RequestGrant(id, "--as", "codex")
	w.MustGateway("send", id, "--as", "codex", "--text", "typed before")
	w.WaitHeard("s.cast.audit.jsonl", "typed before")
	w.Kill(pid, syscall.SIGKILL)
	w.WaitGone(pid)
	require.NoError(t, os.Remove(filepath.Join(w.Run(), "gateway.sock"))) // it also served the gateway
	require.Equal(t, "typed before", data(w.CastEvents("s.cast"), "i"))
	require.Contains(t, w.Gateway("audit", "verify", "s.cast").Err, "the log has no end: entries after line")
	require.Contains(t, w.MustGateway("audit", "verify", "--running", "s.cast"), "note: the log has no end")
	require.Contains(t, w.MustGateway("audit", "show", "s.cast"), "typed: typed before")
	require.Contains(t, w.MustGateway("render", "s.cast"), "listening")

	log := w.Content("s.cast.audit.jsonl")
	w.Write("cut.audit.jsonl", log[:len(log)-9])
	require.Contains(t, w.MustGateway("audit", "verify", "--running", "cut"), "is cut off")
}

// When the disk is full, the session continues without the recording, and the user is told.
func TestAFullDiskCostsTheRecordingOnly(t *testing.T) {
	w := world.New(t)
	s := w.Terminal(100, 24)
	w.Write("long.txt", world.LongText(2000))
	s.Run("(ulimit -f 4; exec proxy --agent --record s.cast bash --noprofile --rcfile bashrc -i)") // in KiB
	w.Session()
	s.Wait("$")
	s.Typed("cat long.txt\n")
	s.Wait("the recording is interrupted, the session is not: file too large")
	s.Typed("echo goes on | tr a-z A-Z\n")
	s.Wait("GOES ON")
	s.Typed("exit 3\n")
	require.Equal(t, 3, s.Status())
	require.Contains(t, world.Unwrapped(s.Screen()), `the recording "s.cast" is not complete: `)
	require.NotEmpty(t, w.CastEvents("s.cast"))
	require.LessOrEqual(t, len(w.Content("s.cast")), 4096)
	w.Audited("s.cast")
	require.Regexp(t, `output is missing in the recording at 1 place: [1-9]\d+ bytes; audit show says where\nthe recording matches the log, except for`, w.MustGateway("audit", "verify", "s.cast"))
}

// R26: during a secret prompt, neither the screen nor the user's typing is recorded. What is
// painted afterwards does not even show the secret's length.
func TestABlackoutIsAGapInTheRecordingR26(t *testing.T) {
	t.Parallel()
	for name, ask := range map[string]string{
		"hard": `read -s -p "Password: " x; echo`,
		"soft": `stty raw -echo; printf "Password: "; while read -rn1 c && [ "$c" != q ]; do printf "*"; done; stty sane; echo`,
	} {
		t.Run(name, func(t *testing.T) {
			w := world.New(t)
			s := w.Terminal(100, 24)
			w.Write("ask.sh", ask+"\necho answered\nread y\n")
			s.Run("proxy --agent --grant drive --record s.cast bash -c 'echo begins; read go; . ./ask.sh'")
			s.Wait("begins")
			w.RequestGrant(w.Session())
			s.Typed("\n")
			s.Wait("Password:")
			s.WaitTitle("[secret")
			for _, key := range "hunter2" {
				s.Typed(string(key))
			}
			if name == "soft" {
				s.Wait("*******")
				s.Typed("q")
			} else {
				s.Typed("\n")
			}
			s.Wait("answered")
			s.WaitTitle("[cli") // it drives again
			s.QuitProgram("\n")
			events := w.CastEvents("s.cast")
			require.Empty(t, world.Between(t, events, "blackout begins: a password is being asked for", "blackout ends"))
			shown := data(events, "o")
			require.Contains(t, shown, "begins")
			require.Contains(t, shown, "answered")
			require.NotContains(t, shown, "**")
			require.Contains(t, w.MustGateway("render", "s.cast"), "answered")
			require.Contains(t, w.MustGateway("audit", "show", "s.cast"), "blackout begins: a password is being asked for")
		})
	}
}
