package revision

import (
	"context"
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	olmv1 "fairlead.dev/fairlead/api/olm/v1"
	"fairlead.dev/fairlead/test/must"
)

// counted answers how many custom resources there are.
func counted(n int64, err error) Count {
	return func(context.Context, client.Reader, *apiextensionsv1.CustomResourceDefinition) (int64, bool, error) {
		return n, false, err
	}
}

// controlled is the definition of kites that some revision has written, with more in its metadata.
func controlled(t *testing.T, kind, uid, more string) *apiextensionsv1.CustomResourceDefinition {
	t.Helper()
	owner := fmt.Sprintf(", ownerReferences: [{apiVersion: olm.operatorframework.io/v1, kind: %s, name: kite-1, uid: %s, controller: true}]", kind, uid)
	return typed[apiextensionsv1.CustomResourceDefinition](t, kites(text, owner+more))
}

func TestDropped(t *testing.T) {
	own := world(controlled(t, olmv1.ClusterObjectSetKind, "set-1", ""))
	const removed = "bundle kite.v2.0.0 does not have it, so that it would be deleted, but it has "
	for name, c := range map[string]struct {
		cluster     client.WithWatch
		ext         *olmv1.ClusterExtension
		objects     []*unstructured.Unstructured
		count       Count
		finding     string
		exempt      bool
		err, reason string
	}{
		"one custom resource":              {cluster: own, count: counted(1, nil), finding: removed + "1 custom resource"},
		"more":                             {cluster: own, count: counted(7, nil), finding: removed + "7 custom resources"},
		"none":                             {cluster: own, count: counted(0, nil)},
		"nobody can tell":                  {cluster: own, count: counted(0, errRefused), finding: "bundle kite.v2.0.0 does not have it, so that it would be deleted, but it is not known whether it has custom resources: connection refused"},
		"it stays":                         {cluster: own, count: counted(1, nil), objects: []*unstructured.Unstructured{object(t, kites(text, ""))}},
		"something of its name stays":      {cluster: own, count: counted(1, nil), objects: []*unstructured.Unstructured{object(t, "{apiVersion: v1, kind: ConfigMap, metadata: {name: kites.example.com}}")}, finding: removed + "1 custom resource"},
		"checks are off":                   {cluster: own, ext: enforced(kite(), olmv1.CRDUpgradeSafetyEnforcementNone), count: counted(1, nil), finding: removed + "1 custom resource"},
		"exempt":                           {cluster: own, ext: kite(ExemptionsKey, "removal kites.example.com"), count: counted(1, nil), finding: removed + "1 custom resource", exempt: true},
		"another one is exempt":            {cluster: own, ext: kite(ExemptionsKey, "removal hawks.example.com"), count: counted(1, nil), finding: removed + "1 custom resource"},
		"exemptions nobody can read":       {cluster: own, ext: kite(ExemptionsKey, "nonsense"), count: counted(1, nil), err: "annotation " + ExemptionsKey, reason: olmv1.ReasonInvalidConfiguration},
		"exemptions that nobody needs":     {cluster: own, ext: kite(ExemptionsKey, "nonsense"), count: counted(0, nil)},
		"the definitions cannot be listed": {cluster: without(own, "CustomResourceDefinitionList", errRefused), count: counted(0, nil), err: "list the CustomResourceDefinitions, to see which of them would be deleted: connection refused"},
	} {
		t.Run(name, func(t *testing.T) {
			if c.ext == nil {
				c.ext = kite()
			}
			s := Change{Extension: c.ext, Revisions: []olmv1.ClusterObjectSet{*made(t, 1, Bundle{Name: "kite.v1.0.0"}).Set}, Bundle: Bundle{Name: "kite.v2.0.0"}, Objects: c.objects}
			all, err := Preflight{Client: world(), Live: c.cluster, Count: c.count}.Dropped(t.Context(), s)
			wantAnswer(t, err, c.err, c.reason)
			if err != nil {
				return
			}
			if (len(all) == 1) != (c.finding != "") || len(all) == 1 && (all[0].Findings[0].What != c.finding || all[0].Findings[0].CRD != "kites.example.com" || (all[0].Findings[0].Exempt != "") != c.exempt) {
				t.Fatalf("found %+v; want %q, exempt: %t", all, c.finding, c.exempt)
			}
			stands, remedy := "", ""
			if c.finding != "" && !c.exempt {
				stands, remedy = c.finding, "annotation operators.fairlead.dev/crd-upgrade-exemptions: removal kites.example.com"
			}
			wantAnswer(t, DroppedError(all), stands, "")
			wantAnswer(t, DroppedError(all), remedy, "")
		})
	}
}

// TestDroppedOfSeveral tells of those that have custom resources, whichever others there are.
func TestDroppedOfSeveral(t *testing.T) {
	var crds []client.Object
	for _, name := range []string{"a", "b", "c", "d"} {
		crd := controlled(t, olmv1.ClusterObjectSetKind, "set-1", "")
		crd.Name = name
		crds = append(crds, crd)
	}
	count := func(_ context.Context, _ client.Reader, crd *apiextensionsv1.CustomResourceDefinition) (int64, bool, error) {
		return map[string]int64{"b": 1, "d": 2}[crd.Name], false, nil
	}
	s := Change{Extension: kite(ExemptionsKey, "removal d"), Revisions: []olmv1.ClusterObjectSet{*made(t, 1, Bundle{Name: "kite.v1.0.0"}).Set}, Bundle: Bundle{Name: "kite.v2.0.0"}}
	all, err := Preflight{Live: world(crds...), Count: count}.Dropped(t.Context(), s)
	if err != nil || len(all) != 2 {
		t.Fatalf("found %+v, %v", all, err)
	}
	b, d := all[0].Findings[0], all[1].Findings[0]
	if b.CRD != "b" || b.Exempt != "" || d.CRD != "d" || d.Exempt == "" {
		t.Errorf("found %+v and %+v", b, d)
	}
	blocks := DroppedError(all)
	wantAnswer(t, blocks, `CRD "b": removal: bundle kite.v2.0.0 does not have it, so that it would be deleted, but it has 1 custom resource; delete them if they are not needed`, "")
	if contains(blocks, `CRD "d"`) {
		t.Errorf("what is exempt blocks the upgrade: %v", blocks)
	}
}

func TestOwnedCRDs(t *testing.T) {
	active := *made(t, 1, Bundle{Name: "kite.v1.0.0"}).Set
	archived, leaving := *active.DeepCopy(), *active.DeepCopy()
	now := metav1.Now()
	archived.Spec.LifecycleState, leaving.DeletionTimestamp = olmv1.LifecycleStateArchived, &now
	own := controlled(t, olmv1.ClusterObjectSetKind, "set-1", "")
	for name, c := range map[string]struct {
		live   *apiextensionsv1.CustomResourceDefinition
		of     olmv1.ClusterObjectSet
		except map[string]bool
		want   []string
	}{
		"its own":                        {own, active, nil, []string{"kites.example.com"}},
		"its own, but excepted":          {own, active, map[string]bool{"kites.example.com": true}, nil},
		"its own, another excepted":      {own, active, map[string]bool{"hawks.example.com": true}, []string{"kites.example.com"}},
		"of an archived revision":        {own, archived, nil, nil},
		"of a revision that goes":        {own, leaving, nil, nil},
		"of another revision":            {controlled(t, olmv1.ClusterObjectSetKind, "set-2", ""), active, nil, nil},
		"of something else of that name": {controlled(t, "Kite", "set-1", ""), active, nil, nil},
		"nobody's":                       {typed[apiextensionsv1.CustomResourceDefinition](t, kites(text, "")), active, nil, nil},
		"being deleted":                  {controlled(t, olmv1.ClusterObjectSetKind, "set-1", ", finalizers: [a/b], deletionTimestamp: 2026-01-01T00:00:00Z"), active, nil, nil},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := OwnedCRDs(t.Context(), world(c.live), []olmv1.ClusterObjectSet{c.of}, c.except)
			if diff := cmp.Diff(c.want, got); diff != "" || err != nil {
				t.Errorf("%v (-want +got):\n%s", err, diff)
			}
		})
	}
	// Without an active revision there is nothing to look for.
	if got, err := OwnedCRDs(t.Context(), without(world(), "CustomResourceDefinitionList", errRefused), []olmv1.ClusterObjectSet{archived}, nil); got != nil || err != nil {
		t.Errorf("of none: %v, %v", got, err)
	}
}

func TestRemovalExempt(t *testing.T) {
	for text, want := range map[string]bool{
		"":                            false,
		"removal":                     true,
		"removal kites.example.com":   true,
		"removal hawks.example.com":   false,
		"enum":                        false,
		"enum; removal":               true,
		"removal; nonsense":           false,
		"removal kites.example.com x": false, // a property of it, which is not the whole
	} {
		must.Equal(t, text, RemovalExempt(kite(ExemptionsKey, text), "kites.example.com"), want)
	}
}

// TestPopulated: what is gone has nothing; of what cannot be read no one can tell.
func TestPopulated(t *testing.T) {
	crd := typed[apiextensionsv1.CustomResourceDefinition](t, kites(text, ""))
	one := world(crd, object(t, "{apiVersion: example.com/v1, kind: Kite, metadata: {name: a, namespace: sky}}"))
	const unknown = "it is not known whether it has custom resources: connection refused"
	for name, c := range map[string]struct {
		cluster client.WithWatch
		count   Count
		want    string
	}{
		"one":                       {one, nil, "it has 1 custom resource"},
		"none":                      {world(crd), nil, ""},
		"as it is told":             {one, counted(3, nil), "it has 3 custom resources"},
		"the definition is gone":    {world(), counted(3, nil), ""},
		"they cannot be counted":    {one, counted(0, errRefused), unknown},
		"the definition is unknown": {without(one, "CustomResourceDefinition", errRefused), counted(0, nil), unknown},
	} {
		t.Run(name, func(t *testing.T) {
			must.Equal(t, "populated", Populated(t.Context(), c.cluster, c.count, "kites.example.com"), c.want)
		})
	}
}
