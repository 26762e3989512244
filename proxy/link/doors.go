package link

import (
	"errors"
	"net/http"

	"terminalproxy/protocol"
)

// place names the gateway that a connection leads to.
type place struct {
	door    int    // -1 before the first connection
	cluster string // the name of its cluster, or ""
}

// reportMove reports a connection to another gateway than before.
func (l *Link) reportMove(via transport) {
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

// refusal is the answer of a gateway that did not accept the connection.
type refusal struct {
	status int
	text   string
}

func (e *refusal) Error() string { return e.text }

// isFinalRefusal reports whether an error is an answer that will not change, so that another
// gateway is no way around it. A gateway that cannot serve now counts as absent.
func isFinalRefusal(err error) bool {
	if answer, ok := errors.AsType[*refusal](err); ok {
		return answer.status < http.StatusInternalServerError &&
			answer.status != http.StatusTooManyRequests
	}
	_, unproven := errors.AsType[*protocol.Error](err)
	return unproven
}
