package chat

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"terminalproxy/cmd/internal/cli"
	"terminalproxy/proxy/chat"
)

// addImageFlag adds the flag that attaches files to a prompt.
func addImageFlag(cmd *cobra.Command, files *[]string) {
	cmd.Flags().StringArrayVar(
		files,
		cli.ImageFlag,
		nil,
		fmt.Sprintf(
			"send the image in `FILE` with the prompt: PNG, JPEG, GIF or WebP, at most 3.9 MB; "+
				"up to %d times", chat.MaxImages))
	// it fails for a missing flag
	_ = cmd.MarkFlagFilename(cli.ImageFlag, "png", "jpg", "jpeg", "gif", "webp")
}

// readImages reads the files of --image.
func readImages(files []string) (images []chat.Image, err error) {
	if n := len(files); n > chat.MaxImages {
		return nil, cli.Usage("--%s: %d images; the most with a prompt is %d", cli.ImageFlag, n,
			chat.MaxImages)
	}
	for _, name := range files {
		i, err := readImage(name)
		if err != nil {
			return nil, cli.Fail(cli.StatusRefused, "--%s %w", cli.ImageFlag, err)
		}
		images = append(images, i)
	}
	return images, nil
}

// readImage reads one image file. Its errors name the file. It rejects files that are not regular,
// so that it never blocks.
func readImage(name string) (i chat.Image, err error) {
	info, err := os.Stat(name)
	if err == nil && !info.Mode().IsRegular() {
		return i, fmt.Errorf("%s: not a regular file", name)
	}
	f, err := os.Open(name)
	if err != nil {
		return i, fmt.Errorf("%s: %w", name, causeOf(err))
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, chat.MaxImage+1))
	if err == nil {
		i, err = chat.NewImage(name, data)
	}
	if err != nil {
		return i, fmt.Errorf("%s: %w", name, causeOf(err))
	}
	return i, nil
}

// causeOf returns the cause of a file's error without the file's name, which the message has
// already.
func causeOf(err error) error {
	if named, ok := errors.AsType[*fs.PathError](err); ok {
		return named.Err
	}
	return err
}

// attachesImage handles the line /image FILE, which attaches an image to the next line. Without a
// file it lists the attached images. It reports whether the line was such a command.
func (t *talk) attachesImage(line string) bool {
	name, isCommand := strings.CutPrefix(line, "/image")
	if !isCommand || name != "" && !strings.HasPrefix(name, " ") || strings.Contains(name, "\n") {
		return false
	}
	name = strings.TrimSpace(name)
	switch name {
	case "none":
		t.images = nil
		t.view.printNotice("· no image goes with your next line")
	case "":
		t.view.printNotice(
			"· /image FILE sends an image with your next line, /image none drops it%s",
			imagesWith("; with it: ", t.images))
	default:
		t.attachImage(name)
	}
	return true
}

// attachImage attaches the image in a file to the next line.
func (t *talk) attachImage(name string) {
	err := t.session.ImageRefusal()
	if err == nil && len(t.images) == chat.MaxImages {
		err = fmt.Errorf("%s: the most with a prompt is %d", name, chat.MaxImages)
	}
	var i chat.Image
	if err == nil {
		i, err = readImage(expandHome(name))
	}
	if err != nil {
		t.view.printNotice("· not attached: %s", escapeInvisible(err.Error()))
		return
	}
	t.images = append(t.images, i)
	t.view.printNotice("· with your next line: %s", imagesWith("", t.images))
}

// imagesWith lists images after the label, and is "" without images.
func imagesWith(label string, images []chat.Image) string {
	if len(images) == 0 {
		return ""
	}
	var all []string
	for _, i := range images {
		all = append(all, i.String())
	}
	return label + strings.Join(all, " ")
}

// expandHome unquotes a file name and expands ~, as a shell would: terminals paste names in quotes.
func expandHome(name string) string {
	if n := len(name); n > 1 && (name[0] == '\'' || name[0] == '"') && name[n-1] == name[0] {
		name = name[1 : n-1]
	}
	if rest, ok := strings.CutPrefix(name, "~/"); ok {
		if home, err := os.UserHomeDir(); err == nil {
			return home + "/" + rest
		}
	}
	return name
}
