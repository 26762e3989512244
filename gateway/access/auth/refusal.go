package auth

import (
	"errors"
	"net/http"

	"terminalproxy/protocol"
)

// Refusal is the error of a rejected request. It may be shown to the sender.
type Refusal struct {
	Status int           // HTTP status
	Code   protocol.Code // for answers that contain one
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
