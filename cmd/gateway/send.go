package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"terminalproxy/gateway/client"
	"terminalproxy/gateway/text"
	"terminalproxy/gateway/typist"
	"terminalproxy/protocol"
)

// settle is how long the screen has to be quiet after typing.
const settle = 300 * time.Millisecond

// sendTimeout bounds a send that says nothing else.
const sendTimeout = 10 * time.Second

// letThrough is how long the user gets by default to let through what a grant of level type holds.
const letThrough = time.Minute

// sendFlags are the flags of send.
type sendFlags struct {
	text, paste, until, as    string
	click, clickAt, mouse, to string
	enter                     bool
	rev                       uint64
	timeout                   time.Duration
	budget                    budget
}

func (a *app) newSend() *cobra.Command {
	var in sendFlags
	cmd := &cobra.Command{
		Use:   "send ID [--click TEXT] [--text T] [--paste FILE] [--enter] [KEY ...]",
		Short: "Type and click, then print how the screen changed",
		Long: "send clicks, then types text or pastes a file, then presses the named keys (ctrl-c, esc, enter, up, f5, alt-x, shift-tab),\n" +
			"then Enter. It needs a grant: see gateway request. Clicks work where the header of the screen says \"mouse\".",
		Args: cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error { return a.send(cmd, args[0], args[1:], in) },
	}
	f := cmd.Flags()
	f.StringVar(&in.text, "text", "", "type this, without pressing Enter; a newline at the end of a single line is Enter")
	f.StringVar(&in.paste, "paste", "", "paste the content of `FILE`; - for standard input")
	f.BoolVar(&in.enter, "enter", false, "press Enter at the end")
	f.StringVar(&in.click, "click", "", "click on `TEXT`, which must be on the screen exactly once, within one row")
	f.StringVar(&in.clickAt, "click-at", "", "click at `ROW,COLUMN`, counted from 1")
	f.StringVar(&in.mouse, "mouse", "", "with a position: do `ACTION` instead of a click: double-click, right-click, middle-click, press, release, move, drag, wheel-up, wheel-down*3, ctrl-click, ...")
	f.StringVar(&in.to, "drag-to", "", "drag to `ROW,COLUMN`")
	f.Uint64Var(&in.rev, "expect-rev", 0, "type only if the screen still has this revision")
	f.StringVar(&in.until, "until", "", "then wait for `CONDITION`, met after the input: text=T, regex=R, gone=T, changed, idle=D, exit, waiting")
	f.DurationVar(&in.timeout, "timeout", sendTimeout, "time limit for everything; by default the user gets a minute more to approve held keys")
	f.StringVar(&in.as, "as", defaultName, asHelp)
	in.budget.add(cmd)
	return cmd
}

func (a *app) send(cmd *cobra.Command, id string, keys []string, in sendFlags) error {
	what := typist.Text{
		Text: in.text, Keys: keys, Enter: in.enter, SettleMs: settle.Milliseconds(), NoSettle: in.until != "",
		Mine: func(k protocol.Keyboard) bool { return k.AgentName == in.as },
	}
	if err := checkTimeout(in.timeout); err != nil {
		return err
	}
	tokens, err := in.budget.tokens(cmd, a.json)
	if err != nil {
		return err
	}
	what.Mouse, err = typist.Point(typist.MouseWords{On: "--click", At: "--click-at", Act: "--mouse", To: "--drag-to"}, in.click, in.clickAt, in.mouse, in.to)
	if err != nil {
		return usage("send: %w", err)
	}
	condition, value, _ := strings.Cut(in.until, "=")
	var until protocol.Until
	if in.until != "" {
		if until, err = text.Until(condition, value); err == nil && until.Control {
			err = errors.New("only gateway wait takes it")
		}
		if err != nil {
			return usage("--until %s: %w", condition, err)
		}
	}
	if !cmd.Flags().Changed("timeout") {
		what.Held = letThrough
	}
	if cmd.Flags().Changed("expect-rev") {
		what.Rev = &in.rev
	}
	if in.paste != "" {
		if what.Paste, err = a.pasted(in.paste); err != nil {
			return err
		}
	}
	if err := what.Check(); err != nil {
		return usage("send: %w", err)
	}
	return a.with(in.as, true, func(c *client.Client) error {
		s, err := lookup(cmd.Context(), c, id)
		if err != nil {
			return err
		}
		what.SessionID, what.Deadline = s.SessionID, time.Now().Add(in.timeout)
		return a.typeAndShow(cmd.Context(), c, s, what, condition, until, tokens)
	})
}

// pasted reads what to paste, no more than one input can carry.
func (a *app) pasted(name string) (string, error) {
	from := io.Reader(a.in)
	if name != "-" {
		f, err := os.Open(name)
		if err != nil {
			return "", usage("--paste: %w", err)
		}
		defer func() { _ = f.Close() }()
		from = f
	}
	data, err := io.ReadAll(io.LimitReader(from, protocol.MaxInput+1))
	switch {
	case err != nil:
		return "", usage("--paste: %w", err)
	case len(data) > protocol.MaxInput:
		return "", usage("--paste %s: longer than %d bytes, the limit for one input", name, protocol.MaxInput)
	case len(data) == 0:
		return "", usage("--paste %s: the file is empty", name)
	}
	return string(data), nil
}

// sent is what send prints with --json: the receipt of everything together, and the answer of --until.
type sent struct {
	*protocol.InputResult
	// Reacted says that the screen changed since the first key.
	Reacted *bool                `json:"reacted,omitempty"`
	Wait    *protocol.WaitResult `json:"wait,omitempty"`
}

func (a *app) typeAndShow(ctx context.Context, c *client.Client, s protocol.SessionInfo, what typist.Text, condition string, until protocol.Until, tokens int) error {
	typed, err := typist.Type(ctx, c, what)
	if err != nil {
		if len(typed.Parts) > 0 {
			err = fmt.Errorf("%w\n%s", err, text.Receipt(typed.Parts))
		}
		return err
	}
	if failed := typed.Failed(); failed != nil {
		switch {
		case a.json:
			err = a.printJSON(sent{InputResult: total(typed)})
		case failed.Frame != nil: // what is there instead of what was believed
			lines, known := text.Screen(typed.Before, failed.Frame)
			if known {
				err = a.printPage(header(s, failed.Frame), failed.Frame, dialect.After(&protocol.Frame{}, failed.Frame, lines), tokens)
			}
		}
		return errors.Join(notTyped(typed, failed), err)
	}
	if typed.Held {
		what.Deadline = time.Now().Add(sendTimeout) // the user's time is not the program's
	}
	out := sent{InputResult: total(typed)}
	frame := typed.Last().Frame
	if condition != "" {
		out.Wait, err = c.Wait(ctx, &protocol.Wait{SessionID: s.SessionID, Until: until, AfterSeq: typed.After, TimeoutMs: typist.Left(what.Deadline)})
		if err != nil {
			return fmt.Errorf("%w\n%s", err, text.Receipt(typed.Parts))
		}
		frame = out.Wait.Frame
	}
	out.Reacted = new(frame == nil || typed.Reacted(frame.Seq))
	if err := a.printSent(ctx, c, s, typed, out, frame, tokens); err != nil {
		return err
	}
	if out.Wait != nil && !out.Wait.Met {
		return notMet("send --until "+condition+": typed", out.Wait)
	}
	return nil
}

func (a *app) printSent(ctx context.Context, c *client.Client, s protocol.SessionInfo, typed *typist.Typed, out sent, frame *protocol.Frame, tokens int) error {
	if a.json {
		return a.printJSON(out)
	}
	lines, known := text.Screen(typed.Before, frame)
	if !known {
		got, err := c.Read(ctx, &protocol.Read{SessionID: s.SessionID})
		if err != nil {
			return err
		}
		frame, lines = got.Frame, got.Frame.Screen.Lines
	}
	notes := typed.Notes()
	if out.Wait != nil {
		notes = append(notes, out.Wait.Notes...)
	}
	receipt := text.Receipt(typed.Parts)
	if odd := typed.Odd(frame); odd != "" && (out.Wait == nil || !out.Wait.Met) {
		receipt += "\n" + odd
	}
	shown := *frame
	shown.Screen.Lines = lines
	if ended(frame) {
		return a.printEnd(ctx, c, s, &shown, typed.Before, tokens, text.WithMessages(notes, receipt))
	}
	return a.printPage(text.WithMessages(notes, receipt+"\n"+header(s, frame)), frame, dialect.Whole(&shown, 0), tokens)
}

// total is the receipts of all parts as one: the last that there is, with all their bytes.
func total(typed *typist.Typed) *protocol.InputResult {
	var all protocol.InputResult
	var at *protocol.Cell
	written, dropped := 0, 0
	for _, p := range typed.Parts {
		if p.Result != nil {
			all = *p.Result
			at = cmp.Or(at, p.Result.At) // the mouse comes first
			written += p.Result.WrittenBytes
			dropped += p.Result.DroppedBytes
		}
	}
	if first := typed.Parts[0].Result; first != nil {
		all.FromSeq = first.FromSeq
	}
	all.WrittenBytes, all.DroppedBytes, all.At, all.Notes = written, dropped, at, typed.Notes()
	return &all
}

// notTyped is the error of an input that did not arrive whole.
func notTyped(typed *typist.Typed, failed *protocol.InputResult) error {
	out := &failure{status: statusRefused}
	why := text.Refusal(failed.Reason, failed.Message)
	switch {
	case failed.Reason == protocol.CodeSecretPrompt:
		out.hint = hintWaitForInput
	case text.Paused(failed.Reason):
		out.hint = hintWaitForUser
	case text.CutOff(failed):
		why = "control ended: " + text.Ended(failed.Ended)
	case failed.Reason == protocol.CodeNoGrant:
		out.hint, out.status = hintRequestFirst, statusOfCode(failed.Reason)
	case failed.Reason == protocol.CodeUserTyping:
		out.hint = hintUserTypes
	default:
		out.status = statusOfCode(failed.Reason)
	}
	out.cause = fmt.Errorf("send: %s\n%s", why, text.Receipt(typed.Parts))
	if notes := typed.Notes(); len(notes) > 0 {
		out.cause = fmt.Errorf("%w\n%s", out.cause, text.Messages(notes))
	}
	if left := text.Left(failed.LeftOnLine); left != "" {
		out.cause = fmt.Errorf("%w\n%s", out.cause, left)
	}
	return out
}
