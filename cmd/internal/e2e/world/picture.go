package world

import (
	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/stretchr/testify/require"
)

// ReadPicture reads a screen together with its picture.
func (a *Agent) ReadPicture(tool string, with Args) (text string, pixels []byte) {
	a.W.T.Helper()
	with["image"] = true
	got, err := a.Session.CallTool(a.W.Ctx, &mcp.CallToolParams{Name: tool, Arguments: with})
	require.NoError(a.W.T, err)
	text = got.Content[0].(*mcp.TextContent).Text
	require.False(a.W.T, got.IsError, text)
	require.Len(a.W.T, got.Content, 2, text)
	picture := got.Content[1].(*mcp.ImageContent)
	require.Equal(a.W.T, "image/png", picture.MIMEType)
	return text, picture.Data
}
