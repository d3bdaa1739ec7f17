package command

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"fairlead.dev/fairlead/test/must"
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

// TestTheLiveLineFits: it takes less than the width of the terminal, or it could not be rewritten in place.
func TestTheLiveLineFits(t *testing.T) {
	for name, test := range map[string]struct {
		style      style
		text, want string
	}{
		"in ASCII":        {style{ascii: true}, "a line that is much longer than the terminal", "  ... a line that..."},
		"short, in ASCII": {style{ascii: true}, "a → b", "  ... a -> b"},
		"wide characters": {style{}, "日本語の名前の長い行です", "  … 日本語の名前の長い…"},
		"that just fits":  {style{}, "four four four four", "  … four four four four"},
	} {
		var out strings.Builder
		p := Progress(&out)
		p.live, p.width, p.style = true, 24, test.style
		p.Doing("%s", test.text)
		must.Equal(t, name, out.String(), test.want)
		if n := cells(out.String()); n >= p.width {
			t.Errorf("%s: it takes %d of %d columns", name, n, p.width)
		}
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
