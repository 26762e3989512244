package page

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"time"

	"terminalproxy/gateway/access/auth"
	"terminalproxy/gateway/doors/page/push"
	"terminalproxy/gateway/doors/page/waiting"
	"terminalproxy/protocol/pace"
)

const (
	// notifyAfter is how long an agent waits, without a viewer, before subscribed pages are
	// notified.
	notifyAfter = 10 * time.Second
	// pushFor is how long a push service keeps a message for an unreachable browser: as long as a
	// question stays open.
	pushFor = 10 * time.Minute
	// pushSecretFor is pushFor for a program's question for a secret.
	pushSecretFor = 110 * time.Second
	// pushRetry is the delay before the second try.
	pushRetry = 2 * time.Second
)

// notification is the message to a page's service worker. It names the agent and the session, and
// contains neither the screen nor the agent's own text.
type notification struct {
	Page    string `json:"page"`
	Session string `json:"session"`
	Agent   string `json:"agent"`
	Held    bool   `json:"held"`
	Epoch   uint64 `json:"epoch"`
	Owner   bool   `json:"owner"`          // the page may reclaim the keyboard
	Chat    bool   `json:"chat,omitempty"` // the agent needs an approval or an answer
	// Secret is the kind of secret that a program asks for which the agent started, or "".
	Secret string `json:"secret,omitempty"`
}

// pushSubject returns the sender's address for a push service.
func pushSubject(hosts []string) string {
	if len(hosts) > 0 {
		return "https://" + hosts[0]
	}
	return "https://localhost"
}

// handlePushKey answers with the key that signs pushes.
func (d *Door) handlePushKey(w http.ResponseWriter, _ *http.Request) {
	writeJSON(w, http.StatusOK, map[string]any{"key": d.cfg.Push.Key()})
}

// handleSubscribe stores the address for a page's notifications; an empty endpoint ends them.
func (d *Door) handleSubscribe(w http.ResponseWriter, r *http.Request) {
	var in struct{ Ticket, Endpoint, P256DH, Auth string }
	if err := decodeBody(w, r, &in); err != nil {
		writeError(w, err)
		return
	}
	v, free, err := d.useTicket(in.Ticket)
	if err != nil {
		writeError(w, err)
		return
	}
	defer free()
	var to *push.Subscription
	if in.Endpoint != "" {
		s, err := d.cfg.Push.Subscription(in.Endpoint, in.P256DH, in.Auth)
		if err != nil {
			writeError(w, &refusal{status: http.StatusBadRequest, message: err.Error()})
			return
		}
		to = &s
	}
	d.mu.Lock()
	v.push = to
	d.mu.Unlock()
	if to != nil {
		v.opening.startNotifying()
	}
	writeJSON(w, http.StatusOK, map[string]any{"notified": to != nil})
}

// startNotifying starts notifications for an opening, at its first subscribed page.
func (o *Opening) startNotifying() {
	d := o.door
	d.mu.Lock()
	defer d.mu.Unlock()
	if o.watched || o.ctx.Err() != nil {
		return
	}
	o.watched = true
	after := o.terms.NotifyAfter
	if after == 0 {
		after = notifyAfter
	}
	d.wg.Go(func() { // ends with the opening
		waiting.Run(o.ctx, waiting.Config{
			Session: o.terms.Session, After: after, Report: o.notifyVisitors, Log: d.cfg.Log,
			Secrets: o.terms.Role == auth.RoleOwner,
			Dial:    func(ctx context.Context) (waiting.Link, error) { return o.terms.Dial(ctx) },
		})
	})
}

// notifyVisitors notifies the subscribed pages.
func (o *Opening) notifyVisitors(a waiting.Ask) {
	d := o.door
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, v := range o.visitors {
		if to := v.push; to != nil && !v.pending {
			d.wg.Go(func() { o.notifyVisitor(v, to, a) }) // ends with the page, or after two tries
		}
	}
}

// notifyVisitor notifies one page, and removes a subscription that has ended.
func (o *Opening) notifyVisitor(v *visitor, to *push.Subscription, a waiting.Ask) {
	d := o.door
	payload, err := json.Marshal(notification{
		v.ID,
		a.SessionID,
		a.Agent,
		a.Held,
		a.Epoch,
		v.Role == auth.RoleOwner,
		a.Chat,
		a.Secret,
	})
	if err != nil {
		return
	}
	m := push.Message{Payload: payload, Keep: pushFor, Topic: a.SessionID}
	if a.Secret != "" {
		m.Keep, m.Topic = pushSecretFor, a.SessionID+" secret"
	}
	if err = d.cfg.Push.Send(v.ctx, *to, m); err != nil && !errors.Is(err, push.ErrGone) {
		if pace.Pause(v.ctx, pushRetry) == nil {
			err = d.cfg.Push.Send(v.ctx, *to, m)
		}
	}
	if err == nil || v.ctx.Err() != nil {
		return
	}
	d.cfg.Log.Warn("could not notify a page", "page", v.ID, "error", err)
	d.mu.Lock()
	defer d.mu.Unlock()
	if errors.Is(err, push.ErrGone) && v.push == to {
		v.push = nil
	}
}
