package gateway

import "terminalproxy/gateway/httpapi"

// metricFamilies returns the metrics of this server. docs/remote.md explains the names to
// operators.
func (s *Server) metricFamilies() []httpapi.Family {
	now := s.hub.Stats()
	sent, received := s.sockets.Traffic()
	pages, refused := 0, uint64(0)
	if s.cfg.Pages != nil {
		pages, refused = s.cfg.Pages.Stats()
	}
	all := []httpapi.Family{
		{
			Name: "sessions", Label: "state", Values: labelValues(now.Sessions),
			Help: "Sessions, by state.",
		},
		{
			Name: "participants", Label: "role", Values: labelValues(now.Participants),
			Help: "Proxies, agents, viewers and owners that are connected.",
		},
		newFamily("requests_waiting", "Requests that a proxy has not answered yet.", now.Waiting),
		newFamily("viewers",
			"Screens that are watched, once for each watcher.", now.Views),
		newFamily("frames_sent_total",
			"Frames of screens that were sent to watchers.", now.Frames),
		newFamily("frames_unacknowledged",
			"Frames that were sent and not acknowledged yet.", now.Unacknowledged),
		{
			Name: "dropped_total", Label: "kind", Values: labelValues(now.Dropped),
			Help: "Messages that slow readers missed, and participants that were cut off.",
		},
		newFamily("messages_sent_total",
			"Messages that were sent over WebSockets.", sent.Messages()),
		newFamily("messages_received_total",
			"Messages that came over WebSockets.", received.Messages()),
		newFamily("sent_bytes_total", "Bytes of the messages that were sent.", sent.Bytes()),
		newFamily("received_bytes_total", "Bytes of the messages that came.", received.Bytes()),
		newFamily("pages", "Web pages that are connected.", pages),
		newFamily("page_refusals_total",
			"Codes of links, and tickets, that were refused to web pages.", refused),
		newFamily("tokens_refused_total",
			"Requests and connections without a valid token.", s.refused.Load()),
	}
	if s.others != nil {
		all = append(all, s.others.Stats()...)
	}
	return all
}

func newFamily[N int | uint64](name, help string, n N) httpapi.Family {
	return httpapi.Family{Name: name, Help: help, Values: map[string]float64{"": float64(n)}}
}

func labelValues[N int | uint64](counts map[string]N) map[string]float64 {
	out := make(map[string]float64, len(counts))
	for word, n := range counts {
		out[word] = float64(n)
	}
	return out
}
