package open

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"strings"
	"time"

	"golang.org/x/term"

	"terminalproxy/cmd/internal/cli"
	"terminalproxy/cmd/internal/cli/notices"
	"terminalproxy/gateway/access/auth"
	"terminalproxy/gateway/doors/page"
	"terminalproxy/protocol"
	"terminalproxy/proxy/display/notice"
)

// opening is an open page, with the terminal that opened it. One goroutine owns it; only admit and
// entered may be called from others.
type opening struct {
	env     *cli.Env
	flags   openOptions
	source  source
	hold    *auth.Hold // nil for viewers
	session string     // "" for all
	base    string     // base address of links
	public  bool       // browsers on other machines can open them
	dial    func(context.Context) (page.Link, error)
	tunnel  *tunnel // the tunnel for other devices if this command made one, or nil
	local   string  // the page's address on this machine
	lost    error   // the reason why the page is unreachable
	expires time.Time

	screen *os.File // nil where standard output is no terminal
	knocks chan waitingPage
	came   chan struct{}
	over   chan struct{} // closed when the user gets no further events
}

// source makes links and serves the pages.
type source interface {
	// Code returns the code of a new link.
	Code() (string, error)
	// Done returns a channel that is closed when no page can enter; Err then returns the reason, or
	// nil if the time is over.
	Done() <-chan struct{}
	Err() error
}

// waitingPage is an owner's page that waits for the user.
type waitingPage struct {
	page.Visitor
	ctx    context.Context //nolint:containedctx // as long as the page waits
	answer chan bool       // has room for one answer
}

func newOpening(env *cli.Env, hold *auth.Hold, in openOptions) *opening {
	o := &opening{
		env: env, flags: in, hold: hold, expires: time.Now().Add(in.forTime),
		knocks: make(chan waitingPage), came: make(chan struct{}), over: make(chan struct{}),
	}
	if out, ok := env.Out.(*os.File); ok && term.IsTerminal(int(out.Fd())) && !env.JSON {
		o.screen = out
	}
	return o
}

// run serves pages until ctx ends or their time is over. stop ends serve.
func (o *opening) run(ctx context.Context, serve func() error, stop func()) error {
	targets, _ := o.flags.notify.Read("open") // checkFlags has validated them
	defer o.flags.notify.Start(ctx, notices.Waiting{
		Targets: targets,
		Dial:    o.dial,
		Session: o.session,
		Secrets: o.flags.role == string(auth.RoleOwner),
		Link:    o.linkTo,
		Log:     slog.New(slog.DiscardHandler),
		Failed:  func(err error) { o.printEvent("Notifications do not arrive: %v.", err) },
	})()
	served := make(chan error, 1)
	go func() { served <- serve() }() // ends with stop, and is waited for
	err := o.waitReachable(ctx)
	if err == nil && ctx.Err() == nil {
		err = o.printLink()
	}
	if err == nil && ctx.Err() == nil {
		o.runTerminal(ctx, o.typedLines())
	}
	close(o.over)
	stop()
	return errors.Join(err, o.lost, <-served)
}

// waitReachable waits until other devices reach the page.
func (o *opening) waitReachable(ctx context.Context) error {
	if o.tunnel == nil {
		return nil
	}
	if !o.tunnel.there {
		o.printEvent("Running: %s", o.tunnel.command)
	}
	// otherwise the user ended it
	if err := o.tunnel.waitReachable(ctx, o.local); err != nil && ctx.Err() == nil {
		return cli.Fail(cli.StatusRefused, "open: --via %s: the page does not answer at https://%s: %w",
			o.flags.via, o.tunnel.host, err).
			WithHint("run it by hand to see why: " + o.tunnel.command)
	}
	if o.tunnel.there && o.screen == nil {
		_, _ = fmt.Fprintf(o.env.Err, "on the other device: %s\n", o.tunnel.command)
	}
	return nil
}

// printLink prints a new link.
func (o *opening) printLink() error {
	link, err := o.newLink()
	if err != nil {
		return err
	}
	switch {
	case o.env.JSON:
		return o.printLinkJSON(link)
	case o.screen == nil:
		return o.env.PrintLines(link)
	}
	where := "in a browser on this machine"
	if o.public {
		where = "in a browser"
	}
	var lines []string
	if o.tunnel != nil && o.tunnel.there {
		lines, where = []string{"On the other device run:", "", "  " + o.tunnel.command, ""}, "there"
	}
	lines = append(lines, "Open this link "+where+", within a minute:", "", "  "+link, "")
	if o.public { // a loopback link does not work on another device
		lines = append(lines, o.qrCode(link)...)
	}
	if o.tunnel != nil {
		lines = append(lines, o.tunnel.note)
	}
	return o.env.PrintLines(append(
		lines,
		o.describeRights(),
		fmt.Sprintf(
			"It stays open for %s, until %s. Enter makes a new link, Ctrl+C closes the page.",
			o.lifetimeText(), formatUntil(o.expires)))...)
}

func (o *opening) printLinkJSON(link string) error {
	answer := map[string]any{
		"url":     link,
		"role":    o.flags.role,
		"session": o.session,
		"expires": o.expires.UnixMilli(),
	}
	if o.tunnel != nil {
		answer["command"] = o.tunnel.command
	}
	return o.env.PrintJSON(answer)
}

// lifetimeText describes how long pages stay: a server may limit the time further.
func (o *opening) lifetimeText() string {
	if left := time.Until(o.expires); left < o.flags.forTime-time.Minute {
		return notice.Span(left.Round(time.Minute))
	}
	return notice.Span(o.flags.forTime)
}

// formatUntil formats a future time for the user.
func formatUntil(t time.Time) string {
	if t = t.Local(); time.Until(t) > 20*time.Hour {
		return t.Format("Mon 15:04")
	}
	return t.Format("15:04")
}

// printText prints a message to the user at the terminal.
func (o *opening) printText(format string, args ...any) {
	_, _ = fmt.Fprintf(o.env.Err, format, args...)
}

// printEvent reports an event, at a terminal only.
func (o *opening) printEvent(format string, args ...any) {
	if o.screen != nil {
		_, _ = fmt.Fprintf(o.env.Err, format+"\n", args...)
	}
}

// runTerminal handles the user's lines and the arriving pages, until the opening ends.
func (o *opening) runTerminal(ctx context.Context, lines <-chan string) {
	q := admission{o: o}
	for {
		knocks := o.knocks
		if q.page != nil { // one question at a time
			knocks = nil
		}
		select {
		case <-ctx.Done():
			return
		case <-o.tunnel.helperGone():
			o.lost = cli.Fail(cli.StatusRefused, "open: --via %s: %s has ended: %s", o.flags.via,
				o.flags.via, o.tunnel.helper.lastLine())
			return
		case <-o.source.Done():
			if o.source.Err() == nil {
				o.printEvent("Time is up: the page is closed.")
			}
			return
		case k := <-knocks:
			q.startQuestion(k)
		case <-q.pageGone():
			q.dropUnanswered()
		case line, open := <-lines:
			if !q.handleLine(line) && open {
				// an error of printing cannot be reported either
				if err := o.printLink(); err != nil {
					o.printEvent("No new link: %v", err)
				}
			}
			if !open {
				lines = nil
			}
		case <-o.came:
			o.printEvent("A page entered.")
		}
	}
}

// typedLines returns the lines that the user types, nil without a terminal.
func (o *opening) typedLines() <-chan string {
	in, err := o.env.RequirePerson()
	if err != nil {
		return nil
	}
	lines := make(chan string)
	// ends with the terminal or with the process
	go func() {
		defer close(lines)
		for scan := bufio.NewScanner(in); scan.Scan(); {
			select {
			case lines <- scan.Text():
			case <-o.over:
				return
			}
		}
	}()
	return lines
}

// errNotAdmitted is the reason of a refused page. The page shows its own text for it.
var errNotAdmitted = errors.New("the user said no")

// askAboutPage asks the user about an owner's page, and gives its key an owner's rights while the
// page is open.
func (o *opening) askAboutPage(ctx context.Context, v page.Visitor) (leave func(), err error) {
	k := waitingPage{Visitor: v, ctx: ctx, answer: make(chan bool, 1)}
	select {
	case o.knocks <- k:
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
	select {
	case yes := <-k.answer:
		if !yes {
			return nil, errNotAdmitted
		}
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
	name := "page-" + strings.TrimPrefix(v.ID, "p-")[:4] // short, since people read it
	if err := o.hold.Enrol(protocol.Signer{
		Name:    name,
		Types:   o.flags.types,
		Session: o.session,
	}, v.Key, o.expires); err != nil {
		_, _ = fmt.Fprintf(o.env.Err, "gateway: open: the page's key cannot be saved: %v\n", err)
		return nil, err
	}
	return func() {
		if err := o.hold.Revoke(name); err != nil {
			_, _ = fmt.Fprintf(o.env.Err,
				"gateway: open: the key of a page was not revoked: %v\nhint: gateway token "+
					"revoke %s\n", err, name)
		}
	}, nil
}

// reportEntry reports that a page entered.
func (o *opening) reportEntry(page.Visitor) {
	select {
	case o.came <- struct{}{}:
	case <-o.over:
	}
}
