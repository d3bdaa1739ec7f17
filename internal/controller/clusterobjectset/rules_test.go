package clusterobjectset

import (
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	olmv1 "fairlead.dev/fairlead/api/olm/v1"
	"fairlead.dev/fairlead/internal/rollout"
	"fairlead.dev/fairlead/internal/rollout/revision"
	"fairlead.dev/fairlead/test/must"
)

// TestClaims is the table of who an object that is there already belongs to, from the view of revision 2 of three.
func TestClaims(t *testing.T) {
	const prevent, orphans, none = olmv1.CollisionProtectionPrevent, olmv1.CollisionProtectionIfNoController, olmv1.CollisionProtectionNone
	f := &family{set: newSet("ext-2", 2), siblings: map[types.UID]*olmv1.ClusterObjectSet{}}
	for _, s := range []*olmv1.ClusterObjectSet{newSet("ext-1", 1), newSet("ext-3", 3), newSet("ext-2b", 2)} {
		f.siblings[s.UID] = s
	}
	tests := map[string]struct {
		controller string
		revision   string // of the annotation
		kept       string // the extension that it was kept from
		protection olmv1.CollisionProtection
		left       bool
		claimed    string
	}{
		"ours":                                {controller: "ext-2", protection: prevent},
		"of an earlier revision":              {controller: "ext-1", protection: prevent},
		"of a later revision":                 {controller: "ext-3", protection: prevent, left: true},
		"of a later revision, taking all":     {controller: "ext-3", protection: none, left: true},
		"of a revision with the same number":  {controller: "ext-2b", protection: none, claimed: "same revision number"},
		"of others":                           {controller: "other", protection: prevent, claimed: "is controlled by ConfigMap other"},
		"of others, taking orphans":           {controller: "other", protection: orphans, claimed: "is controlled by ConfigMap other"},
		"of others, taking all":               {controller: "other", protection: none},
		"of nobody":                           {protection: prevent, claimed: "nothing controls it"},
		"of nobody, taking orphans":           {protection: orphans},
		"of nobody, taking all":               {protection: none},
		"kept from the extension before":      {kept: "ext/before", revision: "2", protection: prevent},
		"kept from the extension itself":      {kept: "ext/now", protection: prevent, claimed: "nothing controls it"},
		"kept from another extension":         {kept: "else/before", protection: prevent, claimed: "nothing controls it"},
		"kept and controlled by others":       {kept: "ext/before", controller: "other", protection: prevent, claimed: "is controlled by ConfigMap other"},
		"of nobody, but was ours":             {revision: "2", protection: orphans, claimed: "has removed its controller"},
		"of nobody, but was ours, taking all": {revision: "2", protection: none, claimed: "has removed its controller"},
		"of nobody, was of the one before":    {revision: "1", protection: orphans},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			live := configMap(t, "a", "")
			live.SetLabels(map[string]string{olmv1.OwnerKindKey: "ClusterExtension", olmv1.OwnerNameKey: "ext"})
			live.SetAnnotations(map[string]string{revision.NumberKey: tc.revision, revision.KeptKey: tc.kept})
			if tc.controller != "" {
				yes, kind := true, "ConfigMap"
				if strings.HasPrefix(tc.controller, "ext") {
					kind = "ClusterObjectSet"
				}
				live.SetOwnerReferences([]metav1.OwnerReference{{Kind: kind, Name: tc.controller, UID: types.UID(tc.controller), Controller: &yes}})
			}
			got := revision.Claim(f.set, f.siblings, tc.protection, live)
			must.Equal(t, "ceded", got.Verdict == rollout.Ceded, tc.left)
			if !strings.Contains(got.Reason, tc.claimed) || (got.Reason == "") != (tc.claimed == "") || (got.Verdict == rollout.Refused) != (tc.claimed != "") {
				t.Errorf("claimed: %+v, want %q", got, tc.claimed)
			}
		})
	}
}

func newSet(name string, number int64) *olmv1.ClusterObjectSet {
	set := &olmv1.ClusterObjectSet{}
	set.Name, set.UID, set.Spec.Revision = name, types.UID(name), number
	set.Labels = map[string]string{olmv1.OwnerKindKey: "ClusterExtension", olmv1.OwnerNameKey: "ext"}
	yes := true
	set.OwnerReferences = []metav1.OwnerReference{{APIVersion: olmv1.GroupVersion.String(), Kind: "ClusterExtension", Name: "ext", UID: "now", Controller: &yes}}
	return set
}

// TestTakingAll takes the control from a foreign controller, which stays an owner, and comes to rest.
func TestTakingAll(t *testing.T) {
	w := newWorld(t)
	theirs := configMap(t, "config", "theirs")
	yes := true
	theirs.SetOwnerReferences([]metav1.OwnerReference{{APIVersion: "v1", Kind: "ConfigMap", Name: "boss", UID: "boss", Controller: &yes}})
	must.NoError(t, w.Inner.Create(t.Context(), theirs))
	o := options(1, configMap(t, "config", "ours"))
	o.CollisionProtection = olmv1.CollisionProtectionNone
	w.revise(o)
	w.settle()
	w.expect("ext-1", "Progressing=True/Succeeded")
	u := w.get("ConfigMap", "config")
	if got := w.objects()[0]; got != "ConfigMap/config@ours of ext-1" || len(u.GetOwnerReferences()) != 2 {
		t.Errorf("%s %v", got, u.GetOwnerReferences())
	}
}

// TestCollision: nothing is written as long as an object belongs to another client; when that is gone, the rollout goes on.
func TestCollision(t *testing.T) {
	theirs := configMap(t, "config", "theirs")
	w := newWorld(t, theirs)
	w.revise(options(1, configMap(t, "config", "1"), configMap(t, "other", "1")))
	result, err := w.pass("ext-1")
	must.NoError(t, err)
	must.Equal(t, "requeue after", result.RequeueAfter, collisionRetry)
	w.expect("ext-1", "Progressing=True/Retrying: revision object collisions in phase configuration: ConfigMap ns/config is wanted by ClusterObjectSet ext-1 but exists already, and nothing controls it")
	must.Equal(t, "half of it was written", len(w.objects()), 1)
	must.NoError(t, w.Inner.Delete(t.Context(), theirs))
	w.settle()
	w.expect("ext-1", "Progressing=True/Succeeded")
}
