package main

import (
	"bytes"
	"errors"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// recorded are what go test -json printed of a package, without times: test, action and output of each event.
var recorded = map[string]string{
	"passes": `
{"Action":"start","Package":"m/a"}
{"Action":"run","Package":"m/a","Test":"TestPass"}
{"Action":"output","Package":"m/a","Test":"TestPass","Output":"=== RUN   TestPass\n"}
{"Action":"output","Package":"m/a","Test":"TestPass","Output":"    a_test.go:3: chatter\n"}
{"Action":"output","Package":"m/a","Test":"TestPass","Output":"--- PASS: TestPass (0.00s)\n"}
{"Action":"pass","Package":"m/a","Test":"TestPass","Elapsed":0}
{"Action":"output","Package":"m/a","Output":"PASS\n"}
{"Action":"output","Package":"m/a","Output":"leftover of a process\n"}
{"Action":"output","Package":"m/a","Output":"ok  \tm/a\t0.004s\n"}
{"Action":"pass","Package":"m/a","Elapsed":0.018}`,
	"skips": `
{"Action":"start","Package":"m/a"}
{"Action":"run","Package":"m/a","Test":"TestSkip"}
{"Action":"output","Package":"m/a","Test":"TestSkip","Output":"=== RUN   TestSkip\n"}
{"Action":"output","Package":"m/a","Test":"TestSkip","Output":"    a_test.go:4: before\n"}
{"Action":"output","Package":"m/a","Test":"TestSkip","Output":"    a_test.go:4: vim is not installed\n"}
{"Action":"output","Package":"m/a","Test":"TestSkip","Output":"--- SKIP: TestSkip (0.00s)\n"}
{"Action":"skip","Package":"m/a","Test":"TestSkip","Elapsed":0}
{"Action":"run","Package":"m/a","Test":"TestSub"}
{"Action":"run","Package":"m/a","Test":"TestSub/one"}
{"Action":"output","Package":"m/a","Test":"TestSub/one","Output":"    a_test.go:5: vim is not installed\n"}
{"Action":"output","Package":"m/a","Test":"TestSub/one","Output":"        second line\n"}
{"Action":"output","Package":"m/a","Test":"TestSub/one","Output":"--- SKIP: TestSub/one (0.00s)\n"}
{"Action":"skip","Package":"m/a","Test":"TestSub/one","Elapsed":0}
{"Action":"run","Package":"m/a","Test":"TestSub/two"}
{"Action":"pass","Package":"m/a","Test":"TestSub/two","Elapsed":0}
{"Action":"pass","Package":"m/a","Test":"TestSub","Elapsed":0}
{"Action":"run","Package":"m/a","Test":"TestNow"}
{"Action":"output","Package":"m/a","Test":"TestNow","Output":"--- SKIP: TestNow (0.00s)\n"}
{"Action":"skip","Package":"m/a","Test":"TestNow","Elapsed":0}
{"Action":"output","Package":"m/a","Output":"ok  \tm/a\t(cached)\n"}
{"Action":"pass","Package":"m/a","Elapsed":0.018}
{"Action":"start","Package":"m/g"}
{"Action":"output","Package":"m/g","Output":"?   \tm/g\t[no test files]\n"}
{"Action":"skip","Package":"m/g","Elapsed":0}`,
	"fails": `
{"Action":"start","Package":"m/b"}
{"Action":"output","Package":"m/b","Output":"-test.shuffle 17\n"}
{"Action":"run","Package":"m/b","Test":"TestPass"}
{"Action":"output","Package":"m/b","Test":"TestPass","Output":"    b_test.go:3: chatter\n"}
{"Action":"pass","Package":"m/b","Test":"TestPass","Elapsed":0}
{"Action":"run","Package":"m/b","Test":"TestFail"}
{"Action":"output","Package":"m/b","Test":"TestFail","Output":"printed\n"}
{"Action":"run","Package":"m/b","Test":"TestFail/sub"}
{"Action":"run","Package":"m/b","Test":"TestFail/ok"}
{"Action":"run","Package":"m/b","Test":"TestOther"}
{"Action":"output","Package":"m/b","Test":"TestOther","Output":"    b_test.go:9: other\n"}
{"Action":"output","Package":"m/b","Test":"TestFail/sub","Output":"    b_test.go:4: want 1\n"}
{"Action":"output","Package":"m/b","Test":"TestFail/sub","Output":"        have 2\n"}
{"Action":"output","Package":"m/b","Test":"TestFail/sub","Output":"--- FAIL: TestFail/sub (0.00s)\n"}
{"Action":"fail","Package":"m/b","Test":"TestFail/sub","Elapsed":0}
{"Action":"output","Package":"m/b","Test":"TestFail/ok","Output":"--- PASS: TestFail/ok (0.00s)\n"}
{"Action":"pass","Package":"m/b","Test":"TestFail/ok","Elapsed":0}
{"Action":"output","Package":"m/b","Test":"TestFail","Output":"--- FAIL: TestFail (0.00s)\n"}
{"Action":"fail","Package":"m/b","Test":"TestFail","Elapsed":0}
{"Action":"output","Package":"m/b","Test":"TestOther","Output":"--- FAIL: TestOther (0.00s)\n"}
{"Action":"fail","Package":"m/b","Test":"TestOther","Elapsed":0}
{"Action":"output","Package":"m/b","Output":"FAIL\n"}
{"Action":"output","Package":"m/b","Output":"FAIL\tm/b\t0.030s\n"}
{"Action":"fail","Package":"m/b","Elapsed":0.031}`,
	"panics": `
{"Action":"start","Package":"m/c"}
{"Action":"run","Package":"m/c","Test":"TestP"}
{"Action":"pause","Package":"m/c","Test":"TestP"}
{"Action":"run","Package":"m/c","Test":"TestQ"}
{"Action":"pause","Package":"m/c","Test":"TestQ"}
{"Action":"cont","Package":"m/c","Test":"TestP"}
{"Action":"output","Package":"m/c","Test":"TestP","Output":"=== CONT  TestP\n"}
{"Action":"output","Package":"m/c","Test":"TestP","Output":"--- FAIL: TestP (0.00s)\n"}
{"Action":"output","Package":"m/c","Test":"TestP","Output":"panic: assignment to entry in nil map [recovered, repanicked]\n"}
{"Action":"fail","Package":"m/c","Test":"TestP","Elapsed":0}
{"Action":"output","Package":"m/c","Output":"FAIL\tm/c\t0.006s\n"}
{"Action":"fail","Package":"m/c","Elapsed":0.007}`,
	"does not build": `
{"ImportPath":"m/d [m/d.test]","Action":"build-output","Output":"# m/d [m/d.test]\n"}
{"ImportPath":"m/d [m/d.test]","Action":"build-output","Output":"d/d_test.go:3:28: undefined: undefined\n"}
{"ImportPath":"m/d [m/d.test]","Action":"build-fail"}
{"Action":"start","Package":"m/d"}
{"Action":"output","Package":"m/d","Output":"FAIL\tm/d [build failed]\n"}
{"Action":"fail","Package":"m/d","Elapsed":0,"FailedBuild":"m/d [m/d.test]"}
{"Action":"start","Package":"m/e"}
{"Action":"output","Package":"m/e","Output":"FAIL\tm/e [build failed]\n"}
{"Action":"fail","Package":"m/e","Elapsed":0,"FailedBuild":"m/d [m/d.test]"}`,
	"runs out of time": `
{"Action":"start","Package":"m/e"}
{"Action":"run","Package":"m/e","Test":"TestSlow"}
{"Action":"output","Package":"m/e","Test":"TestSlow","Output":"=== RUN   TestSlow\n"}
{"Action":"output","Package":"m/e","Test":"TestSlow","Output":"panic: test timed out after 2s\n"}
{"Action":"output","Package":"m/e","Test":"TestSlow","Output":"\trunning tests:\n"}
{"Action":"output","Package":"m/e","Output":"FAIL\tm/e\t2.036s\n"}
{"Action":"fail","Package":"m/e","Elapsed":2.038}`,
	"ends by itself": `
{"Action":"start","Package":"m/f"}
{"Action":"run","Package":"m/f","Test":"TestFine"}
{"Action":"pass","Package":"m/f","Test":"TestFine","Elapsed":0}
{"Action":"output","Package":"m/f","Output":"PASS\n"}
{"Action":"output","Package":"m/f","Output":"leaked\n"}
{"Action":"output","Package":"m/f","Output":"FAIL\tm/f\t0.003s\n"}
{"Action":"fail","Package":"m/f","Elapsed":0.003}`,
	"is killed": `
{"Action":"start","Package":"m/k"}
{"Action":"run","Package":"m/k","Test":"TestK"}
{"Action":"output","Package":"m/k","Test":"TestK","Output":"so far\n"}`,
	"is no event": `
plain text
{"Action":`,
	"only warns": `
{"ImportPath":"m/w","Action":"build-output","Output":"# m/w\nwarning: odd\n"}
{"Action":"start","Package":"m/w"}
{"Action":"output","Package":"m/w","Output":"ok  \tm/w\t0.004s\n"}
{"Action":"pass","Package":"m/w","Elapsed":0.018}`,
	"is interrupted": `
{"Action":"start","Package":"m/b"}
{"Action":"run","Package":"m/b","Test":"TestBad"}
{"Action":"output","Package":"m/b","Test":"TestBad","Output":"--- FAIL: TestBad (0.00s)\n"}
{"Action":"fail","Package":"m/b","Test":"TestBad","Elapsed":0}
{"Action":"output","Package":"m/b","Output":"FAIL\tm/b\t0.030s\n"}
{"Action":"fail","Package":"m/b","Elapsed":0.031}
{"Action":"start","Package":"m/i"}
{"Action":"run","Package":"m/i","Test":"TestI"}
{"Action":"output","Package":"m/i","Output":"signal: interrupt\nFAIL\tm/i\t2.036s\n"}
{"Action":"fail","Package":"m/i","Elapsed":2.038}
{"Action":"start","Package":"m/j"}`,
}

// feed gives results a recorded stream, in pieces as a pipe may.
func feed(t *testing.T, name string, err error, stderr string) (out string, failed bool) {
	t.Helper()
	text := strings.TrimPrefix(recorded[name], "\n") + "\n"
	require.NotEmpty(t, strings.TrimSpace(text))
	var want string
	for _, size := range []int{1, 7, 1 << 20} {
		var b bytes.Buffer
		r := &results{out: &b}
		s := &stream{results: r, interrupted: func() bool { return name == "is interrupted" }}
		for rest := []byte(text); len(rest) > 0; rest = rest[min(size, len(rest)):] {
			_, err := s.Write(rest[:min(size, len(rest))])
			require.NoError(t, err)
		}
		s.finishRun(err, stderr)
		failed = r.printEnd(nil) != nil
		out = b.String()
		if want == "" {
			want = out
		}
		require.Equal(t, want, out)
	}
	return out, failed
}

func TestWhatFailedIsPrintedLast(t *testing.T) {
	exit1 := errors.New("exit status 1")
	for name, c := range map[string]struct {
		err    error
		stderr string
		live   string // what is printed while the tests run
		end    string
	}{
		"passes": {nil, "", "ok  \tm/a\t0.004s\n", "1 passed, 0 failed, 0 skipped\n"},
		"skips": {
			nil, "", "ok  \tm/a\t(cached)\n?   \tm/g\t[no test files]\n",
			"\nskipped:\n     2  vim is not installed\n     1  without a reason\n1 passed, 0 failed, 3 skipped\n",
		},
		"fails":            {exit1, "", "", "FAIL\n2 passed, 2 failed, 0 skipped\n"},
		"panics":           {exit1, "", "", "FAIL\n0 passed, 1 failed, 0 skipped\n"},
		"does not build":   {exit1, "", "", "FAIL\n0 passed, 2 failed, 0 skipped\n"},
		"runs out of time": {exit1, "", "", "FAIL\n0 passed, 1 failed, 0 skipped\n"},
		"ends by itself":   {exit1, "", "", "FAIL\n1 passed, 1 failed, 0 skipped\n"},
		"is killed": {
			errors.New("signal: killed"), "", "",
			"\nfailed:\nso far\nstill running: TestK\nFAIL\tm/k\t[did not end]\nFAIL\n0 passed, 1 failed, 0 skipped\n",
		},
		"is no event": {
			exit1, "go: no such flag\n", "plain text\n{\"Action\":\n",
			"\nfailed:\nplain text\n{\"Action\":\ngo: no such flag\ngo test: exit status 1\nFAIL\n0 passed, 1 failed, 0 skipped\n",
		},
		"only warns": {nil, "", "ok  \tm/w\t0.004s\n# m/w\nwarning: odd\n", "0 passed, 0 failed, 0 skipped\n"},
		"is interrupted": {
			exit1, "", "",
			"--- FAIL: TestBad (0.00s)\nFAIL\tm/b\t0.030s\ninterrupted, and the tests were ended; these packages had begun and not finished: m/i m/j\nFAIL\n0 passed, 1 failed, 0 skipped\n",
		},
	} {
		out, failed := feed(t, name, c.err, c.stderr)
		require.Equal(t, c.err != nil, failed, name)
		require.True(t, strings.HasSuffix(out, c.end), "%s:\n%s", name, out)
		if c.live != "" {
			require.True(t, strings.HasPrefix(out, c.live), "%s:\n%s", name, out)
		}
	}
	for name, text := range map[string]string{ // printed as the package ends, and again at the end
		"fails":            "-test.shuffle 17\nFAIL\tm/b\t0.030s\n",
		"panics":           "--- FAIL: TestP (0.00s)\npanic: assignment to entry in nil map [recovered, repanicked]\nFAIL\tm/c\t0.006s\n",
		"does not build":   "# m/d [m/d.test]\nd/d_test.go:3:28: undefined: undefined\nFAIL\tm/d [build failed]\nFAIL\tm/e [build failed]\n",
		"runs out of time": "panic: test timed out after 2s\n\trunning tests:\nstill running: TestSlow\nFAIL\tm/e\t2.036s\n",
		"ends by itself":   "leaked\nFAIL\tm/f\t0.003s\n",
	} {
		out, _ := feed(t, name, exit1, "")
		live, end, found := strings.Cut(out, "\nfailed:\n")
		require.True(t, found, out)
		require.Contains(t, live, text, name)
		require.Contains(t, end, text, name)
	}
	out, _ := feed(t, "fails", exit1, "")
	require.Contains(t, out, "printed\n--- FAIL: TestFail (0.00s)\n    b_test.go:4: want 1\n        have 2\n--- FAIL: TestFail/sub (0.00s)\n    b_test.go:9: other\n", "a test's subtests stand below it")
	require.NotContains(t, out, "chatter")
}
