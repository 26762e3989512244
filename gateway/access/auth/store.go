package auth

import (
	"bufio"
	"bytes"
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"terminalproxy/gateway/userdirs"
)

// Token is one entry of a [Store], which keeps only the hash of the token itself.
type Token struct {
	Name      string    `json:"name"`
	Role      Role      `json:"role"`
	Namespace string    `json:"namespace,omitempty"`
	Hash      string    `json:"sha256"`            // of the whole token, in hex
	Key       string    `json:"ed25519,omitempty"` // public half of the token's key, in hex
	Created   time.Time `json:"created"`
	Expires   time.Time `json:"expires,omitzero"`
	// Holder is the lock file, beside the store, of the process with which the token ends; see
	// [Store.RegisterHolder].
	Holder string `json:"holder,omitempty"`
	// Local marks the token of an agent on this machine. It opens no connection, and identifies the
	// agent when it asks for control.
	Local bool `json:"local,omitempty"`
	// Types means that the owner may type from elsewhere into a user's own terminal.
	Types bool `json:"types,omitempty"`
	// Session is the only session for which the owner's signature counts, or "" for all.
	Session string `json:"session,omitempty"`
}

// ErrUnknownToken is the error for every bad token: wrong, revoked and expired look the same.
var ErrUnknownToken = errors.New("the token is not known here, or has expired")

// Store is a file of token hashes: one JSON object per line, mode 0600, in a directory of mode
// 0700. Other processes may change it at any time; every call sees the newest state. All methods
// are safe for concurrent use.
type Store struct {
	path string
	now  func() time.Time

	mu     sync.Mutex
	seen   fs.FileInfo
	tokens []Token
}

const tokenPrefix = "tp_"

// OpenStore opens the file at path. The file and its directory may be missing; Create makes both.
// OpenStore rejects a file or directory that other users can access, and its error names the
// remedy. now may be nil.
func OpenStore(path string, now func() time.Time) (*Store, error) {
	if now == nil {
		now = time.Now
	}
	s := &Store{path: path, now: now}
	s.mu.Lock()
	defer s.mu.Unlock()
	return s, s.reloadIfChanged()
}

// Create makes a token, which cannot be read again later. Names are unique, 1 to 64 printable
// characters.
func (s *Store) Create(t Token) (token string, err error) {
	secret := make([]byte, 32)
	_, _ = rand.Read(secret) // never fails (crypto/rand)
	token = tokenPrefix + base64.RawURLEncoding.EncodeToString(secret)
	t.Hash, t.Key = hash(token), publicKey(token)
	if err := s.addToken(t); err != nil {
		return "", err
	}
	return token, nil
}

// addToken adds a new token to the file.
func (s *Store) addToken(t Token) error {
	switch {
	case t.Local && t.Role != RoleAgent:
		return errors.New("only an agent's token can be local")
	case !t.Role.Valid():
		return fmt.Errorf("role %q is not one of %v", t.Role, Roles)
	case !validName(t.Name):
		return fmt.Errorf(
			"token name %q: use 1 to 64 letters, digits, dots, dashes and underscores", t.Name,
		)
	case t.Namespace != "" && !validName(t.Namespace):
		return fmt.Errorf(
			"namespace %q: use 1 to 64 letters, digits, dots, dashes and underscores", t.Namespace,
		)
	}
	t.Created = s.now().UTC().Truncate(time.Second)
	return s.editFile(func(tokens []Token) ([]Token, error) {
		if slices.ContainsFunc(tokens, func(o Token) bool { return o.Name == t.Name }) {
			return nil, fmt.Errorf(
				"token %q already exists: revoke it first, or use another name", t.Name,
			)
		}
		return append(tokens, t), nil
	})
}

func validName(name string) bool {
	const allowed = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-"
	return len(name) > 0 && len(name) <= 64 && strings.Trim(name, allowed) == ""
}

func hash(token string) string {
	sum := sha256.Sum256([]byte(token))
	return hex.EncodeToString(sum[:])
}

// List returns all tokens, expired ones included, in the order of creation.
func (s *Store) List() ([]Token, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	err := s.reloadIfChanged()
	return slices.Clone(s.tokens), err
}

// Revoke removes a token by its name.
func (s *Store) Revoke(name string) error {
	return s.editFile(func(tokens []Token) ([]Token, error) {
		isMeant := func(t Token) bool { return t.Name == name }
		rest := slices.DeleteFunc(slices.Clone(tokens), isMeant)
		if len(rest) == len(tokens) {
			return nil, fmt.Errorf("unknown token %q", name)
		}
		return rest, nil
	})
}

// Verify returns the identity of a token. It compares all tokens, each in constant time.
func (s *Store) Verify(token string) (Identity, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.reloadIfChanged(); err != nil {
		return Identity{}, err
	}
	want, found := []byte(hash(token)), -1
	for i, t := range s.tokens {
		if subtle.ConstantTimeCompare(want, []byte(t.Hash)) == 1 && !t.Local {
			found = i
		}
	}
	if found < 0 || s.isExpired(s.tokens[found]) {
		return Identity{}, ErrUnknownToken
	}
	return s.tokens[found].identity(), nil
}

func (t Token) identity() Identity {
	return Identity{
		Role: t.Role, Name: t.Name, Namespace: t.Namespace, TokenID: t.Hash, Expires: t.Expires,
	}
}

// Identity returns the identity behind an [Identity.TokenID]. The error is ErrUnknownToken, or that
// of reading the file.
func (s *Store) Identity(tokenID string) (Identity, error) {
	t, err := s.findValid(func(t Token) bool { return t.Hash == tokenID && !t.Local })
	if err != nil {
		return Identity{}, err
	}
	return t.identity(), nil
}

// IsValid reports whether the token of an identity is still valid. If the file cannot be read, it
// is not.
func (s *Store) IsValid(tokenID string) bool { return s.CheckValid(tokenID) == nil }

// CheckValid returns nil if the token of an identity is still valid. The error is ErrUnknownToken,
// or that of reading the file.
func (s *Store) CheckValid(tokenID string) error {
	_, err := s.findValid(func(t Token) bool { return t.Hash == tokenID })
	return err
}

// findValid returns the first token that matches and has not expired.
func (s *Store) findValid(match func(Token) bool) (Token, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.reloadIfChanged(); err != nil {
		return Token{}, err
	}
	for _, t := range s.tokens {
		if match(t) && !s.isExpired(t) {
			return t, nil
		}
	}
	return Token{}, ErrUnknownToken
}

func (s *Store) isExpired(t Token) bool { return !t.Expires.IsZero() && !s.now().Before(t.Expires) }

// reloadIfChanged reads the file if it has changed since it was read.
func (s *Store) reloadIfChanged() error {
	info, err := os.Stat(s.path)
	switch {
	case errors.Is(err, fs.ErrNotExist) && s.seen == nil:
		return nil // the file does not exist yet
	case errors.Is(err, fs.ErrNotExist): // an unmounted disk revokes no token
		return fmt.Errorf(
			"token file: %s has disappeared: restore it, or restart to begin without tokens",
			s.path,
		)
	}
	if err != nil {
		return fmt.Errorf("token file: %w", err)
	}
	if s.seen != nil && os.SameFile(info, s.seen) && info.ModTime().Equal(s.seen.ModTime()) &&
		info.Size() == s.seen.Size() {
		return checkMode(s.path, info, 0o600)
	}
	tokens, err := readTokens(s.path)
	if err != nil {
		return err
	}
	s.seen, s.tokens = info, tokens
	return nil
}

func readTokens(path string) ([]Token, error) {
	if err := checkPrivate(path); err != nil {
		return nil, err
	}
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("token file: %w", err)
	}
	var tokens []Token
	lines := bufio.NewScanner(bytes.NewReader(data))
	for n := 1; lines.Scan(); n++ {
		if len(bytes.TrimSpace(lines.Bytes())) == 0 {
			continue
		}
		var t Token
		if err := json.Unmarshal(lines.Bytes(), &t); err != nil {
			return nil, fmt.Errorf("token file %s, line %d: %w", path, n, err)
		}
		if sum, err := hex.DecodeString(t.Hash); err != nil || len(sum) != sha256.Size ||
			!t.Role.Valid() || !validName(t.Name) {
			return nil, fmt.Errorf(
				"token file %s, line %d: not a token: name, role and sha256 are required", path, n,
			)
		}
		tokens = append(tokens, t)
	}
	if err := lines.Err(); err != nil {
		return nil, fmt.Errorf("token file %s: %w", path, err)
	}
	return tokens, nil
}

// editFile rewrites the file in one step, under a lock of the directory. So two processes do not
// lose each other's changes, and a reader sees either the old file or the new one.
func (s *Store) editFile(edit func([]Token) ([]Token, error)) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	dir := filepath.Dir(s.path)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return fmt.Errorf("directory of the token file: %w", err)
	}
	lock, err := os.Open(dir)
	if err != nil {
		return fmt.Errorf("directory of the token file: %w", err)
	}
	defer func() { _ = lock.Close() }() // releases the lock
	if err := syscall.Flock(int(lock.Fd()), syscall.LOCK_EX); err != nil {
		return fmt.Errorf("lock %s: %w", dir, err)
	}
	if info, err := lock.Stat(); err != nil {
		return err
	} else if err := checkMode(dir, info, 0o700); err != nil {
		return err
	}
	if err := s.reloadIfChanged(); err != nil {
		return err
	}
	tokens, err := edit(slices.Clone(s.tokens))
	if err != nil {
		return err
	}
	return s.write(dir, tokens)
}

func (s *Store) write(dir string, tokens []Token) error {
	var body bytes.Buffer
	enc := json.NewEncoder(&body)
	for _, t := range tokens {
		if err := enc.Encode(t); err != nil {
			return fmt.Errorf("token file: %w", err)
		}
	}
	tmp, err := os.CreateTemp(dir, ".tokens-*") // mode 0600
	if err != nil {
		return fmt.Errorf("token file: %w", err)
	}
	_, err = tmp.Write(body.Bytes())
	if err == nil {
		err = tmp.Sync()
	}
	if err = errors.Join(err, tmp.Close()); err == nil {
		err = os.Rename(tmp.Name(), s.path)
	}
	if err != nil {
		return fmt.Errorf("token file: %w", errors.Join(err, os.Remove(tmp.Name())))
	}
	s.seen = nil // forces a reload
	return s.reloadIfChanged()
}

// checkPrivate rejects a file that others can read, or that is in a directory where others could
// replace it.
func checkPrivate(path string) error {
	for _, p := range []struct {
		name string
		mode fs.FileMode
	}{{filepath.Dir(path), 0o700}, {path, 0o600}} {
		info, err := os.Stat(p.name)
		if err != nil {
			return fmt.Errorf("token file: %w", err)
		}
		if err := checkMode(p.name, info, p.mode); err != nil {
			return err
		}
	}
	return nil
}

func checkMode(name string, info fs.FileInfo, most fs.FileMode) error {
	if uid := userdirs.OwnerOf(info); uid != os.Getuid() {
		return fmt.Errorf(
			"%s belongs to user %d, not to you: keep secrets in files of your own", name, uid,
		)
	}
	if info.Mode().Perm()&^most != 0 {
		return fmt.Errorf(
			"%s has mode %04o, so other users can access the tokens: chmod %o %s",
			name, info.Mode().Perm(), most, name,
		)
	}
	return nil
}

// ReadTokenFile reads a client's token: the first line of a file that other users cannot read.
func ReadTokenFile(path string) (string, error) {
	info, err := os.Stat(path)
	if err != nil {
		return "", fmt.Errorf("token file: %w", err)
	}
	if err := checkMode(path, info, 0o600); err != nil {
		return "", err
	}
	data, err := os.ReadFile(path)
	if err != nil {
		return "", fmt.Errorf("token file: %w", err)
	}
	line, _, _ := strings.Cut(string(data), "\n")
	token := strings.TrimSpace(line)
	isInvalid := func(r rune) bool { return r <= ' ' || r > '~' }
	if len(bytes.TrimSpace(data)) == 0 {
		return "", fmt.Errorf("token file %s is empty: create a new token with --out FILE", path)
	}
	if token == "" || strings.ContainsFunc(token, isInvalid) {
		return "", fmt.Errorf("token file %s: the first line is not a token", path)
	}
	return token, nil
}
