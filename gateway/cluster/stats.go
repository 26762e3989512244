package cluster

import "terminalproxy/gateway/metrics"

// ConnectionState reports whether the cluster is reachable, and the number of other gateways.
func (c *Cluster) ConnectionState() (online bool, gateways int) {
	return c.bus.isOnline(), c.mesh.countPeers()
}

// Problem returns the problem with the servers, and the operator's next step; both are "" without
// one.
func (c *Cluster) Problem() (problem, nextStep string) {
	looks, ok := c.bus.(interface{ wrong() Troubles })
	if !ok {
		return "", ""
	}
	all := looks.wrong()
	if len(all) == 0 {
		return "", ""
	}
	return all.Error(), all.Hint()
}

// Stats returns the cluster's metrics.
func (c *Cluster) Stats() []metrics.Family {
	online, gateways := c.ConnectionState()
	n := &c.mesh.stats
	return []metrics.Family{
		metrics.Single("cluster_connected", "Whether NATS is connected: 1, or 0.",
			map[bool]int{true: 1}[online]),
		metrics.Single("cluster_gateways", "Other gateways.", gateways),
		metrics.Single("cluster_sessions",
			"Sessions of other gateways that are listed here.", c.directory.countElsewhere()),
		metrics.Single("cluster_sessions_unclaimed",
			"Sessions here that are not in the directory.", len(c.claims.openClaims())),
		metrics.Single("cluster_links",
			"Connections of participants here to sessions elsewhere.", c.relay.countRoutes()),
		metrics.Single("cluster_remotes",
			"Participants of other gateways here, one for each session "+
				"that they use, and their lists.", c.remotes.count()),
		metrics.Single("cluster_messages_sent_total",
			"Messages sent to other gateways.", n.sent.Load()),
		metrics.Single("cluster_messages_received_total",
			"Messages received from other gateways.", n.got.Load()),
		metrics.Single("cluster_sent_bytes_total",
			"Bytes of the messages sent to other gateways.", n.sentBytes.Load()),
		metrics.Single("cluster_received_bytes_total",
			"Bytes of the messages received from other gateways.", n.gotBytes.Load()),
		metrics.Single("cluster_refused_total",
			"Messages of other gateways that this one refused: see the log.", n.refused.Load()),
		metrics.Single("cluster_uncontested_total",
			"Sessions that were opened while the directory did not answer.", c.claims.uncontested.Load()),
	}
}
