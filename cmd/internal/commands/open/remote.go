package open

import (
	"context"
	"crypto/ed25519"
	"crypto/rand"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/gorilla/websocket"

	"terminalproxy/cmd/internal/cli"
	"terminalproxy/gateway/access/auth"
	"terminalproxy/gateway/client"
	"terminalproxy/gateway/doors/page"
	"terminalproxy/gateway/endpoint"
	"terminalproxy/protocol"
	"terminalproxy/protocol/pace"
)

const (
	linkPatience  = 5 * time.Second // for a server's answer
	byePatience   = time.Second     // for its answer to the last message
	firstPause    = 250 * time.Millisecond
	longestPause  = 5 * time.Second
	mostQuestions = 2 * protocol.MaxPages // pages that a server may ask about at once
)

// openAt makes links at a server, and admits the pages that enter by them.
func openAt(
	ctx context.Context, env *cli.Env, ep endpoint.Endpoint, id string, in openOptions,
) (err error) {
	role := auth.Role(in.role)
	if ep.Token, err = pageToken(env, ep, role); err != nil {
		return err
	}
	ep, way, session, err := pageGateway(ctx, env, ep, id)
	if err != nil {
		return err
	}
	hold, err := pageKeys(role)
	if err != nil {
		return err
	}
	if hold != nil {
		defer func() { err = errors.Join(err, hold.Close()) }()
	}
	o := newOpening(env, hold, in)
	o.session, o.base, o.dial = session, "http"+ep.URL("")[len("ws"):], dialPage(way)
	o.public = strings.HasPrefix(o.base, "https:")
	e := newRemotePages(o, ep)
	opened, err := e.connectOpening(ctx)
	if err != nil {
		return cli.WithGatewayHint(err)
	}
	o.source, o.expires = e, time.UnixMilli(opened.ExpiresAt)
	return o.run(ctx, e.serveUntilOver, e.close)
}

// pageGateway returns one of several gateways that answers, because a link leads to one gateway.
// session has the meaning of pageSession's.
func pageGateway(
	ctx context.Context, env *cli.Env, all endpoint.Endpoint, id string,
) (ep endpoint.Endpoint, way client.Config, session string, err error) {
	var absent []error
	for _, ep = range all.All() {
		way = env.ClientConfig(ep, protocol.PathView, "")
		session, err = pageSession(ctx, way, id)
		if f, ok := errors.AsType[*cli.Failure](err); !ok || f.Status != cli.StatusNoGateway {
			return ep, way, session, err
		}
		absent = append(absent, err)
	}
	return ep, way, "", errors.Join(absent...)
}

// pageToken returns the token that opens pages elsewhere: an owner's, or the named one for viewers'
// pages.
func pageToken(env *cli.Env, ep endpoint.Endpoint, role auth.Role) (string, error) {
	if role != auth.RoleOwner && ep.Token != "" {
		return ep.Token, nil
	}
	token, err := env.OwnerToken()
	if err != nil && role != auth.RoleOwner {
		return "", cli.Fail(cli.StatusForbidden, "open: the gateway at %s requires a token", ep).
			WithHint(
				"use --token-file with a token of role viewer or owner; create one there: gateway " +
					"token create NAME --role viewer")
	}
	return token, err
}

// remotePages holds the pages of an opening at a server. The server may restart: remotePages keeps
// the state that it needs, and sends it again.
type remotePages struct {
	o    *opening
	way  client.Config
	name string
	wish protocol.PageOpen // without keys

	ctx  context.Context //nolint:containedctx // its cause is why the opening is over
	over context.CancelCauseFunc
	wg   sync.WaitGroup // questions

	mu     sync.Mutex
	frames *client.Frames // nil while there is no connection
	wait   map[string]chan protocol.Message
	pages  map[string]*visiting // by key
}

// visiting is a page that entered, or that the user is asked about. All fields but the first three
// are guarded by remotePages.mu.
type visiting struct {
	page.Visitor
	ctx context.Context //nolint:containedctx // ends with the page
	end context.CancelFunc

	answered, in bool
	leave        func() // may be nil
}

func newRemotePages(o *opening, ep endpoint.Endpoint) *remotePages {
	e := &remotePages{
		o:    o,
		name: ep.String(),
		way: client.Config{
			Dial:   ep.DialContext,
			URL:    ep.URL(protocol.PathLinks),
			Header: ep.Header(),
		},
		wish: protocol.PageOpen{
			Secret:    rand.Text(),
			Role:      o.flags.role,
			SessionID: o.session,
			ExpiresAt: o.expires.UnixMilli(),
		},
		wait:  make(map[string]chan protocol.Message),
		pages: make(map[string]*visiting),
	}
	e.ctx, e.over = context.WithCancelCause(context.Background())
	return e
}

// connectOpening connects to the server and registers the opening.
func (e *remotePages) connectOpening(ctx context.Context) (*protocol.PageOpened, error) {
	frames, err := client.Open(ctx, e.way)
	if errors.Is(err, client.ErrNotServed) {
		return nil, cli.Fail(cli.StatusRefused, "open: the gateway at %s serves no web pages", e.name).
			WithHint(
				"start it there with: gateway serve --page; or serve the page on this machine: " +
					"gateway open --listen 127.0.0.1:0")
	}
	if err != nil {
		return nil, err
	}
	wish := e.wish
	wish.RequestID, wish.KeysB64 = protocol.NewID(), e.admittedKeys()
	defer context.AfterFunc(ctx, frames.Close)()
	defer time.AfterFunc(linkPatience, frames.Close).Stop()
	opened, err := requestOpening(frames, &wish)
	e.mu.Lock()
	defer e.mu.Unlock()
	if err == nil && e.ctx.Err() != nil {
		err = context.Cause(e.ctx)
	}
	if err != nil {
		frames.Close()
		return nil, err
	}
	e.frames = frames
	return opened, nil
}

// requestOpening sends the first request of a connection and returns its answer, which is the first
// message.
func requestOpening(frames *client.Frames, wish *protocol.PageOpen) (*protocol.PageOpened, error) {
	if err := frames.Send(wish); err != nil {
		return nil, err
	}
	frame, err := frames.Next()
	if err != nil {
		return nil, err
	}
	m, err := protocol.Decode(frame, protocol.MaxMessage)
	if err != nil {
		return nil, err
	}
	switch m := m.(type) {
	case *protocol.PageOpened:
		return m, nil
	case *protocol.Error:
		return nil, m
	}
	return nil, fmt.Errorf("the gateway answered a page.open with a %s", protocol.KindOf(m))
}

// admittedKeys returns the keys of the admitted pages, and forgets refused ones.
func (e *remotePages) admittedKeys() (keys [][]byte) {
	e.mu.Lock()
	defer e.mu.Unlock()
	for key, v := range e.pages {
		if v.answered && !v.in {
			delete(e.pages, key)
		}
		if v.in && len(keys) < protocol.MaxPages {
			keys = append(keys, []byte(key))
		}
	}
	return keys
}

// serveUntilOver reads the server's messages until the opening is over, and connects again after a
// lost connection. It returns the reason if it is a failure.
func (e *remotePages) serveUntilOver() error {
	for e.ctx.Err() == nil {
		err := e.read()
		backoff := pace.Backoff{First: firstPause, Longest: longestPause}
		for first := true; e.ctx.Err() == nil; first = false {
			if over := e.stopIfFinal(err); over {
				break
			}
			if first {
				e.o.printEvent("Lost the gateway: the page waits for it.")
			}
			_ = backoff.Pause(e.ctx) // the next iteration sees its end
			if _, err = e.connectOpening(e.ctx); err == nil {
				e.o.printEvent("The gateway is back.")
				break
			}
		}
	}
	return e.Err()
}

// stopIfFinal ends the opening if the reason rules out another connection.
func (e *remotePages) stopIfFinal(why error) (over bool) {
	closed, isClosed := errors.AsType[*websocket.CloseError](why)
	refused, isRefused := errors.AsType[*protocol.Error](why)
	switch failed, isFailed := errors.AsType[*cli.Failure](why); {
	case isFailed:
		e.over(failed)
	case isRefused && refused.Code != protocol.CodeUnavailable:
		e.over(refused)
	case isClosed && closed.Code == websocket.ClosePolicyViolation:
		e.over(cli.Fail(cli.StatusRefused, "open: %s", closed.Text))
	case !time.Now().Before(e.o.expires):
		e.over(errTimeOver)
	}
	return e.ctx.Err() != nil
}

var (
	errTimeOver = errors.New("time is up")
	errLeaving  = errors.New("the user ends it")
)

// Done returns a channel that is closed when no page can enter; Err then returns the reason, or nil
// if the time is over.
func (e *remotePages) Done() <-chan struct{} { return e.ctx.Done() }

// Err returns why the opening ended, nil if it did not fail.
func (e *remotePages) Err() error {
	if !time.Now().Before(e.o.expires) {
		return nil // the server's reason does not matter
	}
	if err := context.Cause(e.ctx); !errors.Is(err, errTimeOver) && !errors.Is(err, errLeaving) {
		return err
	}
	return nil
}

// read handles the server's messages, to the end of the connection.
func (e *remotePages) read() error {
	e.mu.Lock()
	frames := e.frames
	e.mu.Unlock()
	defer frames.Close()
	for {
		frame, err := frames.Next()
		if err != nil {
			e.mu.Lock()
			e.frames = nil
			e.mu.Unlock()
			return err
		}
		// a newer server can send other messages
		if m, err := protocol.Decode(frame, protocol.MaxMessage); err == nil {
			e.handleMessage(m)
		}
	}
}

func (e *remotePages) handleMessage(m protocol.Message) {
	switch m := m.(type) {
	case *protocol.PageKnock:
		e.handleKnock(m)
	case *protocol.PageGone:
		e.handlePageGone(string(m.KeyB64))
	default:
		e.mu.Lock()
		waiting := e.wait[protocol.RequestID(m)]
		delete(e.wait, protocol.RequestID(m))
		e.mu.Unlock()
		if waiting != nil {
			waiting <- m
		}
	}
}

// handleKnock handles a page that entered or wants to. It always asks about an owner's page and
// names it, even if the server has admitted it.
func (e *remotePages) handleKnock(m *protocol.PageKnock) {
	ask := m.Pending || auth.Role(e.wish.Role) == auth.RoleOwner
	e.mu.Lock()
	v := e.pages[string(m.KeyB64)]
	known := v != nil
	if !known && len(e.pages) < mostQuestions {
		v = &visiting{
			Visitor: page.Visitor{
				ID:   page.ID(e.wish.Secret, m.KeyB64),
				Role: auth.Role(e.wish.Role),
				Key:  ed25519.PublicKey(m.KeyB64),
			},
			in: !ask,
		}
		v.ctx, v.end = context.WithCancel(e.ctx)
		e.pages[string(m.KeyB64)] = v
	}
	again, in := known && v.answered && m.Pending, known && v.in
	e.mu.Unlock()
	switch {
	case v == nil:
	case again: // it missed the first answer
		e.sendMessage(&protocol.PageAdmit{KeyB64: v.Key, Admit: in})
	case known:
	case ask:
		e.wg.Go(func() { e.askAboutPage(v) }) // ends with the answer, or with the page
	default:
		e.wg.Go(func() { e.o.reportEntry(v.Visitor) }) // ends after the report, or with the opening
	}
}

// askAboutPage asks the user about the page. The question is worded here and names the key by which
// this machine's proxies would recognise the page.
func (e *remotePages) askAboutPage(v *visiting) {
	words, err := page.Words(v.Key)
	leave := func() {}
	if err == nil {
		v.Words = words
		leave, err = e.o.askAboutPage(v.ctx, v.Visitor)
	}
	e.mu.Lock()
	v.answered, v.in = true, err == nil
	gone := v.ctx.Err() != nil
	if err == nil && !gone {
		v.leave = leave
	}
	e.mu.Unlock()
	switch {
	case gone && err == nil:
		leave()
	case !gone:
		e.sendMessage(&protocol.PageAdmit{KeyB64: v.Key, Admit: err == nil})
	}
	if err == nil && !gone {
		e.o.reportEntry(v.Visitor)
	}
}

// handlePageGone revokes the key of a page that ended.
func (e *remotePages) handlePageGone(key string) {
	e.mu.Lock()
	v := e.pages[key]
	delete(e.pages, key)
	e.mu.Unlock()
	if v == nil {
		return
	}
	v.end()
	e.mu.Lock()
	leave := v.leave
	v.leave = nil
	e.mu.Unlock()
	if leave != nil {
		leave()
	}
}

// sendMessage sends a message if there is a connection.
func (e *remotePages) sendMessage(m protocol.Message) {
	e.mu.Lock()
	frames := e.frames
	e.mu.Unlock()
	if frames != nil {
		_ = frames.Send(m) // important messages are sent again over the next connection
	}
}

var errAway = errors.New("the gateway cannot be reached now: press Enter again when it is back")

// callServer sends the server a request and waits for the answer.
func (e *remotePages) callServer(
	m protocol.Message, patience time.Duration,
) (protocol.Message, error) {
	m, answer := protocol.WithRequestID(m, protocol.NewID()), make(chan protocol.Message, 1)
	e.mu.Lock()
	away := e.frames == nil
	e.wait[protocol.RequestID(m)] = answer
	e.mu.Unlock()
	defer func() {
		e.mu.Lock()
		defer e.mu.Unlock()
		delete(e.wait, protocol.RequestID(m))
	}()
	if away {
		return nil, errAway
	}
	e.sendMessage(m)
	select {
	case m := <-answer:
		return m, nil
	case <-time.After(patience):
		return nil, errAway
	}
}

// Code returns the code of a new link.
func (e *remotePages) Code() (string, error) {
	m, err := e.callServer(&protocol.PageCode{}, linkPatience)
	if err != nil {
		return "", err
	}
	if opened, ok := m.(*protocol.PageOpened); ok && opened.Code != "" {
		return opened.Code, nil
	}
	return "", fmt.Errorf("the gateway answered a page.code with a %s", protocol.KindOf(m))
}

// close ends the opening at the server, and here.
func (e *remotePages) close() {
	if e.ctx.Err() == nil {
		e.over(errLeaving) // before the server reports an end
		// an unreachable server ends it by itself
		_, _ = e.callServer(&protocol.PageClose{}, byePatience)
	}
	e.mu.Lock()
	if e.frames != nil {
		e.frames.Close()
	}
	e.mu.Unlock()
	e.wg.Wait()
}
