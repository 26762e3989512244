package onevent

import (
	"bytes"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) {
	if IsSupervisor(os.Args) {
		os.Exit(Supervise(os.Args))
	}
	goleak.VerifyTestMain(m)
}

// patience is how long a fact may take that a test waits for.
const patience = 3 * time.Minute

// notes is a log that a test reads while others write.
type notes struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

func (n *notes) Write(p []byte) (int, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.buf.Write(p)
}

func (n *notes) String() string {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.buf.String()
}

// stage is a runner whose programs write what they are told to the file got.
type stage struct {
	*Runner
	t   *testing.T
	dir string
	log *notes
}

// writes is a rule for a shell script, which has the variables DIR and what there is of an event.
func (s *stage) writes(script string, events ...string) Rule {
	return Rule{Events: events, Run: []string{"sh", "-c", "DIR='" + s.dir + "'; " + script}}
}

// say is a script's line about its event.
const say = `echo "$TERMINALPROXY_EVENT$MORE$TERMINALPROXY_LOST" >> "$DIR/got"`

func newStage(t *testing.T) *stage { return &stage{t: t, dir: t.TempDir(), log: new(notes)} }

func (s *stage) run(limit time.Duration, rules ...Rule) {
	self, err := os.Executable()
	require.NoError(s.t, err)
	s.t.Setenv("GORACE", "atexit_sleep_ms=0") // of the processes between
	s.t.Cleanup(func() { s.programs.Wait() })
	s.Runner = New(Config{Rules: rules, Self: self, Log: slog.New(slog.NewTextHandler(s.log, nil)), limit: limit})
}

// got waits until the programs have written this.
func (s *stage) got(want string) {
	s.t.Helper()
	var got []byte
	for end := time.Now().Add(patience); string(got) != want; time.Sleep(5 * time.Millisecond) {
		require.True(s.t, time.Now().Before(end), "%q\n%s", got, s.log)
		got, _ = os.ReadFile(filepath.Join(s.dir, "got"))
	}
}

// holds makes a pipe at which a program waits until the test lets it go.
func (s *stage) holds() (letGo func()) {
	path := filepath.Join(s.dir, "hold")
	require.NoError(s.t, syscall.Mkfifo(path, 0o600))
	return func() { require.NoError(s.t, os.WriteFile(path, []byte("go\n"), 0)) }
}

func TestProgramsRunInOrderAndForTheirEvents(t *testing.T) {
	s := newStage(t)
	s.run(Limit, s.writes(say, "asked", "granted"), s.writes("echo never >> \"$DIR/got\"", "exit"))
	s.QueueEvent(Event{Name: "asked", Env: []string{"MORE= one"}})
	s.QueueEvent(Event{Name: "ended"})
	s.QueueEvent(Event{Name: "granted", Env: []string{"MORE= two"}})
	s.got("asked one\ngranted two\n")
	s.Close()
}

// A program that hangs holds nobody up: it is killed with what it started, and the next one runs. Both have the same time, the start
// included: as much of it as this machine needs.
func TestAProgramThatHangsIsKilled(t *testing.T) {
	for limit := 100 * time.Millisecond; !hangs(t, limit); limit *= 4 {
		require.Less(t, limit, patience)
	}
}

// hangs lets a program hang, and reports whether the limit was long enough for it and the next one to say something.
func hangs(t *testing.T, limit time.Duration) bool {
	t.Helper()
	s := newStage(t)
	s.run(limit, s.writes(say+`; [ "$TERMINALPROXY_EVENT" = asked ] || exit 7; sleep 1000 & wait`, "asked", "granted"))
	s.QueueEvent(Event{Name: "asked"})
	s.QueueEvent(Event{Name: "granted"})
	for end := time.Now().Add(patience + 2*limit); strings.Count(s.log.String(), "failed") < 2; time.Sleep(5 * time.Millisecond) {
		require.True(t, time.Now().Before(end), s.log)
	}
	s.Close()
	require.Contains(t, s.log.String(), "exit status 124")
	got, _ := os.ReadFile(filepath.Join(s.dir, "got"))
	return string(got) == "asked\ngranted\n" && strings.Contains(s.log.String(), "exit status 7")
}

// What comes too fast is lost, and who comes next is told how much.
func TestWhatIsLostIsSaid(t *testing.T) {
	s := newStage(t)
	letGo := s.holds()
	s.run(patience, s.writes(say+`; [ -n "$MORE" ] || read x < "$DIR/hold"`, "asked"))
	s.QueueEvent(Event{Name: "asked"})
	s.got("asked\n") // and it waits
	for range queued + 3 {
		s.QueueEvent(Event{Name: "asked", Env: []string{"MORE= lost "}})
	}
	require.Contains(t, s.log.String(), "events are lost")
	letGo()
	s.got("asked\nasked lost 3\n" + strings.Repeat("asked lost \n", queued-1))
	s.Close()
}

// At the end nobody waits for a program, but each follows the one before, in order.
func TestAtTheEndProgramsFollowOneAnother(t *testing.T) {
	s := newStage(t)
	letGo := s.holds()
	s.run(patience, s.writes(say+`; [ "$TERMINALPROXY_EVENT" != asked ] || { read x < "$DIR/hold"; sleep 0.5; }; echo done >> "$DIR/got"`, "asked", "ended", "exit")) // time for the others to be first
	s.QueueEvent(Event{Name: "asked"})
	s.got("asked\n")
	s.QueueEvent(Event{Name: "ended"})
	s.QueueEvent(Event{Name: "exit"})
	s.Close()
	s.got("asked\n")
	letGo()
	s.got("asked\ndone\nended\ndone\nexit\ndone\n")
}

func TestAProgramThatIsNotThere(t *testing.T) {
	s := newStage(t)
	s.run(Limit, Rule{Events: []string{"asked"}, Run: []string{"/no/such/program"}}, s.writes(say, "asked"))
	s.QueueEvent(Event{Name: "asked"})
	s.got("asked\n")
	for end := time.Now().Add(patience); !strings.Contains(s.log.String(), "exit status 127"); time.Sleep(5 * time.Millisecond) {
		require.True(t, time.Now().Before(end), s.log)
	}
	s.Close()
}

// A program has no terminal, no place in the session's directory, and streams that lead nowhere.
func TestAProgramIsAlone(t *testing.T) {
	s := newStage(t)
	s.run(Limit, s.writes(`{ pwd; readlink /proc/self/fd/0 && echo x | cat; ( : < /dev/tty ) 2>&- || echo no terminal; } >> "$DIR/got"`, "asked"))
	s.QueueEvent(Event{Name: "asked"})
	s.got("/\n/dev/null\nx\nno terminal\n")
	s.Close()
}
