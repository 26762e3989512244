package session

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"slices"
	"sort"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"terminalproxy/cmd/internal/cli"
	"terminalproxy/gateway/client"
	"terminalproxy/gateway/text"
	"terminalproxy/protocol"
)

const (
	// contextBytes bounds the block: agents truncate a hook's output at 10,000 characters.
	contextBytes = 9_000
	// contextTime bounds the whole command: the user waits for the prompt to be sent.
	contextTime = 2 * time.Second
)

// NewContext makes the command gateway context.
func NewContext(env *cli.Env) *cobra.Command {
	return &cobra.Command{
		Use:   "context [ID]",
		Short: "Print the terminals for an agent's prompt hook",
		Args:  cobra.MaximumNArgs(1),
		Long: "context prints the screens of all running sessions, or of one, as a block to put " +
			"before an agent's prompt. Without\n" +
			"sessions it prints nothing. Run it from a hook for every prompt; for Claude Code:\n\n" +
			`  {"hooks":{"UserPromptSubmit":[{"hooks":[{"type":"command","command":"gateway context || true"}]}]}}`,
		RunE: func(cmd *cobra.Command, args []string) error {
			return runContext(cmd.Context(), env, args)
		},
	}
}

// runContext prints the screens of all running sessions, or of a named one.
func runContext(ctx context.Context, env *cli.Env, named []string) error {
	ctx, cancel := context.WithTimeout(ctx, contextTime)
	defer cancel()
	err := env.WithClient(cli.DefaultName, false, func(c *client.Client) error {
		if len(named) == 0 {
			return contextOfAll(ctx, env, c)
		}
		s, err := cli.Lookup(ctx, c, named[0])
		if err != nil {
			return err
		}
		return printContext(ctx, env, c, []protocol.SessionInfo{s})
	})
	if f, ok := errors.AsType[*cli.Failure](err); ok && f.Status == cli.StatusNoGateway &&
		len(named) == 0 {
		// without a gateway the block is empty, and the prompt continues without it
		return printContext(ctx, env, nil, []protocol.SessionInfo{})
	}
	return err
}

// contextOfAll prints the running sessions, the most recently active first.
func contextOfAll(ctx context.Context, env *cli.Env, c *client.Client) error {
	sessions, err := c.Sessions(ctx)
	if err != nil {
		return err
	}
	running := slices.DeleteFunc(sessions, func(s protocol.SessionInfo) bool {
		return s.State != protocol.StateRunning
	})
	sort.SliceStable(running, func(i, k int) bool { return running[i].IdleMs < running[k].IdleMs })
	return printContext(ctx, env, c, running)
}

func printContext(
	ctx context.Context, env *cli.Env, c *client.Client, sessions []protocol.SessionInfo,
) error {
	block := ""
	if len(sessions) > 0 {
		block = contextBlock(
			sessions,
			contextBytes,
			time.Now(),
			func(s protocol.SessionInfo) (*protocol.Frame, error) {
				got, err := c.Read(ctx, &protocol.Read{SessionID: s.SessionID})
				if err != nil {
					return nil, err
				}
				return got.Frame, nil
			},
		)
	}
	var lines []string
	if block != "" {
		lines = []string{block}
	}
	return env.PrintAnswer(map[string]any{"context": block, "sessions": sessions}, lines...)
}

// contextBlock describes the sessions for an agent: their screens while there is room, and one line
// for each other session. A program's output is untrusted: it stands in a fence with a new random
// mark.
func contextBlock(
	sessions []protocol.SessionInfo, room int, now time.Time,
	read func(protocol.SessionInfo) (*protocol.Frame, error),
) string {
	var b strings.Builder
	b.WriteString(
		"Terminals that the user shows you, as they are now. Look again before you act on them.")
	room -= len("\n1000 more are left out: gateway ls")
	for i, s := range sessions {
		part := text.Line(s, "", now)
		left := room - b.Len() - 1
		others := min(len(sessions)-i-1, maxOthers) * lineBytes
		if left-others > minContext {
			part = contextOf(s, left-others, now, read)
		}
		if len(part) > left {
			fmt.Fprintf(&b, "\n%d more are left out: gateway ls", len(sessions)-i)
			break
		}
		b.WriteString("\n" + part)
	}
	return b.String()
}

const (
	// minContext is the least room for which a screen is worth showing, in bytes.
	minContext = 1_000
	// maxOthers is how many sessions keep room for one line each, of lineBytes.
	maxOthers, lineBytes = 20, 120
)

// contextOf describes one session within the remaining room.
func contextOf(
	s protocol.SessionInfo, room int, now time.Time,
	read func(protocol.SessionInfo) (*protocol.Frame, error),
) string {
	f, err := read(s)
	if err != nil {
		why := err.Error()
		if refused, ok := errors.AsType[*protocol.Error](err); ok {
			why = text.Refusal(refused.Code, refused.Message)
		}
		return text.Line(s, "", now) + "\nits screen cannot be seen: " + text.Clean(why)
	}
	head := text.Header(s, f, "", now, nil) + text.Notes(f)
	if f.Blackout.ByUser() {
		return head // the header tells the agent that it is hidden
	}
	rows := strings.Split(text.Rows(f.Screen.Lines), "\n")
	fence := func() string {
		return text.Fence(strings.ToLower(rand.Text()[:6]), "screen", strings.Join(rows, "\n"))
	}
	whole, note := len(rows), ""
	for len(rows) > 0 && len(head)+len(note)+len(fence())+len("\n\n") > room {
		rows = rows[1:] // the newest are below
		note = fmt.Sprintf("\nthe first %d rows are left out because there is no room for them",
			whole-len(rows))
	}
	return head + note + "\n" + fence()
}
