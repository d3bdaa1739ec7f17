package command

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// clock advances by half a second each time it is asked, from a start on.
func clock() (now func() time.Time, start time.Time) {
	at := time.Unix(0, 0)
	return func() time.Time {
		at = at.Add(500 * time.Millisecond)
		return at
	}, at
}

func TestAPipeGetsPlainLines(t *testing.T) {
	var out strings.Builder
	p := Progress(&out)
	p.now, p.start = clock()
	p.Title("Start")
	p.Doing("working")
	p.Done("made %d things", 3)
	p.Problem("lost one")
	want := "\nStart\n   0.50s ✓ made 3 things\n   1.00s ✗ lost one\n"
	if diff := cmp.Diff(want, out.String()); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestATerminalKeepsTheLiveLineLastUntilItIsDone(t *testing.T) {
	var out strings.Builder
	p := Progress(&out)
	p.live, p.width = true, 24
	p.now, p.start = clock()
	p.Doing("a line that is much longer than the terminal")
	p.Note("news")
	p.Done("it")
	p.Doing("more")
	p.Text("end")
	cut := "  … a line that is…"
	want := cut + "\r\x1b[K" + "   0.50s · news\n" + cut + "\r\x1b[K" + "   1.00s ✓ it\n" + "  … more" + "\r\x1b[K" + "end\n"
	if diff := cmp.Diff(want, out.String()); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// TestWhatIsWaitedForIsPrintedOnce: as a line when the wait goes on, and not at all where an error says it.
func TestWhatIsWaitedForIsPrintedOnce(t *testing.T) {
	for live, want := range map[bool]string{
		false: "   0.50s · one\n   1.00s · two\n   1.50s ✓ done\n",
		true:  "  … one\r\x1b[K   0.50s · one\n  … two\r\x1b[K   1.00s · two\n   1.50s ✓ done\n  … three\r\x1b[K",
	} {
		var out strings.Builder
		p := Progress(&out)
		p.live = live
		p.now, p.start = clock()
		p.Waiting("one")
		p.Waiting("two")
		p.Done("done")
		p.Waiting("three")
		p.Forget()
		if diff := cmp.Diff(want, out.String()); diff != "" {
			t.Errorf("on a terminal: %t (-want +got):\n%s", live, diff)
		}
	}
}
