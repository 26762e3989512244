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
			"Connected proxies, agents, viewers and owners.", "role", now.Participants),
		metrics.Single("requests_waiting", "Requests that a proxy has not answered yet.", now.Waiting),
		metrics.Single("viewers", "Screens that are watched, once for each watcher.", now.Views),
		metrics.Single("frames_sent_total",
			"Frames of screens sent to watchers.", now.Frames),
		metrics.Single("frames_unacknowledged",
			"Frames sent and not acknowledged yet.", now.Unacknowledged),
		metrics.Labelled("dropped_total",
			"Messages that slow readers missed, and disconnected participants.", "kind", now.Dropped),
		metrics.Single("messages_sent_total",
			"Messages sent over WebSockets.", sent.Messages()),
		metrics.Single("messages_received_total",
			"Messages received over WebSockets.", received.Messages()),
		metrics.Single("sent_bytes_total", "Bytes of the sent messages.", sent.Bytes()),
		metrics.Single("received_bytes_total", "Bytes of the received messages.", received.Bytes()),
		metrics.Single("pages", "Connected web pages.", pages),
		metrics.Single("page_refusals_total",
			"Invalid codes of links, and tickets, from web pages.", refused),
		metrics.Single("tokens_refused_total",
			"Requests and connections without a valid token.", s.refused.Load()),
	}
	if s.others != nil {
		all = append(all, s.others.Stats()...)
	}
	return all
}
