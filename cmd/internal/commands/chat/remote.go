package chat

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"terminalproxy/cmd/internal/cli"
	"terminalproxy/gateway/access/auth"
	"terminalproxy/gateway/client"
	"terminalproxy/gateway/text"
	"terminalproxy/protocol"
	"terminalproxy/proxy/chat"
)

// chatWords is the hint about the subcommands of chat: a prompt that consists of such a word must
// come from standard input.
const chatWords = "log, send, answer and interrupt are commands of gateway chat; to send such a " +
	"word as a prompt, use standard input: echo log | gateway chat"

// addChatHint adds chatWords to the usage errors of a subcommand, so that users learn how to send
// its name as a prompt.
func addChatHint(cmd *cobra.Command) *cobra.Command {
	cmd.Annotations = map[string]string{cli.MoreHint: chatWords}
	return cmd
}

// sendOptions are the options of gateway chat send.
type sendOptions struct {
	session, prompt, to string
}

func newChatSend(env *cli.Env) *cobra.Command {
	var opts sendOptions
	cmd := &cobra.Command{
		Use:   "send ID TEXT [--to INNER]",
		Short: "Send a prompt to the coding agent in a session",
		Args:  cobra.ExactArgs(2),
		Long: "send gives the coding agent in a session a prompt, even while it works. If the " +
			"program runs in its user's own terminal,\n" +
			"send needs a person at a terminal, and signs with your owner token; create that " +
			"once:\n\n" +
			"  gateway token create owner --role owner --save\n\n" +
			"To a session without a user's terminal, a pipe or cron may send too, without a " +
			"token.\n\n" +
			"With --to, the prompt goes to the coding agent in the session INNER, which runs " +
			"inside ID: the agent in ID started it, or one of\n" +
			"that agent's programs did.",
		RunE: func(cmd *cobra.Command, args []string) error {
			opts.session, opts.prompt = args[0], args[1]
			return runSend(cmd.Context(), env, opts)
		},
	}
	cmd.Flags().StringVar(&opts.to, toFlag, "",
		"send it to the coding agent in the session `INNER`, which runs inside ID")
	// it fails for a missing flag
	_ = cmd.RegisterFlagCompletionFunc(toFlag, env.CompleteInner)
	return cmd
}

// runSend sends a prompt to the coding agent in a session.
func runSend(ctx context.Context, env *cli.Env, opts sendOptions) error {
	if strings.TrimSpace(opts.prompt) == "" {
		return cli.Usage("chat send: the text is empty")
	}
	return chatSend(ctx, env, opts.session, opts.to, opts.prompt)
}

func newChatInterrupt(env *cli.Env) *cobra.Command {
	return &cobra.Command{
		Use:   "interrupt ID",
		Short: "Interrupt the turn of the coding agent in a session",
		Args:  cobra.ExactArgs(1),
		Long: "interrupt ends the turn that runs, and refuses what the coding agent asks. On " +
			"your own machine it needs no token.",
		RunE: func(cmd *cobra.Command, args []string) error {
			return runInterrupt(cmd.Context(), env, args[0])
		},
	}
}

// runInterrupt ends the turn of the coding agent in a session.
func runInterrupt(ctx context.Context, env *cli.Env, session string) error {
	interrupt := func(c *client.Client, s protocol.SessionInfo) error {
		m := &protocol.ChatInterrupt{SessionID: s.SessionID, By: personName()}
		if err := c.Interrupt(ctx, m); err != nil {
			return err
		}
		return env.PrintAnswer(
			map[string]any{"sessionId": s.SessionID, "interrupted": true}, "interrupted")
	}
	return env.WithViewer(cli.OnSession(ctx, session, interrupt))
}

func newChatAnswer(env *cli.Env) *cobra.Command {
	var opts answerOptions
	cmd := &cobra.Command{
		Use:   "answer ID [REQUEST] once|session|refuse",
		Short: "Answer what the coding agent in a session asks",
		Args:  cobra.RangeArgs(1, 3),
		Long: "answer answers an approval or, with --reply, a form of questions. Give one " +
			"--reply for each question: the number of an option, or\n" +
			"words of your own. If several options may be chosen, put commas between their " +
			"numbers. refuse refuses either kind, and --words\n" +
			"tells the agent why. Leave out REQUEST if only one thing is asked. Each request " +
			"has one answer, and the first one counts.\n\n" +
			"Before it allows anything, answer shows you the request and asks you at your " +
			"terminal. If the program runs in its user's own\n" +
			"terminal, it signs with your owner token. On your own machine, refusing needs " +
			"neither.",
		Example: "  gateway chat answer claude-k3f9 once\n  gateway chat answer claude-k3f9 " +
			"refuse --words 'not on this branch'\n" +
			"  gateway chat answer claude-k3f9 --reply 2 --reply 'the third one'",
		RunE: func(cmd *cobra.Command, args []string) error {
			opts.args = args
			return runAnswer(cmd.Context(), env, opts)
		},
	}
	f := cmd.Flags()
	f.StringArrayVar(&opts.replies, "reply", nil,
		"`ANSWER` to the next question of a form: a number, numbers with commas, or words")
	f.StringVar(&opts.words, "words", "", "`TEXT` for the agent, with refuse")
	return cmd
}

// answerOptions are the options of gateway chat answer.
type answerOptions struct {
	args    []string // the session, the request, the verdict
	replies []string
	words   string
}

// runAnswer answers what the coding agent in a session asks.
func runAnswer(ctx context.Context, env *cli.Env, opts answerOptions) error {
	in, err := answerArgs(opts.args, opts.replies, opts.words)
	if err != nil {
		return err
	}
	return chatAnswer(ctx, env, in)
}

// answering holds the command line of chat answer.
type answering struct {
	id, request, verdict string
	replies              []string
	words                string
}

func answerArgs(args, replies []string, words string) (in answering, err error) {
	in = answering{id: args[0], replies: replies, words: words}
	rest := args[1:]
	if len(replies) == 0 {
		if len(rest) == 0 {
			return in, cli.Usage(
				"chat answer: no verdict: use once, session or refuse, or --reply for questions")
		}
		in.verdict, rest = rest[len(rest)-1], rest[:len(rest)-1]
		if !slices.Contains([]string{
			protocol.ChatOnce,
			protocol.ChatForSession,
			refusal,
		}, in.verdict) {
			return in, cli.Usage(
				"chat answer: %.40q is not a verdict: use once, session or refuse, or --reply "+
					"for questions", in.verdict)
		}
	}
	switch {
	case len(rest) > 1:
		return in, cli.Usage("chat answer: a verdict and --reply cannot be used together")
	case words != "" && in.verdict != refusal:
		return in, cli.Usage("--words: belongs to refuse")
	case len(rest) == 1:
		in.request = rest[0]
	}
	return in, nil
}

// personName returns this person's name, for use without a token that has a name.
func personName() string { return text.Name(cmp.Or(os.Getenv("USER"), "the owner")) }

// requireSpeaker checks that a person runs the command, and returns the token that signs for them,
// or "" if no token is needed.
func requireSpeaker(env *cli.Env, s protocol.SessionInfo) (terminal *os.File, token string, err error) {
	if err := env.RequireOutside("use a terminal that no agent sees"); err != nil {
		return nil, "", err
	}
	if terminal, err = env.RequirePerson(); err != nil {
		return nil, "", err
	}
	if !s.Headless {
		token, err = env.OwnerToken()
	}
	return terminal, token, err
}

// promptToken returns the token that signs a prompt. A session without a user's terminal needs no
// signature: the token is "", and a pipe or cron may send as well.
func promptToken(env *cli.Env, s protocol.SessionInfo) (token string, err error) {
	if s.Headless {
		return "", env.RequireOutside("use a terminal that no agent sees")
	}
	_, token, err = requireSpeaker(env, s)
	return token, err
}

// formatPromptWait says why a prompt is not read yet, or returns "".
func formatPromptWait(w protocol.Waiting) string {
	switch w {
	case protocol.WaitsForDialog:
		return "; it waits: the agent's terminal shows a question, or something else in place " +
			"of its prompt"
	case protocol.WaitsForLine:
		return "; it waits: the prompt in the agent's terminal holds an unsent line"
	case protocol.WaitsForStart:
		return "; it waits: the agent is not at its prompt yet"
	default:
		return ""
	}
}

func chatSend(ctx context.Context, env *cli.Env, id, to, prompt string) error {
	return env.WithViewer(cli.OnSession(ctx, id, func(c *client.Client, s protocol.SessionInfo) error {
		s, err := findAddressee(ctx, c, s, to)
		if err != nil {
			return err
		}
		token, err := promptToken(env, s)
		if err != nil {
			return err
		}
		m := &protocol.ChatSend{SessionID: s.SessionID, By: personName(), Text: prompt}
		m.At = time.Now().UnixMilli()
		m.KeyNo = uint64(m.At) //nolint:gosec // a time of now
		if token != "" {
			m.SignatureB64 = auth.Sign(token, m.Signed(s.StartedAt))
		}
		waits, err := c.SendChat(ctx, m)
		if err != nil {
			return err
		}
		return env.PrintAnswer(
			map[string]any{"sessionId": s.SessionID, "sent": true, "waiting": waits},
			formatAddressee(s, to)+formatPromptWait(waits))
	}))
}

func chatAnswer(ctx context.Context, env *cli.Env, in answering) error {
	return env.WithViewer(cli.OnSession(ctx, in.id, func(c *client.Client, s protocol.SessionInfo) error {
		request, err := in.findRequest(ctx, c, s)
		if err != nil {
			return err
		}
		m := &protocol.ChatAnswer{
			SessionID: s.SessionID,
			By:        personName(),
			Request:   request.ID,
			At:        time.Now().UnixMilli(),
		}
		if m.Answer, err = in.buildReply(request); err != nil {
			return err
		}
		if !m.Answer.Refuses() {
			if err := confirmReply(ctx, env, s, request, m); err != nil {
				return err
			}
		}
		if err := c.Answer(ctx, m); err != nil {
			return err
		}
		return env.PrintAnswer(
			map[string]any{"sessionId": s.SessionID, "request": m.Request, "answered": true},
			"answered")
	}))
}

// confirmReply asks the person whether to send the reply, and signs it.
func confirmReply(
	ctx context.Context, env *cli.Env, s protocol.SessionInfo, request *chat.Request,
	m *protocol.ChatAnswer,
) error {
	terminal, token, err := requireSpeaker(env, s)
	if err != nil {
		return err
	}
	_, _ = fmt.Fprintln(env.Err, (&question{request: request}).fullText())
	if err := env.AskAgreement(ctx, terminal, s.SessionID+": "+describeReply(m.Answer)+
		"?"); err != nil {
		return err
	}
	m.At = time.Now().UnixMilli()
	if token != "" {
		m.SignatureB64 = auth.Sign(token, m.Signed(s.StartedAt))
	}
	return nil
}

func describeReply(r protocol.ChatReply) string {
	switch {
	case r.Verdict == protocol.ChatOnce:
		return "allow once"
	case r.Verdict != "":
		return "allow for this session"
	}
	return "send this answer"
}

// findRequest returns the request to answer.
func (in answering) findRequest(
	ctx context.Context, c *client.Client, s protocol.SessionInfo,
) (*chat.Request, error) {
	open, closed, err := requestsOf(ctx, c, s)
	if err != nil {
		return nil, err
	}
	if first, ok := closed[in.request]; ok {
		return nil, cli.Fail(cli.StatusRefused, "chat answer: %s: %w", escapeInvisible(in.request), first)
	}
	var ids []string
	for _, r := range open {
		if r.ID == in.request || in.request == "" && len(open) == 1 {
			return r, nil
		}
		ids = append(ids, escapeInvisible(r.ID))
	}
	switch {
	case in.request != "" && in.verdict == refusal:
		return &chat.Request{ID: in.request}, nil // the proxy may have more than were printed
	case in.request != "" && len(open) == 0:
		return nil, cli.Fail(cli.StatusRefused,
			"chat answer: no open request %.60q: the coding agent asks nothing now", in.request)
	case len(open) == 0:
		return nil, cli.Fail(cli.StatusRefused, "chat answer: the coding agent asks nothing now")
	case in.request == "":
		return nil, cli.Usage("chat answer: %d requests are open: name one of %s", len(ids),
			strings.Join(ids, ", "))
	}
	return nil, cli.Fail(cli.StatusRefused, "chat answer: no open request %.60q; open: %s", in.request,
		strings.Join(ids, ", "))
}

// requestsOf returns the requests that wait for an answer, oldest first, and the first answer to
// each of the others by id.
func requestsOf(
	ctx context.Context, c *client.Client, s protocol.SessionInfo,
) (open []*chat.Request, closed map[string]*chat.AnsweredError, err error) {
	if s.Blackout.ByUser() {
		return nil, nil, cli.Fail(cli.StatusRefused,
			"chat answer: the user hides this session, and its questions with it")
	}
	records, _, err := c.ReadChat(ctx, s.SessionID)
	closed = map[string]*chat.AnsweredError{}
	for i := range records {
		r := recordOf(&records[i])
		if r.Request != nil {
			open = append(open, r.Request)
		}
		if r.Closed != nil {
			open = slices.DeleteFunc(open, func(q *chat.Request) bool {
				return q.ID == r.Closed.ID
			})
			closed[r.Closed.ID] = &chat.AnsweredError{
				By:  escapeInvisible(r.Closed.By),
				Why: escapeInvisible(r.Closed.Why),
			}
		}
	}
	return open, closed, err
}

// buildReply makes the answer from the command line.
func (in answering) buildReply(request *chat.Request) (r protocol.ChatReply, err error) {
	switch {
	case in.verdict == refusal:
		return protocol.ChatReply{Words: in.words}, nil
	case in.verdict != "" && (&question{request: request}).incompleteReason() != "":
		return r, cli.Fail(cli.StatusRefused, "chat answer: %s",
			(&question{request: request}).incompleteReason())
	case in.verdict != "":
		return protocol.ChatReply{Verdict: in.verdict}, nil
	case len(in.replies) != len(request.Form):
		return r, cli.Usage("--reply: %d answers to %d questions; see gateway chat log",
			len(in.replies), len(request.Form))
	}
	q := &question{request: request, replies: map[string][]string{}}
	var answer chat.Answer
	for _, line := range in.replies {
		lines := []string{line}
		if request.Form[q.at].Many {
			lines = append(lines, "") // done
		}
		for _, line := range lines {
			var retry string
			if answer, _, retry = q.recordAnswer(line); retry != "" {
				return r, cli.Usage("--reply %.40q: %s", line, retry)
			}
		}
	}
	return answer, nil
}
