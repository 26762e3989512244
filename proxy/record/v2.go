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
)

// WriteV2 writes an asciicast v3 as v2, for players that are older than 2025: times count from the
// beginning, and only events that v2 knows stay. An incomplete last line is left out.
func WriteV2(dst io.Writer, src io.Reader) error {
	in, out := bufio.NewReaderSize(src, 1<<16), bufio.NewWriter(dst)
	header, err := readLine(in)
	if err != nil && !errors.Is(err, io.EOF) {
		return fmt.Errorf("line 1: %w", err)
	}
	if err := v2Header(out, header); err != nil {
		return fmt.Errorf("line 1: %w", err)
	}
	var at float64
	for n := 2; ; n++ {
		line, err := readLine(in)
		cut := err != nil
		switch {
		case cut && !errors.Is(err, io.EOF):
			return fmt.Errorf("line %d: %w", n, err)
		case cut && len(line) == 0:
			return out.Flush()
		case len(line) == 0 || line[0] == '#':
			continue
		}
		if err := v2Event(out, line, &at); err != nil && !cut {
			return fmt.Errorf("line %d: %w", n, err)
		}
	}
}

func v2Header(out *bufio.Writer, line []byte) error {
	var h struct {
		Version   int
		Term      struct{ Cols, Rows int }
		Timestamp int64
		Command   string
		Title     string
		Idle      float64 `json:"idle_time_limit"`
	}
	if err := json.Unmarshal(line, &h); err != nil || h.Version != 3 {
		return errors.New("it is not the header of an asciicast v3")
	}
	b, err := json.Marshal(struct {
		Version   int     `json:"version"`
		Width     int     `json:"width"`
		Height    int     `json:"height"`
		Timestamp int64   `json:"timestamp,omitempty"`
		Idle      float64 `json:"idle_time_limit,omitempty"`
		Command   string  `json:"command,omitempty"`
		Title     string  `json:"title,omitempty"`
	}{2, h.Term.Cols, h.Term.Rows, h.Timestamp, h.Idle, h.Command, h.Title})
	if err != nil {
		return fmt.Errorf("encode the header: %w", err)
	}
	_, err = out.Write(append(b, '\n'))
	return err
}

// v2Event writes one event; at is the time of the one before it, in seconds.
func v2Event(out *bufio.Writer, line []byte, at *float64) error {
	interval, code, data, err := parseEvent(line)
	if err != nil {
		return err
	}
	*at += interval
	switch code {
	case "o", "i", "m", "r":
	default:
		return nil
	}
	var b bytes.Buffer
	b.WriteByte('[')
	b.WriteString(strconv.FormatFloat(*at, 'f', 6, 64))
	b.WriteString(`, "` + code + `", `)
	b.Write(data)
	b.WriteString("]\n")
	_, err = out.Write(b.Bytes())
	return err
}

// parseEvent reads the line of an event. data is its string in JSON.
func parseEvent(line []byte) (interval float64, code string, data json.RawMessage, err error) {
	var parts []json.RawMessage
	if err := json.Unmarshal(line, &parts); err != nil || len(parts) != 3 {
		return 0, "", nil, errors.New("it is not an event: [INTERVAL, CODE, DATA]")
	}
	var text string
	switch {
	case json.Unmarshal(parts[0], &interval) != nil || interval < 0 || math.IsInf(interval, 0):
		err = errors.New("the event's interval is not a time")
	case json.Unmarshal(parts[1], &code) != nil || code == "":
		err = errors.New("the event has no code")
	case json.Unmarshal(parts[2], &text) != nil:
		err = errors.New("the event's data is not a string")
	}
	return interval, code, parts[2], err
}
