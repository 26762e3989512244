// Package cli represents one invocation of the gateway command: its flags, streams, exit status and
// configuration, the connection to a gateway, and the person at its terminal.
package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"terminalproxy/gateway/client"
	"terminalproxy/protocol"
	"terminalproxy/proxy"
)

// Exit statuses.
const (
	StatusOK        = 0
	StatusRefused   = 1 // refused, or another failure
	StatusUsage     = 2
	StatusNoSession = 3
	StatusForbidden = 4
	StatusNoGateway = 5
	StatusTimeout   = 124
	StatusUndefined = -1
	HintNothingRuns = "start a session in a terminal with: proxy --agent PROGRAM"
	HintUserTypes   = "wait with: gateway wait ID --changed; if the user's own line is in the " +
		"way, ask them with gateway say to submit or clear it"
	HintRequestFirst = "ask first with: gateway request ID --reason REASON"
	HintWaitForUser  = "wait for the user: gateway wait ID --changed"
	HintWaitForInput = "wait until the user has answered: gateway wait ID --waiting"
)

// Env is one invocation.
type Env struct {
	In       io.ReadCloser
	Out, Err io.Writer

	Gateway    string // --gateway
	TokenFile  string // --token-file
	JSON       bool   // --json
	AgentToken string // --agent-token of request
	// TokenNamed is set if the command line names the token file, and not the environment.
	TokenNamed bool
	// Taste is the configuration's part about sessions hosted here and recordings, and preset has
	// the positions of the command's flags that the configuration set, by name.
	Taste  proxy.Taste
	Preset map[string]string
	// Command is the running command, "" until the command line is known to be valid.
	Command string
	// NewRoot makes a new command line, with the defaults of all flags.
	NewRoot func() *cobra.Command
	// Status is the exit status of a successful command that has others than 0.
	Status int
}

// Failure is an error with an exit status and a hint.
type Failure struct {
	Status int // StatusUndefined: see statusOf
	Cause  error
	Hint   string
}

func (f *Failure) Error() string { return f.Cause.Error() }
func (f *Failure) Unwrap() error { return f.Cause }

// Fail returns a failure with an exit status.
func Fail(status int, format string, args ...any) *Failure {
	return &Failure{Status: status, Cause: fmt.Errorf(format, args...)}
}

// Usage returns the failure for an invalid command line.
func Usage(format string, args ...any) error { return Fail(StatusUsage, format, args...) }

// WithHint adds a hint with the next step.
func (f *Failure) WithHint(hint string) *Failure {
	f.Hint = hint
	return f
}

// reportError prints the error and its hint, and returns the exit status.
func (env *Env) reportError(err error) int {
	f, ok := errors.AsType[*Failure](err)
	if !ok {
		f = &Failure{Status: StatusUndefined, Cause: err}
	}
	if f.Status == StatusUndefined {
		f.Status = env.statusOf(err)
	}
	text := strings.Join(removeRepeated(strings.Split(strings.TrimSpace(err.Error()), "\n")), "\n  ")
	if prefix, _, _ := strings.Cut(text, ":"); env.Command != "" && strings.Contains(prefix, " ") &&
		prefix != env.Command && !strings.HasPrefix(prefix, env.Command+" ") {
		text = env.Command + ": " + text // the text lacks the subject
	}
	_, _ = fmt.Fprintf(env.Err, "gateway: %s\n", env.withPosition(text))
	if hint := env.hintFor(f); hint != "" {
		_, _ = fmt.Fprintf(env.Err, "hint: %s\n", hint)
	}
	return f.Status
}

// removeRepeated returns the lines without those that say again what one above them says, as those
// of errors do that have one cause.
func removeRepeated(lines []string) []string {
	var once []string
	for _, line := range lines {
		if !slices.Contains(once, line) {
			once = append(once, line)
		}
	}
	return once
}

func (env *Env) statusOf(err error) int {
	if env.Command == "" {
		return StatusUsage
	}
	if _, ok := errors.AsType[*client.Unreachable](err); ok {
		return StatusNoGateway
	}
	if refused, ok := errors.AsType[*protocol.Error](err); ok {
		return StatusOfCode(refused.Code)
	}
	if errors.Is(err, context.DeadlineExceeded) {
		return StatusTimeout
	}
	return StatusRefused
}

// StatusOfCode returns the exit status for a refusal.
func StatusOfCode(c protocol.Code) int {
	switch c {
	case protocol.CodeNoSession:
		return StatusNoSession
	case protocol.CodeUnauthorized, protocol.CodeForbidden, protocol.CodeNoGrant:
		return StatusForbidden
	case protocol.CodeTimeout:
		return StatusTimeout
	case protocol.CodeBadMessage, protocol.CodeTooLarge:
		return StatusUsage
	case protocol.CodeStaleEpoch, protocol.CodeScreenChanged, protocol.CodeBlackout, protocol.CodeSecretPrompt,
		protocol.CodeBusy, protocol.CodeUserTyping, protocol.CodeExited, protocol.CodeUnavailable, protocol.CodeReservedKey,
		protocol.CodeNotReading, protocol.CodeUserRefused, protocol.CodeOtherProgram, protocol.CodeNoChat, protocol.CodeNotFound, protocol.CodeAnswered,
		protocol.CodeWithdrawn:
	}
	return StatusRefused
}

func (env *Env) hintFor(f *Failure) string {
	if f.Hint != "" {
		return f.Hint
	}
	refused, ok := errors.AsType[*protocol.Error](f.Cause)
	switch {
	case ok && refused.Code == protocol.CodeNoGrant:
		return HintRequestFirst
	case ok && refused.RetryAfterMs > 0:
		return "wait until then, and ask again only if the user may want it"
	case f.Status == StatusUsage:
		return strings.Join(strings.Fields("see gateway "+env.Command+" --help"), " ")
	case f.Status == StatusForbidden:
		return "use --token-file with a token of the right role, or create one: gateway token " +
			"create NAME --role ROLE"
	}
	return ""
}
