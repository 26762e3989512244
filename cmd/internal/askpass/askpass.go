// Package askpass is the program gateway-askpass: sudo, git and ssh start it to ask for a password
// (SUDO_ASKPASS, GIT_ASKPASS, SSH_ASKPASS). It has the user asked at their own terminal, and prints
// the answer for the program that started it alone.
package askpass

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"terminalproxy/cmd/internal/process/harden"
	"terminalproxy/gateway/access/secrets"
	"terminalproxy/gateway/endpoint"
	"terminalproxy/gateway/place"
	"terminalproxy/gateway/userdirs"
)

// Name is the name under which the gateway's program is this one.
const Name = secrets.HelperName

// againVariable marks a helper that asks a second time because the gateway changed hands. It says
// when it asked first, in Unix milliseconds.
const againVariable = "TERMINALPROXY_ASKED"

// Times of a question.
const (
	// patience exceeds that of the gateway, whose words say more.
	patience = secrets.Timeout + 2*time.Second
	// successorPatience is how long another process may take to serve after the gateway is lost.
	successorPatience = 5 * time.Second
	successorRhythm   = 50 * time.Millisecond
	// loadPatience is how long a gateway on a loaded machine may take to answer.
	loadPatience = 20 * time.Second
)

// Path returns where the link of that name belongs.
func Path() (string, error) {
	dir, err := userdirs.State()
	return filepath.Join(dir, Name), err
}

// IsCalled reports whether this process was started under [Name].
func IsCalled() bool { return len(os.Args) > 0 && filepath.Base(os.Args[0]) == Name }

// Main runs the program as this process, and ends it.
func Main() {
	prompt, hint := "", os.Getenv("SSH_ASKPASS_PROMPT")
	if len(os.Args) > 1 {
		prompt = secrets.CleanPrompt(os.Args[1])
	}
	if hint == "none" { // ssh tells of a key to touch, and asks nothing
		fmt.Fprintln(os.Stderr, prompt)
		os.Exit(0)
	}
	kind := secrets.KindOf(prompt, hint)
	answer, err := askUser(kind, prompt)
	if err != nil {
		fmt.Fprintf(os.Stderr, "%s: %v\n", Name, err)
		os.Exit(1)
	}
	if hint != "confirm" {
		_, err = os.Stdout.Write(append(answer, '\n'))
	}
	clear(answer)
	if err != nil {
		os.Exit(1)
	}
	os.Exit(0)
}

// askUser asks, and asks once more if the gateway changes hands meanwhile.
func askUser(kind, prompt string) ([]byte, error) {
	began, again := beganAsking()
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM, syscall.SIGINT,
		syscall.SIGHUP)
	defer stop()
	ctx, cancel := context.WithDeadline(ctx, began.Add(patience))
	defer cancel()
	go func() { // ends with the process
		awaitReaderEnd()
		cancel()
	}()
	if isGit(prompt) && printsPasswords(os.LookupEnv) {
		return nil, errors.New("git would print the password (GIT_TRACE_REDACT): run it without")
	}
	if isGit(prompt) && storesPasswords(ctx) {
		return nil, errors.New("git would write the password to a file (credential.helper is " +
			"store): ask the user to run the command")
	}
	conn, err := dialGateway(ctx, again)
	if err != nil {
		return nil, err
	}
	defer conn.Close()
	answer, err := secrets.Ask(ctx, conn, harden.CloseMemory, kind, prompt)
	lost, isLost := errors.AsType[*secrets.LostError](err)
	switch {
	case errors.Is(ctx.Err(), context.Canceled):
		return nil, errors.New("the program that asked has ended")
	case ctx.Err() != nil:
		return nil, errors.New("the user did not answer in time: ask them before you try again")
	case isLost && !again:
		return nil, errors.Join(lost, startAgain(began))
	}
	return answer, err
}

// awaitReaderEnd waits until no process can read what this one prints: the program that asks has
// ended.
func awaitReaderEnd() {
	for {
		fds := []unix.PollFd{{Fd: int32(syscall.Stdout)}} // POLLERR is always told
		if n, err := unix.Poll(fds, -1); n > 0 || err != nil && !errors.Is(err, unix.EINTR) {
			return
		}
	}
}

// beganAsking returns when this helper began to ask, and whether it asks again.
func beganAsking() (at time.Time, again bool) {
	ms, err := strconv.ParseInt(os.Getenv(againVariable), 10, 64)
	if at = time.UnixMilli(ms); err != nil || time.Since(at) < 0 || time.Since(at) > patience {
		return time.Now(), false
	}
	return at, true
}

// startAgain replaces this process by a new one that asks the gateway that serves now: it has to
// see who asks, which the kernel keeps from it since the memory was closed. It returns only an
// error.
func startAgain(began time.Time) error {
	env := slices.DeleteFunc(os.Environ(), func(v string) bool {
		return strings.HasPrefix(v, againVariable+"=")
	})
	env = append(env, againVariable+"="+strconv.FormatInt(began.UnixMilli(), 10))
	path, err := os.Executable()
	if err != nil {
		return err
	}
	return unix.Exec(path, os.Args, env)
}

// dialGateway connects to the user's local gateway. If it has just been lost, another process may
// still have to take over.
func dialGateway(ctx context.Context, again bool) (net.Conn, error) {
	local, err := endpoint.Parse("")
	if err != nil {
		return nil, err
	}
	local.LookOnly = true
	for began := time.Now(); ; {
		conn, err := local.DialContext(ctx)
		silent, isSilent := errors.AsType[*place.SilentOwnerError](err)
		switch {
		case err == nil:
			return conn, nil
		case errors.Is(err, syscall.EPERM), errors.Is(err, syscall.EACCES):
			return nil, errors.New(
				"you are in a sandbox that reaches no gateway: ask to run this outside of it")
		case isSilent && !silent.Stopped && time.Since(began) < loadPatience:
		case !place.IsVacant(err):
			return nil, err
		case !again || time.Since(began) > successorPatience:
			return nil, secrets.Unattended
		}
		select {
		case <-ctx.Done():
			return nil, secrets.Unattended
		case <-time.After(successorRhythm):
		}
	}
}

// isGit reports whether a prompt is git's.
func isGit(prompt string) bool {
	return strings.HasPrefix(prompt, "Username for ") || strings.HasPrefix(prompt, "Password for ")
}

// printsPasswords reports whether the git that asks shows in its trace what it sends.
func printsPasswords(lookUp func(string) (string, bool)) bool {
	value, isSet := lookUp("GIT_TRACE_REDACT")
	n, err := strconv.Atoi(value)
	isOff := err == nil && n == 0 ||
		slices.Contains([]string{"", "false", "no", "off"}, strings.ToLower(value))
	_, isVerbose := lookUp("GIT_CURL_VERBOSE")
	_, isTraced := lookUp("GIT_TRACE_CURL")
	return isSet && isOff && (isVerbose || isTraced)
}

// storesPasswords reports whether the git that asks keeps passwords in a file. Its settings are
// those of this process's directory and environment.
func storesPasswords(ctx context.Context) bool {
	ctx, cancel := context.WithTimeout(ctx, successorPatience)
	defer cancel()
	out, err := exec.CommandContext(
		ctx, "git", "config", "--get-regexp", `^credential\.(.*\.)?helper$`).Output()
	if err != nil {
		return false // without helpers the status is 1
	}
	stores := false
	for line := range strings.Lines(string(out)) {
		key, helper, _ := strings.Cut(strings.TrimSpace(line), " ")
		switch words := strings.Fields(helper); {
		case len(words) == 0 && key == "credential.helper": // forgets those before it
			stores = false
		case slices.ContainsFunc(words, isStore):
			stores = true
		}
	}
	return stores
}

func isStore(word string) bool {
	switch filepath.Base(strings.Trim(word, `!"';`)) {
	case "store", "credential-store", "git-credential-store":
		return true
	}
	return false
}
