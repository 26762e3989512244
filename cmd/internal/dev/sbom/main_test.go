package main

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"runtime/debug"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestTheBillNamesWhatProgramsAreBuiltFrom(t *testing.T) {
	one := &debug.BuildInfo{GoVersion: "go1.26.8", Deps: []*debug.Module{{Path: "example.org/a", Version: "v1.2.0", Sum: "h1:a="}}}
	two := &debug.BuildInfo{GoVersion: "go1.26.8", Deps: []*debug.Module{
		{Path: "example.org/b", Version: "v0.1.0", Replace: &debug.Module{Path: "example.org/c", Version: "v0.2.0", Sum: "h1:c="}},
		{Path: "example.org/a", Version: "v1.2.0", Sum: "h1:a="},
	}}
	var out bytes.Buffer
	require.NoError(t, writeBill(&out, "1.2.3", []*debug.BuildInfo{one, two}, "1795381407"))
	var bill struct {
		BOMFormat, SpecVersion string
		Metadata               struct {
			Timestamp string
			Component component
		}
		Components []component
	}
	require.NoError(t, json.Unmarshal(out.Bytes(), &bill))
	require.Equal(t, "CycloneDX 1.5", bill.BOMFormat+" "+bill.SpecVersion)
	require.Equal(t, "2026-11-22T21:03:27Z 1.2.3", bill.Metadata.Timestamp+" "+bill.Metadata.Component.Version)
	library := func(path, version string, sum ...property) component {
		ref := "pkg:golang/" + path + "@" + version
		return component{Type: "library", Ref: ref, Name: path, Version: version, PURL: ref, Properties: sum}
	}
	require.Equal(t, []component{
		library("example.org/a", "v1.2.0", property{"go:sum", "h1:a="}),
		library("example.org/c", "v0.2.0", property{"go:sum", "h1:c="}),
		library("stdlib", "1.26.8"),
	}, bill.Components)
	require.ErrorContains(t, writeBill(&out, "1", nil, "soon"), "SOURCE_DATE_EPOCH")
}

func TestReadsProgramsAlone(t *testing.T) {
	self, err := os.Executable()
	require.NoError(t, err)
	infos, err := readBuildInfos([]string{self})
	require.NoError(t, err)
	require.Equal(t, "terminalproxy", infos[0].Main.Path)
	text := filepath.Join(t.TempDir(), "text")
	require.NoError(t, os.WriteFile(text, []byte("text"), 0o600))
	_, err = readBuildInfos([]string{self, text})
	require.Error(t, err)
}
