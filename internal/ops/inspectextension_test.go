package ops

import (
	"context"
	"errors"
	"os"
	"strings"
	"testing"

	olmv1 "fairlead.dev/fairlead/api/olm/v1"
	operatorsv1 "fairlead.dev/fairlead/api/operators/v1"
	"fairlead.dev/fairlead/api/operators/v1alpha1"
	"fairlead.dev/fairlead/test/must"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"
)

// withController makes an object one that another one controls.
func withController[T client.Object](object T, kind, name string) T {
	yes := true
	object.SetUID(types.UID(object.GetName()))
	object.SetOwnerReferences([]metav1.OwnerReference{{APIVersion: olmv1.GroupVersion.String(), Kind: kind, Name: name, UID: types.UID(name), Controller: &yes}})
	return object
}

// bothAPIs is a namespace with an operator by a Subscription and another by a ClusterExtension, which rolls out a second revision.
func bothAPIs() []client.Object {
	condition := func(kind string, status metav1.ConditionStatus, reason, message string) metav1.Condition {
		return metav1.Condition{Type: kind, Status: status, Reason: reason, Message: message}
	}
	set := func(name, bundle string, number int64, state olmv1.LifecycleState, conditions ...metav1.Condition) *olmv1.ClusterObjectSet {
		s := withController(&olmv1.ClusterObjectSet{ObjectMeta: metav1.ObjectMeta{Name: name, Annotations: map[string]string{olmv1.BundleNameKey: bundle}}}, olmv1.ClusterExtensionKind, "db")
		s.Spec.Revision, s.Spec.LifecycleState, s.Status.Conditions = number, state, conditions
		return s
	}
	db := &olmv1.ClusterExtension{ObjectMeta: metav1.ObjectMeta{Name: "db", UID: "db"}}
	db.Spec.Namespace, db.Spec.Source.Catalog = ns, &olmv1.CatalogFilter{PackageName: "database", Channels: []string{"stable"}, Version: ">=1.0.0"}
	db.Status.Conditions = []metav1.Condition{condition(olmv1.TypeProgressing, "True", olmv1.ReasonRollingOut, "rolls out db-2"), condition(olmv1.TypeDeprecated, "True", olmv1.ReasonDeprecated, "use database2")}
	elsewhere := &olmv1.ClusterExtension{ObjectMeta: metav1.ObjectMeta{Name: "elsewhere"}}
	elsewhere.Spec.Namespace = "elsewhere"
	served := &olmv1.ClusterCatalog{ObjectMeta: metav1.ObjectMeta{Name: "served"}}
	served.Spec.Source.Image = &olmv1.ImageSource{Ref: "registry.example.com/served:v1"}
	served.Status.Conditions = []metav1.Condition{condition(olmv1.TypeServing, "True", olmv1.ReasonAvailable, "serves"), condition(olmv1.TypeProgressing, "True", olmv1.ReasonRetrying, "connection refused")}
	fresh := &olmv1.ClusterCatalog{ObjectMeta: metav1.ObjectMeta{Name: "fresh"}}
	deployment := withController(&appsv1.Deployment{ObjectMeta: objectMeta("db-controller")}, olmv1.ClusterObjectSetKind, "db-1")
	deployment.Status.AvailableReplicas = 1
	return []client.Object{
		anOperatorGroup(), aSubscription(v1alpha1.SubscriptionStateAtLatest, "op.v1", "", "True", "runs"), aCSV(v1alpha1.CSVPhaseSucceeded, "", ""), aDeployment(1),
		db, elsewhere, served, fresh, deployment,
		set("db-2", "db.v2", 2, olmv1.LifecycleStateActive, condition(olmv1.TypeProgressing, "True", olmv1.ReasonRollingOut, "waits for Deployment db-controller")),
		set("db-1", "db.v1", 1, olmv1.LifecycleStateActive, condition(olmv1.TypeAvailable, "True", olmv1.ReasonProbesSucceeded, "works")),
		set("db-0", "db.v0", 0, olmv1.LifecycleStateArchived),
	}
}

// TestBothAPIsInOneTree shows the operators of both APIs, the part that a name chooses, and what a user who lists no objects of the cluster sees.
func TestBothAPIsInOneTree(t *testing.T) {
	const group = "├── ✓ OperatorGroup all (all namespaces)\n"
	const catalogs = "├── ✗ ClusterCatalog fresh\n│       not reconciled yet; is the manager running?\n├── ✓ ClusterCatalog served (registry.example.com/served:v1) Serving\n│       connection refused\n"
	sub := func(branch, below string) string {
		return branch + " ✓ Subscription op (package op, channel stable of catalog olm/cat) AtLatestKnown\n" + below + "└── ✓ ClusterServiceVersion op.v1 Succeeded\n" + below + "    └── ✓ Deployment op 1/1 available\n"
	}
	const extension = `└── ✗ ClusterExtension db (package database, channel stable, version >=1.0.0) RollingOut
    │   rolls out db-2
    │   deprecated: use database2
    ├── ✓ ClusterObjectSet db-1 (db.v1) Available
    │   └── ✓ Deployment db-controller 1/1 available
    └── ✗ ClusterObjectSet db-2 (db.v2) RollingOut
            waits for Deployment db-controller
`
	const head = "Namespace operators\n"
	const broken, fresh = "✗ ClusterExtension db: rolls out db-2\n\n", "✗ ClusterCatalog fresh: not reconciled yet; is the manager running?\n"
	content := must.Value(os.ReadFile("../../docs/status.md"))(t)
	page := string(content)
	forbidden := apierrors.NewForbidden(schema.GroupResource{Group: olmv1.GroupName, Resource: "clusterextensions"}, "", errors.New(`User "dev" cannot list resource "clusterextensions"`))
	for name, test := range map[string]struct {
		names []string
		fails error // what listing ClusterExtensions fails with
		want  string
		err   string
	}{
		"everything":                   {want: fresh + broken + head + group + catalogs + sub("├──", "│   ") + extension},
		"an extension":                 {names: []string{"db"}, want: broken + head + extension},
		"a package":                    {names: []string{"database"}, want: broken + head + extension},
		"a Deployment and a CSV":       {names: []string{"db-controller", "op.v1"}, want: broken + head + sub("├──", "│   ") + extension},
		"a name that nothing has":      {names: []string{"db", "gone"}, err: "namespace operators has nothing with the name gone; it has OperatorGroup all, "},
		"a cluster without the API":    {fails: &meta.NoKindMatchError{}, want: head + group + sub("└──", "    ")},
		"a user of the namespace":      {fails: forbidden, want: head + group + sub("└──", "    ") + "note: ClusterExtensions cannot be listed as user dev: those that install into namespace operators are not shown\n"},
		"an API server that is broken": {fails: errors.New("broken"), err: "list the ClusterExtensions of namespace operators: broken"},
	} {
		t.Run(name, func(t *testing.T) {
			scheme := runtime.NewScheme()
			must.NoError(t, errors.Join(v1alpha1.AddToScheme(scheme), operatorsv1.AddToScheme(scheme), appsv1.AddToScheme(scheme), olmv1.AddToScheme(scheme)))
			reader := interceptor.NewClient(fake.NewClientBuilder().WithScheme(scheme).WithObjects(bothAPIs()...).Build(), interceptor.Funcs{
				List: func(ctx context.Context, c client.WithWatch, list client.ObjectList, o ...client.ListOption) error {
					if _, is := list.(*olmv1.ClusterExtensionList); is && test.fails != nil {
						return test.fails
					}
					return c.List(ctx, list, o...)
				}})
			report, err := InspectNamespace(t.Context(), reader, ns)
			if err == nil {
				report, err = report.Only(test.names)
			}
			if test.err != "" {
				must.Fail(t, "the call", err, test.err)
				return
			}
			var tree strings.Builder
			must.NoError(t, errors.Join(err, report.Write(&tree)))
			must.Equal(t, "text", tree.String(), test.want)
			if name == "everything" && !strings.Contains(page, "\n```\n"+tree.String()+"```\n") {
				t.Errorf("docs/status.md shows another tree than:\n%s", tree.String())
			}
		})
	}
}

// TestWhatARolloutWaitsFor is in a condition of the revision: the extension says only that it is rolled out.
func TestWhatARolloutWaitsFor(t *testing.T) {
	const why = "Object Deployment.apps/v1 ns/op: image reg/op:v1 cannot be pulled"
	for name, test := range map[string]struct{ progressing, available, reported, want string }{
		"said by the condition alone": {"is rolling out", why, "is rolling out", why},
		"beside another reason":       {"phase 2 of 3", why, "is rolling out", "phase 2 of 3\n" + why},
		"said already":                {"is rolling out", why, "is rolling out. " + why, ""},
		"said with the progress":      {"is rolling out: " + why, why, "", "is rolling out: " + why},
	} {
		set := &olmv1.ClusterObjectSet{Status: olmv1.ClusterObjectSetStatus{Conditions: []metav1.Condition{
			{Type: olmv1.TypeProgressing, Status: metav1.ConditionTrue, Reason: olmv1.ReasonRollingOut, Message: test.progressing},
			{Type: olmv1.TypeAvailable, Status: metav1.ConditionFalse, Reason: "ProbeFailure", Message: test.available},
		}}}
		must.Equal(t, name, (&extensions{}).revision(set, test.reported).Reason, test.want)
	}
}

// TestAnExtensionThatIsNamed is shown wherever it installs: it belongs to no namespace.
func TestAnExtensionThatIsNamed(t *testing.T) {
	scheme := runtime.NewScheme()
	must.NoError(t, errors.Join(v1alpha1.AddToScheme(scheme), operatorsv1.AddToScheme(scheme), appsv1.AddToScheme(scheme), olmv1.AddToScheme(scheme), corev1.AddToScheme(scheme)))
	reader := fake.NewClientBuilder().WithScheme(scheme).WithObjects(append(bothAPIs(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "default"}})...).Build()
	look := func(names ...string) string {
		report, err := InspectNamespace(t.Context(), reader, "default", names...)
		if err == nil {
			report, err = report.Only(names)
		}
		var tree strings.Builder
		if err != nil {
			return err.Error()
		}
		must.NoError(t, report.Write(&tree))
		return tree.String()
	}
	must.Contain(t, "text", look("db"), "Namespace default\n", "ClusterExtension db (package database", ", in namespace "+ns+")", "Deployment db-controller")
	must.Equal(t, "a name that nothing has", look("gone"), "namespace default has nothing with the name gone; it has no operator and no catalog; fairlead list -A lists what all namespaces have")
}

// TestAnExtensionNamesTheCommand that says what to do: one that is stopped, and one for which there is no answer.
func TestAnExtensionNamesTheCommand(t *testing.T) {
	for reason, test := range map[string]struct {
		status metav1.ConditionStatus
		want   string
	}{
		olmv1.ReasonBlocked:    {"False", "why\nto see what is in the way: fairlead plan kite"},
		olmv1.ReasonRetrying:   {"True", "why\nto see what to do: fairlead why kite"},
		olmv1.ReasonRollingOut: {"True", "why"},
	} {
		e := newExtension("kite", "kite", func(e *olmv1.ClusterExtension) {
			e.Status.Conditions = []metav1.Condition{{Type: olmv1.TypeProgressing, Status: test.status, Reason: reason, Message: "why"}}
		})
		must.Equal(t, reason, (&extensions{}).extension(e).Reason, test.want)
	}
}
