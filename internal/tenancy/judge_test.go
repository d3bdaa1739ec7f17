package tenancy

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/sets"

	v1 "fairlead.dev/fairlead/api/operators/v1"
	"fairlead.dev/fairlead/api/operators/v1alpha1"
	"fairlead.dev/fairlead/bundle"
	"fairlead.dev/fairlead/test/must"
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
			got := Judge(claiming(csv), test.group, test.others)
			if got.Reason != test.reason || got.Awaits != test.awaits {
				t.Errorf("judged %+v, want reason %q, awaits %t", got, test.reason, test.awaits)
			}
			for _, words := range test.says {
				if !strings.Contains(got.Detail, words) {
					t.Errorf("%q does not say %q", got.Detail, words)
				}
			}
			if claim := strings.Join(sets.List(Claim(test.group, []Member{claiming(csv)}, test.others)), ","); claim != test.claim {
				t.Errorf("the group provides %q, want %q", claim, test.claim)
			}
		})
	}
}

// claiming is a member with a claim to all that it owns.
func claiming(csv *v1alpha1.ClusterServiceVersion) Member {
	return Member{ClusterServiceVersion: csv, Claim: ProvidedBy(csv)}
}

// TestWithoutClaim: an operator that has never run, and that nothing was brought for, gives way to every group that lists its APIs and keeps none of them
// from others; where none does, it may be installed.
func TestWithoutClaim(t *testing.T) {
	idle := Member{ClusterServiceVersion: operator(goose)}
	mine := group("a", "x", "")
	must.Equal(t, "the group claims", strings.Join(sets.List(Claim(mine, []Member{idle}, nil)), ","), "")
	must.Equal(t, "it may not be installed where no other group lists its API", Judge(idle, mine, nil), (Verdict{}))
	other := group("b", "x", goose, changedAt(2000))
	if v := Judge(idle, mine, []*v1.OperatorGroup{other}); v.Reason != v1alpha1.CSVReasonInterOperatorGroupOwnerConflict {
		t.Errorf("it does not give way to a group that lists its API: %+v", v)
	}
	static(mine)
	if v := Judge(idle, mine, nil); v.Reason != v1alpha1.CSVReasonCannotModifyStaticProvidedAPIs {
		t.Errorf("a static group that does not list its API lets it in: %+v", v)
	}
	half := Member{ClusterServiceVersion: operator(goose, duck), Claim: sets.New(duck)}
	must.Equal(t, "the group claims", strings.Join(sets.List(Claim(group("a", "x", ""), []Member{half}, nil)), ","), duck)
	if v := Judge(half, group("a", "x", duck), []*v1.OperatorGroup{other}); v.Reason != v1alpha1.CSVReasonInterOperatorGroupOwnerConflict {
		t.Errorf("with a claim to another API only: %+v", v)
	}
}

// TestClaimedBy: what was brought counts, and where no plan brought a definition what runs or has run, unless its namespace is confined to an account.
// What does not exist is claimed by no one.
func TestClaimedBy(t *testing.T) {
	csv := operator(goose, duck)
	csv.Namespace, csv.Name = "ns", "op.v1"
	names := []string{csv.Spec.CustomResourceDefinitions.Owned[0].Name, csv.Spec.CustomResourceDefinitions.Owned[1].Name}
	csv.Spec.APIServiceDefinitions.Owned = []v1alpha1.APIServiceDescription{{Name: "metrics", Group: "custom.example.com", Version: "v1", Kind: "Metric"}}
	const metric = "Metric.v1.custom.example.com"
	brought := func(origin string, by ...string) map[string]string {
		annotations := map[string]string{}
		for _, one := range by {
			namespace, name, _ := strings.Cut(one, "/")
			annotations[bundle.InstalledAlongsideKey(namespace, name)] = one
		}
		if origin != "" {
			annotations[v1alpha1.OriginAnnotation] = v1alpha1.OriginInstallPlan + "/" + origin
		}
		return annotations
	}
	registered := func(namespace, name string) *metav1.ObjectMeta {
		return &metav1.ObjectMeta{Name: "v1.custom.example.com", Labels: map[string]string{
			v1alpha1.OwnerKindLabel: v1alpha1.ClusterServiceVersionKind, v1alpha1.OwnerNamespaceLabel: namespace, v1alpha1.OwnerLabel: name}}
	}
	const runs = v1alpha1.CSVPhaseSucceeded
	for name, test := range map[string]struct {
		phase      v1alpha1.ClusterServiceVersionPhase
		conditions []v1alpha1.ClusterServiceVersionPhase
		confined   bool
		crd        map[string]string // annotations of the first definition; nil where there is none
		bare       bool              // the second exists, and no plan brought it
		service    *metav1.ObjectMeta
		want       string
	}{
		"nothing exists":                         {phase: runs, want: ""},
		"there before, and it never ran":         {bare: true, want: ""},
		"brought":                                {crd: brought("", "ns/op.v1"), want: goose},
		"brought for another":                    {crd: brought("", "ns/op.v2"), want: ""},
		"runs where another brought":             {phase: runs, crd: brought("", "theirs/op.v1"), bare: true, want: duck},
		"runs where its namespace did":           {phase: runs, crd: brought("", "ns/op.v0"), bare: true, want: duck + "," + goose},
		"has run":                                {phase: v1alpha1.CSVPhaseFailed, conditions: []v1alpha1.ClusterServiceVersionPhase{runs}, bare: true, want: duck},
		"is being installed":                     {phase: v1alpha1.CSVPhaseInstalling, bare: true, want: ""},
		"was never more than that":               {phase: v1alpha1.CSVPhaseFailed, conditions: []v1alpha1.ClusterServiceVersionPhase{v1alpha1.CSVPhaseInstalling}, bare: true, want: ""},
		"confined, no plan brought it":           {phase: runs, confined: true, bare: true, want: ""},
		"confined, its namespace created it":     {confined: true, crd: brought("ns", "ns/op.v1", "theirs/op.v1"), want: goose},
		"confined, it only joined":               {confined: true, crd: brought("theirs", "ns/op.v1", "theirs/op.v1"), want: ""},
		"confined, it joined and runs":           {phase: runs, confined: true, crd: brought("theirs", "ns/op.v1", "theirs/op.v1"), want: goose},
		"it joined, and is not confined":         {crd: brought("theirs", "ns/op.v1", "theirs/op.v1"), want: goose},
		"an APIService of its own":               {phase: runs, service: registered("ns", "op.v1"), want: metric},
		"one that its successor has already":     {phase: runs, service: registered("ns", "op.v2"), want: metric},
		"its own, and it never ran":              {service: registered("ns", "op.v1"), want: ""},
		"an APIService of another namespace":     {phase: runs, service: registered("theirs", "op.v1"), want: ""},
		"one of the cluster, that no one labels": {phase: runs, service: &metav1.ObjectMeta{Name: "v1.custom.example.com"}, want: ""},
	} {
		csv.Status = v1alpha1.ClusterServiceVersionStatus{Phase: test.phase}
		for _, phase := range test.conditions {
			csv.Status.Conditions = append(csv.Status.Conditions, v1alpha1.ClusterServiceVersionCondition{Phase: phase})
		}
		got, err := ClaimedBy(csv, test.confined, Definitions{
			CRD: func(name string) (metav1.Object, error) {
				switch {
				case name == names[0] && test.crd != nil:
					return &metav1.ObjectMeta{Name: name, Annotations: test.crd}, nil
				case name == names[1] && test.bare:
					return &metav1.ObjectMeta{Name: name}, nil
				}
				return nil, nil
			},
			APIService: func(name string) (metav1.Object, error) {
				if test.service != nil && test.service.Name == name {
					return test.service, nil
				}
				return nil, nil
			},
		})
		if err != nil || strings.Join(sets.List(got), ",") != test.want {
			t.Errorf("%s: claims %q, %v; want %q", name, got, err, test.want)
		}
	}
	csv.Status.Phase = runs
	unreadable := func(string) (metav1.Object, error) { return nil, errors.New("unreadable") }
	none := func(string) (metav1.Object, error) { return nil, nil }
	for _, definitions := range []Definitions{{CRD: unreadable, APIService: none}, {CRD: none, APIService: unreadable}} {
		if _, err := ClaimedBy(csv, false, definitions); err == nil {
			t.Error("a definition that cannot be read counts as none")
		}
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
			if Judge(claiming(csv), g, all).Reason == "" {
				stays++
			}
		}
		want := 1
		if bits&3 == 3 {
			want = 0
		}
		must.Equal(t, fmt.Sprintf("case %05b: how many stay", bits), stays, want)
	}
}

// TestClaim leaves out who is no member.
func TestClaim(t *testing.T) {
	own := operator(duck)
	own.Spec.InstallModes = []v1alpha1.InstallMode{{Type: "OwnNamespace", Supported: true}}
	copied := operator(egress)
	copied.Labels = map[string]string{v1alpha1.CopiedFromLabel: "elsewhere"}
	members := []Member{claiming(operator(goose)), claiming(own), claiming(copied)}
	must.Equal(t, "the group provides", strings.Join(sets.List(Claim(group("a", "x", ""), members, nil)), ","), goose)
	must.Equal(t, "the group provides", strings.Join(sets.List(Claim(group("a", "a-ns", ""), members, nil)), ","), duck+","+goose)
	must.Equal(t, "a group without targets provides", strings.Join(sets.List(Claim(group("a", "none", goose), members, nil)), ","), "")
}

func TestParseAPIs(t *testing.T) {
	for list, want := range map[string]string{
		"":                                   "",
		goose:                                goose,
		" " + goose + " , " + duck + ",":     duck + "," + goose,
		goose + "," + goose:                  goose,
		"Goose,Goose.v1,.v1.g,Goose..g,,x..": "",
	} {
		must.Equal(t, "APIs of "+list, strings.Join(sets.List(AnnotatedOn(group("a", "x", list))), ","), want)
	}
	odd := operator()
	odd.Spec.CustomResourceDefinitions.Owned = []v1alpha1.CRDDescription{{Name: "nodot", Version: "v1", Kind: "Nodot"}, {Name: "a.b", Version: "v1"}, {Name: "a.b", Kind: "A,B", Version: "v1"}}
	if got := ProvidedBy(odd); len(got) != 0 {
		t.Errorf("an odd operator provides %q", got)
	}
	service := operator()
	service.Spec.APIServiceDefinitions.Owned = []v1alpha1.APIServiceDescription{{Name: "geese", Group: "birds.example.com", Version: "v1", Kind: "Goose"}}
	must.Equal(t, "an aggregated API is", strings.Join(sets.List(ProvidedBy(service)), ","), goose)
}
