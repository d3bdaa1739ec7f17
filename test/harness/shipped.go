package harness

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/go-logr/logr"
	authenticationv1 "k8s.io/api/authentication/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	utilyaml "k8s.io/apimachinery/pkg/util/yaml"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/transport"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"fairlead.dev/fairlead/internal/devcluster"
	"fairlead.dev/fairlead/internal/manager"
	"fairlead.dev/fairlead/test/must"
)

// Documents decodes the YAML documents of a text.
func Documents(t testing.TB, name string, text []byte) []*unstructured.Unstructured {
	t.Helper()
	var all []*unstructured.Unstructured
	for r := utilyaml.NewYAMLReader(bufio.NewReader(bytes.NewReader(text))); ; {
		document, err := r.Read()
		if errors.Is(err, io.EOF) {
			return all
		}
		must.NoErrorf(t, err, "%s", name)
		var content map[string]any
		if err := yaml.UnmarshalStrict(document, &content); err != nil {
			t.Fatalf("%s: %v\n%s", name, err, document)
		}
		if len(content) > 0 {
			all = append(all, &unstructured.Unstructured{Object: content})
		}
	}
}

// Kustomized returns the objects that a kustomization names, in its order, and checks that it names all that there is beside it.
func Kustomized(t testing.TB, dir string) []*unstructured.Unstructured {
	t.Helper()
	data := must.Value(os.ReadFile(filepath.Join(dir, "kustomization.yaml")))(t)
	var k struct {
		APIVersion, Kind string
		Resources        []string
		Images           []struct{ Name, NewName, NewTag string }
	}
	must.NoError(t, yaml.UnmarshalStrict(data, &k))
	files := must.Value(filepath.Glob(filepath.Join(dir, "*.yaml")))(t)
	for _, file := range files {
		if name := filepath.Base(file); name != "kustomization.yaml" && !slices.Contains(k.Resources, name) {
			t.Errorf("%s is not among the resources of the kustomization", file)
		}
	}
	var all []*unstructured.Unstructured
	for _, name := range k.Resources {
		file := filepath.Join(dir, name)
		text := must.Value(os.ReadFile(file))(t)
		for _, image := range k.Images {
			if !strings.Contains(string(text), "image: "+image.Name+":") {
				continue
			}
			text = bytes.ReplaceAll(text, []byte("image: "+image.Name+":latest"), []byte("image: "+image.NewName+":"+image.NewTag))
		}
		all = append(all, Documents(t, file, text)...)
	}
	return all
}

// Apply does what kubectl apply --server-side does.
func Apply(ctx context.Context, t testing.TB, c client.Client, all []*unstructured.Unstructured) {
	t.Helper()
	for _, o := range all {
		must.NoErrorf(t, c.Apply(ctx, client.ApplyConfigurationFromUnstructured(o.DeepCopy()), client.FieldOwner("kubectl"), client.ForceOwnership), "apply %s %s", o.GetKind(), o.GetName())
	}
}

// refusals are the requests that the API server has not allowed; those of accounts that the manager acts as do not count where lenient says so.
type refusals struct {
	lenient bool
	mu      sync.Mutex
	seen    map[string]string
}

// watcher notes what is refused of what goes through it.
type watcher struct {
	*refusals
	next http.RoundTripper
}

// RoundTrip implements http.RoundTripper.
func (w watcher) RoundTrip(request *http.Request) (*http.Response, error) {
	answer, err := w.next.RoundTrip(request)
	if err == nil && answer.StatusCode == http.StatusForbidden {
		body, failed := io.ReadAll(answer.Body)
		answer.Body.Close()
		answer.Body = io.NopCloser(bytes.NewReader(body))
		switch {
		case failed == nil && bytes.Contains(body, []byte("because it is being terminated")):
			return answer, nil // nothing may be created in a namespace that is being deleted
		case w.lenient && request.Header.Get(transport.ImpersonateUserHeader) != "":
			return answer, nil
		}
		w.mu.Lock()
		defer w.mu.Unlock()
		w.seen[request.Method+" "+request.URL.Path] = answer.Status
	}
	return answer, err
}

// report fails a test for each request that was refused since the last report.
func (r *refusals) report(t testing.TB) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for request, status := range r.seen {
		t.Errorf("the manager may not: %s: %s", request, status)
	}
	clear(r.seen)
}

// managerAccount returns the configuration of the service account of the manifests.
func managerAccount(t testing.TB, admin *rest.Config) *rest.Config {
	t.Helper()
	clients := must.Value(kubernetes.NewForConfig(admin))(t)
	token := must.Value(clients.CoreV1().ServiceAccounts("olm").CreateToken(t.Context(), "fairlead-manager", &authenticationv1.TokenRequest{}, metav1.CreateOptions{}))(t)
	config := rest.AnonymousClientConfig(admin)
	config.BearerToken = token.Status.Token
	return config
}

// rights are the kinds of the manifests that decide what the manager and users may do.
var rights = []string{"Namespace", "ServiceAccount", "ClusterRole", "ClusterRoleBinding", "Role", "RoleBinding"}

// StartAsShipped is Start for a manager that has the rights of the manifests in dir and no others. They remain when the test ends, as the manager does.
func StartAsShipped(t testing.TB, dir string, o manager.Options) (client.Client, error) {
	t.Helper()
	admin := devcluster.Config()
	c, err := prepare(t.Context(), admin)
	if err != nil {
		return nil, err
	}
	Apply(t.Context(), t, c, slices.DeleteFunc(Kustomized(t, dir), func(o *unstructured.Unstructured) bool { return !slices.Contains(rights, o.GetKind()) }))
	o.Config, o.AcceptMissingPolicies = managerAccount(t, admin), true
	return c, startShared(o)
}

// AsManager returns the configuration of a pod that runs as the service account of the manifests. Every request that the API server
// refuses to it as forbidden fails the test when it ends.
func AsManager(t testing.TB, admin *rest.Config) *rest.Config {
	t.Helper()
	config, refused := watched(t, admin)
	t.Cleanup(func() { refused.report(t) })
	return config
}

func watched(t testing.TB, admin *rest.Config) (*rest.Config, *refusals) {
	t.Helper()
	config, refused := managerAccount(t, admin), &refusals{seen: map[string]string{}}
	config.Wrap(func(next http.RoundTripper) http.RoundTripper { return watcher{refused, next} })
	return config, refused
}

// common is the manager of SharedAsShipped.
var common struct {
	once    sync.Once
	refused *refusals
	log     lines
	err     error
}

// SharedAsShipped runs one manager for all tests that call it, with the rights of AsManager and the options of the first call, until the process
// ends. Tests that run managers of their own must not be parallel, those that share this one must be: then they begin when no other manager runs.
// A request that is refused to it fails one of the tests that run at the time, unless it was made as another account: the rights of those go with the
// tests. What it logs is shown with a test that fails.
func SharedAsShipped(t testing.TB, admin *rest.Config, o manager.Options) {
	t.Helper()
	common.once.Do(func() {
		o.Config, common.refused = watched(t, admin)
		common.refused.lenient = true
		o.Log = common.log.logger()
		common.err = startShared(o)
	})
	if common.err != nil {
		t.Fatalf("start the manager that tests share: %v", common.err)
	}
	t.Cleanup(func() { common.refused.report(t) })
	common.log.show(t)
}

// Log returns a logger whose lines are shown when the test fails.
func Log(t testing.TB) logr.Logger {
	log := &lines{}
	log.show(t)
	return log.logger()
}

// lines is text that many write.
type lines struct {
	mu   sync.Mutex
	text strings.Builder
}

func (l *lines) logger() logr.Logger { return logr.FromSlogHandler(slog.NewTextHandler(l, nil)) }

// show shows the lines when the test ends and has failed.
func (l *lines) show(t testing.TB) {
	t.Cleanup(func() {
		if t.Failed() {
			t.Logf("the manager said:\n%s", l)
		}
	})
}

// Write implements io.Writer.
func (l *lines) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(p)
}

// String returns all of it.
func (l *lines) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.String()
}
