// Command sbom prints a software bill of materials in CycloneDX's JSON: the modules of the programs
// that its arguments name after the release, from the build information in the programs. make dist
// calls it. The bill carries the time $SOURCE_DATE_EPOCH, if set.
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
	infos, err := readBuildInfos(os.Args[2:])
	if err == nil {
		err = writeBill(os.Stdout, os.Args[1], infos, os.Getenv("SOURCE_DATE_EPOCH"))
	}
	if err != nil {
		fmt.Fprintf(os.Stderr, "sbom: %v\n", err)
		os.Exit(1)
	}
}

// component is a component of CycloneDX.
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

func readBuildInfos(programs []string) ([]*debug.BuildInfo, error) {
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

// writeBill prints the bill. epoch is in seconds; the bill has no time if it is "".
func writeBill(out io.Writer, release string, infos []*debug.BuildInfo, epoch string) error {
	found := make(map[string]component)
	for _, info := range infos {
		addModule(found, "stdlib", strings.TrimPrefix(info.GoVersion, "go"), "")
		for _, m := range info.Deps {
			if m.Replace != nil && m.Replace.Version == "" {
				continue // a directory of this repository
			}
			if m.Replace != nil {
				m = m.Replace
			}
			addModule(found, m.Path, m.Version, m.Sum)
		}
	}
	const name = "terminalproxy"
	application := component{Type: "application", Ref: name, Name: name, Version: release}
	about := map[string]any{"component": application}
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
	return enc.Encode(map[string]any{
		"bomFormat": "CycloneDX", "specVersion": "1.5", "version": 1,
		"metadata": about, "components": all,
	})
}

// addModule adds a module, once for each version.
func addModule(found map[string]component, path, version, sum string) {
	ref := "pkg:golang/" + path + "@" + version
	c := component{Type: "library", Ref: ref, Name: path, Version: version, PURL: ref}
	if sum != "" {
		// A property and not a hash: it covers the module's files, by no algorithm of CycloneDX.
		c.Properties = []property{{"go:sum", sum}}
	}
	found[ref] = c
}
