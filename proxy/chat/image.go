package chat

import (
	"errors"
	"fmt"
	"net/http"
	"path/filepath"
	"slices"
	"strings"

	"terminalproxy/protocol"
)

// Image goes with a prompt.
type Image struct {
	Name string // for people
	Type string // image/png or another of ImageTypes
	Data []byte
}

// ImageTypes are those that agents take.
var ImageTypes = []string{"image/png", "image/jpeg", "image/gif", "image/webp"}

// Bounds of the images of one prompt.
const (
	MaxImages     = 4
	MaxImage      = 15 << 18 // in bytes: 5 MiB in base64, the limit of models
	mostImageName = 80       // bytes of its name
)

// NewImage makes an image of what a file holds. Its type comes from the content, not from the name.
func NewImage(name string, data []byte) (Image, error) {
	i := Image{Name: protocol.Clip(protocol.Visible(strings.Join(strings.Fields(filepath.Base(name)), " ")), mostImageName), Data: data}
	i.Type, _, _ = strings.Cut(http.DetectContentType(data), ";")
	switch {
	case len(data) == 0:
		return i, errors.New("it is empty")
	case len(data) > MaxImage:
		return i, fmt.Errorf("it is longer than %d bytes", MaxImage)
	case !slices.Contains(ImageTypes, i.Type):
		return i, fmt.Errorf("it is not a PNG, JPEG, GIF or WebP image, but %s", i.Type)
	}
	return i, nil
}

// String is what stands in a conversation in the image's place.
func (i Image) String() string {
	return fmt.Sprintf("[image: %s, %s]", i.Name, formatSize(len(i.Data)))
}

func formatSize(n int) string {
	switch {
	case n < 1000:
		return fmt.Sprintf("%d bytes", n)
	case n < 1000_000:
		return fmt.Sprintf("%d KB", (n+500)/1000)
	}
	return fmt.Sprintf("%.1f MB", float64(n)/1e6)
}

// textWithImages returns the text for people, with a label for each image.
func (p Prompt) textWithImages() string {
	text := p.Text
	for _, i := range p.Images {
		text += "\n" + i.String()
	}
	return text
}

// ImageDriver is a driver whose agent may take images with a prompt.
type ImageDriver interface {
	// ImageRefusal says why the agent takes no images now, nil if it does.
	ImageRefusal() error
}

// errNoImages is the refusal of other drivers.
var errNoImages = errors.New("takes no images here: name the file's path in the prompt")

// ImageRefusal says why the agent takes no images with a prompt, nil if it does.
func (s *Session) ImageRefusal() error {
	err := errNoImages
	if d, ok := s.driver.(ImageDriver); ok {
		err = d.ImageRefusal()
	}
	if err != nil {
		return fmt.Errorf("%s %w", s.agent, err)
	}
	return nil
}

// SendImages is Send with images.
func (s *Session) SendImages(by, text string, images []Image) error {
	if len(images) > MaxImages {
		return fmt.Errorf("%d images: the most with a prompt is %d", len(images), MaxImages)
	}
	if len(images) > 0 {
		if err := s.ImageRefusal(); err != nil {
			return err
		}
	}
	return s.send(by, Prompt{ID: NewID(), Text: text, Person: true, Images: images})
}
