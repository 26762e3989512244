package chat_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"terminalproxy/proxy/chat"
)

// png is the beginning of a PNG.
const png = "\x89PNG\r\n\x1a\n"

// seeing is a driver whose agent takes images, unless it has a reason not to.
type seeing struct {
	*fake
	no error
}

func (s *seeing) ImageRefusal() error { return s.no }

func picture(t *testing.T) chat.Image {
	t.Helper()
	i, err := chat.NewImage("dir/a  \x1b[31mpicture.png", []byte(png+strings.Repeat("x", 12_000)))
	require.NoError(t, err)
	return i
}

// The bytes decide, whatever the file's name is; the name is only a name.
func TestAnImagesBytesDecideItsType(t *testing.T) {
	for content, want := range map[string]string{
		png + "x": "image/png", "\xff\xd8\xff\xe0": "image/jpeg", "GIF89a": "image/gif", "RIFF....WEBPVP8 ": "image/webp",
	} {
		i, err := chat.NewImage("notes.txt", []byte(content))
		require.NoError(t, err)
		require.Equal(t, want, i.Type)
	}
	for content, want := range map[string]string{
		"": "it is empty", "hello": "it is not a PNG, JPEG, GIF or WebP image, but text/plain", "<svg xmlns='http://www.w3.org/2000/svg'/>": "but text/",
		"BM" + strings.Repeat("x", 60): "but image/bmp", png + strings.Repeat("x", 15<<18): "it is longer than 3932160 bytes",
	} {
		_, err := chat.NewImage("a.png", []byte(content))
		require.ErrorContains(t, err, want)
	}
	require.Equal(t, "[image: a [31mpicture.png, 12 KB]", picture(t).String())
}

// The agent gets the image's bytes, and the log only its name.
func TestAnImageGoesWithAPrompt(t *testing.T) {
	f := &seeing{fake: &fake{}}
	s := chat.New("claude", f)
	require.NoError(t, s.Start())
	f.report(chat.Ready{})
	i := picture(t)
	require.NoError(t, s.SendImages("you", "look", []chat.Image{i, i}))
	require.Equal(t, []chat.Image{i, i}, f.sent[0].Images)
	require.Equal(t, "look", f.sent[0].Text)
	require.Contains(t, records(t, s), "user you: look\n"+i.String()+"\n"+i.String())
	require.EqualError(t, s.SendImages("you", "look", make([]chat.Image, 5)), "5 images: the most with a prompt is 4")
}

// The log has nothing of it, either.
func TestAnAgentWithoutImagesIsSentNothing(t *testing.T) {
	refusing := &seeing{fake: &fake{}, no: errors.New("takes none today")}
	blind := &fake{}
	for want, d := range map[string]chat.Driver{"claude takes none today": refusing, "claude takes no images here: name the file's path in the prompt": blind} {
		s := chat.New("claude", d)
		require.NoError(t, s.Start())
		require.EqualError(t, s.SendImages("you", "look", []chat.Image{picture(t)}), want)
		require.Equal(t, []string{"state starting "}, records(t, s))
		require.NoError(t, s.SendImages("you", "look", nil))
	}
	require.Equal(t, []string{"start", "send look"}, blind.done())
}
