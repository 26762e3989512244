package local

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"sort"

	"terminalproxy/gateway/hub"
	"terminalproxy/protocol"
)

// keptDir is the directory of ended sessions, beside the socket.
const keptDir = "ended"

// keeper stores the ended sessions of a switchboard as files in memory (tmpfs), where the next
// process that serves finds them: even if this one is killed, and after a time without a server. A
// file is removed half an hour after its session's end, or by the next process that serves. In a
// directory on a disk nothing is stored. The keeper writes on a goroutine of its own.
type keeper struct {
	dir   string
	hub   *hub.Hub
	log   *slog.Logger
	files map[string]string // by session; owned by the goroutine
	stop  chan struct{}
	done  chan struct{}
}

// newKeeper loads the files in dir into the switchboard, which must not have participants yet, and
// starts to store what ends there. It returns nil if dir is not in memory.
func newKeeper(dir string, h *hub.Hub, log *slog.Logger) *keeper {
	if !inMemory(dir) {
		return nil
	}
	k := &keeper{
		dir:   filepath.Join(dir, keptDir),
		hub:   h,
		log:   log,
		files: make(map[string]string),
		stop:  make(chan struct{}),
		done:  make(chan struct{}),
	}
	k.loadSessions()
	go k.run() // ends with close
	return k
}

func (k *keeper) run() {
	defer close(k.done)
	for {
		k.syncFiles()
		select {
		case <-k.hub.EndedChanges():
		case <-k.stop:
			k.syncFiles()
			return
		}
	}
}

// close stores the last sessions. Call it once, before the switchboard is closed; k may be nil.
func (k *keeper) close() {
	if k != nil {
		close(k.stop)
		<-k.done
	}
}

// loadSessions publishes the kept sessions in the order in which they ended.
func (k *keeper) loadSessions() {
	entries, err := os.ReadDir(k.dir)
	if err != nil {
		return // nothing was stored
	}
	var all [][]protocol.Message
	for _, e := range entries {
		path := filepath.Join(k.dir, e.Name())
		session, err := readSessionFile(path)
		if err != nil || filepath.Base(path) != sessionFileName(protocol.SessionID(session[0])) {
			k.log.Info("cannot read the stored output of an ended program",
				"file", path,
				"error", err,
			)
			_ = os.Remove(path)
			continue
		}
		k.files[protocol.SessionID(session[0])] = path
		all = append(all, session)
	}
	sort.Slice(all, func(i, k int) bool { return endTime(all[i]) < endTime(all[k]) })
	peer := k.hub.Join(hub.Member{Role: hub.RoleProxy, Local: true})
	defer peer.Leave()
	for _, session := range all {
		for _, m := range session {
			peer.Handle(m)
		}
	}
}

// endTime returns the time when a session ended, in Unix milliseconds.
func endTime(session []protocol.Message) int64 {
	end, _ := session[len(session)-1].(*protocol.SessionClose)
	return end.EndedAt
}

// readSessionFile reads a session as it was written: its opening first, its end last.
func readSessionFile(path string) (session []protocol.Message, err error) {
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
	return nil, fmt.Errorf("%s: not a complete session", path)
}

// sessionFileName returns the name of a session's file. The session's id may be no valid file name.
func sessionFileName(id string) string {
	sum := sha256.Sum256([]byte(id))
	return hex.EncodeToString(sum[:16])
}

// syncFiles writes the sessions that have ended and have no file, and removes the files of
// forgotten ones.
func (k *keeper) syncFiles() {
	ids, ok := k.hub.EndedIDs()
	if !ok {
		return // the hub is closed and has dropped everything
	}
	for _, id := range ids {
		if k.files[id] != "" {
			continue
		}
		path := filepath.Join(k.dir, sessionFileName(id))
		if err := k.writeSession(path, k.hub.EndedSession(id)); err != nil {
			k.log.Warn("could not store the output of an ended program", "error", err)
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
	_ = os.Remove(k.dir) // only if it is empty
}

// writeSession writes a file that only its owner can read, in one step.
func (k *keeper) writeSession(path string, session []protocol.Message) error {
	if len(session) == 0 {
		return nil // it has been dropped meanwhile
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

// HasKeptSessions reports whether the directory of the local gateway has ended sessions. They can
// be read only while a process serves.
func HasKeptSessions(dir string) bool {
	entries, err := os.ReadDir(filepath.Join(dir, keptDir))
	return err == nil && len(entries) > 0
}
