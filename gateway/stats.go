package gateway

import "terminalproxy/gateway/metrics"

// metricFamilies returns the metrics of this server. docs/remote.md explains the names to
// operators.
func (s *Server) metricFamilies() []metrics.Family {
	now := s.hub.Stats()
	sent, received := s.sockets.Traffic()
	pages, refused := 0, uint64(0)
	if s.cfg.Pages != nil {
		pages, refused = s.cfg.Pages.Stats()
	}
	all := []metrics.Family{
		metrics.Labelled("sessions", "Sessions, by state.", "state", now.Sessions),
		metrics.Labelled("participants",
			"Proxies, agents, viewers and owners that are connected.", "role", now.Participants),
		metrics.Single("requests_waiting", "Requests that a proxy has not answered yet.", now.Waiting),
		metrics.Single("viewers", "Screens that are watched, once for each watcher.", now.Views),
		metrics.Single("frames_sent_total",
			"Frames of screens that were sent to watchers.", now.Frames),
		metrics.Single("frames_unacknowledged",
			"Frames that were sent and not acknowledged yet.", now.Unacknowledged),
		metrics.Labelled("dropped_total",
			"Messages that slow readers missed, and participants that were cut off.", "kind", now.Dropped),
		metrics.Single("messages_sent_total",
			"Messages that were sent over WebSockets.", sent.Messages()),
		metrics.Single("messages_received_total",
			"Messages that came over WebSockets.", received.Messages()),
		metrics.Single("sent_bytes_total", "Bytes of the messages that were sent.", sent.Bytes()),
		metrics.Single("received_bytes_total", "Bytes of the messages that came.", received.Bytes()),
		metrics.Single("pages", "Web pages that are connected.", pages),
		metrics.Single("page_refusals_total",
			"Codes of links, and tickets, that were refused to web pages.", refused),
		metrics.Single("tokens_refused_total",
			"Requests and connections without a valid token.", s.refused.Load()),
	}
	if s.others != nil {
		all = append(all, s.others.Stats()...)
	}
	return all
}
