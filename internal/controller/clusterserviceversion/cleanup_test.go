package clusterserviceversion

import (
	"fmt"
	"strings"
	"testing"
	"time"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"fairlead.dev/fairlead/api/operators/v1alpha1"
	"fairlead.dev/fairlead/bundle"
	"fairlead.dev/fairlead/test/must"
)

const thingsCRD = "things.example.com"

func withCleanup(csv *v1alpha1.ClusterServiceVersion) {
	csv.Spec.Cleanup.Enabled = true
	ownsThings(csv)
}

func ownsThings(csv *v1alpha1.ClusterServiceVersion) {
	csv.Spec.CustomResourceDefinitions.Owned = []v1alpha1.CRDDescription{{Name: thingsCRD, Version: "v1", Kind: "Thing"}}
}

// thing is the custom resource of an operator, and things a list of them.
type (
	thing struct {
		metav1.TypeMeta   `json:",inline"`
		metav1.ObjectMeta `json:"metadata"`
	}
	things struct {
		metav1.TypeMeta `json:",inline"`
		metav1.ListMeta `json:"metadata"`
		Items           []thing `json:"items"`
	}
)

func (o *thing) DeepCopyObject() runtime.Object {
	out := *o
	o.DeepCopyInto(&out.ObjectMeta)
	return &out
}

func (l *things) DeepCopyObject() runtime.Object {
	out := &things{TypeMeta: l.TypeMeta, ListMeta: l.ListMeta}
	for i := range l.Items {
		out.Items = append(out.Items, *l.Items[i].DeepCopyObject().(*thing))
	}
	return out
}

func addThings(s *runtime.Scheme) error {
	version := schema.GroupVersion{Group: "example.com", Version: "v1"}
	s.AddKnownTypeWithName(version.WithKind("Thing"), &thing{})
	s.AddKnownTypeWithName(version.WithKind("ThingList"), &things{})
	return nil
}

func newThing(namespace, name string, finalizers ...string) *thing {
	return &thing{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name, Finalizers: finalizers, UID: types.UID(namespace + "-" + name)}}
}

func thingsKind() *apiextensionsv1.CustomResourceDefinition {
	crd := newCRD(thingsCRD, "v1")
	crd.Spec.Group, crd.Spec.Names.Kind = "example.com", "Thing"
	crd.Annotations = map[string]string{bundle.InstalledAlongsideKey(ns, "op.v1"): ns + "/op.v1"}
	return crd
}

// things are the names of the custom resources that are left; a star marks those that are being deleted.
func (k *cluster) things() string {
	k.t.Helper()
	list := &things{}
	must.NoError(k.t, k.client.List(k.t.Context(), list))
	var out []string
	for _, o := range list.Items {
		name := client.ObjectKeyFromObject(&o).String()
		if o.GetDeletionTimestamp() != nil {
			name += "*"
		}
		out = append(out, name)
	}
	return strings.Join(out, " ")
}

// withThings is a cluster with an operator that runs and instances of its kind.
func withThings(t *testing.T, targets []string, csv func(*v1alpha1.ClusterServiceVersion), things ...client.Object) *cluster {
	t.Helper()
	k := newCluster(t, newGroup(targets...), thingsKind())
	k.installed(newCSV("op.v1", csv))
	k.create(things...)
	k.delete(k.csv("op.v1"))
	k.wrote()
	k.told()
	return k
}

// TestCleanupWaitsForFinalizers: the operator goes on running until it has done what the finalizers stand for.
func TestCleanupWaitsForFinalizers(t *testing.T) {
	k := withThings(t, []string{""}, withCleanup, newThing("a", "free"), newThing("b", "held", "example.com/hold"))
	result, err := k.reconcile("op.v1")
	if err != nil || result.RequeueAfter != cleanupInterval {
		t.Fatalf("looked at again after %s (%v)", result.RequeueAfter, err)
	}
	csv := k.csv("op.v1")
	expect(t, csv, toDeleting, "WaitingOnCleanup", "spec.cleanup: waiting for 2 custom resources to be deleted (Thing)")
	want := []v1alpha1.ResourceList{{Group: "example.com", Kind: "Thing", Instances: []v1alpha1.ResourceInstance{{Namespace: "a", Name: "free"}, {Namespace: "b", Name: "held"}}}}
	must.Equal(t, "pending deletions", csv.Status.Cleanup.PendingDeletion, want)
	must.Equal(t, "things", k.things(), "b/held*")
	csv = k.pass("op.v1")
	expect(t, csv, toDeleting, "WaitingOnCleanup", "spec.cleanup: waiting for 1 custom resources to be deleted (Thing); Thing b/held waits for its finalizers example.com/hold, "+
		"which the operator removes; set spec.cleanup.enabled to false to delete the ClusterServiceVersion without waiting")
	k.tells("Normal WaitingOnCleanup")
	k.rests("op.v1")
	must.Equal(t, "the operator is gone before its work is done", k.deployment("manager") == nil, false)
	edit(k, "b", "held", &thing{}, func(o *thing) { o.Finalizers = nil })
	k.goes("op.v1")
	must.Equal(t, "the CRD is gone", !k.get("", thingsCRD, thingsKind()), false)
}

// TestCleanupThatIsRefused is told, with the account whose rights do not do.
func TestCleanupThatIsRefused(t *testing.T) {
	k := newCluster(t, limitedGroup(), thingsKind(), newCSV("op.v1", withCleanup, going), newThing("a", "x"))
	account := k.limit()
	csv := k.pass("op.v1")
	want := `spec.cleanup: waiting for 1 custom resources to be deleted (Thing); delete Thing a/x: Thing "x" is forbidden: RBAC (as ServiceAccount operators/installer of OperatorGroup group); ` +
		"set spec.cleanup.enabled to false to delete the ClusterServiceVersion without waiting"
	expect(t, csv, toDeleting, "WaitingOnCleanup", want)
	account.mayDelete = true
	k.pass("op.v1")
	if left := k.pass("op.v1"); left != nil || k.things() != "" {
		t.Errorf("left are %q and %v", k.things(), left)
	}
}

// TestCleanupGivenUp: switching it off lets the CSV go.
func TestCleanupGivenUp(t *testing.T) {
	k := withThings(t, []string{""}, withCleanup, newThing("b", "held", "example.com/hold"))
	k.pass("op.v1")
	edit(k, ns, "op.v1", &v1alpha1.ClusterServiceVersion{}, func(csv *v1alpha1.ClusterServiceVersion) { csv.Spec.Cleanup.Enabled = false })
	k.goes("op.v1")
}

// TestWhatCleanupDeletes: nothing but the instances of the operator itself.
func TestWhatCleanupDeletes(t *testing.T) {
	elsewhere := func(targets ...string) []object {
		group, csv := newGroup(targets...), newCSV("other.v1", ownsThings)
		group.Namespace, csv.Namespace = "elsewhere", "elsewhere"
		return []object{group, csv}
	}
	all := []object{newThing("a", "x"), newThing("b", "x"), newThing("", "x")}
	tests := map[string]struct {
		targets []string
		edit    func(*v1alpha1.ClusterServiceVersion)
		others  []object
		left    string
	}{
		"all namespaces": {targets: []string{""}, left: ""},
		"one namespace":  {targets: []string{"a"}, left: "/x b/x"},
		"not asked for":  {targets: []string{""}, edit: func(csv *v1alpha1.ClusterServiceVersion) { csv.Spec.Cleanup.Enabled = false }, left: "/x a/x b/x"},
		"only required": {targets: []string{""}, edit: func(csv *v1alpha1.ClusterServiceVersion) {
			c := &csv.Spec.CustomResourceDefinitions
			c.Required, c.Owned = c.Owned, nil
		}, left: "/x a/x b/x"},
		"another operator there":                  {targets: []string{""}, others: elsewhere("a"), left: "/x a/x"},
		"another operator everywhere":             {targets: []string{"a"}, others: elsewhere(""), left: "/x a/x b/x"},
		"another operator that has no good group": {targets: []string{"a"}, others: elsewhere(), left: "/x a/x b/x"},
		"another operator here":                   {targets: []string{"a"}, others: []object{newCSV("other.v1", ownsThings)}, left: "/x a/x b/x"},
		"another that is going":                   {targets: []string{"a"}, others: []object{newCSV("other.v1", ownsThings, going)}, left: "/x b/x"},
		"replaced by the next version": {targets: []string{""}, edit: func(csv *v1alpha1.ClusterServiceVersion) {
			csv.Status.Phase, csv.Status.Reason = toDeleting, "Replaced"
		}, left: "/x a/x b/x"},
		"handed over": {targets: []string{""}, edit: func(csv *v1alpha1.ClusterServiceVersion) { csv.Status.Phase = toReplacing }, left: "/x a/x b/x"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			csv := newCSV("op.v1", withCleanup, going)
			if tc.edit != nil {
				tc.edit(csv)
			}
			k := newCluster(t, append(append([]object{newGroup(tc.targets...), thingsKind(), csv}, all...), tc.others...)...)
			k.pass("op.v1")
			must.Equal(t, "left", k.things(), tc.left)
			k.goes("op.v1")
		})
	}
}

// going makes a CSV one that is being deleted.
func going(csv *v1alpha1.ClusterServiceVersion) {
	csv.Finalizers = []string{v1alpha1.CSVCleanupFinalizer}
	csv.DeletionTimestamp = &metav1.Time{Time: time.Date(2030, 1, 2, 0, 0, 0, 0, time.UTC)}
}

// TestCleanupWithoutGroup deletes nothing, because it is not known whose the instances are, and says so.
func TestCleanupWithoutGroup(t *testing.T) {
	k := newCluster(t, thingsKind(), newCSV("op.v1", withCleanup, going), newThing("a", "x"))
	k.goes("op.v1")
	must.Equal(t, "left", k.things(), "a/x")
	k.tells("Warning WaitingOnCleanup spec.cleanup: no custom resource is deleted")
}

// TestCleanupOfForeignKinds: a CSV that claims a CRD which was not brought for it deletes none of its instances.
func TestCleanupOfForeignKinds(t *testing.T) {
	crd := thingsKind()
	crd.Annotations = map[string]string{bundle.InstalledAlongsideKey(ns, "other.v1"): ns + "/other.v1"}
	k := newCluster(t, newGroup(""), crd, newCSV("op.v1", withCleanup, going), newThing("a", "x"))
	k.goes("op.v1")
	must.Equal(t, "left", k.things(), "a/x")
	k.tells("Warning WaitingOnCleanup spec.cleanup: no Thing is deleted, because no InstallPlan brought CRD things.example.com")
}

// TestCleanupOfManyNamesSome: the status stays small.
func TestCleanupOfManyNamesSome(t *testing.T) {
	objects := []object{newGroup(""), thingsKind(), newCSV("op.v1", withCleanup, going)}
	for i := range 3 * maxPending {
		objects = append(objects, newThing("a", fmt.Sprintf("x%03d", i), "example.com/hold"))
	}
	k := newCluster(t, objects...)
	csv := k.pass("op.v1")
	must.Equal(t, "instances that the status names", len(csv.Status.Cleanup.PendingDeletion[0].Instances), maxPending)
	must.Contain(t, "message", csv.Status.Message, "waiting for 150 custom resources")
}
