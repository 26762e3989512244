// Package proxy is one session on this machine: a program in a PTY on the user's terminal,
// byte-exact, which agents may observe through a gateway and type into while the user's grant
// lasts. It wires its parts, each of which has a package or file of its own, and starts and stops
// them in order.
//
// Four goroutines carry a session, and each mutable thing belongs to one of them: the input pump
// (keyboard, writing to the program, control), the copier (reading the program, writing to the
// screen), the observer (terminal model, snapshots, waits), and the link. Nothing between the
// keyboard, the program and the user's screen waits for the network or the disk: a recorder writes
// on a goroutine of its own.
//
// Where to look: config.go says what to run and who may observe it; session.go starts the program;
// wire.go makes the parts and plugs them together; ports.go is the session as each part sees it;
// identity.go has the session's names, its environment, and what it and the gateway tell each
// other; life.go starts, stops and ends the parts (package signals takes what it obeys); suspend.go
// gives the terminal up and takes it back; keep.go lets the session outlive its window; host.go is
// the session without a user's terminal.
//
//   - From the program to the user: package copier (reads, filters, writes, and gives the terminal
//     back), package overlay (what the proxy itself shows).
//   - From the program to agents: package observer (the terminal model, and what agents see of it),
//     package recording (what is recorded).
//   - From agents to the program: package requests (what agents ask, type and say, and what they
//     are told).
//   - A coding agent's conversation: package chat (the conversation and its agents' drivers),
//     package talk (who follows it from elsewhere), package beside (the agent's own interface in
//     the terminal).
//   - Control: package detector (what of the keyboard the user typed), package input (the pump),
//     package authority (who may type, as the pump asks, and what the user's rules say).
//   - To the user who looks elsewhere, and the user's own programs: package events (what happened,
//     and that an agent waits).
//   - The terminal, should this process be killed: package watchdog. A program that a shell may
//     stop has a process beside it that leads its session: package child, leader_linux.go. A
//     terminal that a session may leave is lent to it: package window.
//   - Without a user's terminal: package host (starts and ends it), package attach (people
//     elsewhere).
package proxy
