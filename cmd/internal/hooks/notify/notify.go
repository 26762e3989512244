// Package notify sends short texts to a URL that the user chose: a topic of ntfy, an incoming
// webhook of Slack, or another receiver. It must not depend on sessions or write texts itself.
//
// The body is the text (text/plain), as ntfy expects it, with the link in the header Click. For
// hooks.slack.com, and for a URL that ends in #json, the body is {"text": TEXT LINK}
// (application/json), which Slack, Mattermost and others accept.
package notify

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"

	"terminalproxy/protocol/pace"
)

// Bounds of a poster.
const (
	tryFor    = 10 * time.Second // for one try
	retryWait = 2 * time.Second
	queued    = 16 // bound of waiting notes; further ones are lost
	maxHops   = 3  // redirects on one host
)

// Note is one text.
type Note struct {
	Text string
	Link string // may be ""
}

// Target receives notes.
type Target struct {
	url  string
	host string
	json bool
}

// Parse parses the URL of a flag. Its error names the expected form, without the URL's secrets.
func Parse(raw string) (Target, error) {
	u, err := url.Parse(raw)
	switch {
	case err != nil:
		return Target{}, errors.New("it is not a URL: write it as https://ntfy.sh/TOPIC")
	case u.Scheme != "https" && u.Scheme != "http":
		return Target{}, fmt.Errorf("scheme %.20q: must be https or http", u.Scheme)
	case u.Hostname() == "":
		return Target{}, errors.New("it names no host: write it as https://ntfy.sh/TOPIC")
	case u.User != nil:
		return Target{}, errors.New("it holds a user name or password, which anyone who lists " +
			"processes could read: use a URL without them")
	}
	t := Target{host: u.Host, json: u.Hostname() == "hooks.slack.com" || u.Fragment == "json"}
	u.Fragment = ""
	t.url = u.String()
	return t, nil
}

// Config configures a [Poster]. Target is required.
type Config struct {
	Target Target
	// Log gets the first failure after a success, and the first success after a failure; it may be
	// nil.
	Log *slog.Logger
	// Failed gets the same failures without the URL's path; it may be nil. It is called from the
	// poster's goroutine.
	Failed func(error)

	client *http.Client  // for tests
	wait   time.Duration // before the second try
}

// Poster sends notes, one after another. Its callers do not wait.
type Poster struct {
	conf   Config
	notes  chan Note
	ctx    context.Context
	cancel context.CancelFunc
	wg     sync.WaitGroup
	failed bool
}

// New starts a poster. Close it.
func New(conf Config) *Poster {
	conf.Log = cmp.Or(conf.Log, slog.New(slog.DiscardHandler))
	conf.wait = cmp.Or(conf.wait, retryWait)
	if conf.client == nil {
		conf.client = &http.Client{Timeout: tryFor}
	}
	conf.client.CheckRedirect = checkRedirect
	p := &Poster{conf: conf, notes: make(chan Note, queued)}
	p.ctx, p.cancel = context.WithCancel(context.Background())
	p.wg.Go(p.run) // ends with Close
	return p
}

// Post queues a note. It never waits: if the queue is full, the note is lost. Any goroutine may
// call it.
func (p *Poster) Post(n Note) {
	select {
	case p.notes <- n:
	default:
		p.conf.Log.Warn("a notification was dropped: too many wait")
	}
}

// Close ends the poster. Queued notes are lost.
func (p *Poster) Close() {
	p.cancel()
	p.wg.Wait()
	p.conf.client.CloseIdleConnections()
}

func (p *Poster) run() {
	for {
		select {
		case n := <-p.notes:
			p.reportChange(p.sendWithRetry(n))
		case <-p.ctx.Done():
			return
		}
	}
}

// reportChange logs a failure after a success, and a success after a failure.
func (p *Poster) reportChange(err error) {
	switch {
	case p.ctx.Err() != nil || (err != nil) == p.failed:
	case err == nil:
		p.conf.Log.Info("notifications arrive again", "host", p.conf.Target.host)
	default:
		p.conf.Log.Warn("notifications do not arrive", "host", p.conf.Target.host, "error", err)
		if p.conf.Failed != nil {
			p.conf.Failed(fmt.Errorf("%s: %w", p.conf.Target.host, err))
		}
	}
	p.failed = err != nil
}

// sendWithRetry sends a note, and tries once more if that may help.
func (p *Poster) sendWithRetry(n Note) error {
	retry, err := p.sendOnce(n)
	if !retry {
		return err
	}
	if pace.Pause(p.ctx, p.conf.wait) == nil {
		_, err = p.sendOnce(n)
	}
	return err
}

func (p *Poster) sendOnce(n Note) (retry bool, err error) {
	req, err := p.conf.Target.newRequest(p.ctx, n)
	if err != nil {
		return false, err
	}
	resp, err := p.conf.client.Do(req)
	if err != nil {
		fault := withoutURL(err)
		return !errors.Is(fault, errRedirected), fault
	}
	defer func() { _ = resp.Body.Close() }()
	_, _ = io.CopyN(io.Discard, resp.Body, 64<<10) // so that the connection can be used again
	switch {
	case resp.StatusCode < 300:
		return false, nil
	case resp.StatusCode >= 500 || resp.StatusCode == http.StatusTooManyRequests:
		retry = true
	}
	return retry, fmt.Errorf("unexpected status %d", resp.StatusCode)
}

// newRequest makes the request that sends a note.
func (t Target) newRequest(ctx context.Context, n Note) (*http.Request, error) {
	body, kind := []byte(n.Text), "text/plain; charset=utf-8"
	if t.json {
		var err error
		if body, err = json.Marshal(map[string]string{"text": strings.TrimSpace(n.Text + " " + n.Link)}); err != nil {
			return nil, err
		}
		kind = "application/json"
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, t.url, bytes.NewReader(body))
	if err != nil {
		return nil, errors.New("it is not a URL")
	}
	req.Header.Set("Content-Type", kind)
	req.Header.Set("User-Agent", "terminal-proxy")
	if n.Link != "" && !t.json {
		req.Header.Set("Click", n.Link)
	}
	return req, nil
}

var errRedirected = errors.New("it redirects to another host, or makes another request of this one")

// checkRedirect accepts redirects that stay on the host that the user chose and keep the POST.
func checkRedirect(req *http.Request, via []*http.Request) error {
	first := via[0]
	isSameSite := req.URL.Host == first.URL.Host && req.URL.Scheme == first.URL.Scheme
	if len(via) > maxHops || !isSameSite || req.Method != http.MethodPost {
		return errRedirected
	}
	return nil
}

// withoutURL removes the URL, which may be a secret, from a request's error.
func withoutURL(err error) error {
	if fault, ok := errors.AsType[*url.Error](err); ok {
		err = fault.Err
	}
	if timeout, ok := errors.AsType[net.Error](err); ok && timeout.Timeout() {
		return errors.New("it does not answer in time")
	}
	return err
}
