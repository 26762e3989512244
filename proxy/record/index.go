package record

import (
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"sort"
	"strings"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// maxKnown is how many recordings a directory knows; the oldest are forgotten. maxNote bounds the
// note of one, in bytes.
const (
	maxKnown = 500
	maxNote  = 256 << 10
)

// Known is a note about a recording, by which the user finds it again wherever it lies: a file in a
// directory of the user's.
type Known struct {
	ID      string    `json:"-"` // made by RegisterRecording
	File    string    `json:"file"`
	Begin   time.Time `json:"begin"`
	Session Session   `json:"session"`
}

// ErrUnknown is the error for a recording that is not known or no longer exists.
var ErrUnknown = errors.New("no recording has this id")

// known is the form of an id. It names a file, so nothing else is ever joined to a path.
var known = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^r-[a-z0-9]{16}$`) })

const noteSuffix = ".json"

// RegisterRecording makes a recording known in dir. It creates dir if necessary.
func RegisterRecording(dir string, k Known) error {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	note, err := json.Marshal(k)
	if err != nil || len(note) > maxNote {
		return fmt.Errorf("a note of %d bytes: %w", len(note), errors.Join(err, errors.ErrUnsupported))
	}
	forgetOldest(dir)
	id := "r-" + strings.ToLower(rand.Text()[:16])
	return os.WriteFile(filepath.Join(dir, id+noteSuffix), note, 0o600)
}

// forgetOldest makes room for another note.
func forgetOldest(dir string) {
	all := Recordings(dir)
	for _, k := range all[min(len(all), maxKnown-1):] {
		_ = os.Remove(filepath.Join(dir, k.ID+noteSuffix))
	}
}

// Recordings are those that a directory knows, the newest first, whether they are still there or
// not.
func Recordings(dir string) (all []Known) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil // nothing was ever recorded
	}
	for _, e := range entries {
		id, ok := strings.CutSuffix(e.Name(), noteSuffix)
		if !ok {
			continue
		}
		if k, err := Recording(dir, id); err == nil {
			all = append(all, k)
		}
	}
	sort.Slice(all, func(i, k int) bool { return all[i].Begin.After(all[k].Begin) })
	return all
}

// Recording is the one with an id that a directory knows. The error is ErrUnknown.
func Recording(dir, id string) (k Known, err error) {
	if !known().MatchString(id) {
		return k, ErrUnknown
	}
	file, err := openOwn(filepath.Join(dir, id+noteSuffix))
	if err != nil {
		return k, ErrUnknown
	}
	defer func() { _ = file.Close() }() // it was only read
	note, err := io.ReadAll(io.LimitReader(file, maxNote))
	if err != nil || json.Unmarshal(note, &k) != nil || !filepath.IsAbs(k.File) {
		return k, ErrUnknown
	}
	k.ID = id
	return k, nil
}

// Open opens the asciicast. The error is ErrUnknown where it is not the one that was recorded:
// gone, another one under its name, not the user's own, or no file.
func (k *Known) Open() (*os.File, error) {
	file, err := openOwn(k.File)
	if err != nil {
		return nil, ErrUnknown
	}
	if t, err := NewTape(file); err != nil || t.Header.Begin.Unix() != k.Begin.Unix() {
		_ = file.Close()
		return nil, ErrUnknown
	}
	return file, nil
}

// openOwn opens a regular file of the user's own for reading, and follows no symbolic link.
func openOwn(name string) (*os.File, error) {
	file, err := os.OpenFile(name, os.O_RDONLY|unix.O_NOFOLLOW|unix.O_NONBLOCK, 0)
	if err != nil {
		return nil, err
	}
	info, err := file.Stat()
	if err == nil {
		if st, ok := info.Sys().(*syscall.Stat_t); !ok || !info.Mode().IsRegular() || int(st.Uid) != os.Getuid() {
			err = os.ErrPermission
		}
	}
	if err != nil {
		_ = file.Close()
		return nil, err
	}
	return file, nil
}
