package cli

import (
	"bytes"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

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
		must.Equal(t, line, completed(t, line), want)
	}
}

// completed are the words that complete a line.
func completed(t *testing.T, line string) (words []string) {
	t.Helper()
	var out, errs bytes.Buffer
	Run(t.Context(), append([]string{"__complete"}, strings.Split(line, " ")...), strings.NewReader(""), &out, &errs)
	for word := range strings.Lines(out.String()) {
		if word = strings.TrimSpace(word); !strings.HasPrefix(word, ":") {
			words = append(words, word)
		}
	}
	return words
}

// serverAt writes a kubeconfig for an API server.
func serverAt(t *testing.T, handler http.Handler) string {
	t.Helper()
	server := httptest.NewServer(handler)
	t.Cleanup(server.Close)
	file := filepath.Join(t.TempDir(), "kubeconfig")
	must.NoError(t, os.WriteFile(file, []byte("apiVersion: v1\nkind: Config\ncurrent-context: c\ncontexts:\n- {name: c, context: {cluster: c}}\nclusters:\n- {name: c, cluster: {server: "+server.URL+"}}\n"), 0o600))
	return file
}

// TestCompletionIsBounded: an API server that accepts connections and answers nothing, not even which kinds it has, keeps no shell waiting; what needs no
// cluster is completed nevertheless.
func TestCompletionIsBounded(t *testing.T) {
	t.Setenv("OLM_CACHE_DIR", t.TempDir())
	ended := make(chan struct{})
	t.Setenv("KUBECONFIG", serverAt(t, http.HandlerFunc(func(http.ResponseWriter, *http.Request) { <-ended })))
	end := sync.OnceFunc(func() { close(ended) })
	t.Cleanup(end) // before the server is closed, which waits for its requests
	late := time.AfterFunc(5*completionTime, end)
	defer late.Stop()
	lines := []string{"status -n ", "install kite --channel ", "install kite --version "}
	for name := range argumentsOf {
		lines = append(lines, name+" ")
	}
	got, took := make([][]string, len(lines)), make([]time.Duration, len(lines))
	var all sync.WaitGroup
	for i, line := range lines {
		all.Go(func() {
			begun := time.Now()
			got[i] = completed(t, line)
			took[i] = time.Since(begun)
		})
	}
	all.Wait()
	for i, line := range lines {
		if took[i] > 3*completionTime {
			t.Errorf("%sis completed after %s", line, took[i])
		}
		want := []string(nil)
		if line == "trace " {
			want = []string{"clusterextension/", "clusterserviceversion/", "deployment/", "pod/", "service/", "subscription/"}
		}
		if line == "plan " { // the command below it is there anyway
			must.Contain(t, line, strings.Join(got[i], "\n"), "show\t")
			want = got[i][:1]
		}
		must.Equal(t, line, got[i], want)
	}
}

// TestCompletionPullsNoImage: neither one that the command line names, nor that of a ClusterCatalog which is not served; what else is named is read.
func TestCompletionPullsNoImage(t *testing.T) {
	t.Setenv("OLM_CACHE_DIR", t.TempDir())
	var asked atomic.Int32
	registry := httptest.NewUnstartedServer(http.NotFoundHandler())
	registry.Config.ConnState = func(net.Conn, http.ConnState) { asked.Add(1) }
	registry.Start()
	t.Cleanup(registry.Close)
	ref := strings.TrimPrefix(registry.URL, "http://") + "/org/catalog:v1"
	var listed atomic.Bool
	config := serverAt(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		answer := map[string]string{
			"/api":                              `{"kind":"APIVersions","versions":["v1"]}`,
			"/apis":                             `{"kind":"APIGroupList","apiVersion":"v1","groups":[{"name":"olm.operatorframework.io","versions":[{"groupVersion":"olm.operatorframework.io/v1","version":"v1"}],"preferredVersion":{"groupVersion":"olm.operatorframework.io/v1","version":"v1"}}]}`,
			"/apis/olm.operatorframework.io/v1": `{"kind":"APIResourceList","apiVersion":"v1","groupVersion":"olm.operatorframework.io/v1","resources":[{"name":"clustercatalogs","kind":"ClusterCatalog","namespaced":false,"verbs":["list"]}]}`,
			"/apis/olm.operatorframework.io/v1/clustercatalogs": `{"kind":"ClusterCatalogList","apiVersion":"olm.operatorframework.io/v1","items":[{"metadata":{"name":"toys"},"spec":{"source":{"type":"Image","image":{"ref":"` + ref + `"}}}}]}`,
		}[r.URL.Path]
		if strings.HasSuffix(r.URL.Path, "/clustercatalogs") {
			listed.Store(true)
		}
		w.Header().Set("Content-Type", "application/json")
		if answer == "" {
			w.WriteHeader(http.StatusNotFound)
			answer = `{"kind":"Status","apiVersion":"v1","status":"Failure","reason":"NotFound","code":404}`
		}
		_, _ = io.WriteString(w, answer) // a client that is gone needs no answer
	}))
	t.Setenv("KUBECONFIG", config)
	must.Equal(t, "of an image", completed(t, "info --catalog "+ref+" "), nil)
	must.Equal(t, "of an image and a directory", completed(t, "info --catalog "+ref+" --catalog "+filepath.Join("..", "..", "examples", "catalog")+" "), []string{"greeter-operator", "guestbook-operator"})
	must.Equal(t, "of a ClusterCatalog", completed(t, "info "), nil)
	must.Equal(t, "ClusterCatalogs are listed", listed.Load(), true)
	must.Equal(t, "connections to the registry", asked.Load(), 0)
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
