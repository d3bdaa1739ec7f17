package rollout

import (
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// TestOwnership is the table of who an object belongs to, for every kind of owner. The names of holders tell their relation.
func TestOwnership(t *testing.T) {
	relations := map[string]Relation{"own": Own, "gone": Absent, "later": Successor}
	rules := ClaimRules{Unowned: Unmarked, Relate: func(h Holder) (Relation, string) {
		relation, known := relations[h.Name]
		if !known || !h.IsOperator() {
			return Foreign, ControlledBy(h)
		}
		return relation, ""
	}}
	ref := func(kind, name string, controls bool) string {
		group := map[bool]string{true: "operators.coreos.com/v1alpha1", false: "apps/v1"}[kind == "ClusterServiceVersion"]
		return strings.NewReplacer("G", group, "K", kind, "N", name, "C", map[bool]string{true: "true", false: "false"}[controls]).Replace(`{apiVersion: G, kind: K, name: N, uid: u, controller: C}`)
	}
	operator := func(name string) string { return ref("ClusterServiceVersion", name, false) }
	label := func(name string) string {
		return `olm.owner.kind: ClusterServiceVersion, olm.owner.namespace: ns, olm.owner: ` + name
	}
	web, other := ref("Deployment", "web", true), ref("ClusterServiceVersion", "other", true)
	tests := map[string]struct {
		references, labels string
		shared             bool
		verdict            Verdict
		reason             string
	}{
		"no owner":                       {verdict: Refused, reason: "nothing says that it belongs to an operator"},
		"no owner, offered":              {labels: `olm.managed: "true"`},
		"no owner that controls":         {references: ref("Deployment", "web", false), verdict: Refused, reason: "nothing says that it belongs"},
		"own":                            {references: operator("own")},
		"own by label":                   {labels: label("own")},
		"of one that is gone":            {references: operator("gone")},
		"of one that is gone, by label":  {labels: label("gone")},
		"of a controller":                {references: web, verdict: Refused, reason: "is controlled by Deployment web"},
		"of a controller, offered":       {references: web, labels: `olm.managed: "true"`, verdict: Refused, reason: "is controlled by Deployment web"},
		"of a namesake in another API":   {references: `{apiVersion: example.com/v1, kind: ClusterServiceVersion, name: own, uid: u, controller: true}`, verdict: Refused, reason: "is controlled"},
		"of another":                     {references: other, verdict: Refused, reason: "ClusterServiceVersion other"},
		"of another, by label":           {labels: label("other"), verdict: Refused, reason: "ClusterServiceVersion other"},
		"own and another's":              {references: operator("own") + "," + operator("other"), verdict: Refused, reason: "ClusterServiceVersion other"},
		"own and another's, shared":      {references: operator("other") + "," + operator("own"), shared: true},
		"own label, another's reference": {references: other, labels: label("own"), shared: true, verdict: Refused, reason: "ClusterServiceVersion other"},
		"gone and another's, shared":     {references: operator("gone") + "," + operator("other"), shared: true, verdict: Refused, reason: "ClusterServiceVersion other"},
		"own reference, another's label": {references: operator("own"), labels: label("other"), shared: true},
		"own and a controller's":         {references: operator("own") + "," + web, verdict: Refused, reason: "Deployment web"},
		"the controller counts first":    {references: operator("other") + "," + web, verdict: Refused, reason: "Deployment web"},
		"of a successor":                 {references: operator("later"), verdict: Ceded},
		"of a successor and another's":   {references: operator("later") + "," + operator("other"), verdict: Refused, reason: "ClusterServiceVersion other"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			live := object(t, `{metadata: {namespace: ns, ownerReferences: [`+tc.references+`], labels: {`+tc.labels+`}}}`)
			rules := rules
			rules.Shared = tc.shared
			got := rules.Judge(metav1.Object(live), Holders(live))
			if got.Verdict != tc.verdict || !strings.Contains(got.Reason, tc.reason) || (got.Reason == "") != (tc.verdict != Refused) {
				t.Errorf("%+v, want %d %q", got, tc.verdict, tc.reason)
			}
		})
	}
}
