package proxy

import (
	"crypto/rand"
	"encoding/base32"
	"os"
	"path/filepath"
	"strings"

	"terminalproxy/protocol"
)

// SessionVariable is the environment variable that tells a program inside a session the session's id.
const SessionVariable = "TERMINALPROXY_SESSION"

// identify gives the session its name and ids.
func (s *session) identify() {
	agent := s.conf.Agent
	if agent == nil {
		return
	}
	named := *agent
	if named.Name == "" {
		named.Name = filepath.Base(s.conf.Command)
	}
	s.conf.Agent = &named
	s.id = idName(named.Name) + "-" + random(4)
	s.resumeKey = random(32)
}

// idName is a name as part of an id.
func idName(name string) string {
	clean := strings.Map(func(r rune) rune {
		if r < 0x80 && protocol.ValidID(string(r)) {
			return r
		}
		return '_'
	}, name)
	return clean[:min(len(clean), 32)]
}

// random is n random characters of a-z and 2-7 (RFC 4648 base32 in lower case).
func random(n int) string {
	raw := make([]byte, (n*5+7)/8)
	_, _ = rand.Read(raw) // never fails (crypto/rand)
	return strings.ToLower(base32.StdEncoding.WithPadding(base32.NoPadding).EncodeToString(raw))[:n]
}

// dir is where the program starts.
func (s *session) dir() string {
	if s.conf.headless != nil {
		return s.conf.headless.Dir
	}
	dir, err := os.Getwd()
	if err != nil {
		return ""
	}
	return dir
}
