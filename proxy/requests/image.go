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
	size int // of all of it
	data []byte
}

// uploads are images that no prompt has named yet, the one that came first first.
type uploads []*upload

// Bounds of what is kept of them: images, and bytes of all.
const (
	mostUploads     = 4 * protocol.MaxImages
	mostUploadBytes = protocol.MaxImages * protocol.MaxImage
)

// receivePart takes a part, and forgets the oldest images where there is no room for all of this one.
func (u *uploads) receivePart(m *protocol.ChatImage) *refusal {
	i := slices.IndexFunc(*u, func(one *upload) bool { return one.id == m.Image })
	if m.Offset == 0 {
		if i >= 0 {
			*u = slices.Delete(*u, i, i+1)
		}
		kept := m.Size
		for at := len(*u) - 1; at >= 0; at-- {
			if kept += (*u)[at].size; kept > mostUploadBytes || len(*u)-at >= mostUploads {
				*u = slices.Delete(*u, 0, at+1)
				break
			}
		}
		i = len(*u)
		*u = append(*u, &upload{id: m.Image, size: m.Size})
	}
	if i < 0 || (*u)[i].size != m.Size || len((*u)[i].data) != m.Offset || m.Offset+len(m.DataB64) > m.Size {
		return &refusal{protocol.CodeBadMessage, "offset: this part of the image does not follow the one before: begin it anew"}
	}
	(*u)[i].data = append((*u)[i].data, m.DataB64...)
	return nil
}

// removeImage returns an image that is whole, and forgets it; nil where there is none.
func (u *uploads) removeImage(id string) []byte {
	i := slices.IndexFunc(*u, func(one *upload) bool { return one.id == id && len(one.data) == one.size })
	if i < 0 {
		return nil
	}
	data := (*u)[i].data
	*u = slices.Delete(*u, i, i+1)
	return data
}

// receiveImage keeps a part of an image for the prompt that will name it.
func (h *Handler) receiveImage(m *protocol.ChatImage) {
	no := h.imagesRefused(m.AgentID)
	if no == nil {
		no = h.uploads.receivePart(m)
	}
	if no != nil {
		h.refuse(m.RequestID, no.code, no.say)
		return
	}
	h.Link.Send(&protocol.Done{RequestID: m.RequestID})
}

// imagesRefused says why who sends, or the coding agent, can have no images; nil for nothing.
func (h *Handler) imagesRefused(agentID string) *refusal {
	if agentID != "" {
		return &refusal{protocol.CodeForbidden, "only people send images: name the path of the file in the prompt"}
	}
	if err := h.Chat.ImageRefusal(); err != nil {
		return &refusal{protocol.CodeBadMessage, err.Error()}
	}
	return nil
}

// attachedImages are the images of a prompt: each is the one whose digest is signed.
func (h *Handler) attachedImages(m *protocol.ChatSend) (images []chat.Image, no *refusal) {
	if len(m.Images) == 0 {
		return nil, nil
	}
	if no := h.imagesRefused(m.AgentID); no != nil {
		return nil, no
	}
	for _, a := range m.Images {
		data := h.uploads.removeImage(a.ID)
		sum := sha256.Sum256(data)
		if data == nil || hex.EncodeToString(sum[:]) != a.SHA256 {
			return nil, &refusal{protocol.CodeBadMessage, "images: " + a.Name + " did not arrive whole, or is another one: send it again"}
		}
		i, err := chat.NewImage(a.Name, data)
		if err != nil {
			return nil, &refusal{protocol.CodeBadMessage, "images: " + i.Name + ": " + err.Error()}
		}
		images = append(images, i)
	}
	return images, nil
}

// labelImages is a prompt's text with what stands for its images.
func labelImages(text string, images []chat.Image) string {
	for _, i := range images {
		text += "\n" + i.String()
	}
	return text
}
