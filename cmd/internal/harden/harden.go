// Package harden keeps what this process holds, tokens and the program's terminal, from the other processes of the same
// user. It is for mistakes and for agents that act through the gateway: a process that runs as the user can still type into
// the user's terminals and change the user's files.
package harden

// Process makes this process closed to debuggers and to looks into its memory, environment and descriptors, and has the
// programs that it starts inherit none of the descriptors beyond the standard three that it was itself started with. It is
// to be called first of all. Failures are no reason to stop: the process is then as open as any other.
func Process() {
	closeMemory()
	closeOnExec()
}
