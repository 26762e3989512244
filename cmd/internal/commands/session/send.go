package session

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"terminalproxy/cmd/internal/cli"
	"terminalproxy/gateway/client"
	"terminalproxy/gateway/text"
	"terminalproxy/protocol"
	"terminalproxy/proxy/terminal/keys"
)

// settle is how long the screen has to be quiet after typing.
const settle = 300 * time.Millisecond

// sendTimeout is the default time limit of send.
const sendTimeout = 10 * time.Second

// approvalTime is the default time for the user to approve input that a grant of level type holds.
const approvalTime = time.Minute

// sendOptions are the options of gateway send.
type sendOptions struct {
	session                   string
	keys                      []string
	given                     func(flag string) bool
	text, paste, until, as    string
	steps                     string
	click, clickAt, mouse, to string
	enter                     bool
	rev                       uint64
	timeout                   time.Duration
	budget                    budget
	more                      endPatterns
}

// NewSend makes the command gateway send.
func NewSend(env *cli.Env) *cobra.Command {
	var opts sendOptions
	cmd := &cobra.Command{
		Use:   "send [ID] [--click TEXT] [--text T] [--paste FILE] [--enter] [KEY ...]",
		Short: "Type and click, then print how the screen changed",
		Long: "send clicks, then types text or pastes a file, then presses the named keys " +
			"(ctrl-c, esc, enter, up, f5, alt-x, shift-tab),\n" +
			"then Enter. It needs a grant: see gateway request. Clicks work where the header of " +
			"the screen says \"mouse\".",
		Args: cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			opts.session, opts.keys = cli.SessionArg(args), args[min(1, len(args)):]
			opts.given = cmd.Flags().Changed
			return runSend(cmd.Context(), env, opts)
		},
	}
	opts.addFlags(cmd)
	return cmd
}

func (in *sendOptions) addFlags(cmd *cobra.Command) {
	f := cmd.Flags()
	f.StringVar(&in.text, "text", "",
		"type this, without pressing Enter; a newline at its end is Enter")
	f.StringVar(&in.paste, "paste", "", "paste the content of `FILE`; - for standard input")
	f.BoolVar(&in.enter, "enter", false, "press Enter at the end")
	f.StringVar(&in.click, "click", "",
		"click on `TEXT`, which must be on the screen exactly once, within one row")
	f.StringVar(&in.clickAt, "click-at", "", "click at `ROW,COLUMN`, counted from 1")
	f.StringVar(&in.mouse, "mouse", "",
		"with a position: do `ACTION` instead of a click: double-click, right-click, "+
			"middle-click, press, release, move, drag, wheel-up, wheel-down*3, ctrl-click, ...")
	f.StringVar(&in.to, "drag-to", "", "drag to `ROW,COLUMN`")
	f.Uint64Var(&in.rev, "expect-rev", 0, "type only if the screen still has this revision")
	f.StringVar(&in.until, "until", "",
		"then wait for `CONDITION`, met after the input: text=T, regex=R, title=T, "+
			"title-regex=R, gone=T, changed, idle=D, exit, waiting")
	f.StringVar(&in.steps, "steps", "",
		"type the steps in `FILE` (- for standard input), a JSON list of objects with text, paste "+
			"or keys, enter, until, value, stop;\neach is typed once the until of the one before is met")
	f.DurationVar(&in.timeout, "timeout", sendTimeout,
		"time limit for everything; by default the user gets a minute more to approve held keys")
	f.StringVar(&in.as, "as", cli.DefaultName, cli.AsHelp)
	in.budget.addFlag(cmd)
	in.more.addFlags(cmd)
}

// runSend types, and prints how the screen changed.
func runSend(ctx context.Context, env *cli.Env, opts sendOptions) error {
	return keyForID(opts.session, sendInput(ctx, env, opts))
}

func sendInput(ctx context.Context, env *cli.Env, in sendOptions) error {
	typing := client.Typing{
		SettleMs: settle.Milliseconds(),
		Mine:     func(k protocol.Keyboard) bool { return k.AgentName == in.as },
	}
	if err := cli.CheckTimeout(in.timeout); err != nil {
		return err
	}
	tokens, err := in.budget.tokenLimit(env.JSON)
	if err != nil {
		return err
	}
	if typing.Parts, err = readParts(env, &in); err != nil {
		return err
	}
	condition, ask, err := in.readCondition()
	if err != nil {
		return err
	}
	if condition != "" {
		typing.SettleMs = 0
	}
	if !in.given("timeout") {
		typing.Held = approvalTime
	}
	if in.given("expect-rev") {
		typing.Rev = &in.rev
	}
	work := cli.OnSession(ctx, in.session, func(c *client.Client, s protocol.SessionInfo) error {
		typing.Session, typing.Deadline = s, time.Now().Add(in.timeout)
		return typeAndShow(ctx, env, c, typing, condition, ask, tokens)
	})
	return env.WithClient(in.as, true, work)
}

// readCondition returns the wait that follows the input, and the name of its condition, or "".
func (in *sendOptions) readCondition() (condition string, ask *protocol.Wait, err error) {
	if err := in.more.read(); err != nil {
		return "", nil, cli.Usage("send %w", err)
	}
	if in.until == "" {
		if len(in.more.any)+len(in.more.stop) > 0 {
			err = cli.Usage("send: --any and --stop need --until: what to wait for")
		}
		return "", nil, err
	}
	condition, value, _ := strings.Cut(in.until, "=")
	until, err := text.Until(condition, value)
	if err == nil && until.Control {
		err = errors.New("only gateway wait takes it")
	}
	if err != nil {
		return "", nil, cli.Usage("--until %s: %w", condition, err)
	}
	return condition, &protocol.Wait{
		Until: until, Any: in.more.met, Stop: in.more.stopped,
	}, nil
}

// keyForID adds a hint to err if the name of a key stands in place of the session.
func keyForID(id string, err error) error {
	f, failed := errors.AsType[*cli.Failure](err)
	if !failed || f.Status != cli.StatusNoSession && f.Status != cli.StatusUsage || len(id) < 2 {
		return err
	}
	if _, notKey := keys.Parse(id); notKey != nil {
		return err
	}
	hint := "keys follow the session, as in gateway send ID " + id
	if f.Hint != "" {
		hint += "; " + f.Hint
	}
	return f.WithHint(hint)
}

// readInput reads the file of a flag, up to the size limit of one input.
func readInput(env *cli.Env, flag, name string) (string, error) {
	from := io.Reader(env.In)
	if name != "-" {
		f, err := os.Open(name)
		if err != nil {
			return "", cli.Usage("%s: %w", flag, err)
		}
		defer func() { _ = f.Close() }()
		from = f
	}
	data, err := io.ReadAll(io.LimitReader(from, protocol.MaxInput+1))
	switch {
	case err != nil:
		return "", cli.Usage("%s: %w", flag, err)
	case len(data) > protocol.MaxInput:
		return "", cli.Usage("%s %s: longer than %d bytes, the limit for one input", flag, name,
			protocol.MaxInput)
	case len(data) == 0:
		return "", cli.Usage("%s %s: the file is empty", flag, name)
	}
	return string(data), nil
}

// Sent is the output of send --json: the receipt of all input, and the answer of --until.
type Sent struct {
	*protocol.InputResult
	// Reacted reports whether the screen changed since the first key.
	Reacted *bool                `json:"reacted,omitempty"`
	Wait    *protocol.WaitResult `json:"wait,omitempty"`
}

func typeAndShow(
	ctx context.Context, env *cli.Env, c *client.Client, input client.Typing, condition string,
	ask *protocol.Wait, tokens int,
) error {
	s := input.Session
	typed, err := client.Type(ctx, c, input)
	switch {
	case typed == nil:
		return err
	case err != nil:
		return fmt.Errorf("%w\n%s", err, text.Receipt(input.Parts, typed.Result, true))
	}
	result := typed.Result
	receipt := text.Join(text.StepEnds(result, nil), text.Confirm(input.Parts, result))
	if result.Status != protocol.StatusWritten {
		err = showUntyped(env, s, typed, tokens)
		return errors.Join(notTyped(result, text.Receipt(input.Parts, result, false)), err)
	}
	if typed.Held {
		input.Deadline = time.Now().Add(sendTimeout) // the time that the user took does not count
	}
	out := Sent{InputResult: result}
	frame := result.Frame
	if condition != "" {
		ask.SessionID, ask.Epoch = s.SessionID, typed.Epoch
		ask.AfterSeq, ask.InputSeq = typed.After, typed.Before.Seq
		ask.TimeoutMs = client.MillisecondsLeft(input.Deadline)
		out.Wait, err = c.Wait(ctx, ask)
		if err != nil {
			return fmt.Errorf("%w\n%s", err, text.Receipt(input.Parts, result, false))
		}
		if frame = out.Wait.Frame; input.HasSteps() {
			receipt = text.StepEnds(result, out.Wait)
		}
	}
	out.Reacted = new(frame == nil || text.HasReacted(result, frame.Seq))
	if err := printSent(ctx, env, c, s, typed.Before, receipt, out, frame, tokens); err != nil {
		return err
	}
	if out.Wait == nil {
		return nil
	}
	return reportWait(env, condition, out.Wait, input.Parts)
}

// reportWait reports the result of the wait after an input, and fails if its condition was not met.
func reportWait(
	env *cli.Env, condition string, got *protocol.WaitResult, parts []protocol.InputPart,
) error {
	if !got.Met {
		return notMet("send --until "+condition+": typed", got)
	}
	if stood := text.OldMatchNote(got, parts); stood != "" {
		_, _ = fmt.Fprintln(env.Err, "gateway: send: matched"+stood)
	}
	return nil
}

// showUntyped prints the screen that appeared instead of the expected one.
func showUntyped(env *cli.Env, s protocol.SessionInfo, typed *client.Typed, tokens int) error {
	frame := typed.Result.Frame
	if env.JSON {
		return env.PrintJSON(Sent{InputResult: typed.Result})
	}
	if frame == nil {
		return nil
	}
	lines, known := text.Screen(typed.Before, frame)
	if !known {
		return nil
	}
	page := dialect.After(&protocol.Frame{}, frame, lines)
	return printPage(env, screenHeader(s, frame), frame, page, tokens)
}

func printSent(
	ctx context.Context, env *cli.Env, c *client.Client, s protocol.SessionInfo,
	before *protocol.Frame, receipt string, out Sent, frame *protocol.Frame, tokens int,
) error {
	if env.JSON {
		return env.PrintJSON(out)
	}
	lines, known := text.Screen(before, frame)
	if !known {
		got, err := c.Read(ctx, &protocol.Read{SessionID: s.SessionID})
		if err != nil {
			return err
		}
		frame, lines = got.Frame, got.Frame.Screen.Lines
	}
	notes := out.Notes
	if out.Wait != nil {
		notes = append(notes, out.Wait.Notes...)
	}
	if odd := text.DescribeOddReaction(before, out.InputResult, frame); odd != "" &&
		(out.Wait == nil || !out.Wait.Met) {
		receipt = text.Join(receipt, odd)
	}
	shown := *frame
	shown.Screen.Lines = lines
	if text.IsLastFrame(frame) {
		return printEnd(env, s, readEnd(ctx, c, s, &shown, before), before, tokens,
			text.Join(text.Messages(notes), receipt))
	}
	return printPage(env, text.Join(text.Messages(notes), text.Join(receipt, screenHeader(s, frame))), frame,
		dialect.Whole(&shown, 0), tokens)
}

// notTyped makes the error of an input that was not typed in full.
func notTyped(failed *protocol.InputResult, receipt string) error {
	out := &cli.Failure{Status: cli.StatusRefused}
	why := text.Refusal(failed.Reason, failed.Message)
	step := text.UnmetStep(failed)
	switch {
	case step != "":
		why, out.Status = step, cli.StatusOfCode(failed.Reason)
	case failed.Reason == protocol.CodeSecretPrompt:
		out.Hint = cli.HintWaitForInput
	case text.IsPause(failed.Reason):
		out.Hint = cli.HintWaitForUser
	case text.CutOff(failed):
		why = "control ended: " + text.EndedAs(failed)
	case failed.Reason == protocol.CodeNoGrant:
		out.Hint, out.Status = cli.HintRequestFirst, cli.StatusOfCode(failed.Reason)
	case failed.Reason == protocol.CodeUserTyping:
		out.Hint = cli.HintUserTypes
	default:
		out.Status = cli.StatusOfCode(failed.Reason)
	}
	out.Cause = fmt.Errorf("send: %s\n%s", why, text.Join(receipt, text.StepEnds(failed, nil)))
	if len(failed.Notes) > 0 {
		out.Cause = fmt.Errorf("%w\n%s", out.Cause, text.Messages(failed.Notes))
	}
	if left := text.LeftOnLine(failed.LeftOnLine); left != "" {
		out.Cause = fmt.Errorf("%w\n%s", out.Cause, left)
	}
	return out
}
