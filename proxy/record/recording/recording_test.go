package recording

import (
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"terminalproxy/protocol"
	"terminalproxy/proxy/record"
	"terminalproxy/proxy/terminal/child"
	"terminalproxy/proxy/terminal/screen"
)

func TestCommandLine(t *testing.T) {
	for want, words := range map[string][]string{
		"vim":                       {"vim"},
		"vim -R notes.txt":          {"vim", "-R", "notes.txt"},
		`sh -c 'echo "a b"; exit'`:  {"sh", "-c", `echo "a b"; exit`},
		`echo '' 'it'\''s' '$HOME'`: {"echo", "", "it's", "$HOME"},
		"'a\nb' 'ü'":                {"a\nb", "ü"},
	} {
		require.Equal(t, want, commandLine(words[0], words[1:]))
	}
}

// observer is the test's terminal model, on the test's goroutine.
type observer struct{ model *screen.Screen }

func (o observer) Post(do func(time.Time)) bool    { do(time.Now()); return true }
func (o observer) Model() *screen.Screen           { return o.model }
func (o observer) Frame(time.Time) *protocol.Frame { return &protocol.Frame{} }

// startRecording records to a file without a program, and returns a function that ends it.
func startRecording(t *testing.T) (r *Recording, end func() (cast, log string)) {
	t.Helper()
	name := filepath.Join(t.TempDir(), "x.cast")
	r, err := Open(name)
	require.NoError(t, err)
	r.StartRecording(Config{
		Session: record.Session{Command: "vim", Cols: 20, Rows: 4}, Title: "vim", Log: slog.New(slog.DiscardHandler),
		Observer: observer{screen.New(screen.Config{Cols: 20, Rows: 4})},
	})
	go r.Serve() // ends with EndRecording
	return r, func() (string, string) {
		require.NoError(t, r.EndRecording(child.Exit{}))
		cast, err := os.ReadFile(name)
		require.NoError(t, err)
		log, err := os.ReadFile(name + record.AuditSuffix)
		require.NoError(t, err)
		return string(cast), string(log)
	}
}

// Even without a detector, what a terminal sends by itself is not recorded as typed.
func TestTheTerminalsOwnWordsAreNotTheUsersR26(t *testing.T) {
	for typed, want := range map[string]int{
		"\x1b[?62;22c\x1b]11;rgb:0/0/0\x1b\\\x1b[I\x1b[O": 0,
		"hunter2\r":   1,
		"\x1b:":       1,
		"\x1b[A":      1,
		"\x1b[?62;2":  0,
		"\x1b[200~pw": 1,
	} {
		r, end := startRecording(t)
		listener := r.Listener()
		for i := range typed {
			listener.RecordKeyboard([]byte(typed[i : i+1]))
		}
		cast, log := end()
		require.Equal(t, want, strings.Count(cast, `"U"`), "%q", typed)
		require.Equal(t, want, strings.Count(log, `"kind":"user"`), "%q", typed)
		require.NotContains(t, cast+log, "hunter2")
		require.NotContains(t, cast+log, "pw")
	}
}

// A repaint in the middle of a sequence would print its rest as text.
func TestAnInterruptedRecordingGoesOnBetweenSequences(t *testing.T) {
	r, end := startRecording(t)
	feed := func(p string) {
		r.conf.Observer.Model().Feed([]byte(p))
		r.RecordOutput([]byte(p))
	}
	feed("before")
	r.RecordBlackout(true, "hidden")
	feed("\x1b[2J\x1b[Hsecret")
	feed("\x1b[2J\x1b[Hpublic\x1b[3")
	r.RecordBlackout(false, "")
	r.resumeIfAtGround()
	feed("1mred")
	feed("after")
	cast, _ := end()
	require.NotContains(t, cast, "secret")
	require.Regexp(t, `"before"\]\n`, cast)
	require.Contains(t, cast, `\u0018\u001bc`)
	require.Contains(t, cast, "public")
	require.Regexp(t, `\\u001b\[0;31mred[^\n]*"\]\n\[[0-9.]+, "o", "after"\]`, cast)
}

func TestANilRecordingRecordsNothing(t *testing.T) {
	var r *Recording
	r.Discard()
	r.WindowResized(1, 1)
	r.RecordTyped("")
	seen := r.Input(nil, 0)
	seen.RecordScreen(time.Now())
	seen.RecordWritten(nil)
	seen.RecordReceipt(nil, "", false)
	seen.RecordFlush(0, 0, "")
	require.NoError(t, r.EndRecording(child.Exit{}))
}
