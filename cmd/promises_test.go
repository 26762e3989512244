package cmd_test

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

const promisesPage = "../docs/promises.md"

// lastPromise is the highest number of a promise.
const lastPromise = 80

var (
	promiseHead = regexp.MustCompile(`(?m)^\*\*R([0-9]+)\.\*\* `)
	// namedTest matches a test on the page, with its folder if the name alone is not unique.
	namedTest    = regexp.MustCompile("`((?:Test|Benchmark|Fuzz)\\w+)`(?: \\(([\\w/]+)\\))?")
	declaredTest = regexp.MustCompile(`(?m)^func ((?:Test|Benchmark|Fuzz)\w+)\(`)
	testNumber   = regexp.MustCompile(`R([0-9]+)`)
	testNumbers  = regexp.MustCompile(`(R[0-9]+)+(_(Root)?(Client)?)?$`)
	sceneNumber  = regexp.MustCompile(`\bR([0-9]+)\b`)
)

// TestPromisesAreTested holds docs/promises.md and the tests equal. Each promise is on the page
// once and names its tests, which exist. Each test is on the page under the numbers that its name
// carries, TestPlays under those of its scenes.
func TestPromisesAreTested(t *testing.T) {
	promises, tests := readPromises(t), findTests(t)
	var wrong []string
	for number, text := range promises {
		named := namedTest.FindAllStringSubmatch(text, -1)
		if len(named) == 0 && !strings.HasPrefix(text, "Dropped: ") {
			wrong = append(wrong, fmt.Sprintf("R%d names no test", number))
		}
		for _, m := range named {
			name, folder := m[1], m[2]
			folders := tests[name]
			if len(folders) == 0 || folder != "" && !slices.Contains(folders, folder) {
				wrong = append(wrong, fmt.Sprintf("R%d names `%s` %s, which does not exist", number, name, folder))
			}
		}
	}
	requireNamed := func(number, test string) {
		n, err := strconv.Atoi(number)
		require.NoError(t, err)
		if !strings.Contains(promises[n], test) {
			wrong = append(wrong, fmt.Sprintf("R%d does not name %s", n, test))
		}
	}
	for name := range tests {
		for _, m := range testNumber.FindAllStringSubmatch(name, -1) {
			requireNamed(m[1], "`"+name+"`")
		}
		if testNumber.MatchString(testNumbers.ReplaceAllString(name, "")) {
			wrong = append(wrong, name+": numbers stand at the end of a name")
		}
	}
	for _, folder := range tests["TestPlays"] {
		scenes, err := os.ReadFile(filepath.Join("..", folder, "testdata/plays.txt"))
		require.NoError(t, err)
		for _, m := range sceneNumber.FindAllStringSubmatch(string(scenes), -1) {
			requireNamed(m[1], "`TestPlays` ("+folder+")")
		}
	}
	slices.Sort(wrong)
	require.Empty(t, slices.Compact(wrong), "mend %s", promisesPage)
}

func readPromises(t *testing.T) map[int]string {
	t.Helper()
	page, err := os.ReadFile(promisesPage)
	require.NoError(t, err)
	promises := map[int]string{}
	heads := promiseHead.FindAllSubmatchIndex(page, -1)
	for i, at := range heads {
		end := len(page)
		if i+1 < len(heads) {
			end = heads[i+1][0]
		}
		number, err := strconv.Atoi(string(page[at[2]:at[3]]))
		require.NoError(t, err)
		require.Equal(t, i+1, number, "the promises stand in order, each once")
		promises[number] = strings.Join(strings.Fields(string(page[at[1]:end])), " ")
	}
	require.Equal(t, lastPromise, len(promises), "promises on the page") //nolint:testifylint // Len prints them
	return promises
}

// findTests returns the folders of each test, benchmark and fuzz test, by its name.
func findTests(t *testing.T) map[string][]string {
	t.Helper()
	tests := map[string][]string{}
	eachSource(t, true, func(s *source) {
		for _, m := range declaredTest.FindAllStringSubmatch(s.text, -1) {
			tests[m[1]] = append(tests[m[1]], s.dir)
		}
	}, everywhere...)
	return tests
}
