package acp

import "terminalproxy/proxy/chat"

// Reader is the part of a driver in a conversation that takes in lines.
func Reader(session string, report func(chat.Event)) (line func([]byte)) {
	d := New(Config{Name: "eliza"})
	d.report, d.session = report, session
	return d.handleLine
}
