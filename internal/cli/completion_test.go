package cli

import (
	"bytes"
	"path/filepath"
	"strings"
	"testing"

	olmv1 "fairlead.dev/fairlead/api/olm/v1"
	"fairlead.dev/fairlead/api/operators/v1alpha1"
	"fairlead.dev/fairlead/test/must"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// TestCompletion: words of a command line, from a catalog on disk and from the commands, and nothing where no cluster can be asked.
func TestCompletion(t *testing.T) {
	t.Setenv("OLM_CACHE_DIR", t.TempDir())
	t.Setenv("KUBECONFIG", filepath.Join(t.TempDir(), "none"))
	catalog := "demo=" + filepath.Join("..", "..", "examples", "catalog")
	for line, want := range map[string][]string{
		"info --catalog " + catalog + " ":                                  {"greeter-operator", "guestbook-operator"},
		"versions --catalog " + catalog + " gue":                           {"guestbook-operator"},
		"versions --catalog " + catalog + " guestbook-operator ":           nil,
		"versions --catalog " + catalog + " guestbook-operator --channel ": {"candidate", "stable"},
		"install --catalog " + catalog + " guestbook-operator --version ":  {"1.0.0", "1.0.1", "1.1.0", "1.2.0"},
		"status -o ":         {"json", "text", "yaml"},
		"status --color a":   {"always", "auto"},
		"history --api ":     {"v0", "v1"},
		"status ":            nil,
		"status -n ":         nil,
		"catalog remove ":    nil,
		"plan show ":         nil,
		"trace ":             {"clusterextension/", "clusterserviceversion/", "deployment/", "pod/", "service/", "subscription/"},
		"info ":              nil,
		"install --channel ": nil,
	} {
		var out, errs bytes.Buffer
		words := strings.Split(line, " ")
		Run(t.Context(), append([]string{"__complete"}, words...), strings.NewReader(""), &out, &errs)
		var got []string
		for word := range strings.Lines(out.String()) {
			if word = strings.TrimSpace(word); !strings.HasPrefix(word, ":") {
				got = append(got, word)
			}
		}
		must.Equal(t, line, got, want)
	}
}

// TestNamesOfObjects: in a namespace, or of the cluster; none of a kind that may not be listed.
func TestNamesOfObjects(t *testing.T) {
	c := cluster(t, &v1alpha1.Subscription{ObjectMeta: metav1.ObjectMeta{Namespace: "ops", Name: "kite"}}, &v1alpha1.Subscription{ObjectMeta: metav1.ObjectMeta{Namespace: "other", Name: "wind"}},
		&olmv1.ClusterExtension{ObjectMeta: metav1.ObjectMeta{Name: "balloon"}})
	must.Equal(t, "of a namespace", namesOf(t.Context(), c, kindSubscription, "ops"), []string{"kite"})
	must.Equal(t, "of the cluster", namesOf(t.Context(), c, kindExtension, ""), []string{"balloon"})
	must.Empty(t, "of a kind that is not there", namesOf(t.Context(), c, kindNamespace.GroupVersion().WithKind("Nothing"), ""))
}

// TestCompleters: what is completed is an argument of a command, or a flag, that there is.
func TestCompleters(t *testing.T) {
	root, _ := newRoot(strings.NewReader(""), &bytes.Buffer{}, &bytes.Buffer{})
	for name := range argumentsOf {
		cmd, _, err := root.Find(strings.Fields(name))
		if err != nil || strings.TrimPrefix(cmd.CommandPath(), "fairlead ") != name {
			t.Errorf("there is no command %s: %v", name, err)
			continue
		}
		must.Equal(t, name+" is completed", cmd.ValidArgsFunction != nil, true)
	}
}
