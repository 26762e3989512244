package child

import "golang.org/x/sys/unix"

// calls are the system calls in which programs wait for input.
var calls = map[int64]call{
	unix.SYS_READ: readCall, unix.SYS_READV: readCall,
	unix.SYS_POLL: pollCall, unix.SYS_PPOLL: ppollCall,
	unix.SYS_SELECT: selectCall, unix.SYS_PSELECT6: selectCall,
	unix.SYS_EPOLL_WAIT: epollCall, unix.SYS_EPOLL_PWAIT: epollCall, unix.SYS_EPOLL_PWAIT2: epoll2Call,
	unix.SYS_RESTART_SYSCALL: restarted, unix.SYS_IO_URING_ENTER: hiddenCall,
}
