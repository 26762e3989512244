package run

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"terminalproxy/cmd/internal/cli"
	"terminalproxy/gateway/client"
	"terminalproxy/protocol"
	"terminalproxy/proxy"
	"terminalproxy/proxy/display/notice"
	"terminalproxy/proxy/terminal/modes"
	"terminalproxy/proxy/terminal/tty"
)

// attachOptions are the options of gateway attach.
type attachOptions struct {
	session string
	watch   bool
}

// NewAttach makes the command gateway attach.
func NewAttach(env *cli.Env) *cobra.Command {
	var opts attachOptions
	cmd := &cobra.Command{
		Use: "attach [ID] [--watch]",
		Short: "Come back to a session that was left running, or attach to one that an " +
			"agent started",
		Args: cobra.MaximumNArgs(1),
		Long: "attach brings a session of proxy --keep into this terminal, with its screen and " +
			"the end of its history. The session works here as\n" +
			"it did where it was started; if another window has it now, that window releases it. " +
			"Without ID, attach takes the session that\n" +
			"has no window.\n\n" +
			"For a session that an agent started, attach shows what the agent sees and lets you " +
			"type beside it, with the same keys: your own\n" +
			"keys pause the agent, Ctrl+\\ takes the keyboard from it, and Ctrl+G gives it the " +
			"keyboard again when it asks. If the terminal keeps\n" +
			"Ctrl+G for itself, press Ctrl+Alt+G in VS Code; in other terminals, use gateway " +
			"grant. To leave without ending the program,\n" +
			"press Ctrl+\\ and then d while no agent has the keyboard. When several people are " +
			"attached, the program gets the size of the\n" +
			"terminal used last.\n\n" +
			"With --watch you only watch, and q leaves. For a session on its user's own " +
			"terminal, you see what agents see.",
		RunE: func(cmd *cobra.Command, args []string) error {
			opts.session = cli.SessionArg(args)
			return runAttach(cmd.Context(), env, opts)
		},
	}
	cmd.Flags().BoolVar(&opts.watch, "watch", false, "only watch: your keys do not reach the program")
	return cmd
}

// runAttach brings a session into this terminal.
func runAttach(ctx context.Context, env *cli.Env, opts attachOptions) error {
	in, isIn := env.In.(*os.File)
	out, isOut := env.Out.(*os.File)
	if !isIn || !isOut {
		return errNoTerminal
	}
	if found, err := attachKept(env, opts.session, in, out, opts.watch); found {
		return err
	}
	id := ""
	err := env.WithPerson(cli.DefaultName, func(c *client.Client) error {
		meant := opts.session
		if meant == "" && !opts.watch {
			meant = findOnlyDetached(ctx, c)
		}
		return cli.OnSession(
			ctx,
			meant,
			func(c *client.Client, s protocol.SessionInfo) error {
				if s.Kept && s.State == protocol.StateRunning && !opts.watch {
					id = s.SessionID
					return errors.Join(rejectFeedback(ctx, c, id), rejectAgentTerminal(ctx, c))
				}
				return attachSession(ctx, env, c, s, in, out, opts.watch)
			},
		)(c)
	})
	if err != nil || id == "" {
		return err
	}
	return lendTerminal(env, id, in, out)
}

var errNoTerminal = cli.Usage(
	"attach: standard input and output must be a terminal; use gateway read to print the screen")

func attachSession(
	ctx context.Context, env *cli.Env, c *client.Client, s protocol.SessionInfo, in, out *os.File,
	watch bool,
) error {
	if s.State == protocol.StateExited {
		return cli.Fail(cli.StatusRefused, "attach: %s has ended with exit status %d", s.SessionID,
			s.ExitCode).
			WithHint("gateway read " + s.SessionID + " prints its last screen")
	}
	if err := rejectFeedback(ctx, c, s.SessionID); err != nil {
		return err
	}
	term, err := tty.Open(in, out)
	if err != nil {
		return err
	}
	defer term.Close()
	if !term.HasKeyboard() || !term.HasScreen() {
		return errNoTerminal
	}
	cols, rows, err := term.Size()
	if err != nil {
		return err
	}
	attached, err := attach(ctx, c, s, cols, rows, watch)
	if err != nil {
		return err
	}
	f := &attachView{
		term:     term,
		attached: attached,
		watch:    watch,
		still:    !s.Headless,
		rows:     rows,
		resized:  make(chan struct{}, 1),
	}
	last, err := f.run()
	if err != nil {
		return err
	}
	_, _ = fmt.Fprintf(env.Err, "[%s: %s]\n", s.SessionID, last)
	return nil
}

// rejectFeedback refuses to show a session on its own screen: each repaint would count as new
// output.
func rejectFeedback(ctx context.Context, c *client.Client, id string) error {
	inside := os.Getenv(proxy.SessionVariable)
	if inside == "" {
		return nil
	}
	all, err := c.Sessions(ctx)
	if err != nil || !isShownIn(inside, id, all) {
		return err
	}
	return rejectSelf(inside, id)
}

// rejectSelf refuses to show a session inside itself, in a terminal of a session on its own screen.
func rejectSelf(inside, id string) error {
	where := ""
	if inside != id {
		where = ", shown on the screen of " + id
	}
	return cli.Fail(cli.StatusRefused,
		"attach: this shell runs inside the session %s%s, and a session cannot show itself",
		inside, where).
		WithHint("run it in another terminal")
}

// isShownIn reports whether the session inside is visible on the screen of outer. A session started
// in another one's terminal is visible there, unless it has no terminal.
func isShownIn(inside, outer string, all []protocol.SessionInfo) bool {
	for range len(all) + 1 { // the bound stops at a cycle of parents
		if inside == outer {
			return true
		}
		at := slices.IndexFunc(all, func(s protocol.SessionInfo) bool {
			return s.SessionID == inside
		})
		if at < 0 || all[at].Headless || all[at].ParentSessionID == "" {
			return false
		}
		inside = all[at].ParentSessionID
	}
	return false
}

// attachView is the terminal of a person attached to a session.
type attachView struct {
	term     *tty.Terminal
	attached attachment
	watch    bool
	still    bool // messages are pictures of the screen
	rows     int
	// modes tracks the modes that were set on the terminal, to undo them. Owned by run's goroutine.
	modes     modes.Modes
	repainted bool // a repaint has arrived
	// mirror shows a session of another size, nil while the sizes match; resized is set after the
	// terminal's size changed.
	mirror  *mirror
	resized chan struct{}
}

// run shows the session until it ends and restores the terminal. It returns a description of the
// end.
func (f *attachView) run() (last string, err error) {
	keyboard, screen := f.term.Descriptors()
	poll, err := tty.NewPoller(keyboard, screen)
	if err != nil {
		return "", err
	}
	defer poll.Close()
	if err := f.term.EnterRawMode(); err != nil {
		return "", err
	}
	defer func() { err = errors.Join(err, f.term.Restore()) }()
	windows := make(chan os.Signal, 1)
	signal.Notify(windows, syscall.SIGWINCH)
	defer signal.Stop(windows)
	over := make(chan struct{})
	var parts sync.WaitGroup
	parts.Go(func() { f.read(poll, over) })             // ends with over and a wake
	parts.Go(func() { f.followResizes(windows, over) }) // ends with over
	last, err = f.showMessages()
	f.attached.Detach()
	close(over)
	poll.Wake()
	parts.Wait()
	f.restoreTerminal()
	return last, err
}

// read sends what the person types.
func (f *attachView) read(poll *tty.Poller, over <-chan struct{}) {
	var buf [protocol.MaxViewerInput]byte
	for {
		got, err := poll.Wait(tty.Readable, -1)
		select {
		case <-over:
			return
		default:
		}
		if err != nil {
			f.attached.Detach()
			return
		}
		if got&tty.Readable == 0 {
			continue
		}
		n, err := f.term.Read(buf[:])
		switch {
		case errors.Is(err, tty.ErrAgain):
		case err != nil || n == 0:
			f.attached.Detach() // the terminal is closed
			<-over
			return
		case f.watch:
			if bytes.ContainsAny(buf[:n], "q\x03\x1c") {
				f.attached.Detach()
			}
		default:
			_ = f.attached.Type(buf[:n]) // the keys are lost while the connection is down
		}
	}
}

// followResizes follows the window's size.
func (f *attachView) followResizes(windows <-chan os.Signal, over <-chan struct{}) {
	for {
		select {
		case <-over:
			return
		case <-windows:
		}
		if cols, rows, err := f.term.Size(); err == nil && !f.watch {
			// a new connection sends the size first
			_ = f.attached.Resize(min(cols, protocol.MaxSize), min(rows, protocol.MaxSize))
		}
		select {
		case f.resized <- struct{}{}:
		default: // a pending notification covers this one
		}
	}
}

// showMessages draws the arriving messages on the terminal.
func (f *attachView) showMessages() (last string, err error) {
	// The screen's content moves up into the terminal's history.
	if err := f.writeTerminal([]byte(strings.Repeat("\n", f.rows) + notice.PushTitle)); err != nil {
		return "", err
	}
	for more := true; more; {
		select {
		case m, ok := <-f.attached.Messages():
			if more = ok; !ok {
				break
			}
			if end, err := f.handleMessage(m); err != nil {
				return "", err
			} else if end != "" {
				last = end
			}
		case <-f.resized:
			if err := f.handleResize(); err != nil {
				return "", err
			}
		}
	}
	if err := f.attached.Err(); err != nil {
		return "", err
	}
	if last == "" {
		last = "detached; the program keeps running"
	}
	return last, nil
}

// handleMessage draws one message. At the end of the session it returns a description of the end.
func (f *attachView) handleMessage(m protocol.Message) (last string, err error) {
	switch m := m.(type) {
	case *protocol.Output:
		return "", f.drawOutput(m)
	case *protocol.SessionClose:
		return fmt.Sprintf("ended with exit status %d", m.ExitCode), nil
	case *protocol.Detach:
		return "detached; the program keeps running", nil
	}
	return "", nil
}

// drawOutput draws live output. On a terminal of the session's size it writes the output unchanged.
func (f *attachView) drawOutput(m *protocol.Output) error {
	if m.Repaint && (!f.still || f.mirror == nil || !f.mirror.hasSize(m.Cols, m.Rows)) {
		if err := f.clearScreen(); err != nil {
			return err
		}
		f.mirror, f.repainted = nil, true
		cols, rows, err := f.term.Size()
		if err != nil {
			cols, rows = m.Cols, m.Rows // no answer will follow
		}
		if f.still || cols != m.Cols || rows != m.Rows {
			f.mirror = newMirror(m.Cols, m.Rows, cols, rows)
		}
	}
	if !f.repainted {
		return nil
	}
	if f.mirror == nil {
		return f.write(m.DataB64)
	}
	f.mirror.feedOutput(m.DataB64)
	return f.write(f.mirror.appendUpdate(nil))
}

// handleResize applies a new size of the terminal.
func (f *attachView) handleResize() error {
	switch {
	case !f.repainted:
		return nil
	case f.mirror == nil:
		// the repaint sets the new mode of drawing; a new connection begins with one
		_ = f.attached.RequestRepaint()
		return nil
	}
	if cols, rows, err := f.term.Size(); err == nil {
		f.mirror.resizeTerminal(cols, rows)
	}
	return f.write(f.mirror.appendUpdate(nil))
}

// clearScreen clears the terminal and resets its modes.
func (f *attachView) clearScreen() error {
	fresh := append(f.modes.AppendReset(nil), "\x1b[H\x1b[2J"...)
	f.modes = modes.Modes{}
	return f.writeTerminal(fresh)
}

func (f *attachView) write(p []byte) error {
	f.modes.FollowBytes(p)
	return f.writeTerminal(p)
}

func (f *attachView) writeTerminal(p []byte) error {
	if err := f.term.WriteAll(p, cli.TerminalPatience); err != nil {
		return fmt.Errorf("write to the terminal: %w", err)
	}
	return nil
}

// restoreTerminal restores the person's terminal, below the session's last screen.
func (f *attachView) restoreTerminal() {
	last := f.modes.AppendReset(nil)
	last = append(last, notice.PopTitle...)
	_, rows, err := f.term.Size()
	if err != nil {
		rows = f.rows
	}
	last = fmt.Appendf(last, "\x1b[%d;1H\r\n", rows)
	// If the window is closed, there is no terminal left to restore.
	_ = f.term.WriteAll(last, time.Second)
}
