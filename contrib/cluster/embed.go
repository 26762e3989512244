// Package cluster holds what belongs to several gateways: the settings of their NATS servers. Below it are a demonstration and a test of
// what happens when parts of such a cluster die.
package cluster

import _ "embed"

// NATSConf are the settings of the first of three servers, for operators to copy.
//
//go:embed nats.conf
var NATSConf string
