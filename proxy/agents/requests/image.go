package requests

import (
	"crypto/sha256"
	"encoding/hex"
	"slices"

	"terminalproxy/protocol"
	"terminalproxy/proxy/chat"
)

// upload is an image that comes in parts.
type upload struct {
	id   string
	size int // of the whole image, in bytes
	data []byte
}

// uploads holds the images that no prompt has named yet, oldest first.
type uploads []*upload

// Bounds of uploads, in images and in bytes.
const (
	maxUploads     = 4 * protocol.MaxImages
	maxUploadBytes = protocol.MaxImages * protocol.MaxImage
)

// receivePart keeps a part of an image. Without room for the whole image it drops the oldest ones.
func (u *uploads) receivePart(m *protocol.ChatImage) *refusal {
	i := slices.IndexFunc(*u, func(one *upload) bool { return one.id == m.Image })
	if m.Offset == 0 {
		if i >= 0 {
			*u = slices.Delete(*u, i, i+1)
		}
		kept := m.Size
		for at := len(*u) - 1; at >= 0; at-- {
			if kept += (*u)[at].size; kept > maxUploadBytes || len(*u)-at >= maxUploads {
				*u = slices.Delete(*u, 0, at+1)
				break
			}
		}
		i = len(*u)
		*u = append(*u, &upload{id: m.Image, size: m.Size})
	}
	if i < 0 || (*u)[i].size != m.Size || len((*u)[i].data) != m.Offset ||
		m.Offset+len(m.DataB64) > m.Size {
		return &refusal{
			protocol.CodeBadMessage,
			"offset: this part of the image does not follow the one before: send the image " +
				"again from its start",
		}
	}
	(*u)[i].data = append((*u)[i].data, m.DataB64...)
	return nil
}

// removeImage returns a complete image and drops it, or returns nil.
func (u *uploads) removeImage(id string) []byte {
	i := slices.IndexFunc(*u, func(one *upload) bool {
		return one.id == id && len(one.data) == one.size
	})
	if i < 0 {
		return nil
	}
	data := (*u)[i].data
	*u = slices.Delete(*u, i, i+1)
	return data
}

// receiveImage keeps a part of an image for the prompt that will name it.
func (p *chatHandler) receiveImage(m *protocol.ChatImage) {
	reason := imagesRefused(p.Chat, m.AgentID)
	if reason == nil {
		reason = p.uploads.receivePart(m)
	}
	if reason != nil {
		sendRefusal(p.Link, m.RequestID, reason)
		return
	}
	p.Link.Send(&protocol.Done{RequestID: m.RequestID})
}

// imagesRefused returns why the sender may not send images, or why the coding agent cannot take
// them, or nil.
func imagesRefused(c Conversation, agentID string) *refusal {
	if agentID != "" {
		return &refusal{
			protocol.CodeForbidden,
			"only people send images: name the path of the file in the prompt",
		}
	}
	if err := c.ImageRefusal(); err != nil {
		return &refusal{protocol.CodeBadMessage, err.Error()}
	}
	return nil
}

// attachedImages returns the images of a prompt. Each has the digest that is signed.
func (p *chatHandler) attachedImages(m *protocol.ChatSend) (images []chat.Image, reason *refusal) {
	if len(m.Images) == 0 {
		return nil, nil
	}
	if reason := imagesRefused(p.Chat, m.AgentID); reason != nil {
		return nil, reason
	}
	for _, a := range m.Images {
		data := p.uploads.removeImage(a.ID)
		sum := sha256.Sum256(data)
		if data == nil || hex.EncodeToString(sum[:]) != a.SHA256 {
			return nil, &refusal{
				protocol.CodeBadMessage,
				"images: " + a.Name + " did not arrive whole, or is another one: send it again",
			}
		}
		i, err := chat.NewImage(a.Name, data)
		if err != nil {
			return nil, &refusal{protocol.CodeBadMessage, "images: " + i.Name + ": " + err.Error()}
		}
		images = append(images, i)
	}
	return images, nil
}

// labelImages returns a prompt's text with a label for each of its images.
func labelImages(text string, images []chat.Image) string {
	for _, i := range images {
		text += "\n" + i.String()
	}
	return text
}
