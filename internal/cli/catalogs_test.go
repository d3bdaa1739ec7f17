package cli

import (
	"cmp"
	"errors"
	"strings"
	"testing"

	"fairlead.dev/fairlead/internal/cli/command"
	"fairlead.dev/fairlead/internal/ops/preview"
)

// TestAnswer: nothing found is an answer only where a catalog was read.
func TestAnswer(t *testing.T) {
	for name, tc := range map[string]struct {
		answer preview.Answer
		output command.Output
		want   string // of the error
		out    string
	}{
		"nothing was found":              {answer: preview.Answer{Catalogs: 2, Read: 1}, want: "exit code 3"},
		"no catalog could be read":       {answer: preview.Answer{Catalogs: 2, Notes: []string{"a is left out"}}, want: "none of the catalogs that there are (2) could be read"},
		"no catalog could be read, JSON": {answer: preview.Answer{Catalogs: 2, Notes: []string{"a is left out"}}, output: "json", want: "none of the catalogs that there are (2) could be read"},
		"there is no catalog":            {want: "there is no catalog to look into"},
		"there is one elsewhere":         {answer: preview.Answer{Elsewhere: "; other namespaces have some"}, want: "with --catalog; other namespaces have some"},
	} {
		t.Run(name, func(t *testing.T) {
			var out, told strings.Builder
			c := catalogs{streams: command.Streams{Out: &out, Err: &told}, output: cmp.Or(tc.output, command.OutputText)}
			err := c.answer(tc.answer, 0, "nothing", preview.Search(nil, "x"))
			var exit command.ExitError
			if errors.As(err, &exit) && exit.Code == command.ExitNo {
				err = errors.New("exit code 3")
			}
			if err == nil || !strings.Contains(err.Error(), tc.want) || out.String() != tc.out {
				t.Errorf("%v and output %q; want an error that says %q and output %q", err, out.String(), tc.want, tc.out)
			}
			for _, note := range tc.answer.Notes {
				if !strings.Contains(told.String(), "note: "+note) {
					t.Errorf("%q is not told: %q", note, told.String())
				}
			}
		})
	}
}
