// Package beside runs the program gateway for the program proxy, which does not link what only
// gateway needs: fonts, and the formats of pictures.
package beside

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"time"

	"terminalproxy/protocol"
)

// DrawCommand is the command of gateway that draws. Its argument is the format; it reads the screen
// as JSON from the standard input, and writes the picture to the standard output.
const DrawCommand = "draw"

// drawTime ends a drawing that hangs. A large screen takes a tenth of a second.
const drawTime = 20 * time.Second

// FindGateway finds the program gateway beside this one or in the PATH.
func FindGateway() (string, error) {
	const name = "gateway"
	if self, err := os.Executable(); err == nil {
		if found, err := exec.LookPath(filepath.Join(filepath.Dir(self), name)); err == nil {
			return found, nil
		}
	}
	found, err := exec.LookPath(name)
	if err == nil {
		found, err = filepath.Abs(found)
	}
	if err != nil {
		return "", errors.New("the program gateway is neither beside this one nor in PATH")
	}
	return found, nil
}

// Draw writes a screen, whose rows carry SGR sequences, as "png" or "svg". Any goroutine may call
// it.
func Draw(w io.Writer, format string, s protocol.Screen) error {
	path, err := FindGateway()
	if err != nil {
		return fmt.Errorf("draw a picture: %w", err)
	}
	input, err := json.Marshal(s)
	if err != nil {
		return fmt.Errorf("draw a picture: %w", err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), drawTime)
	defer cancel()
	var message bytes.Buffer
	cmd := exec.CommandContext(ctx, path, DrawCommand, format)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = bytes.NewReader(input), w, &message
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} // no signal of the terminal's
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("draw a picture: %s %s: %w: %.200s", path, DrawCommand, err, message.String())
	}
	return nil
}
