package child

import (
	"bufio"
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

// StartError says why a program could not be started, with the exit status a shell would give: 127
// not found, 126 not executable, 125 everything else.
type StartError struct {
	Status int
	Say    string
	Hint   string
}

// Error implements error.
func (e *StartError) Error() string { return e.Say }

// ReplaceProcess runs a program in place of this process, as exec of a shell does, and gives it
// these descriptors. It returns only with a *StartError.
func ReplaceProcess(name string, args []string, given []int) error {
	path, err := findProgram(name, "")
	if err != nil {
		return err
	}
	for _, fd := range given {
		_, _ = unix.FcntlInt(uintptr(fd), unix.F_SETFD, 0)
	}
	return startError(name, path, "", syscall.Exec(path, append([]string{name}, args...), os.Environ()))
}

// findProgram resolves the program as a shell would.
func findProgram(name, dir string) (string, error) {
	path, err := exec.LookPath(name)
	if err == nil || errors.Is(err, exec.ErrDot) { // a PATH with "." in it is the user's own wish
		return path, nil
	}
	return "", startError(name, name, dir, err)
}

// startError words the failure to start name, which was found at path, in dir.
func startError(name, path, dir string, err error) *StartError {
	switch {
	case errors.Is(err, exec.ErrNotFound):
		return &StartError{127, name + ": command not found", hintNotFound(name, dir)}
	case errors.Is(err, fs.ErrNotExist):
		return missingError(name, joinDir(dir, path), dir)
	case errors.Is(err, unix.EISDIR):
		return &StartError{126, name + ": is a directory", "name a program"}
	case errors.Is(err, fs.ErrPermission):
		return &StartError{
			Status: 126,
			Say:    name + ": permission denied",
			Hint:   "is it a program, with its executable bit set?",
		}
	case errors.Is(err, unix.ENOEXEC):
		return &StartError{
			Status: 126,
			Say:    name + ": not a program this system can run",
			Hint:   "a script needs a first line such as #!/bin/sh",
		}
	}
	return resourceError(126, name, err)
}

// hintNotFound returns the next step after a name that no directory of PATH has.
func hintNotFound(name, dir string) string {
	if words := strings.Fields(name); len(words) > 1 {
		if _, err := exec.LookPath(words[0]); err == nil {
			return "write its arguments apart, without quotes: " + strings.Join(words, " ")
		}
	}
	if info, err := os.Stat(joinDir(dir, name)); err == nil && !info.IsDir() {
		if info.Mode()&0o111 != 0 {
			return "this directory has it, and is not in your PATH: write ./" + name
		}
		return "it is a file in this directory: name the program that opens it, as in vim " + name
	}
	if os.Getenv("PATH") == "" {
		return "your PATH is empty: set it, or write the program's path"
	}
	return "is it installed, and in your PATH? An alias or a function of your shell is not."
}

// missingError words the failure that a file is missing: the program, its directory, or what the
// system needs to run it.
func missingError(name, path, dir string) *StartError {
	if dir != "" && !isDirectory(dir) {
		return &StartError{125, dir + ": no such directory", "make it, or name another one"}
	}
	file, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return &StartError{127, name + ": no such file or directory", "check its path"}
	}
	interpreter := ""
	if err == nil {
		defer file.Close()
		interpreter = readInterpreter(file)
	}
	switch {
	case interpreter == "": // a binary, or a script that only its owner may read
		return &StartError{
			127, name + ": the loader or interpreter that it needs is missing",
			"it may be for another system: see file " + name,
		}
	case strings.HasSuffix(interpreter, "\r"):
		return &StartError{
			127, name + ": its first line ends with a carriage return, as lines of Windows do",
			"remove them: sed -i 's/\\r$//' " + name,
		}
	}
	return &StartError{
		127, name + ": its interpreter " + interpreter + " is missing",
		"install it, or correct the first line of " + name,
	}
}

// readInterpreter returns the program that the first line of a script names, else "".
func readInterpreter(file *os.File) string {
	const longest = 256 // BINPRM_BUF_SIZE: Linux reads no more of a first line
	line, _ := bufio.NewReaderSize(file, longest).ReadSlice('\n')
	rest, isScript := strings.CutPrefix(string(line), "#!")
	if !isScript {
		return ""
	}
	rest, _, _ = strings.Cut(strings.Trim(rest, " \t\n"), " ")
	rest, _, _ = strings.Cut(rest, "\t")
	return rest
}

// joinDir returns path as a program sees it that starts in dir.
func joinDir(dir, path string) string {
	if filepath.IsAbs(path) {
		return path
	}
	return filepath.Join(dir, path)
}

func isDirectory(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}

// resourceError words the failure of something that takes what the system may have run out of.
func resourceError(status int, action string, err error) *StartError {
	cause := err
	if errno, ok := errors.AsType[syscall.Errno](err); ok {
		cause = errno // without the path, which action names
	}
	return &StartError{status, action + ": " + cause.Error(), resourceHints[cause]}
}

// resourceHints are the next steps after failures of the system.
var resourceHints = map[error]string{
	unix.EMFILE:       "raise the limit of open files, as with: ulimit -n 1024",
	unix.ENOSPC:       "all pseudo-terminals are in use: see /proc/sys/kernel/pty/max",
	unix.EAGAIN:       "too many processes run: end some, or raise the limit: ulimit -u",
	unix.ENOMEM:       "the memory is used up: end another program first",
	unix.E2BIG:        "shorten the arguments, or hand them over in a file",
	unix.ETXTBSY:      "another process writes the file: try again when it is done",
	unix.ENOTDIR:      "check its path: a part of it is a file",
	unix.ELOOP:        "its symbolic links lead in a circle: see ls -l",
	unix.ENAMETOOLONG: "check its path",
}
