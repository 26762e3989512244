package main

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestTheBillNamesWhatAProgramIsBuiltFrom(t *testing.T) {
	self, err := os.Executable()
	require.NoError(t, err)
	var once, twice bytes.Buffer
	require.NoError(t, write(&once, "1.2.3", []string{self}, "1795381407"))
	require.NoError(t, write(&twice, "1.2.3", []string{self, self}, "1795381407"))
	require.Equal(t, once.String(), twice.String(), "each module once")
	var bill struct {
		BOMFormat, SpecVersion string
		Metadata               struct {
			Timestamp string
			Component component
		}
		Components []component
	}
	require.NoError(t, json.Unmarshal(once.Bytes(), &bill))
	require.Equal(t, "CycloneDX 1.5", bill.BOMFormat+" "+bill.SpecVersion)
	require.Equal(t, "2026-11-22T21:03:27Z 1.2.3", bill.Metadata.Timestamp+" "+bill.Metadata.Component.Version)
	refs := make(map[string]component)
	for _, c := range bill.Components {
		require.NotEmpty(t, c.Version)
		require.Equal(t, c.Ref, c.PURL)
		refs[c.Name] = c
	}
	require.Contains(t, refs, "stdlib")
	require.Regexp(t, `^h1:`, refs["github.com/stretchr/testify"].Properties[0].Value)
}

func TestWhatIsNoProgram(t *testing.T) {
	text := filepath.Join(t.TempDir(), "text")
	require.NoError(t, os.WriteFile(text, []byte("text"), 0o600))
	require.Error(t, write(&bytes.Buffer{}, "1", []string{text}, ""))
	self, err := os.Executable()
	require.NoError(t, err)
	require.ErrorContains(t, write(&bytes.Buffer{}, "1", []string{self}, "soon"), "SOURCE_DATE_EPOCH")
}
