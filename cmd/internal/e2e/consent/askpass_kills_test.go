package consent_test

import (
	"fmt"
	"math/rand/v2"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"terminalproxy/cmd/internal/e2e/world"
	"terminalproxy/proxy/terminal/screen"

	"github.com/stretchr/testify/require"
)

// The victims that are killed while a program asks.
const (
	killHelper  = iota // or the part of git that waits for it
	killGateway        // whichever process serves
	killProxy          // with the user's terminal
	victims
)

// The helper, the gateway or the proxy is killed at any moment of a question, also while the user
// answers. No answer reaches another program than the one that the user has read of, each question
// ends, and the next program gets its answer. ASKPASS_KILLS sets the number of kills.
func TestAnyoneIsKilledWhileAProgramAsks(t *testing.T) {
	t.Parallel()
	// Side by side: without any gateway a helper waits 5 s for another one.
	worlds, kills := 5, 30
	if text := os.Getenv("ASKPASS_KILLS"); text != "" {
		var err error
		kills, err = strconv.Atoi(text)
		require.NoError(t, err, "ASKPASS_KILLS is a number")
	}
	for i := range worlds {
		t.Run(fmt.Sprint(i), func(t *testing.T) {
			k := newKilled(t)
			k.round(-1)
			for block := range (kills + worlds*victims - 1) / (worlds * victims) {
				if block%10 == 0 {
					t.Log(block*victims, "kills")
				}
				for _, victim := range rand.Perm(victims) {
					for isHit := false; !isHit; { // or git had ended before
						isHit = k.round(victim)
					}
				}
			}
			before := len(k.heard())
			k.round(-1)
			require.Len(t, k.heard(), before+1, "the last program has no answer")
			k.Until(func() bool { // the first one only ends a line that an earlier key began
				k.press("\x04")
				return hasEnded(k.desk.Ended)
			}, k.screen)
		})
	}
}

// killed is the home of a user whose programs are killed.
type killed struct {
	*world.World
	desk      *world.Stage
	serving   *world.Server
	variables string // of the agent's shell tool
	url       string
	number    int           // of the round
	span      time.Duration // how long the last question without a kill took

	mu  sync.Mutex
	got []string // user names and passwords that the server has heard
}

func newKilled(t *testing.T) *killed {
	t.Helper()
	k := &killed{World: world.New(t, "git", "setsid")}
	k.Env = append(k.Env, "GIT_CONFIG_NOSYSTEM=1", "GIT_TERMINAL_PROMPT=0")
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		user, password, _ := r.BasicAuth()
		if password == "" { // git tries the user name alone
			w.Header().Set("WWW-Authenticate", `Basic realm="x"`)
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		k.mu.Lock()
		defer k.mu.Unlock()
		if heard := user + " " + password; len(k.got) == 0 || k.got[len(k.got)-1] != heard {
			k.got = append(k.got, heard) // git repeats it with each request
		}
	}))
	t.Cleanup(server.Close)
	k.url = strings.TrimPrefix(server.URL, "http://")
	k.variables = k.MustGateway("init", "agent")
	k.replace()
	return k
}

// replace starts what has been killed: the gateway, and the user's terminal.
func (k *killed) replace() {
	k.T.Helper()
	if k.serving == nil || hasEnded(k.serving.Ended) {
		k.serving = k.Serve("gateway")
	}
	if k.desk == nil || hasEnded(k.desk.Ended) {
		k.desk = k.Stage("exec proxy --agent sh -c 'stty -echo; exec cat > /dev/null'")
	}
	k.Session()
}

func hasEnded(ended <-chan struct{}) bool {
	select {
	case <-ended:
		return true
	default:
		return false
	}
}

// round has a git ask for its password, which the user types. It kills the victim at any moment,
// waits for what must come of that, and reports whether git still ran then.
func (k *killed) round(victim int) (isHit bool) {
	k.T.Helper()
	k.number++
	user, password := fmt.Sprintf("ada%d", k.number), fmt.Sprintf("%s-%d", canary, k.number)
	began := time.Now()
	git := k.Start("setsid", "--wait", "bash", "-c", k.variables+"git ls-remote http://"+user+"@"+k.url+"/x.git\nexit $?")
	due := make(<-chan time.Time)
	if victim >= 0 {
		due = time.After(rand.N(k.span)) // any moment, not a wait for a fact
	}
	typed, victimPid := false, 0
	for end := began.Add(world.Patience); !hasEnded(git.Ended); {
		select {
		case <-due:
			victimPid = k.kill(victim, git.Cmd.Process.Pid)
		case <-git.Ended:
		case <-time.After(world.Glance):
			typed = k.answer(password, typed)
		}
		require.True(k.T, time.Now().Before(end), "git hangs: %s%s", git.Err.String(), k.screen())
	}
	if victim < 0 {
		k.span = time.Since(began)
	}
	for pid, ended := range map[int]<-chan struct{}{k.desk.Cmd.Process.Pid: k.desk.Ended, k.serving.Cmd.Process.Pid: k.serving.Ended} {
		k.Until(func() bool { return pid != victimPid || hasEnded(ended) }, k.screen)
	}
	k.Until(func() bool {
		if strings.Contains(k.screen(), "no longer waits") {
			k.press("\r")
		}
		return hasEnded(k.desk.Ended) || !strings.Contains(k.screen(), "refuses") && !strings.Contains(k.screen(), "Enter ")
	}, func() string { return "a question is left: " + k.screen() })
	for _, heard := range k.heard() {
		name, word, _ := strings.Cut(heard, " ")
		require.Equal(k.T, canary+"-"+strings.TrimPrefix(name, "ada"), word, "the answer of another")
	}
	k.replace()
	return victimPid > 0
}

func (k *killed) heard() []string {
	k.mu.Lock()
	defer k.mu.Unlock()
	return append([]string(nil), k.got...)
}

// answer does what the user does at what the screen shows. typed means that they have typed the
// answer to this question; it is returned for the next look.
func (k *killed) answer(password string, typed bool) bool {
	switch screen := k.screen(); {
	case strings.Contains(screen, "no longer waits"), typed && strings.Contains(screen, "Enter sends"):
		k.press("\r")
	case strings.Contains(screen, "Enter sends"):
		k.press(password + "\r")
		return true
	case strings.Contains(screen, "Ctrl+G answers"):
		k.press("\a") // the question may be there again: the gateway was killed with the answer
		return false
	}
	return typed
}

func (k *killed) screen() (text string) {
	k.desk.Look(func(s *screen.Screen) bool { text = world.Picture(s); return true })
	return text
}

// press types at the terminal, which may have been killed.
func (k *killed) press(keys string) { _, _ = k.desk.Ptmx.WriteString(keys) }

// kill kills a victim and returns its process, or 0.
func (k *killed) kill(victim, git int) (pid int) {
	k.T.Helper()
	switch victim {
	case killHelper:
		if all := findHelpers(git); len(all) > 0 {
			pid = all[rand.IntN(len(all))]
		}
	case killGateway:
		pid = servingProcess(filepath.Join(k.Run(), "gateway.sock"))
	case killProxy:
		pid = k.desk.Cmd.Process.Pid
	}
	if pid == 0 || syscall.Kill(pid, syscall.SIGKILL) != nil {
		return 0
	}
	return pid
}

// findHelpers returns the helper that a git has started, and the part of git that waits for it.
func findHelpers(git int) (pids []int) {
	children, _ := os.ReadFile(fmt.Sprintf("/proc/%d/task/%[1]d/children", git))
	for _, word := range strings.Fields(string(children)) {
		pid, err := strconv.Atoi(word)
		if err != nil {
			continue
		}
		line, _ := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid))
		first, _, _ := strings.Cut(string(line), "\x00")
		if name := filepath.Base(first); name == "gateway-askpass" || name == "git-remote-http" {
			pids = append(pids, pid)
		}
		pids = append(pids, findHelpers(pid)...)
	}
	return pids
}

// servingProcess returns the process that serves a socket, or 0.
func servingProcess(socket string) (pid int) {
	conn, err := net.Dial("unix", socket)
	if err != nil {
		return 0
	}
	defer conn.Close()
	raw, err := conn.(*net.UnixConn).SyscallConn()
	if err == nil {
		_ = raw.Control(func(fd uintptr) { pid = world.ProcessBehind(int(fd)) })
	}
	return pid
}
