package record

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"strings"
)

// origin is what the first entry has as the hash before it.
var origin = strings.Repeat("0", 2*sha256.Size)

// tailLen is the length of `,"hash":"…"}`, the end of each line.
const tailLen = len(`,"hash":"`) + 2*sha256.Size + len(`"}`)

// chain numbers and hashes the entries of an audit log. The hash of an entry is the SHA-256 (FIPS
// 180-4) of its line's bytes before `,"hash":`, in hexadecimal. They hold the hash of the line
// before, so changing, moving, adding or removing a line breaks all lines after it.
type chain struct {
	n    uint64
	prev string
}

func newChain() chain { return chain{prev: origin} }

// appendEntry appends the line of e, with its number and hashes.
func (c *chain) appendEntry(dst []byte, e Entry) ([]byte, error) {
	e.N, e.Prev, e.Hash = c.n+1, c.prev, ""
	var line bytes.Buffer
	j := json.NewEncoder(&line)
	j.SetEscapeHTML(false)
	if err := j.Encode(e); err != nil {
		return dst, fmt.Errorf("encode an entry: %w", err)
	}
	body := line.Bytes()[:line.Len()-len("}\n")]
	c.n, c.prev = e.N, digest(body)
	dst = append(dst, body...)
	dst = append(dst, `,"hash":"`...)
	dst = append(dst, c.prev...)
	return append(dst, "\"}\n"...), nil
}

func digest(b []byte) string {
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:])
}

// checkLine reads the next line of a log, without its newline. The error names the fault of the
// line.
func (c *chain) checkLine(line []byte) (*Entry, error) {
	e := new(Entry)
	if err := json.Unmarshal(line, e); err != nil {
		if c.n == 0 {
			return nil, fmt.Errorf("it is not an entry, so this is no audit log: %w", err)
		}
		return nil, fmt.Errorf("it is not an entry: %w", err)
	}
	body, ok := bytes.CutSuffix(line, []byte(`,"hash":"`+e.Hash+`"}`))
	switch {
	case !ok || len(line)-len(body) != tailLen:
		return nil, fmt.Errorf("it does not end with its hash")
	case digest(body) != e.Hash:
		return nil, fmt.Errorf("its hash does not match: it was changed")
	case e.N != c.n+1:
		return nil, fmt.Errorf("it is entry %d and should be entry %d: entries are missing, doubled or out of order", e.N, c.n+1)
	case e.Prev != c.prev:
		return nil, fmt.Errorf("it does not follow the entry before it")
	}
	c.n, c.prev = e.N, e.Hash
	return e, nil
}
