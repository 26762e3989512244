package world

import (
	"context"
	"io"
	"os"
	"os/exec"

	"github.com/creack/pty"
	"golang.org/x/term"
)

// tap runs a program in an inner terminal, and keeps what the program writes and reads in two
// files.
func tap(args []string) error {
	wrote, err := os.Create(args[0])
	if err != nil {
		return err
	}
	defer wrote.Close()
	reads, err := os.Create(args[1])
	if err != nil {
		return err
	}
	defer reads.Close()
	size, err := pty.GetsizeFull(os.Stdin)
	if err != nil {
		return err
	}
	if _, err := term.MakeRaw(0); err != nil {
		return err
	}
	cmd := exec.CommandContext(context.Background(), args[2], args[3:]...)
	inner, err := pty.StartWithSize(cmd, size)
	if err != nil {
		return err
	}
	defer inner.Close()
	go func() { // ends with the process
		_, _ = io.Copy(io.MultiWriter(reads, inner), os.Stdin)
	}()
	_, _ = io.Copy(io.MultiWriter(wrote, os.Stdout), inner) // ends with EIO
	return cmd.Wait()
}
