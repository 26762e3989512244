// Package tokens benchmarks what a terminal costs a model: how many calls it makes, and how many
// bytes it writes and reads, for scripted tasks. It compares the tools of `gateway mcp` with
// send-keys and pictures of the whole screen. It has no code of its own.
//
//	go test -run '^$' -bench . ./cmd/internal/dev/bench/tokens
package tokens
