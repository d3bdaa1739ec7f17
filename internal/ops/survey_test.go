package ops

import (
	"context"
	"errors"
	"strings"
	"testing"

	olmv1 "fairlead.dev/fairlead/api/olm/v1"
	operatorsv1 "fairlead.dev/fairlead/api/operators/v1"
	"fairlead.dev/fairlead/api/operators/v1alpha1"
	"fairlead.dev/fairlead/internal/rollout"
	"fairlead.dev/fairlead/test/must"

	"github.com/blang/semver/v4"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"
)

// several is a cluster with bothAPIs, a namespace with an operator without a Subscription, one with a copy, and one that has nothing.
func several(t *testing.T) client.WithWatch {
	t.Helper()
	within := func(o client.Object, namespace string) client.Object {
		o.SetNamespace(namespace)
		return o
	}
	alone := aCSV(v1alpha1.CSVPhaseFailed, v1alpha1.CSVReasonNoOperatorGroup, "no group")
	alone.Spec.Version.Version = semver.MustParse("1.2.3")
	copy := copied(aCSV(v1alpha1.CSVPhaseSucceeded, v1alpha1.CSVReasonCopied, ""))
	copy.Labels = map[string]string{v1alpha1.CopiedFromLabel: ns}
	objects := append(bothAPIs(), aSource("olm", "READY", ""), within(alone, "alone"), within(copy, "watched"))
	for _, name := range []string{"operators", "elsewhere", "alone", "watched", "empty", "olm"} {
		objects = append(objects, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name}})
	}
	scheme := runtime.NewScheme()
	must.NoError(t, errors.Join(v1alpha1.AddToScheme(scheme), operatorsv1.AddToScheme(scheme), appsv1.AddToScheme(scheme), olmv1.AddToScheme(scheme), corev1.AddToScheme(scheme)))
	return fake.NewClientBuilder().WithScheme(scheme).WithObjects(objects...).Build()
}

// TestInspectAll shows the operators of all namespaces, the ClusterCatalogs once, and no copies.
func TestInspectAll(t *testing.T) {
	const alone = `Namespace alone
├── ✗ OperatorGroup - Missing
│       operators need exactly one OperatorGroup in their namespace: create one in alone
└── ✗ ClusterServiceVersion op.v1 Failed
        no group
`
	reader := several(t)
	all := must.Value(InspectAll(t.Context(), reader))(t)
	must.Equal(t, "done", all.Done(), false)
	var names []string
	for _, r := range all.Namespaces {
		names = append(names, r.Namespace)
	}
	must.Equal(t, "namespaces", names, []string{"alone", "elsewhere", "olm", "operators"})
	var text strings.Builder
	must.NoError(t, all.Write(&text))
	must.Contain(t, "text", text.String(), "\nCluster\n├── ✗ ClusterCatalog fresh\n", "\n"+alone+"\nNamespace elsewhere\n", "\nNamespace olm\n└── ✓ CatalogSource olm/cat ",
		"\nNamespace operators\n├── ✓ OperatorGroup all", "✗ ClusterExtension db: rolls out db-2\n", "│   └── ✓ Deployment db-controller 1/1 available\n")
	if n := strings.Count(text.String(), "✗ ClusterCatalog fresh\n"); n != 1 {
		t.Errorf("a ClusterCatalog is shown %d times:\n%s", n, text.String())
	}

	for name, test := range map[string]struct {
		names []string
		want  []string
		err   string
	}{
		"a Subscription":          {names: []string{"op"}, want: []string{"operators"}},
		"an operator of two":      {names: []string{"op.v1"}, want: []string{"alone", "operators"}},
		"a package of v1":         {names: []string{"database"}, want: []string{"operators"}},
		"a name that nothing has": {names: []string{"op", "gone"}, err: "no namespace has anything with the name gone; there are operators or catalogs in alone, elsewhere, olm and operators"},
	} {
		t.Run(name, func(t *testing.T) {
			some, err := all.Only(test.names)
			if test.err != "" {
				must.Fail(t, "the call", err, "no namespace has anything with the name gone; there are operators or catalogs in alone")
				return
			}
			must.NoError(t, err)
			var names []string
			for _, r := range some.Namespaces {
				names = append(names, r.Namespace)
			}
			must.Equal(t, "namespaces", names, test.want)
		})
	}
}

// TestANamespaceThatDoesNotExist is said; one that has nothing is none.
func TestANamespaceThatDoesNotExist(t *testing.T) {
	reader := several(t)
	for name, wrong := range map[string]string{"empty": "", "watched": "", "nowhere": "read namespace nowhere: there is no such namespace; correct -n"} {
		_, inspected := InspectNamespace(t.Context(), reader, name)
		_, listed := List(t.Context(), reader, name)
		for _, err := range []error{inspected, listed} {
			if wrong != "" {
				must.Fail(t, "namespace "+name, err, wrong)
			} else if err != nil {
				t.Errorf("namespace %s: %v", name, err)
			}
		}
	}
}

// TestAUserOfSomeNamespaces who may not read all of them is told to name one.
func TestAUserOfSomeNamespaces(t *testing.T) {
	forbidden := apierrors.NewForbidden(schema.GroupResource{Group: v1alpha1.GroupName, Resource: "subscriptions"}, "", errors.New("not yours"))
	reader := interceptor.NewClient(several(t), interceptor.Funcs{List: func(ctx context.Context, c client.WithWatch, list client.ObjectList, o ...client.ListOption) error {
		if _, is := list.(*v1alpha1.SubscriptionList); is {
			return forbidden
		}
		return c.List(ctx, list, o...)
	}})
	_, inspected := InspectAll(t.Context(), reader)
	_, listed := List(t.Context(), reader, "")
	for _, err := range []error{inspected, listed} {
		must.Fail(t, "the call", err, "list the Subscriptions of all namespaces: ", "; name a namespace that you may read, with -n")
	}
}

// TestAClusterWithOneAPI shows what that has; one with neither is an error.
func TestAClusterWithOneAPI(t *testing.T) {
	missing := func(v0, v1 bool) client.Reader {
		return interceptor.NewClient(several(t), interceptor.Funcs{List: func(ctx context.Context, c client.WithWatch, list client.ObjectList, o ...client.ListOption) error {
			switch list.(type) {
			case *v1alpha1.SubscriptionList, *operatorsv1.OperatorGroupList, *v1alpha1.CatalogSourceList:
				if v0 {
					return &meta.NoKindMatchError{}
				}
			case *olmv1.ClusterExtensionList:
				if v1 {
					return &meta.NoKindMatchError{}
				}
			}
			return c.List(ctx, list, o...)
		}})
	}
	for name, test := range map[string]struct {
		v0, v1 bool
		want   []string
	}{
		"both": {want: []string{"op.v1", "elsewhere", "op", "db"}}, "v1": {v0: true, want: []string{"elsewhere", "db"}}, "v0": {v1: true, want: []string{"op.v1", "op"}},
	} {
		l := must.Value(List(t.Context(), missing(test.v0, test.v1), ""))(t)
		var names []string
		for _, o := range l.Operators {
			names = append(names, o.Name)
		}
		must.Equal(t, name, names, test.want)
		must.Value(InspectNamespace(t.Context(), missing(test.v0, test.v1), ns))(t)
	}
	_, all := InspectAll(t.Context(), missing(true, true))
	_, one := InspectNamespace(t.Context(), missing(true, true), ns)
	_, listed := List(t.Context(), missing(true, true), ns)
	for _, err := range []error{all, one, listed} {
		if !rollout.IsUnknownKind(err) {
			t.Errorf("of a cluster with neither API: %v", err)
		}
	}
}

// TestList lists the operators of both APIs with their versions and the first cause of what is wrong with them; copies are none.
func TestList(t *testing.T) {
	reader := several(t)
	for name, test := range map[string]struct {
		namespace, want string
		done            bool
	}{
		"all": {want: `
NAMESPACE  NAME       API  PACKAGE   VERSION  CHANNEL  STATUS
alone      op.v1      v0   -         1.2.3    -        ✗ no group
elsewhere  elsewhere  v1   -         -        -        ✗ ClusterExtension not reconciled yet; is the manager running?
operators  op         v0   op        op.v1    stable   ✓ AtLatestKnown
operators  db         v1   database  -        stable   ✗ rolls out db-2
`},
		"one":            {namespace: "alone", want: "\nNAMESPACE  NAME   API  PACKAGE  VERSION  CHANNEL  STATUS\nalone      op.v1  v0   -        1.2.3    -        ✗ no group\n"},
		"one of a copy":  {namespace: "watched", done: true, want: "\nno operator is installed or asked for; fairlead search lists what can be installed\n"},
		"one of nothing": {namespace: "empty", done: true, want: "\nno operator is installed or asked for; fairlead search lists what can be installed\n"},
	} {
		t.Run(name, func(t *testing.T) {
			l := must.Value(List(t.Context(), reader, test.namespace))(t)
			var text strings.Builder
			must.NoError(t, l.Write(&text))
			must.Equal(t, "text", "\n"+text.String(), test.want)
			must.Equal(t, "done", l.Done(), test.done)
		})
	}
}
