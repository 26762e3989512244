package page

import (
	"path"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestScriptsAreServedWithoutComments(t *testing.T) {
	for script, want := range map[string]string{
		"// a\nb();\n":     "\nb();\n",
		"/** a */\nb();\n": "\nb();\n",
		"  /**\n   * a **\n   * @param {B} b\n   */\n  c(b)": "\n\n\n\n  c(b)",
		"a(); // b\n":                                 "a(); // b\n",
		"/** @type {A} */ (b).c(); /** d */\n":        "/** @type {A} */ (b).c(); /** d */\n",
		"  const a = /** @type {B} */ (\n    c\n  );": "  const a = /** @type {B} */ (\n    c\n  );",
		"/** a */ b(); // c */\n/** d */\n":           "/** a */ b(); // c */\n\n",
		"x = '/** a */';\ny = /\\/\\*/;\n":            "x = '/** a */';\ny = /\\/\\*/;\n",
	} {
		require.Equal(t, want, string(stripComments([]byte(script))))
	}
	sources, err := readSources()
	require.NoError(t, err)
	for name, served := range sources {
		if path.Ext(name) != ".js" {
			continue
		}
		require.NotContains(t, string(served), "@param", name)
		source, err := static.ReadFile("static/" + name)
		require.NoError(t, err)
		require.Equal(t, strings.Count(string(source), "\n"), strings.Count(string(served), "\n"), name)
	}
}

func TestFirstScriptsAreOneFile(t *testing.T) {
	sources := map[string][]byte{
		"app.js":    []byte("import {\n  a,\n  b,\n} from './one.js';\nimport {c} from './two.js';\n\n\nexport class App {}\nimport('./later.js');\n"),
		"one.js":    []byte("import {c} from './two.js';\nexport const a = c;\nexport async function b() {}\n"),
		"two.js":    []byte("export const c = 1;\n"),
		"later.js":  []byte("import {c} from './two.js';\nimport {d} from './more.js';\n"),
		"more.js":   []byte("export const d = 2;\n"),
		"style.css": []byte("a {}\n"), "screen.css": []byte("b {}\n"), "typing.css": []byte("c {}\n"),
	}
	require.NoError(t, joinFirst(sources))
	require.Equal(t, `const $two = (() => {
const c = 1;
return {c};
})();
const $one = (() => {
const {c} = $two;
const a = c;
async function b() {}
return {a, b};
})();
const $app = (() => {
const {
  a,
  b,
} = $one;
const {c} = $two;
class App {}
import('./later.js');
return {App};
})();
export {$app, $one, $two};
`, string(sources["app.js"]))
	require.Equal(t, "import {$two} from './app.js'; const {c} = $two;\nimport {d} from './more.js';\n", string(sources["later.js"]))
	require.NotContains(t, sources, "two.js", "it is in the first one")
	require.Equal(t, "a {}\nb {}\nc {}\n", string(sources["style.css"]))

	for _, bad := range []map[string][]byte{
		{"app.js": []byte("import {a} from './gone.js';\n")},
		{"app.js": []byte("import {a} from './one.js';\n"), "one.js": []byte("import {b} from './two.js';\n"), "two.js": []byte("import {c} from './one.js';\n")},
	} {
		require.Error(t, joinFirst(bad))
	}
}

// What the joining does not understand would fail in a browser only.
func TestScriptsImportAndExportByName(t *testing.T) {
	sources, err := readSources()
	require.NoError(t, err)
	for name, source := range sources {
		if path.Ext(name) != ".js" {
			continue
		}
		rest := patterns().exports.ReplaceAll(patterns().imports.ReplaceAll(source, nil), nil)
		require.NotRegexp(t, `(?m)^(import [^(]|export )| as \w+,? *\}`, string(rest), name)
	}
}
