package auth

import (
	"errors"
	"net/http"

	"terminalproxy/protocol"
)

// Refusal is the error of a rejected request. The sender of the request may read it.
type Refusal struct {
	Status int           // of HTTP
	Code   protocol.Code // for answers that carry one
	Say    string
}

// Error implements error.
func (r *Refusal) Error() string { return r.Say }

// WriteRefusal answers a rejected request in plain text. Only a [Refusal] is shown; any other error
// is replaced by otherwise.
func WriteRefusal(w http.ResponseWriter, err error, otherwise string) {
	refusal, ok := errors.AsType[*Refusal](err)
	if !ok {
		refusal = &Refusal{Status: http.StatusInternalServerError, Say: otherwise}
	}
	if refusal.Status == http.StatusUnauthorized {
		w.Header().Set("WWW-Authenticate", "Bearer")
	}
	http.Error(w, refusal.Say, refusal.Status)
}
