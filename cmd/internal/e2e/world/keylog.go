package world

import (
	"fmt"
	"os"
	"strings"

	"golang.org/x/sys/unix"
	"golang.org/x/term"
)

// keylog notes when it has read how many bytes of its terminal, each time in a line "NANOSECONDS
// BYTES", and then redraws its whole screen.
func keylog(args []string) error {
	f, err := os.OpenFile(args[0], os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	defer f.Close()
	if _, err := term.MakeRaw(0); err != nil {
		return err
	}
	fmt.Print("listening")
	buf := make([]byte, 4096)
	for row := 0; ; row++ {
		n, err := os.Stdin.Read(buf)
		if err != nil {
			return err
		}
		if _, err := fmt.Fprintln(f, Monotonic(), n); err != nil {
			return err
		}
		if n == 1 && buf[0] == 4 {
			return nil
		}
		var screen strings.Builder
		for i := range 24 {
			fmt.Fprintf(&screen, "\x1b[%d;1H%d %s", i+1, row, strings.Repeat(string(rune('a'+(row+i)%26)), 70))
		}
		fmt.Print(screen.String())
	}
}

// Monotonic returns a time in nanoseconds since a moment that is the same in all processes.
func Monotonic() int64 {
	var now unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_MONOTONIC, &now); err != nil {
		panic(err) // every system that these tests run on has this clock
	}
	return now.Nano()
}
