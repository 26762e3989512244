package consent_test

import (
	"encoding/binary"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"terminalproxy/cmd/internal/e2e/world"

	"github.com/stretchr/testify/require"
)

// searchProcesses looks for a word in the command lines, environments and memory of the world's
// processes, where the kernel lets us. Apart are tmux, by which the test types, and the proxy, which
// reads the user's keys. It returns the processes whose memory it has read.
func searchProcesses(t *testing.T, w *world.World, word string) (read []int) {
	t.Helper()
	holds, err := memoryHolds(os.Getpid(), word)
	require.NoError(t, err)
	require.True(t, holds, "the search does not find the word where it is: in the test")
	for _, process := range w.Processes() {
		number, line, _ := strings.Cut(process, " ")
		pid, err := strconv.Atoi(number)
		require.NoError(t, err)
		first, _, _ := strings.Cut(line, " ")
		if name := filepath.Base(first); name == "tmux" || name == "proxy" {
			continue
		}
		env, _ := os.ReadFile(fmt.Sprintf("/proc/%d/environ", pid))
		require.NotContains(t, line+string(env), word, "process %d", pid)
		holds, err := memoryHolds(pid, word)
		require.False(t, holds, "the memory of process %s", process)
		if err == nil {
			read = append(read, pid)
		}
	}
	return read
}

// memoryHolds reports whether a process's writable memory holds a text. An error means that the
// kernel does not show it, or that the process has ended.
func memoryHolds(pid int, text string) (bool, error) {
	dir := fmt.Sprintf("/proc/%d/", pid)
	maps, err := os.ReadFile(dir + "maps")
	if err != nil {
		return false, err
	}
	mem, err := os.Open(dir + "mem")
	if err != nil {
		return false, err
	}
	defer mem.Close()
	pages, err := os.Open(dir + "pagemap")
	if err != nil {
		return false, err
	}
	defer pages.Close()
	for line := range strings.Lines(string(maps)) {
		var from, to int64
		var mode string
		n, _ := fmt.Sscanf(line, "%x-%x %s", &from, &to, &mode)
		if n == 3 && strings.HasPrefix(mode, "rw") && rangeHolds(mem, pages, from, to, text) {
			return true, nil
		}
	}
	return false, nil
}

// rangeHolds reports whether a range of a process's memory holds a text. Of a large range most pages
// are in use only seldom: those without content are left out (proc_pid_pagemap(5)).
func rangeHolds(mem, pages *os.File, from, to int64, text string) bool {
	const part = 4 << 20
	page := int64(os.Getpagesize())
	before := "" // the end of the part before: the text may lie in both
	for ; from < to; from += part {
		size := min(part, to-from)
		entries := make([]byte, size/page*8)
		n, _ := pages.ReadAt(entries, from/page*8)
		isUsed := n < len(entries)
		for at := 0; at+8 <= n && !isUsed; at += 8 {
			isUsed = binary.NativeEndian.Uint64(entries[at:])>>62 != 0 // present, or swapped out
		}
		if !isUsed {
			before = ""
			continue
		}
		data := make([]byte, size)
		n, _ = mem.ReadAt(data, from)
		if strings.Contains(before+string(data[:n]), text) {
			return true
		}
		before = string(data[max(0, n-len(text)):n])
	}
	return false
}
