package mcp

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"image/png"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"terminalproxy/gateway/text"
	"terminalproxy/protocol"
)

const (
	// maxSide is the longest side of a picture in pixels. Models scale larger ones down and can no
	// longer read them.
	maxSide = 1568
	// maxPicture bounds the bytes of a picture; a real screen takes a hundredth of it.
	maxPicture = 3 << 20
)

var imageParam = param{name: "image", kind: "boolean"}

// addPicture returns one more line and the picture for a call that asks for one. The line explains
// a missing picture, which is no failure: the text has been read, with messages that are not
// repeated.
func (s *toolset) addPicture(
	ctx context.Context, req *mcp.CallToolRequest,
) (line string, picture *mcp.ImageContent) {
	var in struct {
		Terminal string `json:"terminal"`
		Image    bool   `json:"image"`
	}
	if err := json.Unmarshal(req.Params.Arguments, &in); err != nil || !in.Image {
		return "", nil // malformed arguments were refused before
	}
	line, pixels, err := s.drawPicture(ctx, in.Terminal)
	if err != nil {
		s.cfg.Log.Debug("no picture", "error", err)
		return "\nno image: " + explainInline(err), nil
	}
	return "\n" + line, &mcp.ImageContent{Data: pixels, MIMEType: "image/png"}
}

// drawPicture draws the part of a terminal that agents may see now.
func (s *toolset) drawPicture(
	ctx context.Context, terminal string,
) (line string, pixels []byte, err error) {
	if s.cfg.Draw == nil {
		return "", nil, errors.New("this server draws no pictures: leave image out")
	}
	info, err := s.findTerminal(ctx, terminal)
	if err != nil {
		return "", nil, err
	}
	got, err := s.cfg.Terminals.Read(ctx,
		&protocol.Read{SessionID: info.SessionID, Attributes: true})
	if err != nil {
		return "", nil, err
	}
	if w := got.Frame.Blackout; w.ByUser() {
		return "", nil, &protocol.Error{Code: protocol.CodeBlackout, Message: text.Hidden(w)}
	}
	pixels, cell, err := s.cfg.Draw(got.Frame.Screen, maxSide)
	if err != nil {
		return "", nil, fmt.Errorf("%w: read the rows, with image left out", err)
	}
	if len(pixels) > maxPicture {
		return "", nil, fmt.Errorf("it would take %d MB: read the rows, with image left out",
			len(pixels)>>20)
	}
	size, err := png.DecodeConfig(bytes.NewReader(pixels))
	if err != nil {
		return "", nil, fmt.Errorf("read the picture's size: %w", err)
	}
	line = text.Picture(got.Frame.Seq, size.Width, size.Height, cell.X, cell.Y)
	if s.cfg.MissingGlyphs != nil {
		line += text.FormatMissingGlyphs(s.cfg.MissingGlyphs(got.Frame.Screen))
	}
	if info.State != protocol.StateRunning {
		line += "; without colours, because the program has ended" // the last snapshot has no colours
	}
	return line, pixels, nil
}
