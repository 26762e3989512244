package world

import (
	"io/fs"
	"path/filepath"

	"github.com/stretchr/testify/require"
)

// Modes are what a program may leave on in a window.
const Modes = "alternate #{alternate_on} cursor #{cursor_flag} mouse #{mouse_any_flag} keypad #{keypad_cursor_flag}#{keypad_flag} wrap #{wrap_flag}"

const PlainModes = "alternate 0 cursor 1 mouse 0 keypad 00 wrap 1"

// Files returns the names of all files in the world.
func (a *account) Files() []string {
	var names []string
	require.NoError(a.T, filepath.WalkDir(a.Dir, func(path string, _ fs.DirEntry, err error) error {
		names = append(names, path)
		return err
	}))
	return names
}
