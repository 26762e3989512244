package record_test

import (
	"bytes"
	"encoding/json"
	"strings"
	"sync"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"terminalproxy/proxy/record"
)

// disk is a file in memory that may be full, or stop.
type disk struct {
	mu      sync.Mutex
	data    []byte
	room    int // bytes that it takes at most; negative: no bound
	stopped chan struct{}
	closed  bool
}

func newDisk() *disk { return &disk{room: -1} }

func (d *disk) WriteAt(p []byte, off int64) (int, error) {
	d.mu.Lock()
	stopped := d.stopped
	d.mu.Unlock()
	if stopped != nil {
		<-stopped
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	n := len(p)
	if d.room >= 0 {
		n = min(n, max(0, d.room-int(off)))
	}
	d.data = append(d.data[:min(int(off), len(d.data))], p[:n]...)
	if n < len(p) {
		return 0, syscall.ENOSPC // as os.File does
	}
	return n, nil
}

func (d *disk) Truncate(size int64) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.data = d.data[:min(int(size), len(d.data))]
	return nil
}

func (d *disk) Sync() error  { return nil }
func (d *disk) Close() error { d.closed = true; return nil }

func (d *disk) set(room int) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.room = room
}

// stop makes writes wait until the returned function is called.
func (d *disk) stop() (resume func()) {
	d.mu.Lock()
	defer d.mu.Unlock()
	stopped := make(chan struct{})
	d.stopped = stopped
	return func() {
		d.mu.Lock()
		d.stopped = nil
		d.mu.Unlock()
		close(stopped)
	}
}

func (d *disk) String() string {
	d.mu.Lock()
	defer d.mu.Unlock()
	return string(d.data)
}

// taping is a recorder in a bubble, with its files.
type taping struct {
	*record.Recorder
	t         *testing.T
	cast, log *disk
	failures  []error
	rooms     int
	screen    string // what ResumeOutput paints
	err       error
}

// tape runs test with a recorder in fake time, ends it, and returns what it left.
func tape(t *testing.T, test func(r *taping)) (after *taping) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		r := &taping{t: t, cast: newDisk(), log: newDisk()}
		after = r
		r.Recorder = record.New(record.Config{
			Cast: r.cast, Log: r.log,
			Header:  record.Header{Cols: 80, Rows: 24, Type: "xterm", Command: "vim a.txt", Title: "vim"},
			Session: record.Session{ID: "vim-aaaa", Command: "vim", Args: []string{"a.txt"}, Cols: 80, Rows: 24, Cast: "x.cast"},
			Failed:  func(err error) { r.failures = append(r.failures, err) },
			Room:    func() { r.rooms++; r.resume() },
		})
		ran := make(chan error, 1)
		go func() { ran <- r.Run() }()
		test(r)
		r.err = r.Close(time.Minute)
		require.Equal(t, r.err, <-ran)
	})
	return after
}

func (r *taping) resume() { r.ResumeOutput(func() []byte { return []byte(r.screen) }) }

// wait lets time pass, and the recorder write.
func (r *taping) wait(d time.Duration) { time.Sleep(d); synctest.Wait() }

// castEvent is a line of an asciicast, read strictly.
type castEvent struct {
	at   float64 // seconds since the beginning
	code string
	data string
}

// events reads an asciicast v3 as strictly as its documentation.
func events(t *testing.T, cast string) []castEvent {
	t.Helper()
	require.True(t, strings.HasSuffix(cast, "\n"), "it ends with a whole line")
	lines := strings.Split(strings.TrimSuffix(cast, "\n"), "\n")
	var header struct {
		Version int `json:"version"`
		Term    struct {
			Cols int    `json:"cols"`
			Rows int    `json:"rows"`
			Type string `json:"type"`
		} `json:"term"`
		Timestamp int64  `json:"timestamp"`
		Command   string `json:"command"`
		Title     string `json:"title"`
	}
	d := json.NewDecoder(strings.NewReader(lines[0]))
	d.DisallowUnknownFields()
	require.NoError(t, d.Decode(&header), lines[0])
	require.Equal(t, 3, header.Version)
	require.Positive(t, header.Term.Cols)
	require.Positive(t, header.Term.Rows)
	require.Positive(t, header.Timestamp)
	var got []castEvent
	at := 0.0
	for _, line := range lines[1:] {
		var parts []any
		require.NoError(t, json.Unmarshal([]byte(line), &parts), line)
		require.Len(t, parts, 3)
		interval, ok := parts[0].(float64)
		require.True(t, ok && interval >= 0, line)
		code, ok := parts[1].(string)
		require.True(t, ok && len(code) == 1, line)
		data, ok := parts[2].(string)
		require.True(t, ok, line)
		at += interval
		got = append(got, castEvent{at, code, data})
	}
	return got
}

// output returns what a recording shows.
func output(all []castEvent, code string) string {
	var b strings.Builder
	for _, e := range all {
		if e.code == code {
			b.WriteString(e.data)
		}
	}
	return b.String()
}

// entries reads an audit log that must be good.
func entries(t *testing.T, log string) []*record.Entry {
	t.Helper()
	var all []*record.Entry
	_, err := record.Read(strings.NewReader(log), func(e *record.Entry) error { all = append(all, e); return nil })
	require.NoError(t, err, log)
	return all
}

// of returns the entries of one kind.
func of(all []*record.Entry, kind record.Kind) []*record.Entry {
	var some []*record.Entry
	for _, e := range all {
		if e.Kind == kind {
			some = append(some, e)
		}
	}
	return some
}

func lineCount(s string) int { return bytes.Count([]byte(s), []byte{'\n'}) }
