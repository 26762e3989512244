package consent_test

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"terminalproxy/cmd/internal/dev/browser"
	"terminalproxy/cmd/internal/e2e/world"

	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/require"
)

// secretField is where the page takes the answer to a program's question.
const secretField = ".secret:not(.answered) input"

// openOwnersPage lets a browser in as the owner's, by the link that a terminal shows.
func openOwnersPage(o *world.Terminal, link string) *browser.Tab {
	o.W.T.Helper()
	b := browser.Chromium(o.W.T)
	b.RunSteps(chromedp.Navigate(link))
	b.WaitFor(`document.querySelector('.words')`)
	o.Wait(browser.JS[string](b, browser.Text(".words")))
	o.Typed("y\n")
	b.WaitFor(`document.querySelector('.trip.connected')`)
	return b
}

// answerAtPage answers the question with these words at the page.
func answerAtPage(b *browser.Tab, words, text string) {
	b.T.Helper()
	b.WaitFor(browser.Text(".secret:not(.answered)") + `.includes('` + words + `')`)
	b.Press("Answer")
	b.WaitFor(`document.activeElement?.matches('` + secretField + `')`)
	b.RunSteps(chromedp.SendKeys(secretField, text), chromedp.SendKeys(secretField, "\r"))
	b.WaitFor(`![...document.querySelectorAll('.secret:not(.answered)')].some((e) => e.innerText.includes('` + words + `'))`)
}

// git asks at the desk and at the page, and the first answer counts. The terminal names the page
// that answered, the page says that the terminal did, and the password is nowhere but in git.
func TestGitAsksAtThePage_Client(t *testing.T) {
	browser.ChromiumPath(t)
	a := newTool(t, "git")
	o := a.Terminal(100, 30)
	_, link := o.OpenPage("--role owner")
	b := openOwnersPage(o, link)
	heard := a.Overhear(a.id)
	url := gitServer(a)
	clone := a.start("git clone -q " + url + " cloned")
	a.waitQuestion("wants your answer for git")
	b.WaitFor(browser.Text(".secret") + `.includes('git clone -q ` + url + ` cloned')`)
	a.answer("wants your answer for git", "ada") // at the desk
	b.WaitAnswered("answered at the terminal")
	answerAtPage(b, "wants your password for git", a.canary)
	a.desk.WaitShown("answered git")
	got := clone.Wait()
	require.Zero(t, got.Status, got.Err)
	require.FileExists(t, a.Path("cloned/.git/HEAD"))
	readAll(heard)
	a.noCanary(heard, got)

	killed := a.start("git clone -q " + url + " killed")
	b.WaitFor(browser.Text(".secret:not(.answered)") + `.includes('killed')`)
	b.Press("Answer")
	b.WaitFor(`document.activeElement?.matches('` + secretField + `')`)
	b.RunSteps(chromedp.SendKeys(secretField, "half"))
	require.NoError(t, syscall.Kill(findProcess(t, a.Dir, "gateway-askpass"), syscall.SIGKILL))
	b.WaitAnswered("the program no longer waits. What you typed went nowhere.")
	require.NotZero(t, killed.Wait().Status)

	refused := a.start("git clone -q " + url + " again")
	b.WaitFor(browser.Text(".secret:not(.answered)") + `.includes('again')`)
	b.Press("Refuse")
	got = refused.Wait()
	require.Equal(t, 128, got.Status)
	require.Contains(t, got.Err, "the user refused the answer for git")
	a.desk.WaitGone("Ctrl+\\ refuses")

	o.Press("C-c")
	a.desk.QuitProgram("exit\n")
	var said []string
	for _, e := range a.Audited("rec.cast.audit.jsonl") {
		if e.Kind == "secret" {
			said = append(said, e.Program+" "+e.Fate+" "+strings.SplitN(e.By+"-", "-", 2)[0])
		}
	}
	require.Equal(t, []string{"git answer ", "git answer page", "git withdrawn ", "git refuse page"}, said)
	a.noCanary(heard)
}

// sudo in an agent's own shell is answered at a page by a person who is not at the terminal.
func TestSudoAsksAtThePage_RootClient(t *testing.T) {
	browser.ChromiumPath(t)
	s := newSudoer(t)
	o := s.Window(110, 40, strings.Join(append(s.enter, "gateway", "open", "--role", "owner"), " "))
	link := o.Match(`(https?://127\.0\.0\.1:\d+/#c=[a-z2-7]{16})\s`)
	b := openOwnersPage(o, link)
	run := s.start("sudo -k; sudo id -u")
	answerAtPage(b, "sudo id -u", "a wrong one")
	b.WaitFor(browser.Text(".secret:not(.answered)") + `.includes('The last answer was wrong.')`)
	answerAtPage(b, "The last answer was wrong.", s.canary)
	got := run.Wait()
	require.Zero(t, got.Status, got.Err)
	require.Equal(t, "0\n", got.Out)
	require.NotContains(t, got.Err, s.canary)
	searchProcesses(t, s.World, s.canary)
	for _, name := range []string{"rec.cast", "rec.cast.audit.jsonl"} {
		data, err := os.ReadFile(filepath.Join(s.dir, name))
		require.NoError(t, err)
		require.NotContains(t, string(data), s.canary)
	}
}

// A person who has left the terminal is asked at the page. Without a page no one is there.
func TestAQuestionFollowsThePersonToThePage_Client(t *testing.T) {
	browser.ChromiumPath(t)
	w := world.New(t, "git", "setsid")
	w.EndsKept()
	w.Env = append(w.Env, "GIT_CONFIG_NOSYSTEM=1", "GIT_TERMINAL_PROMPT=0")
	s, o := w.Terminal(120, 30), w.Terminal(100, 30)
	s.Run("stty -g > before; proxy --keep --agent bash --noprofile --rcfile bashrc -i")
	id := w.Session()
	s.Wait("$")
	a := &tool{World: w, desk: s, id: id, canary: newCanary()}
	url := gitServer(a)
	s.Detach(id)
	w.WaitKept(id, true)
	got := a.start("git clone -q " + url + " alone").Wait()
	require.Equal(t, 128, got.Status)
	require.Contains(t, got.Err, "no one is there to answer")

	_, link := o.OpenPage("--role owner")
	b := openOwnersPage(o, link)
	clone := a.start("git clone -q " + url + " cloned")
	answerAtPage(b, "wants your answer for git", "ada")
	answerAtPage(b, "wants your password for git", a.canary)
	got = clone.Wait()
	require.Zero(t, got.Status, got.Err)
	require.NotContains(t, got.Out+got.Err, a.canary)
	s.WaitAttached(id, "$")
	s.QuitProgram("exit\n")
}
