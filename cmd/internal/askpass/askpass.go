// Package askpass is the program gateway-askpass: sudo, git and ssh start it to ask for a password
// (SUDO_ASKPASS, GIT_ASKPASS, SSH_ASKPASS). It lets the gateway ask the user at their own terminal,
// and prints the answer only for the program that started it. As pinentry-gateway it asks for
// gpg-agent, and with the argument credential it is a credential helper of git.
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

// Name is the name under which the gateway's program is this one, and PinentryName the one under
// which gpg-agent starts it.
const (
	Name         = secrets.HelperName
	PinentryName = secrets.PinentryName
)

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

// Path returns where the link of one of these names belongs.
func Path(name string) (string, error) {
	dir, err := userdirs.State()
	return filepath.Join(dir, name), err
}

// IsCalled reports whether this process was started under one of these names.
func IsCalled() bool { return calledName() == Name || calledName() == PinentryName }

func calledName() string {
	if len(os.Args) == 0 {
		return ""
	}
	return filepath.Base(os.Args[0])
}

// Main runs the program as this process, and ends it.
func Main() {
	if calledName() == PinentryName {
		os.Exit(newPinentry(os.Stdin, os.Stdout).serveLines())
	}
	if isCredential() {
		os.Exit(serveCredential(os.Args[2], os.Stdin, os.Stdout))
	}
	prompt, hint := "", os.Getenv("SSH_ASKPASS_PROMPT")
	if len(os.Args) > 1 {
		prompt = secrets.CleanPrompt(os.Args[1])
	}
	if hint == "none" { // ssh tells of a key to touch, and asks nothing
		fmt.Fprintln(os.Stderr, prompt)
		os.Exit(0)
	}
	answer, err := askUser(secrets.Question{Kind: secrets.KindOf(prompt, hint), Prompt: prompt})
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
func askUser(q secrets.Question) ([]byte, error) {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM, syscall.SIGINT,
		syscall.SIGHUP)
	defer stop()
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	go func() { // ends with the process
		awaitReaderEnd()
		cancel()
	}()
	if err := checkGit(ctx, q.Prompt); err != nil {
		return nil, err
	}
	answer, err := askGateway(ctx, false, q)
	if _, isLost := errors.AsType[*secrets.LostError](err); isLost && ctx.Err() == nil {
		answer, err = askGateway(ctx, true, q)
	}
	switch {
	case errors.Is(ctx.Err(), context.Canceled):
		return nil, errors.New("the program that asked has ended")
	case ctx.Err() != nil:
		return nil, errors.New("the user did not answer in time: ask them before you try again")
	}
	return answer, err
}

// askGateway asks once. again means that the gateway was lost during the question.
func askGateway(ctx context.Context, again bool, q secrets.Question) ([]byte, error) {
	conn, err := dialGateway(ctx, again)
	if err != nil {
		return nil, err
	}
	defer conn.Close()
	harden.OpenMemory() // it holds no secret, and the gateway has to see who asks
	return secrets.Ask(ctx, conn, harden.CloseMemory, q)
}

// checkGit returns an error if git, when the prompt is its own, would show or keep the password.
func checkGit(ctx context.Context, prompt string) error {
	switch {
	case !isGit(prompt):
		return nil
	case printsPasswords(os.LookupEnv):
		return errors.New("git would print the password (GIT_TRACE_REDACT): run it without")
	case storesPasswords(ctx):
		return errors.New("git would write the password to a file (credential.helper is " +
			"store): ask the user to run the command")
	}
	return nil
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

// dialGateway connects to the user's local gateway. If it has just been lost, another process may
// still have to take over.
func dialGateway(ctx context.Context, again bool) (net.Conn, error) {
	local, err := endpoint.Parse("")
	if err != nil {
		return nil, err
	}
	local.KeepsOwner = true
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
