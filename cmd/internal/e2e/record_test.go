package e2e_test

import (
	"encoding/base64"
	"encoding/json"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
)

// castEvents reads a recording, and returns its events without their times.
func (w *world) castEvents(name string) (events [][2]string) {
	w.t.Helper()
	content := w.content(name)
	require.True(w.t, strings.HasSuffix(content, "\n"), "it ends with a whole line")
	lines := strings.Split(strings.TrimSuffix(content, "\n"), "\n")
	require.Contains(w.t, lines[0], `"version":3`)
	for _, line := range lines[1:] {
		var parts []any
		require.NoError(w.t, json.Unmarshal([]byte(line), &parts), line)
		require.Len(w.t, parts, 3)
		events = append(events, [2]string{parts[1].(string), parts[2].(string)})
	}
	return events
}

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

// auditEntry has those fields of an audit log's entry that the tests need.
type auditEntry struct {
	Kind    string `json:"kind"`
	Agent   *struct{ Name string }
	Epoch   uint64
	Bytes   string
	Written int
	Dropped int
	Reason  string
	Picture *struct{ Lines []string }
}

// audited checks an audit log and returns its entries.
func (w *world) audited(name string, more ...string) []auditEntry {
	w.t.Helper()
	w.mustGateway("audit", "verify", name)
	got := reply[struct{ Entries []auditEntry }](w.t, w.mustGateway(append([]string{"audit", "show", "--json", name}, more...)...))
	return got.Entries
}

// recordShell records a session as s.cast in which both an agent and the user type into a shell.
func (w *world) recordShell() *terminal {
	w.t.Helper()
	s := w.terminal(100, 24)
	id := s.runBash("--grant drive --yield 0s --record s.cast")
	w.requestGrant(id, "--as", "codex")
	w.mustGateway("send", id, "--as", "codex", "--text", "echo one two", "--enter", "--until", "text=one two")
	s.resize(90, 20)
	w.mustGateway("wait", id, "--idle", "300ms")
	w.mustGateway("send", id, "--as", "codex", "--paste", w.write("paste", "echo pasted"))
	w.mustGateway("send", id, "--as", "codex", "ctrl-u")
	s.typed("echo mine\n")
	s.wait("mine\n$")
	s.press(`C-\`)
	s.waitTitle("[observed]")
	require.Equal(w.t, 4, w.gateway("send", id, "--as", "codex", "--text", "too late").status)
	s.typed("exit 7\n")
	require.Equal(w.t, 7, s.status())
	return s
}

func TestARecordingTellsWhoTyped(t *testing.T) {
	w := newWorld(t)
	w.recordShell()
	events := w.castEvents("s.cast")
	require.Equal(t, "echo one two\r\x1b[200~echo pasted\x1b[201~\x15", data(events, "i"))
	require.Contains(t, data(events, "A"), `"agent":"codex"`)
	require.Contains(t, data(events, "r"), "90x20")
	require.Equal(t, "7", data(events, "x"))
	require.Contains(t, data(events, "o"), "mine")
	marks := data(events, "m")
	require.Regexp(t, `codex asks for control \(drive\) \[gateway request, under [^]]+\]: to test`, marks)
	for _, want := range []string{"codex gets the keyboard from --grant: grant 2", "grant 2 of codex ends: reclaimed"} {
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
	for _, e := range w.audited("s.cast", "--agent", "codex") {
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

	shown := w.mustGateway("audit", "show", "s.cast", "--agent", "codex")
	for _, want := range []string{
		"codex types under grant 2, text, then keys, 13 bytes", "typed: echo one two\\r\n", "as: ctrl-u", "on the screen before it: bash, 100x24",
		"on the screen before it: bash, 90x20", "| $ echo one two\n", "grant 2 of codex ends: reclaimed", "codex tries to type without a grant",
	} {
		require.Contains(t, shown, want)
	}
	require.NotContains(t, shown, "the user typed")
	require.Contains(t, w.mustGateway("audit", "show", "s.cast"), "the user typed")
	require.Contains(t, w.mustGateway("render", "s.cast"), "\none two\n")

	w.write("bad"+".audit.jsonl", strings.Replace(w.content("s.cast.audit.jsonl"), `"written":13`, `"written":31`, 1))
	bad := w.gateway("audit", "verify", "bad")
	require.Equal(t, 1, bad.status)
	require.Regexp(t, `line \d+: its hash does not match`, bad.err)
}

// Debian's asciinema reads the older format, to which gateway render converts the recording.
func TestAsciinemaPlaysTheRecording(t *testing.T) {
	w := newWorld(t, "asciinema")
	s := w.recordShell()
	w.mustGateway("render", "--v2", "old.cast", "s.cast")
	s.resize(100, 24)
	screen, status := s.runToEnd("asciinema play -i 0.01 -s 100 old.cast")
	require.Zero(t, status)
	for _, want := range []string{"$ echo one two", "\none two\n", "\nmine\n", "exit 7"} {
		require.Contains(t, screen, want)
	}
	cat, status := s.runToEnd("asciinema cat old.cast > seen")
	require.Zero(t, status, cat)
	require.Equal(t, data(w.castEvents("s.cast"), "o"), w.content("seen"))
}

// player returns the directory of asciinema-player's code.
func player(t *testing.T) string {
	t.Helper()
	clients(t)
	if _, err := exec.LookPath("node"); err != nil {
		t.Skip("node is not installed")
	}
	for _, dir := range []string{os.Getenv("ASCIINEMA_PLAYER"), filepath.Join("..", "..", "..", ".ci", "node_modules", "asciinema-player")} {
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

func TestAsciinemaPlayerPlaysTheRecording(t *testing.T) {
	dist := player(t)
	script, err := filepath.Abs(filepath.Join("testdata", "play.mjs"))
	require.NoError(t, err)
	w := newWorld(t, "node")
	w.recordShell()
	played := w.do("node", script, dist, w.path("s.cast"))
	require.Zero(t, played.status, played.err)
	got := reply[struct {
		Output, Input  string
		Markers, Sizes []string
	}](t, played.out)
	events := w.castEvents("s.cast")
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
			w := newWorld(t)
			s := w.terminal(100, 24)
			s.runListener(flags + "--record s.cast --log log --log-level debug")
			var seen strings.Builder
			if flags != "" {
				id := w.session()
				w.requestGrant(id, "--as", "codex")
				w.mustGateway("send", id, "--as", "codex", "--text", "agent")
				s.typed(canary)
				w.waitHeard("heard", canary)
				w.mustGateway("send", id, "--as", "codex", "--text", "again")
				seen.WriteString(w.mustGateway("read", id, "--json") + w.mustGateway("ls", "--json"))
			}
			s.typed(canary + "\x04")
			require.Zero(t, s.status())
			require.Contains(t, w.content("heard"), canary)
			require.NotContains(t, seen.String(), canary)
			require.Contains(t, data(w.castEvents("s.cast"), "o"), "listening")
			require.Contains(t, w.mustGateway("audit", "show", "s.cast"), "the user typed")
			require.NoError(t, filepath.WalkDir(w.dir, func(path string, d fs.DirEntry, err error) error {
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
	w := newWorld(t)
	s := w.terminal(100, 24)
	pid := s.runListener("--agent --grant drive --record s.cast")
	id := w.session()
	w.requestGrant(id, "--as", "codex")
	w.mustGateway("send", id, "--as", "codex", "--text", "typed before")
	w.until(func() bool { return strings.Contains(w.content("s.cast.audit.jsonl"), "typed before") }, func() string { return w.content("s.cast.audit.jsonl") })
	w.kill(pid, syscall.SIGKILL)
	w.waitGone(pid)
	require.NoError(t, os.Remove(filepath.Join(w.run(), "gateway.sock"))) // it also served the gateway
	require.Equal(t, "typed before", data(w.castEvents("s.cast"), "i"))
	require.Contains(t, w.gateway("audit", "verify", "s.cast").err, "the log has no end: entries after line")
	require.Contains(t, w.mustGateway("audit", "verify", "--running", "s.cast"), "note: the log has no end")
	require.Contains(t, w.mustGateway("audit", "show", "s.cast"), "typed: typed before")
	require.Contains(t, w.mustGateway("render", "s.cast"), "listening")

	log := w.content("s.cast.audit.jsonl")
	w.write("cut.audit.jsonl", log[:len(log)-9])
	require.Contains(t, w.mustGateway("audit", "verify", "--running", "cut"), "is cut off")
}

// When the disk is full, the session continues without the recording, and the user is told.
func TestAFullDiskCostsTheRecordingOnly(t *testing.T) {
	w := newWorld(t)
	s := w.terminal(100, 24)
	w.write("long.txt", longText(2000))
	s.run("(ulimit -f 4; exec proxy --agent --record s.cast bash --noprofile --rcfile bashrc -i)") // in KiB
	w.session()
	s.wait("$")
	s.typed("cat long.txt\n")
	s.wait("the recording is interrupted, the session is not: file too large")
	s.typed("echo goes on | tr a-z A-Z\n")
	s.wait("GOES ON")
	s.typed("exit 3\n")
	require.Equal(t, 3, s.status())
	require.Contains(t, unwrapped(s.screen()), `the recording "s.cast" is not complete: `)
	require.NotEmpty(t, w.castEvents("s.cast"))
	require.LessOrEqual(t, len(w.content("s.cast")), 4096)
	w.audited("s.cast")
	require.Regexp(t, `output is missing in the recording at 1 place: [1-9]\d+ bytes; audit show says where\nthe recording matches the log, except for`, w.mustGateway("audit", "verify", "s.cast"))
}

func TestBadInputToRecord(t *testing.T) {
	w := newWorld(t)
	w.write("full.cast", "mine")
	w.write("other.cast.audit.jsonl", "mine")
	require.NoError(t, os.Symlink("elsewhere", w.path("link.cast")))
	require.NoError(t, os.Mkdir(w.path("dir"), 0o700))
	before := w.files()
	for file, want := range map[string]string{
		"full.cast":     "full.cast exists and is not empty",
		"other.cast":    "other.cast.audit.jsonl exists and is not empty",
		"link.cast":     "link.cast is a symbolic link, and links are not followed: name the file itself",
		"dir":           "dir: is a directory",
		"/dev/full":     "/dev/full is not a regular file",
		"/proc/s.cast":  "/proc/s.cast: ",
		"dir/../no/x.c": "does not exist",
		"no/s.cast":     "the directory no does not exist",
	} {
		got := w.do("proxy", "--record", file, "touch", "ran")
		got.mustFail(t, 2, "proxy: --record: ")
		require.Contains(t, got.err, want)
		require.Equal(t, 1, strings.Count(got.err, "\n"), got.err)
	}
	require.Equal(t, 127, w.do("proxy", "--record", "new.cast", "no-such-program").status)
	require.Equal(t, before, w.files(), "nothing ran, nothing is left")
}

// R12: under level drive an agent may press the reclaim key for the program, and the record says
// so.
func TestTheReclaimKeyOfAnAgentIsMarkedR12(t *testing.T) {
	w, s, id := startListener(t, 100, 24, "--agent --grant drive --record s.cast")
	w.requestGrant(id, "--as", "codex")
	w.mustGateway("send", id, "--as", "codex", `ctrl-\`)
	require.Equal(t, "\x1c", w.waitHeard("heard", "\x1c"))
	s.quitProgram("\x04")
	require.Contains(t, data(w.castEvents("s.cast"), "m"), "codex types under grant 2, keys, 1 byte: with the reclaim key")
	require.Contains(t, w.mustGateway("audit", "show", "s.cast"), `typed: \x1c`)
}

// between returns the events between the marker that begins with begin and the one that begins with
// end.
func between(t *testing.T, events [][2]string, begin, end string) [][2]string {
	t.Helper()
	from := -1
	for i, e := range events {
		switch {
		case e[0] == "m" && from < 0 && strings.HasPrefix(e[1], begin):
			from = i
		case e[0] == "m" && from >= 0 && strings.HasPrefix(e[1], end):
			return events[from+1 : i]
		}
	}
	require.FailNow(t, "not in the recording", "%s ... %s: %v", begin, end, events)
	return nil
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
			w := newWorld(t)
			s := w.terminal(100, 24)
			w.write("ask.sh", ask+"\necho answered\nread y\n")
			s.run("proxy --agent --grant drive --record s.cast bash -c 'echo begins; read go; . ./ask.sh'")
			s.wait("begins")
			w.requestGrant(w.session())
			s.typed("\n")
			s.wait("Password:")
			s.waitTitle("[secret")
			for _, key := range "hunter2" {
				s.typed(string(key))
			}
			if name == "soft" {
				s.wait("*******")
				s.typed("q")
			} else {
				s.typed("\n")
			}
			s.wait("answered")
			s.waitTitle("[cli") // it drives again
			s.quitProgram("\n")
			events := w.castEvents("s.cast")
			require.Empty(t, between(t, events, "blackout begins: a password is being asked for", "blackout ends"))
			shown := data(events, "o")
			require.Contains(t, shown, "begins")
			require.Contains(t, shown, "answered")
			require.NotContains(t, shown, "**")
			require.Contains(t, w.mustGateway("render", "s.cast"), "answered")
			require.Contains(t, w.mustGateway("audit", "show", "s.cast"), "blackout begins: a password is being asked for")
		})
	}
}
