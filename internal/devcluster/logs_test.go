package devcluster

import (
	"bytes"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp/cmpopts"

	"fairlead.dev/fairlead/test/must"
)

func TestWriteLogs(t *testing.T) {
	dir := dataDir(t.TempDir())
	must.NoError(t, dir.create())
	for name, content := range map[string]string{Etcd: "e1\ne2\n", Kwok: "k1\nk2\nk3\n"} {
		must.NoError(t, os.WriteFile(dir.log(name), []byte(content), 0o600))
	}
	tests := map[string]struct {
		options LogOptions
		want    []string
		err     string
	}{
		"one":                 {LogOptions{Component: Etcd, Tail: -1}, []string{"e1", "e2"}, ""},
		"the end of one":      {LogOptions{Component: Kwok, Tail: 1}, []string{"k3"}, ""},
		"the end of all":      {LogOptions{Tail: 1}, []string{"etcd                    | e2", "kwok                    | k3"}, ""},
		"one that is missing": {LogOptions{Component: Scheduler, Tail: -1}, nil, "read the log of kube-scheduler"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			var got bytes.Buffer
			err := WriteLogs(t.Context(), &got, string(dir), test.options)
			if (err == nil) != (test.err == "") || err != nil && !strings.Contains(err.Error(), test.err) {
				t.Fatalf("error is %v, want %q", err, test.err)
			}
			lines := strings.FieldsFunc(got.String(), func(r rune) bool { return r == '\n' })
			must.Equal(t, "lines", lines, test.want, cmpopts.EquateEmpty())
		})
	}
	must.Fail(t, "WriteLogs", WriteLogs(t.Context(), &bytes.Buffer{}, t.TempDir(), LogOptions{}), "no cluster was ever started there")
}

func TestPrefixWriterKeepsLinesWhole(t *testing.T) {
	var got bytes.Buffer
	w := &prefixWriter{w: &got, prefix: "> "}
	for _, part := range []string{"a", "b\nc\n", "", "d\n\ne"} {
		if n, err := w.Write([]byte(part)); n != len(part) || err != nil {
			t.Fatalf("writing %q gives %d, %v", part, n, err)
		}
	}
	must.Equal(t, "got.String()", got.String(), "> ab\n> c\n> d\n> \n")
}
