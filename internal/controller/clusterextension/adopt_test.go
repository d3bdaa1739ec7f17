package clusterextension

import (
	"cmp"
	"strings"
	"testing"

	olmv1 "fairlead.dev/fairlead/api/olm/v1"
	"fairlead.dev/fairlead/api/operators/v1alpha1"
	"fairlead.dev/fairlead/internal/ops/migrate"
	"fairlead.dev/fairlead/internal/rollout/revision"
	"fairlead.dev/fairlead/test/must"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

func clientKey(namespace, name string) client.ObjectKey {
	return types.NamespacedName{Namespace: namespace, Name: name}
}

// TestAdopts: the first revision takes over what the ClusterServiceVersion that is named has, and nothing of others.
func TestAdopts(t *testing.T) {
	live := func(owner string) *corev1.ConfigMap {
		c := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "what"}}
		if owner != "" {
			c.OwnerReferences = []metav1.OwnerReference{{APIVersion: "operators.coreos.com/v1alpha1", Kind: "ClusterServiceVersion", Name: owner, UID: uidOf(owner)}}
		}
		return c
	}
	for name, test := range map[string]struct {
		adopts, owner string
		told          string // why there is no revision; empty when there is one
		agreed        string // what the Subscription says; empty is that it agrees
	}{
		"its own":                            {"ns/a.v1.0.0", "a.v1.0.0", "", ""},
		"another's":                          {"ns/a.v1.0.0", "b.v1.0.0", "Retrying: take ConfigMap ns/what over with ClusterServiceVersion ns/a.v1.0.0: it belongs to ClusterServiceVersion b.v1.0.0", ""},
		"nobody's":                           {"ns/a.v1.0.0", "", "nothing says that it belongs to ClusterServiceVersion ns/a.v1.0.0", ""},
		"another version":                    {"ns/a.v0.9.0", "a.v0.9.0", "Blocked: annotation operators.fairlead.dev/adopts asks for what ClusterServiceVersion ns/a.v0.9.0 has installed, but bundle a.v1.0.0 was chosen", ""},
		"another namespace":                  {"other/a.v1.0.0", "a.v1.0.0", "InvalidConfiguration: annotation operators.fairlead.dev/adopts", ""},
		"no name":                            {"a.v1.0.0", "a.v1.0.0", "InvalidConfiguration: annotation operators.fairlead.dev/adopts", ""},
		"without a word of its Subscription": {"ns/a.v1.0.0", "a.v1.0.0", "no Subscription that has installed it agrees", "another"},
		"what is not there":                  {"ns/a.v1.0.0", "a.v1.0.0", "there is none, or only a copy", "gone"},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, want("my", "a", ""))
			w.add(live(test.owner))
			if test.agreed != "gone" {
				w.add(&v1alpha1.ClusterServiceVersion{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "a.v1.0.0"}})
			}
			w.add(&v1alpha1.ClusterServiceVersion{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "b.v1.0.0"}})
			w.add(&v1alpha1.Subscription{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "a", Annotations: map[string]string{"operators.fairlead.dev/migrating": cmp.Or(test.agreed, "my")}},
				Status: v1alpha1.SubscriptionStatus{InstalledCSV: "a.v1.0.0"}})
			w.annotate("my", migrate.AdoptsKey, test.adopts)
			w.serve("cat", pkg("a", "1.0.0"))
			w.pass("my")
			r := w.revisions("my").Newest()
			if test.told == "" {
				if r == nil || r.Spec.CollisionProtection != olmv1.CollisionProtectionPrevent || r.Annotations[adoptedKey] != test.adopts {
					t.Fatalf("the revision is %+v", r)
				}
				for _, p := range r.Spec.Phases { // only what is there is adopted
					for _, o := range p.Objects {
						if is, taken := o.CollisionProtection, p.Name == "configuration"; (is == olmv1.CollisionProtectionIfNoController) != taken {
							t.Errorf("phase %s has an object with collisionProtection %q", p.Name, is)
						}
					}
				}
				w.settle("my")
				w.serve("cat", pkg("a", "1.0.0", "1.1.0"))
				w.settle("my")
				if r = w.newest("my"); r.Spec.Revision != 2 || r.Spec.CollisionProtection != olmv1.CollisionProtectionPrevent || r.Annotations[adoptedKey] != "" {
					t.Errorf("the next revision is %+v", r)
				}
				return
			}
			if got := w.condition("my", olmv1.TypeProgressing); r != nil || !strings.Contains(got, test.told) {
				t.Errorf("there is %v, and it is told %s", r, got)
			}
		})
	}
}

// TestOneKindOfAdoption: what a ClusterServiceVersion has is adopted by itself, and not together with what has no owner.
func TestOneKindOfAdoption(t *testing.T) {
	w := newWorld(t, want("my", "a", ""))
	w.add(&v1alpha1.ClusterServiceVersion{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "a.v1.0.0"}})
	w.annotate("my", migrate.AdoptsKey, "ns/a.v1.0.0")
	w.annotate("my", revision.AdoptKey, "true")
	w.serve("cat", pkg("a", "1.0.0"))
	w.pass("my")
	if r := w.revisions("my").Newest(); r != nil {
		t.Errorf("revision %s", r.Name)
	}
	must.Contain(t, "the condition", w.condition("my", olmv1.TypeProgressing), "InvalidConfiguration: annotations operators.fairlead.dev/adopts and operators.fairlead.dev/adopt-existing exclude each other: remove the second one")
}
