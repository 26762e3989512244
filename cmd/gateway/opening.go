package main

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

	"terminalproxy/gateway/auth"
	"terminalproxy/gateway/page"
	"terminalproxy/protocol"
)

// opening is a page while it is open, with the terminal that opened it. Its methods but admit and entered belong to one goroutine.
type opening struct {
	app     *app
	flags   openFlags
	source  source
	hold    *auth.Hold // nil for viewers
	session string     // "" for all
	base    string     // of links
	public  bool       // browsers of other machines can open them
	dial    func(context.Context) (page.Link, error)
	way     *way   // of other devices, nil for none that we make
	local   string // where the page is on this machine
	lost    error  // why the page cannot be reached any more
	expires time.Time

	screen *os.File // nil where standard output is no terminal
	knocks chan knock
	came   chan struct{}
	over   chan struct{} // closed when nobody is told any more
}

// source is where links are made, and the pages served.
type source interface {
	// Code is the code of a new link.
	Code() (string, error)
	// Done is closed when no page can come any more; Err is why then, nil because the time is over.
	Done() <-chan struct{}
	Err() error
}

// knock is an owner's page that waits for the user.
type knock struct {
	page.Visitor
	ctx    context.Context //nolint:containedctx // as long as the page waits
	answer chan bool       // takes one answer without a reader
}

func newOpening(a *app, hold *auth.Hold, in openFlags) *opening {
	o := &opening{
		app: a, flags: in, hold: hold, expires: time.Now().Add(in.forTime),
		knocks: make(chan knock), came: make(chan struct{}), over: make(chan struct{}),
	}
	if out, ok := a.out.(*os.File); ok && term.IsTerminal(int(out.Fd())) && !a.json {
		o.screen = out
	}
	return o
}

// run serves pages until ctx ends or their time is over. stop ends serve.
func (o *opening) run(ctx context.Context, serve func() error, stop func()) error {
	targets, _ := o.flags.notify.read("open") // check has read them, too
	defer o.flags.notify.start(ctx, notifying{
		targets: targets, dial: o.dial, session: o.session, link: o.linkTo, log: slog.New(slog.DiscardHandler),
		failed: func(err error) { o.tell("Notifications do not arrive: %v.", err) },
	})()
	served := make(chan error, 1)
	go func() { served <- serve() }() // ends with stop, and is waited for
	err := o.reach(ctx)
	if err == nil && ctx.Err() == nil {
		err = o.show()
	}
	if err == nil && ctx.Err() == nil {
		o.attend(ctx, o.lines())
	}
	close(o.over)
	stop()
	return errors.Join(err, o.lost, <-served)
}

// reach waits until other devices reach the page.
func (o *opening) reach(ctx context.Context) error {
	if o.way == nil {
		return nil
	}
	if !o.way.there {
		o.tell("Running: %s", o.way.command)
	}
	if err := o.way.try(ctx, o.local); err != nil && ctx.Err() == nil { // else the user has ended it
		return fail(statusRefused, "open: --via %s: the page does not answer at https://%s: %w", o.flags.via, o.way.host, err).
			hinted("run it by hand to see why: " + o.way.command)
	}
	if o.way.there && o.screen == nil {
		_, _ = fmt.Fprintf(o.app.err, "on the other device: %s\n", o.way.command)
	}
	return nil
}

// show prints a new link.
func (o *opening) show() error {
	link, err := o.link()
	if err != nil {
		return err
	}
	if o.app.json {
		said := map[string]any{"url": link, "role": o.flags.role, "session": o.session, "expires": o.expires.UnixMilli()}
		if o.way != nil {
			said["command"] = o.way.command
		}
		return o.app.printJSON(said)
	}
	if o.screen == nil {
		return o.app.print(link)
	}
	where := "in a browser on this machine"
	if o.public {
		where = "in a browser"
	}
	var lines []string
	if o.way != nil && o.way.there {
		lines, where = []string{"On the other device run:", "", "  " + o.way.command, ""}, "there"
	}
	lines = append(lines, "Open this link "+where+", within a minute:", "", "  "+link, "")
	if o.public { // on another device a loopback link leads nowhere
		lines = append(lines, o.code(link)...)
	}
	if o.way != nil {
		lines = append(lines, o.way.note)
	}
	return o.app.print(append(lines, o.may(),
		fmt.Sprintf("It stays open for %s, until %s. Enter makes a new link, Ctrl+C closes the page.", o.lasts(), until(o.expires)))...)
}

// lasts says for how long pages stay: a server may have them end sooner than was asked for.
func (o *opening) lasts() string {
	if left := time.Until(o.expires); left < o.flags.forTime-time.Minute {
		return lasts(left.Round(time.Minute))
	}
	return lasts(o.flags.forTime)
}

// until is a time as somebody reads it who is before it.
func until(t time.Time) string {
	if t = t.Local(); time.Until(t) > 20*time.Hour {
		return t.Format("Mon 15:04")
	}
	return t.Format("15:04")
}

// say says something to the user, who is there.
func (o *opening) say(format string, args ...any) { _, _ = fmt.Fprintf(o.app.err, format, args...) }

// tell says what happens, at a terminal only.
func (o *opening) tell(format string, args ...any) {
	if o.screen != nil {
		_, _ = fmt.Fprintf(o.app.err, format+"\n", args...)
	}
}

// attend deals with the user, who types these lines, and with the pages that come in, until there is an end.
func (o *opening) attend(ctx context.Context, lines <-chan string) {
	q := admission{o: o}
	for {
		knocks := o.knocks
		if q.of != nil { // one question at a time
			knocks = nil
		}
		select {
		case <-ctx.Done():
			return
		case <-o.way.gone():
			o.lost = fail(statusRefused, "open: --via %s: %s has ended: %s", o.flags.via, o.flags.via, o.way.helper.last())
			return
		case <-o.source.Done():
			if o.source.Err() == nil {
				o.tell("The time is over, the page is closed.")
			}
			return
		case k := <-knocks:
			q.begin(k)
		case <-q.gone():
			q.unanswered()
		case line, open := <-lines:
			if !q.answer(line) && open {
				if err := o.show(); err != nil { // where nothing can be printed there is nobody to tell
					o.tell("No new link: %v", err)
				}
			}
			if !open {
				lines = nil
			}
		case <-o.came:
			o.tell("A page came in.")
		}
	}
}

// lines are what the user types, nil without a terminal.
func (o *opening) lines() <-chan string {
	in, err := o.app.person()
	if err != nil {
		return nil
	}
	lines := make(chan string)
	go func() { // ends with the terminal, or with the process, which is about to end when nobody reads any more
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

// errNotLetIn is why a page stays outside. The page has its own words for it.
var errNotLetIn = errors.New("the user said no")

// admit asks the user about an owner's page, and makes its key an owner's for as long as the page is open.
func (o *opening) admit(ctx context.Context, v page.Visitor) (leave func(), err error) {
	k := knock{Visitor: v, ctx: ctx, answer: make(chan bool, 1)}
	select {
	case o.knocks <- k:
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
	select {
	case yes := <-k.answer:
		if !yes {
			return nil, errNotLetIn
		}
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
	name := "page-" + strings.TrimPrefix(v.ID, "p-")[:4] // short, since people read it
	if err := o.hold.Enrol(protocol.Signer{Name: name, Types: o.flags.types, Session: o.session}, v.Key, o.expires); err != nil {
		_, _ = fmt.Fprintf(o.app.err, "gateway: open: the page's key cannot be kept: %v\n", err)
		return nil, err
	}
	return func() {
		if err := o.hold.Revoke(name); err != nil {
			_, _ = fmt.Fprintf(o.app.err, "gateway: open: the key of a page was not revoked: %v\nhint: gateway token revoke %s\n", err, name)
		}
	}, nil
}

// entered tells the user that a page came in.
func (o *opening) entered(page.Visitor) {
	select {
	case o.came <- struct{}{}:
	case <-o.over:
	}
}
