package page

import (
	"crypto/ed25519"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"time"

	"terminalproxy/gateway/access/auth"
)

// codeLength is the length of a code: 80 bits in base 32.
const codeLength = 16

// refusal is the answer to a request that the door rejects.
type refusal struct {
	status  int // of HTTP
	message string
	pending bool // the page may try again after the user has answered
}

func (r *refusal) Error() string { return r.message }

func refuse(status int, message string) *refusal { return &refusal{status, message, false} }

var (
	errCode = refuse(http.StatusForbidden,
		"the link was used, or is more than a minute old: for a new one, press Enter "+
			"where gateway open runs")
	errSlower      = refuse(http.StatusTooManyRequests, "too many wrong codes: try again later")
	errFull        = refuse(http.StatusTooManyRequests, "8 pages are open already: close one")
	errConnections = refuse(http.StatusTooManyRequests, "the pages of this opening have 16 connections already: close one")
	errOften       = refuse(http.StatusTooManyRequests, "too many tickets: try again in a minute")
	errUnknownPage = refuse(http.StatusForbidden, "the page is closed: open a new link")
	errSignature   = refuse(http.StatusForbidden, "the signature does not match the key of this page")
	errMoment      = refuse(http.StatusForbidden,
		"the signature was used already, or its time is off: sign again, and check both "+
			"clocks")
	errPending   = &refusal{http.StatusConflict, "the user has not let this page in yet", true}
	errGathering = refuse(http.StatusServiceUnavailable, "the server has just started and does not know the page yet: try again")
	errTicket    = errors.New("the ticket is unknown, or was used: ask for another")
	errCrowd     = errors.New("64 connections from your address have not said hello yet: try " +
		"again later")
)

// handleEnter admits a page that shows a code.
func (d *Door) handleEnter(w http.ResponseWriter, r *http.Request) {
	var in struct{ Code, Key string }
	if err := decodeBody(w, r, &in); err != nil {
		writeError(w, err)
		return
	}
	key, err := hex.DecodeString(in.Key)
	if err != nil || len(key) != ed25519.PublicKeySize {
		writeError(w, &refusal{
			status:  http.StatusBadRequest,
			message: `field "key": must be an Ed25519 key, 64 hex digits`,
		})
		return
	}
	o, err := d.useCode(in.Code)
	if err != nil {
		writeError(w, d.delayGuess(r))
		return
	}
	words, err := Words(key)
	if err != nil {
		writeError(w, err)
		return
	}
	v, err := o.admitKey(key, words)
	if err != nil {
		writeError(w, err)
		return
	}
	d.mu.Lock()
	pending := v.pending
	d.mu.Unlock()
	writeJSON(w, http.StatusOK, map[string]any{
		"page":    v.ID,
		"role":    v.Role,
		"words":   v.Words,
		"expires": o.terms.Expires.UnixMilli(),
		"pending": pending,
	})
	if v.Role != auth.RoleOwner {
		o.reportEntered(v)
	}
}

// delayGuess counts a wrong code, and delays its answer.
func (d *Door) delayGuess(r *http.Request) error {
	d.refused.Add(1)
	peer := auth.Address(r.RemoteAddr)
	d.cfg.Log.Warn("wrong code", "peer", peer)
	wait := d.failures.NoteFailure(peer)
	if wait == 0 {
		return errCode
	}
	free, ok := d.reserveSlot(d.guesses, peer, maxGuesses)
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

// reserveSlot reserves one of an address's slots until free is called; ok is false if all are in
// use.
func (d *Door) reserveSlot(used map[string]int, peer string, limit int) (free func(), ok bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if used[peer] == limit {
		return nil, false
	}
	used[peer]++
	return func() {
		d.mu.Lock()
		defer d.mu.Unlock()
		if used[peer]--; used[peer] == 0 {
			delete(used, peer)
		}
	}, true
}

// handleTicket gives a page a ticket, which opens one WebSocket.
func (d *Door) handleTicket(w http.ResponseWriter, r *http.Request) {
	var in struct {
		Page      string
		At        int64
		Signature string
	}
	if err := decodeBody(w, r, &in); err != nil {
		writeError(w, err)
		return
	}
	signature, err := hex.DecodeString(in.Signature)
	if err != nil {
		writeError(w, &refusal{
			status:  http.StatusBadRequest,
			message: `field "signature": must be an Ed25519 signature, 128 hex digits`,
		})
		return
	}
	name, err := d.issueTicket(in.Page, in.At, signature)
	if err != nil {
		d.refused.Add(1)
		writeError(w, err)
		return
	}
	writeJSON(w, http.StatusOK, map[string]any{"ticket": name})
}

// bodyTimeout bounds the time for reading a body, so that one that does not come cannot hold its
// connection.
const bodyTimeout = 5 * time.Second

// decodeBody decodes the JSON body of a request.
func decodeBody(w http.ResponseWriter, r *http.Request, into any) error {
	// the server sets its own deadline for the rest
	_ = http.NewResponseController(w).SetReadDeadline(time.Now().Add(bodyTimeout))
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxBody))
	if err == nil {
		err = json.Unmarshal(body, into)
	}
	if err != nil {
		return &refusal{
			status:  http.StatusBadRequest,
			message: "the body must be a JSON object of at most 4 KiB",
		}
	}
	return nil
}

// writeError answers with an error. An error that is not a refusal explains why the page or the
// door has ended.
func writeError(w http.ResponseWriter, err error) {
	r, ok := errors.AsType[*refusal](err)
	if !ok {
		r = &refusal{status: http.StatusForbidden, message: err.Error()}
	}
	body := map[string]any{"error": r.message}
	if r.pending {
		body["pending"] = true
	}
	writeJSON(w, r.status, body)
}

func writeJSON(w http.ResponseWriter, status int, body any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(body) // fails if the client has disconnected
}
