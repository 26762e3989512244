package gateway

import "terminalproxy/gateway/httpapi"

// stats is what the metrics say of this server. docs/remote.md explains the names to operators.
func (s *Server) stats() []httpapi.Family {
	now := s.hub.Stats()
	sent, received := s.sockets.Traffic()
	pages, refused := 0, uint64(0)
	if s.cfg.Pages != nil {
		pages, refused = s.cfg.Pages.Stats()
	}
	all := []httpapi.Family{
		{Name: "sessions", Help: "Sessions, by state.", Label: "state", Values: values(now.Sessions)},
		{Name: "participants", Help: "Proxies, agents, viewers and owners that are connected.", Label: "role", Values: values(now.Participants)},
		one("requests_waiting", "Requests that a proxy has not answered yet.", now.Waiting),
		one("viewers", "Screens that somebody looks at, each as often as somebody does.", now.Views),
		one("frames_sent_total", "Frames of screens that were sent to those who look.", now.Frames),
		one("frames_unacknowledged", "Frames that were sent and are not acknowledged.", now.Unacknowledged),
		{Name: "dropped_total", Help: "What slow readers were not sent, and participants that were cut off.", Label: "kind", Values: values(now.Dropped)},
		one("messages_sent_total", "Messages that were sent over WebSockets.", sent.Messages()),
		one("messages_received_total", "Messages that came over WebSockets.", received.Messages()),
		one("sent_bytes_total", "Bytes of the messages that were sent.", sent.Bytes()),
		one("received_bytes_total", "Bytes of the messages that came.", received.Bytes()),
		one("pages", "Web pages that are connected.", pages),
		one("page_refusals_total", "Codes of links, and tickets, that were refused to web pages.", refused),
		one("tokens_refused_total", "Requests and connections without a token that is good.", s.refused.Load()),
	}
	if s.others != nil {
		all = append(all, s.others.Stats()...)
	}
	return all
}

func one[N int | uint64](name, help string, n N) httpapi.Family {
	return httpapi.Family{Name: name, Help: help, Values: map[string]float64{"": float64(n)}}
}

func values[N int | uint64](counts map[string]N) map[string]float64 {
	out := make(map[string]float64, len(counts))
	for word, n := range counts {
		out[word] = float64(n)
	}
	return out
}
