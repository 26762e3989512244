package protocol

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// BenchmarkDecode reads a snapshot with one changed row and a full rolling text, beside a bare
// json.Unmarshal of the same.
func BenchmarkDecode(b *testing.B) {
	frame, err := Encode(&Snapshot{
		ID: "m12345", SessionID: "vim-k3f9", Content: strings.Repeat("a line of output that was printed a while ago\n", 80),
		Timestamp: 1767225600000, Seq: 12, Since: 11, Changed: []Row{{Row: 1, Text: "milk"}},
		Screen: &Screen{Cols: 80, Rows: 24, Hash: "77a0"}, Keyboard: &Keyboard{Holder: HolderUser},
	})
	require.NoError(b, err)
	b.Run(fmt.Sprintf("%d bytes", len(frame)), func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			if _, err := Decode(frame, MaxMessage); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("json alone", func(b *testing.B) {
		for b.Loop() {
			if err := json.Unmarshal(frame, &Snapshot{}); err != nil {
				b.Fatal(err)
			}
		}
	})
}
