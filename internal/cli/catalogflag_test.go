package cli

import (
	"bytes"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"fairlead.dev/fairlead/test/must"
)

// TestCatalogFlagOfCommands: the help of each command names the forms of --catalog that it takes, and no other.
func TestCatalogFlagOfCommands(t *testing.T) {
	t.Setenv("OLM_CACHE_DIR", t.TempDir())
	t.Setenv("KUBECONFIG", filepath.Join(t.TempDir(), "none"))
	policy := filepath.Join(t.TempDir(), "policy.json")
	must.NoError(t, os.WriteFile(policy, []byte(`{"default":[{"type":"insecureAcceptAnything"}]}`), 0o600))
	server := httptest.NewServer(http.NotFoundHandler()) // one that refuses connections is asked several times
	t.Cleanup(server.Close)
	registry := strings.TrimPrefix(server.URL, "http://")
	dir := filepath.Join("..", "..", "examples", "catalog")
	forms := []struct{ name, value, said string }{
		{"name", "toys", "NAME of "}, {"namespace", "olm/toys", "[NAMESPACE/]NAME of "}, {"several", "toys,others", "NAME[,NAME...] of "},
		{"directory", dir, "DIR"}, {"image", registry + "/org/toys:v1", "IMAGE"},
	}
	look, decide := []string{"name", "namespace", "directory", "image"}, []string{"directory", "image"}
	for _, test := range []struct {
		line  string
		takes []string
		says  []string // where the help is for more than this line
	}{
		{"install kite", []string{"name", "namespace"}, []string{"name", "namespace", "several"}},
		{"install kite --api v1", []string{"name", "several"}, []string{"name", "namespace", "several"}},
		{"migrate kite", []string{"name"}, nil}, {"plan kite", decide, nil}, {"resolve", decide, nil}, {"why kite", decide, nil}, {"why-not kite", decide, nil}, {"outdated", decide, nil},
		{"search", look, nil}, {"info kite", look, nil}, {"versions kite", look, nil},
		{"verify " + registry + "/org/kite:v1 --signature-policy " + policy, []string{"image"}, nil},
	} {
		args := strings.Fields(test.line)
		root, _ := newRoot(strings.NewReader(""), &bytes.Buffer{}, &bytes.Buffer{})
		cmd, _, err := root.Find(args)
		must.NoError(t, err)
		help := cmd.Flag("catalog").Usage
		if test.says == nil {
			test.says = test.takes
		}
		for _, form := range forms {
			must.Equal(t, fmt.Sprintf("help of %s (%s) has the %s", args[0], help, form.name), strings.Contains(help, form.said), slices.Contains(test.says, form.name))
			var out, errs bytes.Buffer
			Run(t.Context(), append(slices.Clone(args), "--catalog", form.value), strings.NewReader(""), &out, &errs)
			refused := strings.Contains(errs.String(), fmt.Sprintf("--catalog %q", form.value)) || strings.Contains(errs.String(), "--catalog names several")
			must.Equal(t, fmt.Sprintf("%s takes the %s (%s)", test.line, form.name, errs.String()), !refused, slices.Contains(test.takes, form.name))
		}
		must.Equal(t, args[0]+" knows priorities", strings.Contains(help, ",priority=N"), slices.Equal(test.takes, decide))
	}
}
