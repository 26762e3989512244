// Package built holds benchmarks of the built binaries. It has no code of its own and runs only on
// Linux.
//
//	go test -run '^$' -bench . ./cmd/internal/dev/bench/built
//
// Read, Observe and Idle compare with tmux, in turn in one run: how soon an agent has the
// screen, how soon it has what a program prints, what both cost, and what idle terminals cost. tmux
// is measured as `tmux capture-pane -p` (a process each time) and as a client in control mode
// (`tmux -C`, tmux(1)), which stays connected. The metrics are medians unless they say p99:
//
//   - p50-µs and p99-µs: from the question until the asker has the screen; for output, from just
//     before the program's write until the observer has it;
//   - transport-µs: a message there and one back of the same sizes, on the same kind of connection,
//     to a process that does nothing else; beyond-µs: p50 less that;
//   - cpu-µs: processor time for one of them, of all processes except the one that asks or observes
//     (a client of tmux counts: it does a part of the work);
//   - x-control and x-capture: the median and the processor time (cpu-x-…) as multiples of tmux's.
//
// Output, Key and Start compare with other wrappers. Each metric has the lane's name before the
// unit: bare has nothing in between, copy is a process that copies bytes from one terminal to
// another, agent is `proxy --agent`. Processor time excludes the program's.
//
// Line types a line for a program that reads lines, and waits for its answer. send-µs is one call
// of terminal_send, quiet-µs the same with quiet times after the line and after Enter, control-µs
// tmux's client in control mode, which reads the screen until the answer is there.
//
// Viewers has as many people watch one busy session as a gateway may have to serve; some of them do
// not read their messages. It compares with a process that only writes the same bytes to as many
// WebSockets (x-bare):
//
//   - p50-ms and p99-ms: from just before the program's write until a viewer has the rows;
//   - cpu-µs/message: the gateway's processor time for one message and its acknowledgement;
//   - B/line: the bytes of a message about a line that scrolled.
//
// Times hold on a machine where nothing else runs; ratios hold on any.
package built
