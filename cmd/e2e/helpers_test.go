package e2e_test

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"sync"
	"syscall"

	"golang.org/x/term"
)

// helpers are programs to run under proxy, by name.
var helpers = map[string]func(args []string) error{
	"listener": listener,
	"swap":     swap,
}

// listener writes every byte that it reads from its terminal to a file, until Ctrl+D. No byte means a signal to it.
func listener(args []string) error {
	f, err := os.OpenFile(args[0], os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	defer f.Close()
	was, err := term.MakeRaw(0)
	if err != nil {
		return err
	}
	defer func() { _ = term.Restore(0, was) }()
	signal.Ignore(syscall.SIGQUIT) // the terminal is raw: whoever sends one means the proxy
	fmt.Printf("listening proxy=%d pid=%d\r\n", os.Getppid(), os.Getpid())
	buf := make([]byte, 4096)
	for {
		n, err := os.Stdin.Read(buf)
		if err != nil {
			return err
		}
		if _, err := f.Write(buf[:n]); err != nil {
			return err
		}
		for _, b := range buf[:n] {
			if b == 4 {
				return nil
			}
		}
	}
}

// swap writes one file to its terminal and at the same time fills another with as much as it reads from there, both byte
// for byte.
func swap(args []string) error {
	out, err := os.ReadFile(args[0])
	if err != nil {
		return err
	}
	if _, err := term.MakeRaw(0); err != nil {
		return err
	}
	if _, err := os.Stdout.WriteString("go"); err != nil {
		return err
	}
	var wg sync.WaitGroup
	var writing error
	wg.Go(func() { _, writing = os.Stdout.Write(out) })
	in := make([]byte, len(out))
	_, err = io.ReadFull(os.Stdin, in)
	wg.Wait()
	return errors.Join(err, writing, os.WriteFile(args[1], in, 0o600))
}
