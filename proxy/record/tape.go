package record

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"strconv"
	"time"
)

// ErrNoCast is the error for a file of another format.
var ErrNoCast = errors.New("it is not an asciicast v2 or v3")

// Event is one of an asciicast, at a time since its beginning.
type Event struct {
	At   time.Duration
	Code byte
	Data string
}

// DecodeAuthor is the author that an event of the code CodeAuthor names.
func (e *Event) DecodeAuthor() (author Author) {
	// a foreign recording may use the code for something else
	_ = json.Unmarshal([]byte(e.Data), &author)
	return author
}

// Codes of events for readers.
const (
	CodeOutput = codeOutput
	CodeInput  = codeInput
	CodeMarker = codeMarker
	CodeResize = codeResize
	CodeExit   = codeExit
	CodeAuthor = codeAuthor
	CodeUser   = codeUser
)

// Tape reads an asciicast v3 or v2, also while it is written: only whole lines count, and a later
// call may find more. It holds one line in memory. One goroutine may use it.
type Tape struct {
	file  io.ReaderAt
	in    *bufio.Reader // nil before the file is read again from pos
	pos   int64
	lines int
	at    time.Duration
	// absolute: times count from the beginning, as v2 has them, and not from the event before.
	absolute bool
	Header   Header // without Title
}

// NewTape reads the header of an asciicast.
func NewTape(file io.ReaderAt) (*Tape, error) {
	t := &Tape{file: file}
	line, err := t.nextLine()
	if err != nil {
		return nil, ErrNoCast
	}
	var h struct {
		Version, Width, Height int
		Term                   struct{ Cols, Rows int }
		Timestamp              int64
		Command                string
	}
	if json.Unmarshal(line, &h) != nil || h.Version != 2 && h.Version != 3 {
		return nil, ErrNoCast
	}
	if t.absolute = h.Version == 2; t.absolute {
		h.Term.Cols, h.Term.Rows = h.Width, h.Height
	}
	t.Header = Header{Cols: h.Term.Cols, Rows: h.Term.Rows, Begin: time.Unix(h.Timestamp, 0), Command: h.Command}
	return t, nil
}

// nextLine returns the next whole line. io.EOF says that it is not written yet.
func (t *Tape) nextLine() ([]byte, error) {
	if t.in == nil {
		t.in = bufio.NewReaderSize(io.NewSectionReader(t.file, t.pos, math.MaxInt64-t.pos), 1<<16)
	}
	line, err := readLine(t.in)
	if err != nil {
		t.in = nil
		return nil, err
	}
	t.pos += int64(len(line)) + 1
	t.lines++
	return line, nil
}

// Next returns the next event, with its data if its code is wanted. io.EOF says that it is not
// written yet; after any other error the rest cannot be read.
func (t *Tape) Next(wanted func(code byte) bool) (Event, error) {
	for {
		line, err := t.nextLine()
		if err != nil {
			return Event{}, err
		}
		if line = bytes.TrimSpace(line); len(line) == 0 || line[0] == '#' {
			continue
		}
		e, when, err := parseLine(line, wanted)
		if err != nil {
			return Event{}, fmt.Errorf("line %d is not an event: %w", t.lines, err)
		}
		if t.absolute {
			when = max(when-t.at, 0)
		}
		t.at += when
		e.At = t.at
		return e, nil
	}
}

var errEvent = errors.New("it is not [interval, code, data]")

// parseLine reads a line. The data of output is most of a recording: unwanted data is not decoded.
func parseLine(line []byte, wanted func(code byte) bool) (e Event, when time.Duration, err error) {
	number, rest, ok := bytes.Cut(bytes.TrimPrefix(line, []byte{'['}), []byte{','})
	seconds, err := strconv.ParseFloat(string(bytes.TrimSpace(number)), 64)
	if !ok || err != nil || !(seconds >= 0 && seconds < 1e9) {
		return e, 0, errEvent
	}
	when = time.Duration(math.Round(seconds*1e6)) * time.Microsecond
	rest = bytes.TrimSpace(rest)
	if len(rest) < 3 || rest[0] != '"' {
		return e, 0, errEvent
	}
	e.Code = rest[1]
	if !wanted(e.Code) {
		return e, when, nil
	}
	var fields [3]any
	if err := json.Unmarshal(line, &fields); err != nil {
		return e, 0, errEvent
	}
	e.Data, _ = fields[2].(string)
	return e, when, nil
}
