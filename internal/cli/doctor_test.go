package cli

import (
	"bytes"
	"net/http"
	"path/filepath"
	"strings"
	"testing"

	"fairlead.dev/fairlead/test/must"
)

// TestDoctorsExitCode is what the help and docs/installing.md say of it: a cluster that does not answer is something that is wrong.
func TestDoctorsExitCode(t *testing.T) {
	none := filepath.Join(t.TempDir(), "none")
	refuses := serverAt(t, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusUnauthorized) }))
	for name, test := range map[string]struct {
		args []string
		want int
		said string
	}{
		"no kubeconfig":              {[]string{"--kubeconfig", none}, 1, "there is no such file"},
		"no cluster at the address":  {[]string{"--kubeconfig", refuses, "--server", "http://127.0.0.1:1"}, 3, "it does not answer"},
		"credentials are refused":    {[]string{"--kubeconfig", refuses}, 3, "it does not accept who you are"},
		"the same, for programs":     {[]string{"--kubeconfig", refuses, "-o", "json"}, 3, `"result": "failed"`},
		"a format that there is not": {[]string{"-o", "table"}, 2, "table"},
		"an argument":                {[]string{"olm"}, 2, "olm"},
	} {
		t.Run(name, func(t *testing.T) {
			var out, errs bytes.Buffer
			must.Equal(t, "exit code", Run(t.Context(), append([]string{"doctor"}, test.args...), strings.NewReader(""), &out, &errs), test.want)
			must.Contain(t, "what is said", out.String()+errs.String(), test.said)
		})
	}
	root, _ := newRoot(strings.NewReader(""), &bytes.Buffer{}, &bytes.Buffer{})
	cmd, _, err := root.Find([]string{"doctor"})
	must.NoError(t, err)
	must.Contain(t, "help", cmd.Long, "0: nothing is wrong; there may be notes.", "3: something is, or the cluster does not answer", "1: no cluster could be\nasked", "2: wrong usage.")
}
