//go:build linux

package built_test

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/gorilla/websocket"
	"golang.org/x/sys/unix"
)

const (
	cols, rows = 120, 40
	// drawn stands on the marker's screen when all of it is drawn.
	drawn = "everything is drawn"
)

// marker is the program that is looked at: it fills its screen, and for every line from the FIFO that is its argument it
// writes a mark over one row, with the time just before it does so.
func marker(args []string) error {
	orders, err := os.OpenFile(args[0], os.O_RDWR, 0) // both, so that no end of file comes between two orders
	if err != nil {
		return err
	}
	defer orders.Close()
	var screen strings.Builder
	screen.WriteString("\x1b[2J\x1b[H")
	for row := range rows - 2 {
		fmt.Fprintf(&screen, "\x1b[%d;1H\x1b[3%dm%4d\x1b[m  -rw-r--r--  1 ada  staff  %6d  Jan %2d 12:%02d  \x1b[1mnotes-%d.txt\x1b[m  %s",
			row+1, row%7+1, row+1, row*7919, row%28+1, row%60, row, strings.Repeat("lorem ipsum ", row%5))
	}
	fmt.Fprintf(&screen, "\x1b[%d;1H%s", rows-1, drawn)
	if _, err := os.Stdout.WriteString(screen.String()); err != nil {
		return err
	}
	for lines := bufio.NewScanner(orders); lines.Scan(); {
		if _, err := fmt.Fprintf(os.Stdout, "\x1b[20;1H%s:%016xK\x1b[K", lines.Text(), monotonic()); err != nil {
			return err
		}
	}
	return nil
}

// monotonic is the time since some moment in nanoseconds, the same in all processes.
func monotonic() int64 {
	var now unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_MONOTONIC, &now); err != nil {
		panic(err) // Linux has this clock
	}
	return now.Nano()
}

// printed is the time in a text at which the mark in it was written, and whether all of the mark is there.
func printed(text, mark string) (at int64, ok bool) {
	_, rest, found := strings.Cut(text, mark+":")
	if !found || len(rest) < 17 || rest[16] != 'K' {
		return 0, false
	}
	at, err := strconv.ParseInt(rest[:16], 16, 64)
	return at, err == nil
}

// echo answers on a Unix socket every WebSocket message with as many bytes as it asks for.
func echo(args []string) error {
	local, err := net.Listen("unix", args[0])
	if err != nil {
		return err
	}
	fmt.Println("listening")
	server := &http.Server{Handler: http.HandlerFunc(echoMessages), ReadHeaderTimeout: time.Minute}
	return server.Serve(local)
}

func echoMessages(w http.ResponseWriter, r *http.Request) {
	conn, err := new(websocket.Upgrader).Upgrade(w, r, nil)
	if err != nil {
		return
	}
	defer conn.Close()
	for {
		_, message, err := conn.ReadMessage()
		if err != nil {
			return
		}
		size, _, _ := strings.Cut(string(message), " ")
		answer, err := filler(size)
		if err != nil || conn.WriteMessage(websocket.TextMessage, answer) != nil {
			return
		}
	}
}

// echoStdio answers every line on standard input with one of as many bytes as it asks for.
func echoStdio([]string) error {
	in := bufio.NewReaderSize(os.Stdin, 64<<10)
	for {
		line, err := in.ReadString('\n')
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		size, _, _ := strings.Cut(line, " ")
		answer, err := filler(size)
		if err != nil {
			return err
		}
		answer[len(answer)-1] = '\n'
		if _, err := os.Stdout.Write(answer); err != nil {
			return err
		}
	}
}

func filler(size string) ([]byte, error) {
	n, err := strconv.Atoi(size)
	if err != nil || n < 1 {
		return []byte{'?'}, errors.Join(errors.New("no number of bytes to answer with"), err)
	}
	return []byte(strings.Repeat("x", n)), nil
}

// ticker is a program with a log: for every number from the FIFO that is its argument it prints so many lines, ten in a second, each with
// the time just before it does so.
func ticker(args []string) error {
	orders, err := os.OpenFile(args[0], os.O_RDWR, 0) // both, so that no end of file comes between two orders
	if err != nil {
		return err
	}
	defer orders.Close()
	for line := range rows {
		fmt.Printf("\r\n\x1b[32m[%4d]\x1b[m %s", line, strings.Repeat("lorem ", line%12))
	}
	fmt.Print(drawn)
	n := 0
	return ticking(orders, func() error {
		n++
		_, err := fmt.Printf("\r\n\x1b[32m[%4d]\x1b[m cc -O2 -c src/module-%d.c %s:%016xK", n, n, tick, monotonic())
		return err
	})
}

// ticking does something ten times in a second, as often as the FIFO orders.
func ticking(orders io.Reader, do func() error) error {
	rhythm := time.NewTicker(tickEvery)
	defer rhythm.Stop()
	for lines := bufio.NewScanner(orders); lines.Scan(); {
		n, err := strconv.Atoi(lines.Text())
		if err != nil {
			return err
		}
		for range n {
			<-rhythm.C
			if err := do(); err != nil {
				return err
			}
		}
	}
	return nil
}

// fan writes to all WebSockets what a gateway would send of the ticker, and reads what comes. It prints its address.
func fan(args []string) error {
	orders, err := os.OpenFile(args[0], os.O_RDWR, 0)
	if err != nil {
		return err
	}
	defer orders.Close()
	tcp, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	all := &fanning{}
	server := &http.Server{Handler: all, ReadHeaderTimeout: time.Minute}
	go func() { _ = server.Serve(tcp) }() // ends with the process
	fmt.Println("ws://" + tcp.Addr().String())
	return ticking(orders, all.tick)
}

// fanning is the viewers of fan.
type fanning struct {
	mu    sync.Mutex
	seq   int
	conns []chan []byte
}

func (f *fanning) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	conn, err := new(websocket.Upgrader).Upgrade(w, r, nil)
	if err != nil {
		return
	}
	defer conn.Close()
	out := make(chan []byte, 100)
	out <- []byte(`{"type":"terminal.rows","seq":0}`)
	f.mu.Lock()
	f.conns = append(f.conns, out)
	f.mu.Unlock()
	go func() { // ends with the process
		for frame := range out {
			_ = conn.WriteMessage(websocket.TextMessage, frame)
		}
	}()
	for {
		if _, _, err := conn.ReadMessage(); err != nil {
			return
		}
	}
}

func (f *fanning) tick() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.seq++
	frame := fmt.Appendf(nil, `{"type":"terminal.rows","sessionId":"ticker-abcd","seq":%d,"rev":%d,"cols":120,"rows":40,"cursor":{"row":39,"col":70,"visible":true},`+
		`"since":%d,"moved":1,"changed":[{"row":39,"text":"\u001b[0;32m[   1]\u001b[0m cc -O2 -c src/module-1.c %s:%016xK"}]}`, f.seq, f.seq, f.seq-1, tick, monotonic())
	for _, out := range f.conns {
		select {
		case out <- frame:
		default:
		}
	}
	return nil
}
