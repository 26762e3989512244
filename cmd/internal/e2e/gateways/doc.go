// Package gateways holds the end-to-end tests of gateways and their web pages: servers that end, stop
// and move, owners at a page, many agents at once. It has no code of its own.
package gateways
