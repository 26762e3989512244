package mcp

import (
	"image"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/stretchr/testify/require"

	"terminalproxy/protocol"
)

// The picture is drawn from a separate read, with colours, and arrives as it was drawn.
func TestAPictureShowsWhatAgentsMaySee(t *testing.T) {
	f := newFake()
	f.read = func(m *protocol.Read) (*protocol.ReadResult, error) {
		frame := f.frame
		if m.Attributes {
			frame.Seq, frame.Screen.Lines = 413, []string{"\x1b[31mmilk漢漢"}
			require.False(t, m.Notes, "what the user wrote goes with the text")
		}
		return &protocol.ReadResult{Frame: &frame, Notes: map[bool][]string{true: {"look at line 1"}}[m.Notes]}, nil
	}
	drawing(f)
	var drawn protocol.Screen
	draw := f.draw
	f.draw = func(s protocol.Screen, side int) ([]byte, image.Point, error) {
		drawn = s
		return draw(s, side)
	}
	want, _, err := draw(f.frame.Screen, maxSide)
	require.NoError(t, err)
	got, err := connect(t, f, eras[2], nil).CallTool(t.Context(), &mcp.CallToolParams{Name: "terminal_read", Arguments: args{"image": true}})
	require.NoError(t, err)
	require.Len(t, got.Content, 2)
	require.Equal(t, []string{"\x1b[31mmilk漢漢"}, drawn.Lines)
	require.Equal(t, want, got.Content[1].(*mcp.ImageContent).Data)
	text := got.Content[0].(*mcp.TextContent).Text
	require.Contains(t, text, "look at line 1")
	require.Contains(t, text, "rev 412")
	require.True(t, strings.HasSuffix(text, "the screen at rev 413, 360x108 pixels, 9x18 to a cell; 2 characters are drawn as boxes with their numbers: read the rows for them"), text)
}
