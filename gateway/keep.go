package gateway

import (
	"bufio"
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"slices"

	"terminalproxy/gateway/hub"
	"terminalproxy/protocol"
)

// keptDir is where ended sessions lie, beside the socket.
const keptDir = "ended"

// keeper keeps the ended sessions of a switchboard as files in memory (tmpfs), where the process that serves next finds them: also after
// this one was killed, and after a while in which nobody served. A file goes with its session's half hour; one for which nobody serves
// then goes with the next who does. In a directory on a disk nothing is kept. It writes on a goroutine of its own.
type keeper struct {
	dir   string
	hub   *hub.Hub
	log   *slog.Logger
	files map[string]string // by session; the goroutine's
	stop  chan struct{}
	done  chan struct{}
}

// keep reads what is kept in dir into the switchboard, to which nobody has come yet, and begins to keep what ends there. It returns nil
// where nothing is kept.
func keep(dir string, h *hub.Hub, log *slog.Logger) *keeper {
	if !inMemory(dir) {
		return nil
	}
	k := &keeper{
		dir: filepath.Join(dir, keptDir), hub: h, log: log, files: make(map[string]string), stop: make(chan struct{}), done: make(chan struct{}),
	}
	k.load()
	go k.run() // ends with close
	return k
}

func (k *keeper) run() {
	defer close(k.done)
	for {
		k.sync()
		select {
		case <-k.hub.Endings():
		case <-k.stop:
			k.sync()
			return
		}
	}
}

// close keeps the last ones. It is called once, before the switchboard is closed; k may be nil.
func (k *keeper) close() {
	if k != nil {
		close(k.stop)
		<-k.done
	}
}

// load publishes what is kept, in the order in which it ended.
func (k *keeper) load() {
	entries, err := os.ReadDir(k.dir)
	if err != nil {
		return // nothing was kept
	}
	var all [][]protocol.Message
	for _, e := range entries {
		path := filepath.Join(k.dir, e.Name())
		session, err := readKept(path)
		if err != nil || filepath.Base(path) != keptName(protocol.SessionID(session[0])) {
			k.log.Info("what is kept of an ended program cannot be read", "file", path, "error", err)
			_ = os.Remove(path)
			continue
		}
		k.files[protocol.SessionID(session[0])] = path
		all = append(all, session)
	}
	slices.SortFunc(all, func(a, b []protocol.Message) int { return cmp.Compare(endOf(a), endOf(b)) })
	peer := k.hub.Join(hub.Member{Role: hub.RoleProxy, Local: true})
	defer peer.Leave()
	for _, session := range all {
		for _, m := range session {
			peer.Handle(m)
		}
	}
}

// endOf is when a session ended, in Unix milliseconds.
func endOf(session []protocol.Message) int64 {
	end, _ := session[len(session)-1].(*protocol.SessionClose)
	return end.EndedAt
}

// readKept is a session as it was written: its opening first, its end last.
func readKept(path string) (session []protocol.Message, err error) {
	content, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	lines := bufio.NewScanner(bytes.NewReader(content))
	lines.Buffer(nil, protocol.MaxMessage+1)
	for lines.Scan() {
		m, err := protocol.Decode(lines.Bytes(), protocol.MaxMessage)
		if err != nil {
			return nil, err
		}
		session = append(session, m)
	}
	if err := lines.Err(); err != nil {
		return nil, err
	}
	if len(session) > 1 {
		_, opens := session[0].(*protocol.SessionOpen)
		if _, ends := session[len(session)-1].(*protocol.SessionClose); opens && ends {
			return session, nil
		}
	}
	return nil, fmt.Errorf("%s: no session from its opening to its end", path)
}

// keptName is the name of a session's file; its id may be one that no file can have.
func keptName(id string) string {
	sum := sha256.Sum256([]byte(id))
	return hex.EncodeToString(sum[:16])
}

// sync writes what has ended and is not kept, and removes what is forgotten.
func (k *keeper) sync() {
	ids, ok := k.hub.EndedIDs()
	if !ok {
		return // it forgot everything as it was closed
	}
	for _, id := range ids {
		if k.files[id] != "" {
			continue
		}
		path := filepath.Join(k.dir, keptName(id))
		if err := k.write(path, k.hub.Remains(id)); err != nil {
			k.log.Warn("what an ended program printed is kept by this process alone", "error", err)
			continue
		}
		k.files[id] = path
	}
	for id, path := range k.files {
		if !slices.Contains(ids, id) {
			_ = os.Remove(path)
			delete(k.files, id)
		}
	}
	_ = os.Remove(k.dir) // if nothing is in it
}

// write makes a file that only its owner can read, in one step.
func (k *keeper) write(path string, session []protocol.Message) error {
	if len(session) == 0 {
		return nil // it is forgotten meanwhile
	}
	var b bytes.Buffer
	for _, m := range session {
		frame, err := protocol.Encode(m)
		if err != nil {
			return err
		}
		b.Write(append(frame, '\n'))
	}
	if err := os.MkdirAll(k.dir, 0o700); err != nil {
		return err
	}
	fresh := path + ".new"
	if err := os.WriteFile(fresh, b.Bytes(), 0o600); err != nil {
		return err
	}
	return os.Rename(fresh, path)
}

// Kept reports whether ended sessions are kept in the directory of the local gateway, for who would have to serve to read them.
func Kept(dir string) bool {
	entries, err := os.ReadDir(filepath.Join(dir, keptDir))
	return err == nil && len(entries) > 0
}
