package link

import (
	"errors"
	"net/http"

	"terminalproxy/protocol"
)

// place is where a connection leads.
type place struct {
	door    int    // -1 for none yet
	cluster string // the name of the gateways that it belongs to, "" for one alone
}

// moved tells of another gateway than before.
func (l *Link) moved(via transport) {
	w, ok := via.(*wire)
	if !ok {
		return
	}
	before := l.at
	l.at = w.place
	if before.door < 0 || before.door == l.at.door || l.Moved == nil {
		return
	}
	l.Moved(l.turns.Name(l.at.door), before.cluster != "" && before.cluster == l.at.cluster)
}

// refusal is the answer of a gateway that did not take the connection.
type refusal struct {
	status int
	text   string
}

func (e *refusal) Error() string { return e.text }

// refused reports whether an error is an answer that will not change: another gateway is no way around it. Whoever answers that it
// cannot serve now is as good as absent.
func refused(err error) bool {
	if answer, ok := errors.AsType[*refusal](err); ok {
		return answer.status < http.StatusInternalServerError && answer.status != http.StatusTooManyRequests
	}
	_, unproven := errors.AsType[*protocol.Error](err)
	return unproven
}
