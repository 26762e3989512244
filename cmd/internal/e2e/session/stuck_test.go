package session_test

import (
	"regexp"
	"sync"
	"testing"

	"terminalproxy/cmd/internal/e2e/world"
)

// While a user's terminal takes no output of a flood, agents see the output, Ctrl+\ takes the
// keyboard back, and keys reach the program. When the terminal continues, so does the output.
func TestATerminalThatStopsTakingOutput(t *testing.T) {
	const flood = `echo ready; read go; seq -f "number %.0f" 100000 & read key; echo "$key" > heard; wait; echo over`
	w := world.New(t)
	st := w.Stage("exec proxy --agent --grant drive --yield 0s sh -c '" + flood + "'")
	st.WaitText("ready")
	id := w.Session()
	w.RequestGrant(id)

	st.Mu.Lock() // now the terminal reads at most once more
	goesOn := sync.OnceFunc(st.Mu.Unlock)
	defer goesOn()
	st.TypeKeys("go\r")
	var got world.Result
	number := regexp.MustCompile(`number \d`)
	w.Until(func() bool { got = w.Gateway("read", id); return number.MatchString(got.Out) }, func() string { return got.Out + got.Err })
	st.TypeKeys("\x1c")
	w.WaitKeyboard(id, "user")
	st.TypeKeys("hello\r")
	w.WaitHeard("heard", "^hello\n$")

	goesOn()
	st.WaitText("number 99999\nnumber 100000\nover\n")
	st.WaitEnd()
}
