// Package cluster holds the settings of the NATS servers that several gateways share. Its
// subpackages are a demonstration, and a test of what happens when parts of a cluster die.
package cluster

import _ "embed"

// NATSConf holds the settings of the first of three servers, for operators to copy.
//
//go:embed nats.conf
var NATSConf string
