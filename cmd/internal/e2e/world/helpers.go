package world

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"strconv"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
	"golang.org/x/term"

	"terminalproxy/cmd/internal/dev/binaries"
)

// Helpers are programs to run under proxy, by name.
var Helpers = binaries.Helpers{
	"listener":  listener,
	"swap":      swap,
	"modal":     modal,
	"asker":     asker,
	"sizes":     sizes,
	"asterisks": asterisks,
	"tap":       tap,
	"halfdeaf":  halfDeaf,
	"ledger":    ledger,
	"talker":    talker,
	"actor":     actor,
}

// listener writes every byte that it reads from its terminal to a file, until Ctrl+D. No byte is a
// signal to it.
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
	signal.Ignore(syscall.SIGQUIT) // the terminal is raw: a SIGQUIT is meant for the proxy
	fmt.Printf("listening proxy=%s pid=%d\r\n", AboveLeader(strconv.Itoa(os.Getppid())), os.Getpid())
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

// halfDeaf reads a given number of bytes from its terminal, and stops until a writer opens a named
// pipe; then it reads to Ctrl+D. It writes everything to a file.
func halfDeaf(args []string) error {
	var most int
	if _, err := fmt.Sscan(args[0], &most); err != nil {
		return err
	}
	if _, err := term.MakeRaw(0); err != nil {
		return err
	}
	fmt.Printf("reading %d\r\n", most)
	got := make([]byte, most)
	if _, err := io.ReadFull(os.Stdin, got); err != nil {
		return err
	}
	fmt.Print("deaf\r\n")
	if _, err := os.ReadFile(args[1]); err != nil {
		return err
	}
	for buf := make([]byte, 4096); ; {
		n, err := os.Stdin.Read(buf)
		got = append(got, buf[:n]...)
		if err != nil || bytes.IndexByte(got, 4) >= 0 {
			return errors.Join(err, os.WriteFile(args[2], got, 0o600))
		}
	}
}

// asterisks asks for a password and shows an asterisk for each key. Its question appears some time
// before the line settings change, as with sudo-rs. Its arguments are "echonl" or "raw", and
// "pieces" for a question that is printed in pieces.
func asterisks(args []string) error {
	fmt.Print("Password: ")
	time.Sleep(6 * time.Millisecond)
	settings := []string{"-icanon", "-echo", "-echonl"}
	if args[0] == "echonl" {
		settings[2] = "echonl"
	}
	if err := stty(settings...); err != nil {
		return err
	}
	if len(args) > 1 {
		for _, piece := range []string{"\r", "\x1b[K", "Pass", "word", ": "} {
			fmt.Print(piece)
			time.Sleep(20 * time.Millisecond)
		}
	}
	n := 0
	for buf := make([]byte, 1); ; n++ {
		if _, err := os.Stdin.Read(buf); err != nil {
			return err
		}
		if buf[0] == '\n' {
			break
		}
		fmt.Print("*")
	}
	fmt.Printf("\nlength %d\n", n)
	return stty("sane")
}

func stty(settings ...string) error {
	cmd := exec.CommandContext(context.Background(), "stty", settings...)
	cmd.Stdin = os.Stdin
	return cmd.Run()
}

// swap writes one file to its terminal and, at the same time, fills another with as many bytes from
// the terminal, both byte for byte.
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

// everything switches on all modes that killed programs are known to leave on.
const everything = "\x1b[2h\x1b[20h\x1b[?9001h\x1b[?1000h\x1b[?1003h\x1b[?1006h\x1b[?1004h\x1b[?2004h\x1b[?2027h\x1b[?2031h" +
	"\x1b[?1007h\x1b[?1h\x1b=\x1b[?5h\x1b[?45h\x1b[>1u\x1b[?1049h\x1b[>7u\x1b[>4;2m\x1b[>4;1f\x1b[2;5r\x1b[?69h\x1b[3;9s\x1b[?6h" +
	"\x1b[?7l\x1b[4h\x1b[5 q\x1b[1;31m\x1b]4;1;#fff\x07\x1b]11;#000\x1b\\\x1b[?25l\x1b[?2026h"

// modal switches everything on and leaves it on, raw mode included. It ends at Ctrl+D.
func modal([]string) error {
	if _, err := term.MakeRaw(0); err != nil {
		return err
	}
	fmt.Print("modal", everything)
	for b := make([]byte, 1); b[0] != 4; {
		if _, err := os.Stdin.Read(b); err != nil {
			return err
		}
	}
	return nil
}

// asker writes a file to its terminal. It writes all input to another file until the input pauses
// for a while.
func asker(args []string) error {
	question, err := os.ReadFile(args[0])
	if err != nil {
		return err
	}
	was, err := term.MakeRaw(0)
	if err != nil {
		return err
	}
	defer func() { _ = term.Restore(0, was) }()
	if _, err := os.Stdout.Write(question); err != nil {
		return err
	}
	var got []byte
	for buf := make([]byte, 4096); ; {
		const quiet = 500 // ms
		n, err := unix.Poll([]unix.PollFd{{Fd: 0, Events: unix.POLLIN}}, quiet)
		if errors.Is(err, unix.EINTR) {
			continue
		}
		if n <= 0 {
			return errors.Join(err, os.WriteFile(args[1], got, 0o600))
		}
		if n, err = unix.Read(0, buf); err != nil {
			return err
		}
		got = append(got, buf[:n]...)
	}
}

// sizes counts the changes of its terminal's size until a byte is typed, and writes the count and
// the last size to a file.
func sizes(args []string) error {
	if _, err := term.MakeRaw(0); err != nil {
		return err
	}
	changes, count := make(chan os.Signal, 10_000), 0
	signal.Notify(changes, syscall.SIGWINCH)
	fmt.Print("counting")
	_, err := os.Stdin.Read(make([]byte, 1))
	for len(changes) > 0 {
		<-changes
		count++
	}
	cols, rows, serr := term.GetSize(0)
	return errors.Join(err, serr, os.WriteFile(args[0], []byte(fmt.Sprintf("%d %dx%d", count, cols, rows)), 0o600))
}
