package e2e_test

import (
	"regexp"
	"sync"
	"testing"
)

// While a user's terminal takes no output of a flood, agents see the output, Ctrl+\ takes the
// keyboard back, and keys reach the program. When the terminal continues, so does the output.
func TestATerminalThatStopsTakingOutput(t *testing.T) {
	const flood = `echo ready; read go; seq -f "number %.0f" 100000 & read key; echo "$key" > heard; wait; echo over`
	w := newWorld(t)
	st := w.stage("exec proxy --agent --grant drive --yield 0s sh -c '" + flood + "'")
	st.waitText("ready")
	id := w.session()
	w.requestGrant(id)

	st.mu.Lock() // now the terminal reads at most once more
	goesOn := sync.OnceFunc(st.mu.Unlock)
	defer goesOn()
	st.typeKeys("go\r")
	var got result
	number := regexp.MustCompile(`number \d`)
	w.until(func() bool { got = w.gateway("read", id); return number.MatchString(got.out) }, func() string { return got.out + got.err })
	st.typeKeys("\x1c")
	w.waitKeyboard(id, "user")
	st.typeKeys("hello\r")
	w.waitHeard("heard", "^hello\n$")

	goesOn()
	st.waitText("number 99999\nnumber 100000\nover\n")
	<-st.ended
}
