package operatorgroup

import (
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "fairlead.dev/fairlead/api/operators/v1"

	"fairlead.dev/fairlead/test/fakeapi"
	"fairlead.dev/fairlead/test/must"
)

func tenant() *corev1.Namespace {
	return &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "tenant"}}
}

// tenantLabels are the labels of the namespace tenant.
func (k *cluster) tenantLabels() map[string]string {
	k.t.Helper()
	n := &corev1.Namespace{}
	must.NoError(k.t, k.client.Get(k.t.Context(), client.ObjectKey{Name: "tenant"}, n))
	return n.Labels
}

// TestLabelsOfALongNamedGroupGo: it has no ClusterRoles that would remember its UID.
func TestLabelsOfALongNamedGroupGo(t *testing.T) {
	g := newGroup(strings.Repeat("g", 70), v1.OperatorGroupSpec{TargetNamespaces: []string{"tenant"}})
	k := newCluster(t, g, tenant())
	k.pass(g.Name)
	if l := k.tenantLabels(); len(l) != 1 {
		t.Fatalf("labels of the target: %v", l)
	}
	must.NoError(t, k.client.Delete(t.Context(), g))
	k.pass(g.Name)
	must.Empty(t, "labels of a group that is gone", k.tenantLabels())
}

// TestKilledBetweenLabelsAndRoles: the UID of a group is remembered before it is on namespaces.
func TestKilledBetweenLabelsAndRoles(t *testing.T) {
	for _, at := range []string{"apply ClusterRole", "patch Namespace"} {
		t.Run(at, func(t *testing.T) {
			g := newGroup("g", v1.OperatorGroupSpec{TargetNamespaces: []string{"tenant"}})
			k := newCluster(t, g, tenant())
			k.Before = func(w string) error {
				if strings.HasPrefix(w, at) {
					return fakeapi.ErrKilled
				}
				return nil
			}
			if err := k.try("g"); err == nil {
				t.Fatal("a failed write is not told")
			}
			must.Empty(t, "labelled", k.tenantLabels())
			k.Before = nil
			if err := k.client.Delete(t.Context(), g); err != nil { // while no manager runs
				t.Fatal(err)
			}
			k.pass("g")
			if l := k.tenantLabels(); len(l) > 0 || len(k.roles()) > 0 {
				t.Errorf("of a group that is gone stay labels %v and %d roles", l, len(k.roles()))
			}
		})
	}
}

// TestSweep: a namespace that a manager finds with the label of a group that is gone loses it; labels of groups that are there stay.
func TestSweep(t *testing.T) {
	g := newGroup("g", v1.OperatorGroupSpec{TargetNamespaces: []string{"tenant"}})
	n := tenant()
	n.Labels = map[string]string{uidLabel("gone"): "", uidLabel(string(g.UID)): "", "other": "label"}
	k := newCluster(t, g, n)
	requests := k.c.orphaned(t.Context(), n)
	if len(requests) != 1 {
		t.Fatalf("a namespace with a label of a group that is gone asks for %v", requests)
	}
	must.Value(k.c.Reconcile(t.Context(), requests[0]))(t)
	l := k.tenantLabels()
	_, gone := l[uidLabel("gone")]
	_, kept := l[uidLabel(string(g.UID))]
	if gone || !kept || l["other"] != "label" {
		t.Errorf("labels are %v", l)
	}
	n.Labels = l
	must.Empty(t, "orphans once it is done", k.c.orphaned(t.Context(), n))
}

// TestSweepAsksTheCluster: the caches may show a label sooner than its group.
func TestSweepAsksTheCluster(t *testing.T) {
	g := newGroup("g", v1.OperatorGroupSpec{TargetNamespaces: []string{"tenant"}})
	n := tenant()
	n.Labels = map[string]string{uidLabel(string(g.UID)): ""}
	k := newCluster(t, n)
	k.c.live = newCluster(t, g).client
	must.Value(k.c.Reconcile(t.Context(), sweeping))(t)
	if l := k.tenantLabels(); len(l) != 1 {
		t.Errorf("labels are %v", l)
	}
}

// TestGroupsOfOneNameShareNothing: the ClusterRoles of an API name the group of its operator in a label, and groups of other namespaces may
// have that name too.
func TestGroupsOfOneNameShareNothing(t *testing.T) {
	for _, apis := range []string{"", "EtcdCluster.v1beta2.etcd.database.coreos.com"} {
		mine := newGroup("operators", v1.OperatorGroupSpec{})
		mine.Annotations = map[string]string{"olm.providedAPIs": apis}
		for _, suffix := range suffixes {
			rule := clusterRole(mine, suffix).AggregationRule
			if len(rule.ClusterRoleSelectors) != 1 {
				t.Errorf("%d selectors, want one", len(rule.ClusterRoleSelectors))
			}
			for _, s := range rule.ClusterRoleSelectors {
				if _, ok := s.MatchLabels["olm.opgroup.permissions/aggregate-to-"+suffix]; ok {
					t.Errorf("provided %q: %s is gathered by the name of the group: %v", apis, suffix, s)
				}
			}
		}
	}
}
