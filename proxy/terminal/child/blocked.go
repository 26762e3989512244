package child

import "time"

// Blocked is what the processes in the foreground do with the program's terminal, as the kernel
// reports it at one moment.
type Blocked struct {
	// Group is the process group that has the terminal, 0 if unknown.
	Group int
	// Leader is the name of the program that leads the group (proc(5), comm), "" if unknown.
	Leader string
	// Reads: a thread is blocked in a read of the terminal. The other fields then do not cover
	// the other processes.
	Reads bool
	// Polls: a thread sleeps in a poll, select or epoll that wants to read the terminal and nothing
	// else, for a second or longer unless something comes. A text editor may want to read other
	// descriptors as well.
	Polls bool
	// Shares: the same, but for other descriptors too: an idle event loop, or one that waits for an
	// answer from elsewhere.
	Shares bool
	// Loops: such a poll that ends within a second even without input.
	Loops bool
	// Leads is how long ago the leader of the group was started, and Youngest the newest living
	// process that it or its descendants started later; 0 without one.
	Leads, Youngest time.Duration
	// Relay is the name of a program that only passes the user's keys on, so that it polls the
	// terminal all the time, or leaves that to a server: the program behind it cannot be seen. It
	// is empty otherwise. Such a poll does not count as Polls.
	Relay string
	// Unclear: the kernel does not say on what some thread sleeps, because the process belongs to
	// another user or has more privileges, or because its calls are those of another architecture.
	Unclear bool
	// Asleep: no process of the group runs, is stopped, or waits for a disk.
	Asleep bool
	// Ran is the processor time that the threads of the group have used so far, in a unit of the
	// system. As long as it stays the same, no thread has run.
	Ran uint64
	// Threads is how many threads were examined.
	Threads int
}

// PollsTerminal reports whether a thread sleeps in a poll, select or epoll that wants to read the
// terminal, perhaps among others.
func (b Blocked) PollsTerminal() bool { return b.Polls || b.Shares || b.Loops }

// GroupLeader is the process that leads the foreground process group.
type GroupLeader struct {
	Group int
	Exe   string   // path of its executable
	Args  []string // its arguments, the first is its own name
	// Crowd: another process of the group has the terminal open.
	Crowd bool
}

// relays are the programs that stand between the terminal and another program. The kernel cuts
// names at 15 bytes.
var relays = map[string]bool{
	"ssh": true, "mosh-client": true, "telnet": true, "rlogin": true, "sudo": true, "sudo-rs": true,
	"su": true, "run0": true,
	"doas": true, "script": true, "scriptreplay": true, "zellij": true,
	"dtach": true, "abduco": true, "rlwrap": true, "expect": true, "docker": true, "podman": true,
	"nerdctl": true, "kubectl": true,
	"oc": true, "machinectl": true, "systemd-run": true, "lxc": true, "adb": true, "socat": true,
	"nc": true, "ncat": true,
	"picocom": true, "minicom": true, "cu": true, "proxy": true, "gateway": true, "asciinema": true,
	"ttyd": true,
}

// textEditors act only on keys, even if they also poll something else: the clipboard's display, a
// server of their own.
var textEditors = map[string]bool{
	"vi": true, "vim": true, "view": true, "vimdiff": true, "rvim": true, "ex": true, "nvim": true,
}

// lenders are relays that only sleep: their server, in a session of its own, has opened the
// terminal.
var lenders = map[string]bool{"tmux: client": true, "screen": true}
