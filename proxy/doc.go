// Package proxy is one session on this machine: a program in a PTY on the user's terminal, byte-exact, which agents may
// observe through a gateway and type into while the user's grant lasts. It wires its parts, each of which has a package or
// file of its own, and starts and stops them in order.
//
// Four goroutines carry a session, and each mutable thing belongs to one of them: the input pump (keyboard, writing to the
// program, control), the copier (reading the program, writing to the screen), the observer (terminal model, snapshots,
// waits), and the link. Nothing between the keyboard, the program and the user's screen waits for the network, nor for the
// disk: the recorder, if there is one, writes on a goroutine of its own.
//
// Where to look: session.go makes the parts and plugs them together; life.go starts, stops and ends them; suspend.go and
// watchdog.go look after the terminal when the session rests or dies. A program that a shell may stop has a process beside
// it that leads its session (package child, leader_linux.go).
//
//   - From the program to the user: package copier (reads, filters, writes, and gives the terminal back), overlaid.go (plugs
//     package overlay, which is what the proxy itself shows).
//   - From the program to agents: package observer (the terminal model, and what agents see of it), observed.go (plugs it),
//     tally.go (how much the user types, to know a prompt for a secret by its answers), package recording
//     (what is recorded), recorded.go (plugs it).
//   - From agents to the program: package requests (what agents ask, type and say, and what they are told), requested.go (plugs
//     it).
//   - Control: package authority (who may type, as the pump asks), controlled.go (plugs it), detector.go (what is whose on the keyboard);
//     ports.go is what the pump and the copier read and write.
//   - Without a user's terminal: package host (starts and ends it), hosted.go (plugs it); package attach (people elsewhere), attached.go (plugs it).
package proxy
