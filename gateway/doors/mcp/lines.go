package mcp

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"sync"
	"unicode/utf8"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// maxLine is the longest message that is read, in bytes: many times the largest picture or paste.
const maxLine = 4 << 20

// lines reads and writes a client's messages, one per line (MCP, transports, stdio). The library
// ends its connection at the first malformed line, and with it the agent's programs. So lines
// checks each line first: it answers a malformed one with an error (JSON-RPC 2.0, 5.1), and the
// stream goes on.
type lines struct {
	in     *bufio.Reader
	closer io.Closer
	ready  []byte // messages that the library has not read yet
	// batches is set if the client's revision allows a line to be a list of messages.
	batches bool

	mu  sync.Mutex // one line at a time
	out io.WriteCloser

	cancelled cancelledRequests
}

func newLines(in io.ReadCloser, out io.WriteCloser) *lines {
	return &lines{in: bufio.NewReaderSize(in, 64<<10), closer: in, out: out}
}

// libraryTransport returns the transport for the library.
func (l *lines) libraryTransport() mcp.Transport {
	return &mcp.IOTransport{Reader: l, Writer: lineWriter{l}}
}

// Read returns bytes of the next messages. Only one goroutine may call it.
func (l *lines) Read(p []byte) (int, error) {
	for len(l.ready) == 0 {
		line, err := l.readLine()
		if len(line) > 0 && (err == nil || errors.Is(err, io.EOF)) {
			l.acceptLine(line)
		}
		if errors.Is(err, errTooLong) {
			l.refuseLine(nil, jsonrpc.CodeInvalidRequest, err)
			continue
		}
		if err != nil && len(l.ready) == 0 {
			return 0, err
		}
	}
	n := copy(p, l.ready)
	l.ready = l.ready[n:]
	return n, nil
}

// Close closes the stream from the client.
func (l *lines) Close() error { return l.closer.Close() }

var errTooLong = fmt.Errorf("a message has at most %d MiB", maxLine>>20)

// readLine reads a line without its line end; of one that is too long it keeps nothing.
func (l *lines) readLine() (line []byte, err error) {
	long := false
	for {
		part, err := l.in.ReadSlice('\n')
		if long = long || len(line)+len(part) > maxLine; long {
			line = nil
		} else {
			line = append(line, part...)
		}
		switch {
		case errors.Is(err, bufio.ErrBufferFull):
		case err == nil && long:
			return nil, errTooLong
		default:
			return bytes.TrimSpace(line), err
		}
	}
}

// acceptLine queues a message for the library, and refuses a malformed line.
func (l *lines) acceptLine(line []byte) {
	// a byte order mark, with which some systems begin each text
	line = bytes.TrimSpace(bytes.TrimPrefix(line, []byte("\ufeff")))
	switch {
	case len(line) == 0:
		return
	case !utf8.Valid(line) || !json.Valid(line):
		l.refuseLine(nil, jsonrpc.CodeParseError, errors.New("a line is not JSON in UTF-8: "+
			"write one whole message a line, and nothing else"))
		return
	case line[0] == '[':
		l.acceptBatch(line)
		return
	}
	message, err := jsonrpc.DecodeMessage(line)
	if err != nil {
		l.refuseLine(idOf(line), jsonrpc.CodeInvalidRequest, fmt.Errorf("not a message of "+
			"JSON-RPC 2.0: %w", err))
		return
	}
	if r, ok := message.(*jsonrpc.Request); ok {
		l.noteRequest(r)
	}
	l.ready = append(append(l.ready, line...), '\n')
}

func (l *lines) noteRequest(r *jsonrpc.Request) {
	switch {
	case r.Method == "initialize":
		var params struct {
			Version string `json:"protocolVersion"`
		}
		l.batches = json.Unmarshal(r.Params, &params) == nil && params.Version < batchless
	case r.IsCall():
		l.cancelled.remove(r.ID) // a client that uses an id again waits for an answer
	case r.Method == "notifications/cancelled":
		var params struct {
			ID any `json:"requestId"`
		}
		if json.Unmarshal(r.Params, &params) == nil {
			l.cancelled.add(params.ID)
		}
	}
}

// batchless is the first revision without lists of messages.
const batchless = "2025-06-18"

// acceptBatch splits a list of messages; each gets an answer of its own.
func (l *lines) acceptBatch(line []byte) {
	var batch []json.RawMessage
	if !l.batches || json.Unmarshal(line, &batch) != nil || len(batch) == 0 {
		l.refuseLine(nil, jsonrpc.CodeInvalidRequest, errors.New("a list is not a message: "+
			"write one message a line"))
		return
	}
	for _, message := range batch {
		if message = bytes.TrimSpace(message); message[0] == '[' {
			l.refuseLine(nil, jsonrpc.CodeInvalidRequest, errors.New("a list within a list of "+
				"messages"))
			continue
		}
		l.acceptLine(message)
	}
}

// idOf returns the id in a malformed message, or nil.
func idOf(line []byte) any {
	var m struct {
		ID any `json:"id"`
	}
	if json.Unmarshal(line, &m) != nil {
		return nil
	}
	switch m.ID.(type) {
	case string, float64:
		return m.ID
	}
	return nil
}

// refuseLine answers a malformed line.
func (l *lines) refuseLine(id any, code int, cause error) {
	type failure struct {
		Code    int    `json:"code"`
		Message string `json:"message"`
	}
	answer, err := json.Marshal(struct {
		Version string  `json:"jsonrpc"`
		ID      any     `json:"id"`
		Error   failure `json:"error"`
	}{"2.0", id, failure{code, cause.Error()}})
	if err == nil {
		// a client that has stopped reading ends the stream
		_, _ = lineWriter{l}.Write(append(answer, '\n'))
	}
}

// lineWriter writes whole lines to the client, also for the library.
type lineWriter struct{ l *lines }

func (w lineWriter) Write(p []byte) (int, error) {
	if w.l.cancelled.removeAnswered(p) {
		return len(p), nil
	}
	w.l.mu.Lock()
	defer w.l.mu.Unlock()
	return w.l.out.Write(p)
}

func (w lineWriter) Close() error { return w.l.out.Close() }
