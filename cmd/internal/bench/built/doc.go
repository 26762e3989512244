// Package built holds benchmarks of the built binaries. It has no code of its own, and runs on Linux alone.
//
//	go test -run '^$' -bench . ./cmd/internal/bench/built
//
// Some put them beside tmux, in one run and in turn: how soon an agent has a screen that it asks for, how soon it has what a
// program prints, what both cost, and what terminals cost in which nothing happens. Every way to look is measured in turn with tmux's own: one `tmux capture-pane -p` (a process each time), and a client in
// control mode (`tmux -C`, tmux(1)), which stays connected. The metrics are medians unless they say p99:
//
//   - p50-µs and p99-µs: from the question to the screen in the asker's hands; for what is printed, from just before the
//     program's write until the observer has it;
//   - transport-µs: a message there and one back of the same sizes, on the same kind of connection, to a process that does
//     nothing else; beyond-µs: p50 less that;
//   - cpu-µs: processor time for one of them, of all processes but the one that asks or observes (a client of tmux is
//     counted: it is part of that way);
//   - x-control and x-capture: the median and the processor time (cpu-x-…) as multiples of tmux's.
//
// Output, Key and Start put what a user has beside other wrappers, each with its lane's name before the unit: bare is nothing in between,
// copy a process that copies bytes from one terminal to another, agent `proxy --agent`. Processor time is without the program's.
//
// Line types a line for a program that reads lines, and has its answer: send-µs is one call of terminal_send, quiet-µs the same with quiet
// times behind the line and behind Enter, control-µs tmux's client in control mode, which looks until the answer is there.
//
// Viewers is people who look at one busy session, as many as a gateway may have to serve, some of whom do not read what they get.
// They are beside a process that writes the same bytes to as many WebSockets and does nothing else (x-bare):
//
//   - p50-ms and p99-ms: from just before the program's write until a viewer has the rows;
//   - cpu-µs/message: the gateway's processor time for one message and its acknowledgement;
//   - B/line: the bytes of a message about a line that scrolled.
//
// Times hold on a machine where nothing else runs; ratios hold on any.
package built
