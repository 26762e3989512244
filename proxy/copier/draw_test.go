package copier_test

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
)

// TestAChunkUnderARemarkIsOneWrite: the remark goes, the chunk comes, and it is back, so that it does not flicker.
func TestAChunkUnderARemarkIsOneWrite(t *testing.T) {
	runs(t, shown("remark"), func(t *testing.T, r *rig) {
		r.equal(`screen "[remark]" | drawn`, r.did())
		r.prints("a")
		r.equal(`model "a" | screen "[-]a[remark]" | drawn`, r.did())
		require.False(t, r.c.InHand())
	})
}

func TestAChunkThatMissesTheSignPassesAsItIs(t *testing.T) {
	runs(t, shown("sign"), func(_ *testing.T, r *rig) {
		r.set(func() { r.shows.sign = true })
		r.did()
		r.prints("a")
		r.equal(`screen "a" | model "a" | wake`, r.did())
		r.set(func() { r.shows.touched = true })
		r.prints("b")
		r.equal(`model "b" | screen "[-]b[sign]" | drawn`, r.did())
	})
}

// TestAResizeTakesEverythingAway: nobody knows where the terminal moved what is shown.
func TestAResizeTakesEverythingAway(t *testing.T) {
	runs(t, shown("sign"), func(_ *testing.T, r *rig) {
		r.set(func() { r.shows.sign = true })
		r.did()
		r.c.Resized()
		synctest.Wait()
		r.equal(`screen "[all][sign]" | drawn`, r.did())
		r.c.Repaint()
		synctest.Wait()
		r.equal(`screen "[-][sign]" | drawn`, r.did())
		r.reading = r.c.Resized // as a chunk is on its way that misses the sign
		r.prints("a")
		r.equal(`model "a" | screen "[all]a[sign]" | drawn`, r.did())
		r.set(func() { r.shows.cut = true })
		r.c.Resized()
		synctest.Wait()
		r.equal("cut", r.did())
		r.set(func() { r.shows.cut = false })
		r.prints("b")
		r.equal(`model "b" | screen "[all]b[sign]" | drawn`, r.did())
	})
}

// TestASignGivesWayToAFullRead: the program draws, and goes on.
func TestASignGivesWayToAFullRead(t *testing.T) {
	runs(t, shown("sign"), func(t *testing.T, r *rig) {
		r.set(func() { r.shows.sign, r.shows.touched = true, true })
		r.did()
		r.prints(strings.Repeat("w", 4095))
		require.Regexp(t, `^screen "\[-\]" \| screen "w+" \| model "w+"$`, r.did())
	})
}

// TestAFloodHidesTheRemark: to draw it with each chunk would be too much. It comes back when there is time, and without after
// 100 ms.
func TestAFloodHidesTheRemark(t *testing.T) {
	flood := func(t *testing.T, r *rig, chunk string) {
		r.did()
		for range 16 {
			r.prints("a")
			require.Contains(t, r.did(), "[-]a[remark]")
		}
		r.prints(chunk)
	}
	runs(t, shown("remark"), func(t *testing.T, r *rig) {
		flood(t, r, "b")
		r.equal(`screen "[-]" | screen "b" | model "b" | wake | screen "[remark]" | drawn`, r.did())
	})
	runs(t, shown("remark"), func(t *testing.T, r *rig) {
		require.True(t, r.c.Guard(r))
		flood(t, r, strings.Repeat("w", 4095))
		r.equal("", r.watchdog())
		trickle := func(d time.Duration) {
			for end := time.Now().Add(d); time.Now().Before(end); {
				time.Sleep(390 * time.Microsecond) // there may be more in 400
				r.prints("c")
			}
		}
		trickle(99 * time.Millisecond)
		require.NotContains(t, r.did(), "remark")
		trickle(2 * time.Millisecond)
		require.Contains(t, r.did(), "remark")
	})
}

// TestNothingIsDrawnWithinASequence: what there is to say waits for the next chunk.
func TestNothingIsDrawnWithinASequence(t *testing.T) {
	runs(t, shown("remark"), func(_ *testing.T, r *rig) {
		r.set(func() { r.shows.cut = true })
		r.screen()
		r.prints("a\x1b")
		r.equal("[-]a", r.screen()) // and the filter keeps the half of a sequence
		r.set(func() { r.shows.cut = false })
		r.prints("[m")
		r.equal("\x1b[m[remark]", r.screen())
	})
}

// TestWhatComesAgainIsDrawnByItself: a sign that was drawn too often comes later.
func TestWhatComesAgainIsDrawnByItself(t *testing.T) {
	runs(t, shown(""), func(_ *testing.T, r *rig) {
		r.set(func() { r.shows.text, r.shows.again = "sign", time.Now().Add(time.Second) })
		r.prints("a")
		r.equal("a", r.screen())
		time.Sleep(time.Second + time.Millisecond)
		synctest.Wait()
		r.equal("[sign]", r.screen())
	})
}

// TestR43AQuestionKeepsItsColors: the program cannot make it unreadable, and its colours come when it is gone.
func TestR43AQuestionKeepsItsColors(t *testing.T) {
	black := "\x1b]10;#000\a"
	runs(t, shown("question"), func(t *testing.T, r *rig) {
		r.set(func() { r.shows.asks = true })
		r.c.Repaint()
		synctest.Wait()
		r.screen()
		r.prints("a" + black)
		r.equal("[-]a[question]", r.screen())
		r.set(func() { r.shows.asks, r.shows.text = false, "" })
		r.c.Repaint()
		synctest.Wait()
		require.Equal(t, "[-]\x1b]10;#000", strings.TrimRight(r.screen(), "\a\x1b\\"))
	})
}

// TestNobodyLooks: what the proxy has to say waits for somebody.
func TestNobodyLooks(t *testing.T) {
	runs(t, watched("remark"), func(_ *testing.T, r *rig) {
		r.set(func() { r.on = false })
		r.did()
		r.c.Repaint()
		synctest.Wait()
		r.equal("", r.did())
	})
}

// TestViewersGetTheWholeScreen: before what the proxy shows, which the whole screen comes without; and as soon as it can be
// inserted into the stream.
func TestViewersGetTheWholeScreen(t *testing.T) {
	runs(t, watched("remark"), func(_ *testing.T, r *rig) {
		r.did()
		r.c.Renew()
		synctest.Wait()
		r.equal(`repaint | screen "[remark]" | drawn | viewers`, r.did())
		r.set(func() { r.looks.wait = true })
		r.c.Renew()
		synctest.Wait()
		r.equal("repaint", r.did())
		r.set(func() { r.looks.wait = false })
		r.prints("a")
		r.equal(`model "a" | screen "[-]a[remark]" | drawn | viewers | repaint | screen "[remark]" | drawn | viewers`, r.did())
	})
}

// TestARepaintIsNotForgottenUnderARemark: a chunk that is passed under what the proxy shows brings that up to date, and not what
// somebody who looks on waits for.
func TestARepaintIsNotForgottenUnderARemark(t *testing.T) {
	runs(t, watched("remark"), func(_ *testing.T, r *rig) {
		r.did()
		r.reading = r.c.Renew // as the chunk is on its way
		r.prints("under")
		r.equal(`model "under" | screen "[-]under[remark]" | drawn | viewers | repaint | screen "[remark]" | drawn | viewers`, r.did())
	})
}

// TestViewersKeepTheProgramAlone: at the end what the proxy shows is taken off their screens, and stays on nobody's.
func TestViewersKeepTheProgramAlone(t *testing.T) {
	runs(t, watched("remark"), func(_ *testing.T, r *rig) {
		r.screen()
		r.change(func() { r.ended = true })
		<-r.c.Done()
		r.equal("[-]", r.screen())
	})
}

// TestRenewIsForViewers: without any there is nothing to send.
func TestRenewIsForViewers(t *testing.T) {
	runs(t, shown(""), func(_ *testing.T, r *rig) {
		r.did()
		r.c.Renew()
		synctest.Wait()
		r.equal("", r.did())
	})
}
