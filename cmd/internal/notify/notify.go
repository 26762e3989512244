// Package notify sends short texts to a URL that the user named: a topic of ntfy, an incoming webhook of Slack, or a receiver of the
// user's own. It knows nothing of sessions and words nothing.
//
// The body is the text itself (text/plain), as ntfy takes it, with the link in the header Click. For hooks.slack.com, and for a URL
// that ends in #json, it is {"text": TEXT LINK} (application/json), which Slack, Mattermost and others take.
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
)

// Bounds of a poster.
const (
	tryFor    = 10 * time.Second // one try may take
	retryWait = 2 * time.Second
	queued    = 16 // texts that wait; more are lost
	maxHops   = 3  // redirects on one host
)

// Note is one text.
type Note struct {
	Text string
	Link string // "" for none
}

// Target is where notes go.
type Target struct {
	url  string
	host string
	json bool
}

// Parse reads the URL of a flag. Its error is a sentence that says what to write, without the URL's secrets.
func Parse(raw string) (Target, error) {
	u, err := url.Parse(raw)
	switch {
	case err != nil:
		return Target{}, errors.New("it is no URL: write it as https://ntfy.sh/TOPIC")
	case u.Scheme != "https" && u.Scheme != "http":
		return Target{}, fmt.Errorf("scheme %.20q: must be https or http", u.Scheme)
	case u.Hostname() == "":
		return Target{}, errors.New("it names no host: write it as https://ntfy.sh/TOPIC")
	case u.User != nil:
		return Target{}, errors.New("it holds a user name or password, which everybody who lists processes would read: use a URL without them")
	}
	t := Target{host: u.Host, json: u.Hostname() == "hooks.slack.com" || u.Fragment == "json"}
	u.Fragment = ""
	t.url = u.String()
	return t, nil
}

// Config is what a [Poster] needs. Target is required.
type Config struct {
	Target Target
	// Log is told of the first failure after a success, and of the first success after a failure; nil is silence.
	Log *slog.Logger
	// Failed is told of the same failures, in words without the URL's path; it may be nil. It is called from the poster's goroutine.
	Failed func(error)

	client *http.Client  // tests' own
	wait   time.Duration // before the second try
}

// Poster sends notes, one after another. Nobody waits for it.
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
	conf.client.CheckRedirect = sameHost
	p := &Poster{conf: conf, notes: make(chan Note, queued)}
	p.ctx, p.cancel = context.WithCancel(context.Background())
	p.wg.Go(p.run) // ends with Close
	return p
}

// Post sends a note soon. It never waits: when too many wait already, the note is lost. Any goroutine may call it.
func (p *Poster) Post(n Note) {
	select {
	case p.notes <- n:
	default:
		p.conf.Log.Warn("a notification was dropped: too many wait")
	}
}

// Close ends the poster. What it has not sent is lost.
func (p *Poster) Close() {
	p.cancel()
	p.wg.Wait()
	p.conf.client.CloseIdleConnections()
}

func (p *Poster) run() {
	for {
		select {
		case n := <-p.notes:
			p.told(p.send(n))
		case <-p.ctx.Done():
			return
		}
	}
}

// told says how it went, where that is news.
func (p *Poster) told(err error) {
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

// send tries twice, where a second try may help.
func (p *Poster) send(n Note) error {
	again, err := p.try(n)
	if !again {
		return err
	}
	select {
	case <-time.After(p.conf.wait):
	case <-p.ctx.Done():
		return err
	}
	_, err = p.try(n)
	return err
}

func (p *Poster) try(n Note) (again bool, err error) {
	req, err := p.conf.Target.request(p.ctx, n)
	if err != nil {
		return false, err
	}
	resp, err := p.conf.client.Do(req)
	if err != nil {
		fault := bare(err)
		return !errors.Is(fault, errElsewhere), fault
	}
	defer func() { _ = resp.Body.Close() }()
	_, _ = io.CopyN(io.Discard, resp.Body, 64<<10) // so that the connection can be used again
	switch {
	case resp.StatusCode < 300:
		return false, nil
	case resp.StatusCode >= 500 || resp.StatusCode == http.StatusTooManyRequests:
		again = true
	}
	return again, fmt.Errorf("it answers %d", resp.StatusCode)
}

// request is a note as the target takes it.
func (t Target) request(ctx context.Context, n Note) (*http.Request, error) {
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
		return nil, errors.New("it is no URL")
	}
	req.Header.Set("Content-Type", kind)
	req.Header.Set("User-Agent", "terminal-proxy")
	if n.Link != "" && !t.json {
		req.Header.Set("Click", n.Link)
	}
	return req, nil
}

var errElsewhere = errors.New("it redirects to another host, or makes another request of this one")

// sameHost follows redirects that stay where the user sent the note, and keep it a POST.
func sameHost(req *http.Request, via []*http.Request) error {
	first := via[0]
	if len(via) > maxHops || req.URL.Host != first.URL.Host || req.URL.Scheme != first.URL.Scheme || req.Method != http.MethodPost {
		return errElsewhere
	}
	return nil
}

// bare is an error of a request without its URL, which may be a secret.
func bare(err error) error {
	if fault, ok := errors.AsType[*url.Error](err); ok {
		err = fault.Err
	}
	if timeout, ok := errors.AsType[net.Error](err); ok && timeout.Timeout() {
		return errors.New("it does not answer in time")
	}
	return err
}
