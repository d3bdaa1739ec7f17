package operatorgroup

import (
	"context"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	apiregistrationv1 "k8s.io/kube-aggregator/pkg/apis/apiregistration/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	v1 "fairlead.dev/fairlead/api/operators/v1"
	"fairlead.dev/fairlead/api/operators/v1alpha1"
	"fairlead.dev/fairlead/bundle"
	"fairlead.dev/fairlead/test/must"
)

// operator provides kinds of the group example.com, and runs in a namespace.
func operator(namespace, name string, kinds ...string) *v1alpha1.ClusterServiceVersion {
	csv := &v1alpha1.ClusterServiceVersion{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name}}
	csv.Status.Phase = v1alpha1.CSVPhaseSucceeded
	csv.Status.Conditions = []v1alpha1.ClusterServiceVersionCondition{{Phase: v1alpha1.CSVPhaseSucceeded}}
	for _, mode := range []v1alpha1.InstallModeType{"OwnNamespace", "SingleNamespace", "MultiNamespace", "AllNamespaces"} {
		csv.Spec.InstallModes = append(csv.Spec.InstallModes, v1alpha1.InstallMode{Type: mode, Supported: true})
	}
	for _, kind := range kinds {
		csv.Spec.CustomResourceDefinitions.Owned = append(csv.Spec.CustomResourceDefinitions.Owned,
			v1alpha1.CRDDescription{Name: strings.ToLower(kind) + "s.example.com", Version: "v1", Kind: kind})
	}
	return csv
}

func groupIn(namespace string, targets ...string) *v1.OperatorGroup {
	g := newGroup("group", v1.OperatorGroupSpec{TargetNamespaces: targets})
	g.Namespace, g.UID = namespace, types.UID(namespace)
	return g
}

func (k *cluster) wantAPIs(namespace, want string) {
	k.t.Helper()
	// The annotation of a group after a pass over it.
	k.t.Helper()
	key := types.NamespacedName{Namespace: namespace, Name: "group"}
	if _, err := k.c.Reconcile(k.t.Context(), reconcile.Request{NamespacedName: key}); err != nil {
		k.t.Fatalf("reconcile %s: %v", key, err)
	}
	group := &v1.OperatorGroup{}
	must.NoError(k.t, k.client.Get(k.t.Context(), key, group))
	must.Equal(k.t, "APIs of the group", group.Annotations["olm.providedAPIs"], want)
}

// TestProvidedAPIs: the annotation lists what the members provide, once all is written in one pass, and shrinks with them.
func TestProvidedAPIs(t *testing.T) {
	csv := operator("a", "op.v1", "Goose", "Duck")
	copied := operator("a", "copy.v1", "Swan")
	copied.Labels = map[string]string{"olm.copiedFrom": "b"}
	k := newCluster(t, groupIn("a", "x"), csv, copied)
	k.wantAPIs("a", "Duck.v1.example.com,Goose.v1.example.com")
	k.Taken()
	k.wantAPIs("a", "Duck.v1.example.com,Goose.v1.example.com")
	must.Empty(t, "writes of a pass that changes nothing", k.Writes())
	roles := k.roles()
	must.Equal(t, "labels that the role gathers, one of each API", len(roles[0].AggregationRule.ClusterRoleSelectors), 2)
	csv.Spec.CustomResourceDefinitions.Owned = csv.Spec.CustomResourceDefinitions.Owned[:1]
	k.update(csv)
	k.wantAPIs("a", "Goose.v1.example.com")
	must.NoError(t, k.client.Delete(t.Context(), csv))
	k.wantAPIs("a", "")
	group := &v1.OperatorGroup{}
	must.NoError(t, k.client.Get(t.Context(), types.NamespacedName{Namespace: "a", Name: "group"}, group))
	if _, annotated := group.Annotations[v1alpha1.ProvidedAPIsAnnotation]; !annotated {
		t.Error("the annotation is gone with the last API; it has to be empty")
	}
	k.Taken()
	if k.wantAPIs("a", ""); len(k.Writes()) > 0 {
		t.Errorf("an empty annotation is written again: %v", k.Writes())
	}
}

// TestStaticGroupsAreLeftAlone, whatever their operators provide.
func TestStaticGroupsAreLeftAlone(t *testing.T) {
	group := groupIn("a", "x")
	group.Spec.StaticProvidedAPIs = true
	group.Annotations = map[string]string{"olm.providedAPIs": "Swan.v1.example.com , odd"}
	k := newCluster(t, group, operator("a", "op.v1", "Goose"))
	k.wantAPIs("a", "Swan.v1.example.com , odd")
	for _, write := range k.Writes() {
		if strings.HasSuffix(write, " OperatorGroup group") && write != "patch status OperatorGroup group" {
			t.Errorf("the group was written: %v", k.Writes())
		}
	}
}

// TestFirstComeFirstServed: two groups reach one namespace, and the first that claims an API has it until it lets it go.
func TestFirstComeFirstServed(t *testing.T) {
	const goose = "Goose.v1.example.com"
	k := newCluster(t, groupIn("a", "x"), groupIn("b", "x"), operator("a", "op.v1", "Goose"), operator("b", "op.v1", "Goose"))
	k.wantAPIs("a", goose)
	k.wantAPIs("b", "")
	k.wantAPIs("a", goose)
	must.NoError(t, k.client.Delete(t.Context(), operator("a", "op.v1")))
	k.wantAPIs("a", "")
	k.wantAPIs("b", goose)
}

// TestAClaimIsCheckedWithTheCluster: what the cache does not show yet is not claimed a second time.
func TestAClaimIsCheckedWithTheCluster(t *testing.T) {
	k := newCluster(t, groupIn("b", "x"), operator("b", "op.v1", "Goose"))
	claimed := groupIn("a", "x")
	claimed.Annotations = map[string]string{"olm.providedAPIs": "Goose.v1.example.com"}
	claimed.Status.Namespaces = []string{"x"}
	k.c.live = newCluster(t, claimed).client
	k.wantAPIs("b", "")
	// The other group may be gone before the cache has ever shown it, so that no event tells of its end.
	key := types.NamespacedName{Namespace: "b", Name: "group"}
	if result, err := k.c.Reconcile(t.Context(), reconcile.Request{NamespacedName: key}); err != nil || result.RequeueAfter != unseenInterval {
		t.Errorf("it looks again after %s, %v, want %s", result.RequeueAfter, err, unseenInterval)
	}
	k.c.live = k.Server
	k.wantAPIs("b", "Goose.v1.example.com")
	if result, err := k.c.Reconcile(t.Context(), reconcile.Request{NamespacedName: key}); err != nil || result.RequeueAfter != 0 {
		t.Errorf("a group that has what it claims is looked at after %s, %v", result.RequeueAfter, err)
	}
}

// TestAGroupThatGrowsGivesWay: the operator that was there continues.
func TestAGroupThatGrowsGivesWay(t *testing.T) {
	const goose = "Goose.v1.example.com"
	k := newCluster(t, groupIn("a", "x"), groupIn("b", "y"), operator("a", "op.v1", "Goose"), operator("b", "op.v1", "Goose"))
	k.wantAPIs("a", goose)
	k.wantAPIs("b", goose)
	k.Clock.SetTime(k.Clock.Now().Add(60e9))
	var group v1.OperatorGroup
	must.NoError(t, k.client.Get(t.Context(), types.NamespacedName{Namespace: "a", Name: "group"}, &group))
	group.Spec.TargetNamespaces = []string{"x", "y"}
	k.update(&group)
	k.wantAPIs("a", "")
	k.wantAPIs("b", goose)
}

// TestSeveralGroupsClaimNothingNew: which of them counts cannot be told; what was listed stays until it can.
func TestSeveralGroupsClaimNothingNew(t *testing.T) {
	second := groupIn("a", "y")
	second.Name = "second"
	k := newCluster(t, groupIn("a", "x"), operator("a", "op.v1", "Goose"))
	k.wantAPIs("a", "Goose.v1.example.com")
	k.create(second)
	k.create(operator("a", "more.v1", "Duck"))
	k.wantAPIs("a", "Goose.v1.example.com")
}

// TestRivalsAreWokenUp by what a group lists, and so is the group of an operator.
func TestRivalsAreWokenUp(t *testing.T) {
	k := newCluster(t, groupIn("a", "x"), groupIn("b", "x"), groupIn("c", "x"), operator("a", "op.v1", "Goose"), operator("b", "op.v1", "Goose"), operator("c", "op.v1", "Duck"))
	lists := groupIn("d")
	lists.Annotations = map[string]string{"olm.providedAPIs": "Goose.v1.example.com,Swan.v1.example.com"}
	for name, test := range map[string]struct {
		wakes func(context.Context, client.Object) []reconcile.Request
		o     client.Object
		want  []string
	}{
		"what a group lists": {k.c.watches().rivals, lists, []string{"a/group", "b/group"}},
		"a group of nothing": {k.c.watches().rivals, groupIn("d"), nil},
		"an operator":        {k.c.watches().siblings, operator("c", "op.v1"), []string{"c/group"}},
	} {
		var got []string
		for _, r := range test.wakes(t.Context(), test.o) {
			got = append(got, r.String())
		}
		slices.Sort(got)
		must.Equal(t, "requests of "+name, got, test.want)
	}
}

// TestLimitedManagersHearOfOtherGroups, and leave these to their own managers.
func TestLimitedManagersHearOfOtherGroups(t *testing.T) {
	k := newCluster(t, groupIn("a", "x"), groupIn("b", "x"), operator("a", "op.v1", "Goose"), operator("b", "op.v1", "Goose"))
	k.c.namespaces = []string{"a"}
	lists := groupIn("b", "x")
	lists.Annotations = map[string]string{"olm.providedAPIs": "Goose.v1.example.com"}
	requests := slices.Concat(k.c.watches().rivals(t.Context(), lists), k.c.watches().siblings(t.Context(), lists))
	if len(requests) != 1 || requests[0].String() != "a/group" {
		t.Errorf("the group of another namespace wakes up %v, want a/group", requests)
	}
	if k.c.watches().manages(lists.Namespace) || !k.c.watches().manages(groupIn("a").Namespace) {
		t.Errorf("it reconciles b/group (%t), and a/group (%t)", k.c.watches().manages(lists.Namespace), k.c.watches().manages(groupIn("a").Namespace))
	}
}

// TestIdleClaimsNothing: an operator that has never run lists nothing for its group, unless an InstallPlan brought its definition: so it blocks no other operator.
func TestIdleClaimsNothing(t *testing.T) {
	idle := operator("a", "op.v1", "Goose", "Duck")
	idle.Status = v1alpha1.ClusterServiceVersionStatus{Phase: v1alpha1.CSVPhasePending}
	crd := &apiextensionsv1.CustomResourceDefinition{ObjectMeta: metav1.ObjectMeta{Name: "gooses.example.com"}}
	k := newCluster(t, groupIn("a", "x"), groupIn("b", "x"), crd, idle, operator("b", "op.v1", "Duck"))
	k.wantAPIs("a", "")
	k.wantAPIs("b", "Duck.v1.example.com")
	crd.Annotations = map[string]string{bundle.InstalledAlongsideKey("a", "op.v1"): "a/op.v1"}
	k.update(crd)
	k.wantAPIs("a", "") // its other API is another operator's
	if got := (watches{client: k.client}).owners(t.Context(), crd); len(got) != 1 || got[0].Namespace != "a" {
		t.Errorf("the definition wakes up %v", got)
	}
	must.NoError(t, k.client.Get(t.Context(), client.ObjectKeyFromObject(idle), idle))
	idle.Spec.CustomResourceDefinitions.Owned = idle.Spec.CustomResourceDefinitions.Owned[:1]
	k.update(idle)
	k.wantAPIs("a", "Goose.v1.example.com")
}

// TestDefinitionsWakeTheirOwners: claims depend on a definition, so its events wake the groups of all operators that own it, whomever it was brought for.
func TestDefinitionsWakeTheirOwners(t *testing.T) {
	copied := operator("d", "op.v1", "Goose")
	copied.Labels = map[string]string{v1alpha1.CopiedFromLabel: "a"}
	serving := operator("e", "op.v1")
	serving.Spec.APIServiceDefinitions.Owned = []v1alpha1.APIServiceDescription{{Name: "gooses", Group: "example.com", Version: "v1", Kind: "Goose"}}
	k := newCluster(t, groupIn("a"), groupIn("b"), groupIn("c"), groupIn("d"), groupIn("e"), operator("a", "op.v1", "Goose"), operator("b", "op.v1", "Goose", "Duck"), operator("c", "op.v1", "Duck"), copied, serving)
	crd := &apiextensionsv1.CustomResourceDefinition{ObjectMeta: metav1.ObjectMeta{Name: "gooses.example.com", Annotations: map[string]string{bundle.InstalledAlongsideKey("a", "op.v1"): "a/op.v1"}}}
	service := &apiregistrationv1.APIService{ObjectMeta: metav1.ObjectMeta{Name: "v1.example.com", Labels: map[string]string{v1alpha1.OwnerLabel: "op.v1"}}}
	for definition, want := range map[client.Object][]string{crd: {"a", "b"}, service: {"e"}} {
		var got []string
		for _, request := range k.c.watches().owners(t.Context(), definition) {
			got = append(got, request.Namespace)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s wakes the groups (-want +got): %s", definition.GetName(), diff)
		}
		if !evidenceChanged.Delete(event.DeleteEvent{Object: definition}) || !evidenceChanged.Create(event.CreateEvent{Object: definition}) {
			t.Errorf("the beginning or the end of %s wakes nothing", definition.GetName())
		}
		if evidenceChanged.Create(event.CreateEvent{Object: definition, IsInInitialList: true}) || evidenceChanged.Update(event.UpdateEvent{ObjectOld: definition, ObjectNew: definition}) {
			t.Errorf("%s wakes groups although it has not changed", definition.GetName())
		}
		after := definition.DeepCopyObject().(client.Object)
		after.SetAnnotations(map[string]string{v1alpha1.OriginAnnotation: v1alpha1.OriginInstallPlan + "/a"})
		after.SetLabels(nil)
		if !evidenceChanged.Update(event.UpdateEvent{ObjectOld: definition, ObjectNew: after}) {
			t.Errorf("%s has another owner, which wakes nothing", definition.GetName())
		}
	}
}

// TestNamesAloneClaimNothing: the group of an operator that runs lists neither what does not exist nor an APIService of the cluster, nor, where it has an
// account, a definition that no InstallPlan brought.
func TestNamesAloneClaimNothing(t *testing.T) {
	csv := operator("a", "op.v1", "Goose", "Pelican")
	csv.Spec.APIServiceDefinitions.Owned = []v1alpha1.APIServiceDescription{{Name: "metrics", Group: "custom.example.com", Version: "v1", Kind: "Metric"}}
	service := &apiregistrationv1.APIService{ObjectMeta: metav1.ObjectMeta{Name: "v1.custom.example.com"}}
	k := newCluster(t, groupIn("a", "x"), csv, service)
	k.wantAPIs("a", "Goose.v1.example.com")
	service.Labels = map[string]string{v1alpha1.OwnerKindLabel: "ClusterServiceVersion", v1alpha1.OwnerNamespaceLabel: "a", v1alpha1.OwnerLabel: "op.v1"}
	k.update(service)
	k.wantAPIs("a", "Goose.v1.example.com,Metric.v1.custom.example.com")
	group := &v1.OperatorGroup{}
	must.NoError(t, k.client.Get(t.Context(), types.NamespacedName{Namespace: "a", Name: "group"}, group))
	group.Spec.ServiceAccountName = "installer"
	k.update(group)
	k.wantAPIs("a", "Metric.v1.custom.example.com")
}
