package opencode

import (
	"encoding/json"

	"terminalproxy/proxy/chat"
	"terminalproxy/proxy/chat/recent"
)

// Reader is the part of a driver in a conversation that takes in events.
func Reader(session string, report func(chat.Event)) (take func(kind, properties string)) {
	d := &Driver{turn: newTurn(), answered: recent.New[bool](namesMost), open: map[string]open{}, session: session, report: report}
	return func(kind, properties string) {
		d.handleEvent(event{Type: kind, Properties: json.RawMessage(properties)})
	}
}
