package chat

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"time"

	"github.com/spf13/cobra"

	"terminalproxy/cmd/internal/cli"
	"terminalproxy/gateway/client"
	"terminalproxy/gateway/text"
	"terminalproxy/protocol"
	"terminalproxy/proxy/chat"
)

// logOptions are the options of gateway chat log.
type logOptions struct {
	session string
	follow  bool
}

func newChatLog(env *cli.Env) *cobra.Command {
	var opts logOptions
	cmd := &cobra.Command{
		Use:   "log ID [--follow]",
		Short: "Print the conversation of a coding agent in a session",
		Args:  cobra.ExactArgs(1),
		Long: "log prints what was said and done in a session that was started with proxy " +
			"--chat: prompts, the coding agent's text, its tools,\n" +
			"what it asks, and who answered. With --json it prints lines of JSON, as gateway " +
			"chat --json does. Nothing is printed while the\n" +
			"session's user hides the screen.",
		RunE: func(cmd *cobra.Command, args []string) error {
			opts.session = args[0]
			return runLog(cmd.Context(), env, opts)
		},
	}
	cmd.Flags().BoolVarP(&opts.follow, "follow", "f", false, "go on until the conversation ends")
	return cmd
}

// runLog prints the conversation in a session.
func runLog(ctx context.Context, env *cli.Env, opts logOptions) error {
	show := func(c *client.Client, s protocol.SessionInfo) error {
		return chatLog(ctx, env, c, s, opts.follow)
	}
	return env.WithViewer(cli.OnSession(ctx, opts.session, show))
}

// chatLog prints the existing records, and with follow all later ones.
func chatLog(
	ctx context.Context, env *cli.Env, c *client.Client, s protocol.SessionInfo, follow bool,
) error {
	if s.Blackout.ByUser() {
		if !follow {
			return cli.Fail(cli.StatusRefused, "chat log: the user hides this session")
		}
		_, _ = fmt.Fprintln(env.Err,
			"the user hides this session: its conversation is printed when it is shown again")
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	stream, err := c.FollowChat(ctx, s.SessionID, 0)
	if err != nil {
		return err
	}
	p := newChatPrinter(env)
	for m := range stream {
		batch, ok := m.(*protocol.ChatRecords)
		if !ok {
			return nil // the session has ended
		}
		if err := p.printBatch(batch); err != nil {
			return err
		}
		if p.over || !follow && !batch.More {
			return nil
		}
	}
	if ctx.Err() != nil || p.over {
		return nil // not a failure: the records were printed until the interrupt
	}
	return cli.Fail(cli.StatusNoGateway, "chat log: the session can no longer be reached")
}

// printBatch prints a batch of records, and the number missing before it.
func (p *chatPrinter) printBatch(batch *protocol.ChatRecords) error {
	if batch.Lost > 0 {
		p.view.printNotice("· %d records before this are not kept, or are not shown", batch.Lost)
	}
	for i := range batch.Records {
		if err := p.printRecord(recordOf(&batch.Records[i])); err != nil {
			return err
		}
	}
	return nil
}

// chatPrinter prints a conversation.
type chatPrinter struct {
	view  *chatView
	lines func(chat.Record) error // nil without --json
	over  bool                    // the conversation has ended
}

func newChatPrinter(env *cli.Env) *chatPrinter {
	p := &chatPrinter{view: &chatView{text: env.Out, about: env.Out}}
	if env.JSON {
		p.view.about, p.lines = env.Err, recordLines(env.Out)
	}
	return p
}

// recordLines prints records as lines of JSON, without the pieces of texts that follow whole.
func recordLines(out io.Writer) func(chat.Record) error {
	lines := json.NewEncoder(out)
	lines.SetEscapeHTML(false)
	return func(r chat.Record) error {
		if r.Piece != nil {
			return nil
		}
		return lines.Encode(r)
	}
}

func (p *chatPrinter) printRecord(r chat.Record) error {
	p.over = p.over || r.State == chat.Ended || r.State == chat.Failed
	if p.lines != nil {
		return p.lines(r)
	}
	v := p.view
	switch {
	case r.Item != nil && r.Item.Kind == chat.User:
		v.printNotice("→ %s: %s", text.OneLine(r.Item.Author), escapeInvisible(r.Item.Text))
	case r.Item != nil:
		v.printItem(r.Item.Author, r.Item)
	case r.Piece != nil:
		v.printPiece(r.Piece)
	case r.Request != nil:
		v.printNotice("%s\n  request %s", (&question{request: r.Request}).fullText(),
			escapeInvisible(r.Request.ID))
	case r.Closed != nil:
		v.printNotice("· %s %s", escapeInvisible(r.Closed.ID), describeClosed(r.Closed))
	case r.Turn != nil && r.Turn.Outcome != chat.Done:
		v.printNotice("· the turn ended: %s%s", escapeInvisible(r.Turn.Outcome), reasonSuffix(r.Turn.Why))
	case r.Turn != nil:
		v.flush()
	case p.over:
		v.printNotice("· %s%s", escapeInvisible(r.State), reasonSuffix(r.Why))
	}
	return nil
}

func reasonSuffix(why string) string {
	if why == "" {
		return ""
	}
	return ": " + escapeInvisible(why)
}

// describeClosed describes how a request ended.
func describeClosed(c *chat.Closed) string {
	did := "refused"
	switch {
	case c.Answer.Verdict != chat.Refuse:
		did = "allowed (" + escapeInvisible(c.Answer.Verdict) + ")"
	case len(c.Answer.Replies) > 0:
		did = "answered"
	}
	if c.By == "" {
		return "closed: " + cmp.Or(escapeInvisible(c.Why), "no answer was given")
	}
	return did + " by " + escapeInvisible(c.By)
}

// recordOf converts a record of the wire to the conversation's own.
func recordOf(from *protocol.ChatRecord) chat.Record {
	r := chat.Record{
		Number: from.Number, Time: time.UnixMilli(from.At).UTC(), State: from.State, Why: from.Why,
		Item: from.Item, Piece: from.Piece, Closed: from.Closed, Turn: from.Turn,
	}
	if from.Request != nil {
		r.Request = chat.RequestOf(from.Request)
	}
	return r
}
