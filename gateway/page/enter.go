package page

import (
	"crypto/ed25519"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"time"

	"terminalproxy/gateway/auth"
)

// codeLength is the length of a code: 80 bits in base 32.
const codeLength = 16

// refusal is a request that is turned away, as the page reads it.
type refusal struct {
	status  int // of HTTP
	say     string
	pending bool // it may come again when the user has answered
}

func (r *refusal) Error() string { return r.say }

var (
	errCode        = &refusal{status: http.StatusForbidden, say: "the link was used, or is more than a minute old: press Enter where gateway open runs for a new one"}
	errSlower      = &refusal{status: http.StatusTooManyRequests, say: "too many wrong codes: try again later"}
	errFull        = &refusal{status: http.StatusTooManyRequests, say: "8 pages are open already: close one"}
	errOften       = &refusal{status: http.StatusTooManyRequests, say: "too many tickets: try again in a minute"}
	errUnknownPage = &refusal{status: http.StatusForbidden, say: "the page is over: open a new link"}
	errSignature   = &refusal{status: http.StatusForbidden, say: "the signature is not by the key of this page"}
	errMoment      = &refusal{status: http.StatusForbidden, say: "the signature is not of this moment, or was used: sign again, and see that both clocks are right"}
	errPending     = &refusal{status: http.StatusConflict, say: "the user has not let this page in yet", pending: true}
	errGathering   = &refusal{status: http.StatusServiceUnavailable, say: "the server has just started, and the page is not known to it yet: come back"}
	errTicket      = errors.New("the ticket is not known, or was used: ask for another")
	errCrowd       = errors.New("64 connections of your address wait for their page already: come back")
)

// enter lets a page in that shows a code.
func (d *Door) enter(w http.ResponseWriter, r *http.Request) {
	var in struct{ Code, Key string }
	if err := read(w, r, &in); err != nil {
		refuse(w, err)
		return
	}
	key, err := hex.DecodeString(in.Key)
	if err != nil || len(key) != ed25519.PublicKeySize {
		refuse(w, &refusal{status: http.StatusBadRequest, say: `field "key": must be an Ed25519 key, 64 hex digits`})
		return
	}
	o, err := d.spend(in.Code)
	if err != nil {
		refuse(w, d.slow(r))
		return
	}
	words, err := Words(key)
	if err != nil {
		refuse(w, err)
		return
	}
	v, err := o.receive(key, words)
	if err != nil {
		refuse(w, err)
		return
	}
	d.mu.Lock()
	pending := v.pending
	d.mu.Unlock()
	answer(w, http.StatusOK, map[string]any{
		"page": v.ID, "role": v.Role, "words": v.Words, "expires": o.terms.Expires.UnixMilli(), "pending": pending,
	})
	if v.Role != auth.RoleOwner {
		o.entered(v)
	}
}

// slow lets who guesses wait for its answer.
func (d *Door) slow(r *http.Request) error {
	d.refused.Add(1)
	peer := auth.Address(r.RemoteAddr)
	d.cfg.Log.Warn("a wrong code", "peer", peer)
	wait := d.failures.Failed(peer)
	if wait == 0 {
		return errCode
	}
	free, ok := d.place(d.guesses, peer, maxGuesses)
	if !ok {
		return errSlower
	}
	defer free()
	select {
	case <-time.After(wait):
	case <-r.Context().Done():
	case <-d.ctx.Done():
	}
	return errCode
}

// place is one of the places that there are for an address; ok is false when they are taken.
func (d *Door) place(taken map[string]int, peer string, most int) (free func(), ok bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if taken[peer] == most {
		return nil, false
	}
	taken[peer]++
	return func() {
		d.mu.Lock()
		defer d.mu.Unlock()
		if taken[peer]--; taken[peer] == 0 {
			delete(taken, peer)
		}
	}, true
}

// ticket gives a page what opens one WebSocket.
func (d *Door) ticket(w http.ResponseWriter, r *http.Request) {
	var in struct {
		Page      string
		At        int64
		Signature string
	}
	if err := read(w, r, &in); err != nil {
		refuse(w, err)
		return
	}
	signature, err := hex.DecodeString(in.Signature)
	if err != nil {
		refuse(w, &refusal{status: http.StatusBadRequest, say: `field "signature": must be an Ed25519 signature, 128 hex digits`})
		return
	}
	name, err := d.issue(in.Page, in.At, signature)
	if err != nil {
		d.refused.Add(1)
		refuse(w, err)
		return
	}
	answer(w, http.StatusOK, map[string]any{"ticket": name})
}

// bodyTime is what a body may take: one that does not come must not hold its connection.
const bodyTime = 5 * time.Second

// read reads the JSON body of a request.
func read(w http.ResponseWriter, r *http.Request, into any) error {
	_ = http.NewResponseController(w).SetReadDeadline(time.Now().Add(bodyTime)) // the server sets its own time for what follows
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxBody))
	if err == nil {
		err = json.Unmarshal(body, into)
	}
	if err != nil {
		return &refusal{status: http.StatusBadRequest, say: "the body must be a JSON object of at most 4 KiB"}
	}
	return nil
}

// refuse answers with an error. One that is no refusal is the door's end, which a page may read.
func refuse(w http.ResponseWriter, err error) {
	no, ok := errors.AsType[*refusal](err)
	if !ok {
		no = &refusal{status: http.StatusForbidden, say: err.Error()}
	}
	body := map[string]any{"error": no.say}
	if no.pending {
		body["pending"] = true
	}
	answer(w, no.status, body)
}

func answer(w http.ResponseWriter, status int, body any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(body) // who went away misses nothing
}
