// Command repack makes what other package managers install from the archives of make dist: a
// formula for Homebrew, a flake for Nix, packages for npm and an image for containers. It reads
// names and texts from nfpm's configuration. The same archives give the same bytes.
package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"
)

func main() {
	if len(os.Args) != 4 {
		fmt.Fprintln(os.Stderr, "usage: SOURCE_DATE_EPOCH=SECONDS repack MANIFEST RELEASE DIR")
		os.Exit(2)
	}
	if err := repackArchives(os.Args[1], os.Args[2], os.Args[3], os.Getenv("SOURCE_DATE_EPOCH")); err != nil {
		fmt.Fprintf(os.Stderr, "repack: %v\n", err)
		os.Exit(1)
	}
}

// release is one release of the program: its manifest and the archives in a directory.
type release struct {
	Name, Description, License, Homepage string

	Version  string    `yaml:"-"`
	Archives []archive `yaml:"-"`

	dir  string
	time time.Time // of every file
}

func repackArchives(manifest, version, dir, epoch string) error {
	r, err := readRelease(manifest, version, dir, epoch)
	if err != nil {
		return err
	}
	for _, write := range []func(release) error{writeFormula, writeFlake, writePackages, writeImage} {
		if err := write(r); err != nil {
			return err
		}
	}
	return nil
}

// readRelease reads the manifest and the archives. epoch is in seconds.
func readRelease(manifest, version, dir, epoch string) (r release, err error) {
	seconds, err := strconv.ParseInt(epoch, 10, 64)
	if err != nil {
		return r, fmt.Errorf("SOURCE_DATE_EPOCH: %w", err)
	}
	text, err := os.ReadFile(manifest)
	if err != nil {
		return r, err
	}
	if err := yaml.Unmarshal(text, &r); err != nil {
		return r, fmt.Errorf("%s: %w", manifest, err)
	}
	if r.Name == "" || r.Description == "" || r.License == "" || r.Homepage == "" {
		return r, fmt.Errorf("%s: name, description, license or homepage is missing", manifest)
	}
	r.Version, r.dir, r.time = version, dir, time.Unix(seconds, 0).UTC()
	paths, err := filepath.Glob(filepath.Join(dir, r.Name+"-"+version+"-*-*.tar.gz"))
	if err != nil {
		return r, err
	}
	for _, path := range paths {
		a, err := r.readArchive(path)
		if err != nil {
			return r, err
		}
		r.Archives = append(r.Archives, a)
	}
	if len(r.Archives) == 0 {
		return r, errors.New(dir + " holds no archive: make dist makes them")
	}
	return r, nil
}

// Summary returns the first line of the description.
func (r release) Summary() string {
	line, _, _ := strings.Cut(r.Description, "\n")
	return line
}

// findURL returns where the release offers one of its files.
func (r release) findURL(file string) string {
	return r.Homepage + "/releases/download/v" + r.Version + "/" + file
}
