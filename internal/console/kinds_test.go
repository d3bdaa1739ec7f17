package console

import (
	"net/http"
	"strings"
	"testing"

	operatorsv1 "fairlead.dev/fairlead/api/operators/v1"
	"fairlead.dev/fairlead/test/must"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// looksUp notes what a user asks to find out about kinds.
type looksUp struct {
	http.RoundTripper
	paths []string
}

func (l *looksUp) RoundTrip(r *http.Request) (*http.Response, error) {
	if p := r.URL.Path; p == "/api" || p == "/apis" || p == "/api/v1" || strings.HasPrefix(p, "/apis/") && strings.Count(p, "/") == 3 {
		l.paths = append(l.paths, p)
	}
	return l.RoundTripper.RoundTrip(r)
}

// TestKinds: a kind that one user has read is known to all of the cluster, and one that nobody has read is looked up by who needs it, as that user.
func TestKinds(t *testing.T) {
	cluster := newFakeCluster(t)
	common := newKinds()
	enter := func(name string) (*User, *looksUp) {
		cluster.knows("token-of-"+name, name)
		config := rest.AnonymousClientConfig(cluster.config())
		config.BearerToken = "token-of-" + name
		l := &looksUp{}
		config.Wrap(func(next http.RoundTripper) http.RoundTripper { l.RoundTripper = next; return l })
		return must.Value(newUser(t.Context(), config, "default", common))(t), l
	}
	list := func(u *User, what client.ObjectList) {
		t.Helper()
		must.NoError(t, u.client.List(t.Context(), what, client.InNamespace("default")))
	}
	first, asked := enter("first")
	list(first, &corev1.ConfigMapList{})
	if len(asked.paths) == 0 {
		t.Fatal("nothing has been looked up, so this test shows nothing")
	}

	second, asked := enter("second")
	must.Equal(t, "the second user", second.Name, "second")
	list(second, &corev1.ConfigMapList{})
	must.Equal(t, "what the second user looks up of a kind that is known", len(asked.paths), 0)
	list(second, &operatorsv1.OperatorGroupList{})
	must.Contain(t, "what the second user looks up of another kind", strings.Join(asked.paths, " "), "/apis/operators.coreos.com/v1")

	_, err := second.client.RESTMapper().RESTMapping(operatorsv1.GroupVersion.WithKind("Nothing").GroupKind(), "v1")
	if err == nil {
		t.Error("a kind that the cluster does not have was found")
	}
	for _, known := range []string{"OperatorGroup", "Nothing"} {
		_, ok := common.known[operatorsv1.GroupVersion.WithKind(known)]
		must.Equal(t, known+" is kept", ok, known == "OperatorGroup")
	}
	plural := must.Value(second.client.RESTMapper().ResourceFor(operatorsv1.GroupVersion.WithResource("operatorgroup")))(t)
	must.Equal(t, "a question that pages do not ask", plural.Resource, "operatorgroups")
}
