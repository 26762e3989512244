package main

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// archive is the archive of one system.
type archive struct {
	OS, Arch    string // in the words of Go
	System, CPU names
	URL, SHA256 string
	programs    []file
	documents   []file
}

// names are other words for a word of Go.
type names struct{ NPM, Brew, Nix string }

var (
	systems = map[string]names{
		"darwin": {NPM: "darwin", Brew: "macos", Nix: "darwin"},
		"linux":  {NPM: "linux", Brew: "linux", Nix: "linux"},
	}
	processors = map[string]names{
		"amd64": {NPM: "x64", Brew: "intel", Nix: "x86_64"},
		"arm64": {NPM: "arm64", Brew: "arm", Nix: "aarch64"},
	}
)

// file is a file or a directory of a tar archive. A directory's name ends with a slash.
type file struct {
	name    string
	mode    int64
	owner   int // user and group
	content []byte
}

// documented lists the documents that stay with the programs wherever these go.
var documented = []string{"LICENSE", "README.md", "THIRD-PARTY"}

func (r release) readArchive(name string) (a archive, err error) {
	packed, err := os.ReadFile(name)
	if err != nil {
		return a, err
	}
	base := filepath.Base(name)
	system := strings.TrimSuffix(strings.TrimPrefix(base, r.Name+"-"+r.Version+"-"), ".tar.gz")
	a.OS, a.Arch, _ = strings.Cut(system, "-")
	a.System, a.CPU = systems[a.OS], processors[a.Arch]
	if a.System.NPM == "" || a.CPU.NPM == "" {
		return a, fmt.Errorf("%s: npm, Homebrew and Nix have no names here for this system", base)
	}
	a.URL, a.SHA256 = r.findURL(base), sumHex(packed)
	unpacked, err := gzip.NewReader(bytes.NewReader(packed))
	if err != nil {
		return a, fmt.Errorf("%s: %w", base, err)
	}
	for in := tar.NewReader(unpacked); ; {
		header, err := in.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return a, fmt.Errorf("%s: %w", base, err)
		}
		if err := a.addFile(header, in); err != nil {
			return a, fmt.Errorf("%s: %w", base, err)
		}
	}
	if len(a.programs) == 0 || len(a.documents) != len(documented) {
		return a, fmt.Errorf("%s: programs or documents are missing", base)
	}
	return a, nil
}

// addFile keeps the programs and the documents.
func (a *archive) addFile(header *tar.Header, in io.Reader) error {
	_, inside, _ := strings.Cut(header.Name, "/")
	if header.Typeflag != tar.TypeReg {
		return nil
	}
	kept := file{name: path.Base(inside), mode: header.Mode & int64(fs.ModePerm)}
	to := &a.documents
	switch dir := path.Dir(inside); {
	case dir == "bin":
		to = &a.programs
	case strings.HasPrefix(dir, "share/doc/") && strings.Count(dir, "/") == 2 && slices.Contains(documented, kept.name):
	default:
		return nil
	}
	content, err := io.ReadAll(in)
	kept.content = content
	*to = append(*to, kept)
	return err
}

// placeIn returns the files below a directory.
func placeIn(dir string, files []file) []file {
	placed := slices.Clone(files)
	for i := range placed {
		placed[i].name = dir + placed[i].name
	}
	return placed
}

func packTar(at time.Time, files []file) ([]byte, error) {
	var packed bytes.Buffer
	out := tar.NewWriter(&packed)
	for _, f := range files {
		header := &tar.Header{
			Name: f.name, Mode: f.mode, Uid: f.owner, Gid: f.owner, Size: int64(len(f.content)), ModTime: at,
			Typeflag: tar.TypeReg, Format: tar.FormatUSTAR,
		}
		if strings.HasSuffix(f.name, "/") {
			header.Typeflag = tar.TypeDir
		}
		if err := out.WriteHeader(header); err != nil {
			return nil, err
		}
		if _, err := out.Write(f.content); err != nil {
			return nil, err
		}
	}
	err := out.Close()
	return packed.Bytes(), err
}

func compress(content []byte) ([]byte, error) {
	var packed bytes.Buffer
	out, err := gzip.NewWriterLevel(&packed, gzip.BestCompression)
	if err != nil {
		return nil, err
	}
	if _, err := out.Write(content); err != nil {
		return nil, err
	}
	err = out.Close()
	return packed.Bytes(), err
}

// writeArchive writes a compressed tar archive beside those that it is made from.
func (r release) writeArchive(name string, files []file) error {
	packed, err := packTar(r.time, files)
	if err != nil {
		return err
	}
	if packed, err = compress(packed); err != nil {
		return err
	}
	return r.writeFile(name, packed)
}

// writeFile writes a file for everyone to read, as the other packages are.
func (r release) writeFile(name string, content []byte) error {
	return os.WriteFile(filepath.Join(r.dir, name), content, 0o644) //nolint:gosec // for everyone
}

func sumHex(content []byte) string {
	sum := sha256.Sum256(content)
	return hex.EncodeToString(sum[:])
}
