package render

import (
	"bytes"
	"encoding/json"
	"fmt"
	"time"
)

// IsCast reports whether b looks like an asciicast.
func IsCast(b []byte) bool {
	line, _, _ := bytes.Cut(b, []byte{'\n'})
	var h struct{ Version int }
	return json.Unmarshal(line, &h) == nil && h.Version >= 2
}

// Cast reads an asciicast of version 2 or 3: its output, its size and the changes of its size.
// Comments and events of other kinds are skipped. A file that was cut in its last line plays up to
// there.
func Cast(b []byte) (out []byte, o Options, err error) {
	o.Cols, o.Rows, err = events(b, func(e event) error {
		if e.kind == "o" {
			out = append(out, e.data...)
			return nil
		}
		r, err := ParseResize(fmt.Sprintf("%d:%s", len(out), e.data))
		o.Resizes = append(o.Resizes, r)
		return err
	})
	return out, o, err
}

// event is output ("o") or a change of size ("r", data COLSxROWS).
type event struct {
	at         time.Duration // since the beginning
	kind, data string
}

// events calls do for each output and change of size in an asciicast and returns the size in its
// header.
func events(b []byte, do func(event) error) (cols, rows int, err error) {
	line, b, _ := bytes.Cut(b, []byte{'\n'})
	h, err := castHeader(line)
	if err != nil {
		return 0, 0, err
	}
	var now float64 // seconds
	for n := 2; len(b) > 0; n++ {
		var whole bool
		line, b, whole = bytes.Cut(b, []byte{'\n'})
		if line = bytes.TrimSpace(line); len(line) == 0 || line[0] == '#' {
			continue
		}
		var fields [3]any
		if err := json.Unmarshal(line, &fields); err != nil {
			if !whole {
				break
			}
			return h.cols, h.rows, fmt.Errorf("asciicast line %d: %w", n, err)
		}
		at, _ := fields[0].(float64)
		if h.intervals {
			at += now
		}
		now = max(now, at)
		kind, _ := fields[1].(string)
		data, _ := fields[2].(string)
		if kind != "o" && kind != "r" {
			continue
		}
		if err := do(event{time.Duration(now * float64(time.Second)), kind, data}); err != nil {
			return h.cols, h.rows, fmt.Errorf("asciicast line %d: %w", n, err)
		}
	}
	return h.cols, h.rows, nil
}

// header is what the first line of an asciicast says.
type header struct {
	cols, rows int
	intervals  bool // times count from the event before
}

func castHeader(line []byte) (header, error) {
	var h struct {
		Version, Width, Height int
		Term                   struct{ Cols, Rows int }
	}
	if err := json.Unmarshal(line, &h); err != nil {
		return header{}, fmt.Errorf("asciicast header: %w", err)
	}
	switch h.Version {
	case 2:
		return header{cols: h.Width, rows: h.Height}, nil
	case 3:
		return header{cols: h.Term.Cols, rows: h.Term.Rows, intervals: true}, nil
	}
	return header{}, fmt.Errorf("asciicast version %d: versions 2 and 3 are known", h.Version)
}
