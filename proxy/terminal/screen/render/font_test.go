package render

import (
	"testing"

	"github.com/go-fonts/dejavu/dejavusansmono"
	"github.com/go-fonts/dejavu/dejavusansmonobold"
	"github.com/stretchr/testify/require"
)

// The packed fonts are those of the module in go.mod, unchanged. After an update of it:
// gzip -9nc DejaVuSansMono.ttf > fonts/DejaVuSansMono.ttf.gz, and so for the bold one.
func TestTheFontsAreTheModules(t *testing.T) {
	for _, tt := range []struct {
		name         string
		packed, want []byte
	}{
		{"regular", regularFont, dejavusansmono.TTF},
		{"bold", boldFont, dejavusansmonobold.TTF},
	} {
		got, err := inflate(tt.packed)
		require.NoError(t, err)
		require.True(t, string(tt.want) == string(got), tt.name)
	}
}
