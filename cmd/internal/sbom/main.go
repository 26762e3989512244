// Command sbom prints a software bill of materials, in CycloneDX's JSON, of the programs that its arguments name after the release:
// the modules that they are built from, as they say themselves. make dist calls it. $SOURCE_DATE_EPOCH is the time that it bears, if any.
package main

import (
	"debug/buildinfo"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"os"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"time"
)

func main() {
	if len(os.Args) < 3 {
		fmt.Fprintln(os.Stderr, "usage: sbom RELEASE PROGRAM ...")
		os.Exit(2)
	}
	infos, err := read(os.Args[2:])
	if err == nil {
		err = write(os.Stdout, os.Args[1], infos, os.Getenv("SOURCE_DATE_EPOCH"))
	}
	if err != nil {
		fmt.Fprintf(os.Stderr, "sbom: %v\n", err)
		os.Exit(1)
	}
}

// component is one in CycloneDX's words.
type component struct {
	Type       string     `json:"type"`
	Ref        string     `json:"bom-ref"`
	Name       string     `json:"name"`
	Version    string     `json:"version"`
	PURL       string     `json:"purl,omitempty"`
	Properties []property `json:"properties,omitempty"`
}

type property struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

// read is what the programs say of how they were built.
func read(programs []string) ([]*debug.BuildInfo, error) {
	var infos []*debug.BuildInfo
	for _, program := range programs {
		info, err := buildinfo.ReadFile(program)
		if err != nil {
			return nil, err
		}
		infos = append(infos, info)
	}
	return infos, nil
}

// write prints the bill. epoch is in seconds, "" for no time.
func write(out io.Writer, release string, infos []*debug.BuildInfo, epoch string) error {
	found := make(map[string]component)
	for _, info := range infos {
		add(found, "stdlib", strings.TrimPrefix(info.GoVersion, "go"), "")
		for _, m := range info.Deps {
			if m.Replace != nil && m.Replace.Version == "" {
				continue // a directory of ours
			}
			if m.Replace != nil {
				m = m.Replace
			}
			add(found, m.Path, m.Version, m.Sum)
		}
	}
	about := map[string]any{"component": component{Type: "application", Ref: "terminalproxy", Name: "terminalproxy", Version: release}}
	if epoch != "" {
		seconds, err := strconv.ParseInt(epoch, 10, 64)
		if err != nil {
			return fmt.Errorf("SOURCE_DATE_EPOCH: %w", err)
		}
		about["timestamp"] = time.Unix(seconds, 0).UTC().Format(time.RFC3339)
	}
	var all []component
	for _, ref := range slices.Sorted(maps.Keys(found)) {
		all = append(all, found[ref])
	}
	enc := json.NewEncoder(out)
	enc.SetIndent("", "  ")
	return enc.Encode(map[string]any{"bomFormat": "CycloneDX", "specVersion": "1.5", "version": 1, "metadata": about, "components": all})
}

// add has the module among those found, once for each version.
func add(found map[string]component, path, version, sum string) {
	ref := "pkg:golang/" + path + "@" + version
	c := component{Type: "library", Ref: ref, Name: path, Version: version, PURL: ref}
	if sum != "" {
		c.Properties = []property{{"go:sum", sum}} // it is of the module's files, and none of the kinds that CycloneDX knows
	}
	found[ref] = c
}
