package tenancy

import (
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "fairlead.dev/fairlead/api/operators/v1"
	"fairlead.dev/fairlead/api/operators/v1alpha1"
)

const (
	goose  = "Goose.v1.birds.example.com"
	duck   = "Duck.v1.birds.example.com"
	egress = "Egress.v1.net.example.com"
)

// group has its targets, and lists APIs.
func group(name, targets, apis string, edit ...func(*v1.OperatorGroup)) *v1.OperatorGroup {
	g := &v1.OperatorGroup{ObjectMeta: metav1.ObjectMeta{Namespace: name + "-ns", Name: name, Annotations: map[string]string{v1alpha1.ProvidedAPIsAnnotation: apis}}}
	if targets != "none" {
		g.Status.Namespaces = strings.Split(targets, ",")
	}
	at := metav1.NewTime(time.Unix(1000, 0))
	g.Status.LastUpdated = &at
	for _, e := range edit {
		e(g)
	}
	return g
}

func static(g *v1.OperatorGroup) { g.Spec.StaticProvidedAPIs = true }

func changedAt(seconds int64) func(*v1.OperatorGroup) {
	return func(g *v1.OperatorGroup) {
		at := metav1.NewTime(time.Unix(seconds, 0))
		g.Status.LastUpdated = &at
	}
}

// operator owns APIs and supports everything.
func operator(apis ...string) *v1alpha1.ClusterServiceVersion {
	csv := &v1alpha1.ClusterServiceVersion{ObjectMeta: metav1.ObjectMeta{Name: "op.v1"}}
	for _, mode := range []v1alpha1.InstallModeType{"OwnNamespace", "SingleNamespace", "MultiNamespace", "AllNamespaces"} {
		csv.Spec.InstallModes = append(csv.Spec.InstallModes, v1alpha1.InstallMode{Type: mode, Supported: true})
	}
	for _, item := range apis {
		api, ok := ParseAPI(item)
		if !ok {
			panic(item)
		}
		csv.Spec.CustomResourceDefinitions.Owned = append(csv.Spec.CustomResourceDefinitions.Owned,
			v1alpha1.CRDDescription{Name: strings.ToLower(api.Kind) + "s." + api.Group, Version: api.Version, Kind: api.Kind})
	}
	return csv
}

// TestIntersections is the documented table: whether the group lists the APIs of the operator, whether another group that
// reaches the same namespaces lists one of them, and whether the group is static.
func TestIntersections(t *testing.T) {
	const (
		conflict = v1alpha1.CSVReasonInterOperatorGroupOwnerConflict
		fixed    = v1alpha1.CSVReasonCannotModifyStaticProvidedAPIs
	)
	tests := map[string]struct {
		apis   []string
		group  *v1.OperatorGroup
		others []*v1.OperatorGroup
		reason v1alpha1.ConditionReason
		awaits bool
		claim  string
		says   []string
	}{
		"nothing is provided":                    {group: group("a", "x", ""), others: []*v1.OperatorGroup{group("b", "x", goose)}},
		"listed, no other":                       {apis: []string{goose}, group: group("a", "x", goose), claim: goose},
		"not listed, no other: added":            {apis: []string{goose}, group: group("a", "x", ""), awaits: true, claim: goose, says: []string{"OperatorGroup a", goose}},
		"partly listed: added":                   {apis: []string{goose, duck}, group: group("a", "x", goose), awaits: true, claim: duck + "," + goose},
		"not listed, another: refused":           {apis: []string{goose}, group: group("a", "x", ""), others: []*v1.OperatorGroup{group("b", "x", goose)}, reason: conflict, says: []string{"a-ns/a", "b-ns/b", goose, "namespace x"}},
		"one of two is another's":                {apis: []string{goose, duck}, group: group("a", "x", ""), others: []*v1.OperatorGroup{group("b", "x", duck)}, reason: conflict, says: []string{duck}},
		"other namespaces":                       {apis: []string{goose}, group: group("a", "x", goose), others: []*v1.OperatorGroup{group("b", "y", goose)}, claim: goose},
		"other APIs":                             {apis: []string{goose}, group: group("a", "x", goose), others: []*v1.OperatorGroup{group("b", "x", duck)}, claim: goose},
		"other versions":                         {apis: []string{goose}, group: group("a", "x", goose), others: []*v1.OperatorGroup{group("b", "x", strings.Replace(goose, "v1", "v2", 1))}, claim: goose},
		"another's own namespace is its target":  {apis: []string{goose}, group: group("a", "b-ns", ""), others: []*v1.OperatorGroup{group("b", "x", goose)}, reason: conflict, says: []string{"namespace b-ns"}},
		"its own namespace is another's target":  {apis: []string{goose}, group: group("a", "x", ""), others: []*v1.OperatorGroup{group("b", "a-ns", goose)}, reason: conflict},
		"all namespaces meet any":                {apis: []string{goose}, group: group("a", "", ""), others: []*v1.OperatorGroup{group("b", "x", goose)}, reason: conflict, says: []string{"b-ns, x"}},
		"any meet all namespaces":                {apis: []string{goose}, group: group("a", "x", ""), others: []*v1.OperatorGroup{group("b", "", goose)}, reason: conflict},
		"all meet all":                           {apis: []string{goose}, group: group("a", "", ""), others: []*v1.OperatorGroup{group("b", "", goose)}, reason: conflict, says: []string{"all namespaces"}},
		"who reaches nothing competes with none": {apis: []string{goose}, group: group("a", "", goose), others: []*v1.OperatorGroup{group("b", "none", goose)}, claim: goose},
		"the group itself is no other":           {apis: []string{goose}, group: group("a", "x", goose), others: []*v1.OperatorGroup{group("a", "x", goose)}, claim: goose},

		"both list it: who changed last gives way":      {apis: []string{goose}, group: group("a", "x", goose, changedAt(2000)), others: []*v1.OperatorGroup{group("b", "x", goose)}, reason: conflict},
		"both list it: who changed first stays":         {apis: []string{goose}, group: group("a", "x", goose), others: []*v1.OperatorGroup{group("b", "x", goose, changedAt(2000))}, claim: goose},
		"both list it: one of two others stays":         {apis: []string{goose}, group: group("a", "x", goose, changedAt(1500)), others: []*v1.OperatorGroup{group("b", "x", goose, changedAt(2000)), group("c", "x", goose)}, reason: conflict, says: []string{"c-ns/c", "1 more"}},
		"both list it: static stays":                    {apis: []string{goose}, group: group("a", "x", goose, static, changedAt(2000)), others: []*v1.OperatorGroup{group("b", "x", goose)}, claim: goose},
		"both list it: the other is static":             {apis: []string{goose}, group: group("a", "x", goose), others: []*v1.OperatorGroup{group("b", "x", goose, static, changedAt(2000))}, reason: conflict},
		"both list it and are static":                   {apis: []string{goose}, group: group("a", "x", goose, static), others: []*v1.OperatorGroup{group("b", "x", goose, static)}, reason: fixed, says: []string{"b-ns/b"}},
		"static, listed":                                {apis: []string{goose}, group: group("a", "x", goose+","+duck, static), claim: goose},
		"static, not listed":                            {apis: []string{goose, egress}, group: group("a", "x", goose, static), reason: fixed, claim: egress + "," + goose, says: []string{"add " + egress + " to it"}},
		"static, not listed, another":                   {apis: []string{goose}, group: group("a", "x", "", static), others: []*v1.OperatorGroup{group("b", "x", goose)}, reason: conflict},
		"the other is a static group without operators": {apis: []string{goose}, group: group("a", "x", ""), others: []*v1.OperatorGroup{group("b", "x", goose, static)}, reason: conflict},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			csv := operator(test.apis...)
			got := Judge(csv, test.group, test.others)
			if got.Reason != test.reason || got.Awaits != test.awaits {
				t.Errorf("judged %+v, want reason %q, awaits %t", got, test.reason, test.awaits)
			}
			for _, words := range test.says {
				if !strings.Contains(got.Detail, words) {
					t.Errorf("%q does not say %q", got.Detail, words)
				}
			}
			if claim := Claim(test.group, []*v1alpha1.ClusterServiceVersion{csv}, test.others).String(); claim != test.claim {
				t.Errorf("the group provides %q, want %q", claim, test.claim)
			}
		})
	}
}

// TestOneOfTwoStays: whatever the times and kinds of two groups that both list an API, exactly one keeps it, unless both
// are static: then neither operator may run.
func TestOneOfTwoStays(t *testing.T) {
	csv := operator(goose)
	for bits := range 1 << 5 {
		a, b := group("a", "x", goose), group("b", "x", goose)
		if bits&1 != 0 {
			static(a)
		}
		if bits&2 != 0 {
			static(b)
		}
		if bits&4 != 0 {
			changedAt(2000)(a)
		}
		if bits&8 != 0 {
			changedAt(2000)(b)
		}
		if bits&16 != 0 {
			a.CreationTimestamp = metav1.NewTime(time.Unix(5, 0))
		}
		all := []*v1.OperatorGroup{a, b}
		stays := 0
		for _, g := range all {
			if Judge(csv, g, all).Reason == "" {
				stays++
			}
		}
		want := 1
		if bits&3 == 3 {
			want = 0
		}
		if stays != want {
			t.Errorf("case %05b: %d of the two stay, want %d", bits, stays, want)
		}
	}
}

// TestClaim leaves out who is no member.
func TestClaim(t *testing.T) {
	own := operator(duck)
	own.Spec.InstallModes = []v1alpha1.InstallMode{{Type: "OwnNamespace", Supported: true}}
	copied := operator(egress)
	copied.Labels = map[string]string{v1alpha1.CopiedFromLabel: "elsewhere"}
	members := []*v1alpha1.ClusterServiceVersion{operator(goose), own, copied}
	if got := Claim(group("a", "x", ""), members, nil).String(); got != goose {
		t.Errorf("the group provides %q, want only what its members do that support its targets", got)
	}
	if got := Claim(group("a", "a-ns", ""), members, nil).String(); got != duck+","+goose {
		t.Errorf("the group provides %q", got)
	}
	if got := Claim(group("a", "none", goose), members, nil).String(); got != "" {
		t.Errorf("a group without targets provides %q", got)
	}
}

func TestParseAPIs(t *testing.T) {
	for list, want := range map[string]string{
		"":                                   "",
		goose:                                goose,
		" " + goose + " , " + duck + ",":     duck + "," + goose,
		goose + "," + goose:                  goose,
		"Goose,Goose.v1,.v1.g,Goose..g,,x..": "",
	} {
		if got := ParseAPIs(list).String(); got != want {
			t.Errorf("%q is read as %q, want %q", list, got, want)
		}
	}
	odd := operator()
	odd.Spec.CustomResourceDefinitions.Owned = []v1alpha1.CRDDescription{{Name: "nodot", Version: "v1", Kind: "Nodot"}, {Name: "a.b", Version: "v1"}, {Name: "a.b", Kind: "A,B", Version: "v1"}}
	if got := ProvidedBy(odd); len(got) != 0 {
		t.Errorf("an odd operator provides %q", got)
	}
	service := operator()
	service.Spec.APIServiceDefinitions.Owned = []v1alpha1.APIServiceDescription{{Name: "geese", Group: "birds.example.com", Version: "v1", Kind: "Goose"}}
	if got := ProvidedBy(service).String(); got != goose {
		t.Errorf("an aggregated API is %q, want %q", got, goose)
	}
}
