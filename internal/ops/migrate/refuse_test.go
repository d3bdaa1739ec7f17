package migrate

import (
	"encoding/json"
	"strings"
	"testing"

	operatorsv1 "fairlead.dev/fairlead/api/operators/v1"
	"fairlead.dev/fairlead/api/operators/v1alpha1"
	"fairlead.dev/fairlead/test/must"
	"fairlead.dev/fairlead/version"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// kite is an install that can be moved.
func kite() *Install {
	v, err := version.Parse("1.0.0")
	if err != nil {
		panic(err)
	}
	in := &Install{
		Subscription: &v1alpha1.Subscription{ObjectMeta: metav1.ObjectMeta{Namespace: "ops", Name: "kite", UID: "s"}, Spec: &v1alpha1.SubscriptionSpec{Package: "kite", Channel: "stable", CatalogSource: "toys"}},
		CSV:          &v1alpha1.ClusterServiceVersion{ObjectMeta: metav1.ObjectMeta{Namespace: "ops", Name: "kite.v1.0.0", UID: "c"}, Status: v1alpha1.ClusterServiceVersionStatus{Phase: v1alpha1.CSVPhaseSucceeded}},
		Groups:       []operatorsv1.OperatorGroup{{ObjectMeta: metav1.ObjectMeta{Namespace: "ops", Name: "group"}, Status: operatorsv1.OperatorGroupStatus{Namespaces: []string{"ops"}}}},
	}
	in.CSV.Spec.Version.Version = v
	in.CSV.Spec.CustomResourceDefinitions.Owned = []v1alpha1.CRDDescription{{Name: "kites.example.com", Version: "v1", Kind: "Kite"}}
	return in
}

func other(name string, change func(*v1alpha1.ClusterServiceVersion)) v1alpha1.ClusterServiceVersion {
	o := v1alpha1.ClusterServiceVersion{ObjectMeta: metav1.ObjectMeta{Namespace: "ops", Name: name}}
	change(&o)
	return o
}

func TestRefusals(t *testing.T) {
	for name, test := range map[string]struct {
		change func(*Install)
		want   string // a part of the only refusal; empty is none
	}{
		"none":             {func(*Install) {}, ""},
		"all namespaces":   {func(in *Install) { in.Groups[0].Status.Namespaces = []string{""} }, ""},
		"approval by hand": {func(in *Install) { in.Subscription.Spec.InstallPlanApproval = v1alpha1.ApprovalManual }, ""},
		"configured": {func(in *Install) {
			in.Subscription.Spec.Config = &v1alpha1.SubscriptionConfig{NodeSelector: map[string]string{"a": "b"}}
		}, ""},
		"failed":         {func(in *Install) { in.CSV.Status.Phase = v1alpha1.CSVPhaseFailed }, `in phase "Failed"`},
		"on its way out": {func(in *Install) { in.CSV.DeletionTimestamp = &metav1.Time{} }, "being deleted"},
		"in an upgrade": {func(in *Install) {
			in.Others = append(in.Others, other("kite.v1.1.0", func(c *v1alpha1.ClusterServiceVersion) {
				c.Spec.Replaces, c.Spec.CustomResourceDefinitions = "kite.v1.0.0", in.CSV.Spec.CustomResourceDefinitions
			}))
		}, "an upgrade is under way: ClusterServiceVersion ops/kite.v1.1.0"},
		"a plan that is carried out": {func(in *Install) {
			in.Plans = append(in.Plans, v1alpha1.InstallPlan{ObjectMeta: metav1.ObjectMeta{Namespace: "ops", Name: "p", OwnerReferences: []metav1.OwnerReference{{UID: "s"}}},
				Status: v1alpha1.InstallPlanStatus{Phase: v1alpha1.InstallPlanPhaseInstalling}})
		}, "InstallPlan ops/p is being carried out"},
		"a plan that waits for approval": {func(in *Install) {
			in.Plans = append(in.Plans, v1alpha1.InstallPlan{ObjectMeta: metav1.ObjectMeta{Namespace: "ops", Name: "p", OwnerReferences: []metav1.OwnerReference{{UID: "s"}}},
				Status: v1alpha1.InstallPlanStatus{Phase: v1alpha1.InstallPlanPhaseRequiresApproval}})
		}, ""},
		"no group":   {func(in *Install) { in.Groups = nil }, "has 0 OperatorGroups"},
		"two groups": {func(in *Install) { in.Groups = append(in.Groups, in.Groups[0]) }, "has 2 OperatorGroups"},
		"a group that selects": {func(in *Install) {
			in.Groups[0].Spec.Selector = &metav1.LabelSelector{MatchLabels: map[string]string{"a": "b"}}
		}, "selects namespaces by label"},
		"a group that limits":    {func(in *Install) { in.Groups[0].Spec.ServiceAccountName = "limited" }, "limits installs to ServiceAccount limited"},
		"a group without status": {func(in *Install) { in.Groups[0].Status.Namespaces = nil }, "has not said yet"},
		"webhooks":               {func(in *Install) { in.CSV.Spec.WebhookDefinitions = make([]v1alpha1.WebhookDescription, 2) }, "the operator has 2 webhooks"},
		"its own API server": {func(in *Install) {
			in.CSV.Spec.APIServiceDefinitions.Owned = []v1alpha1.APIServiceDescription{{Group: "g", Version: "v1", Kind: "K"}}
		}, "serves 1 APIs itself"},
		"a selector of pods": {func(in *Install) {
			in.Subscription.Spec.Config = &v1alpha1.SubscriptionConfig{Selector: &metav1.LabelSelector{}}
		}, "spec.config.selector"},
		"somebody needs it": {func(in *Install) {
			in.Others = append(in.Others, other("string.v1", func(c *v1alpha1.ClusterServiceVersion) {
				c.Spec.CustomResourceDefinitions.Required = in.CSV.Spec.CustomResourceDefinitions.Owned
			}))
		}, "ClusterServiceVersion ops/string.v1 needs Kite"},
		"somebody has the same": {func(in *Install) {
			in.Others = append(in.Others, other("kite.v1.0.0", func(c *v1alpha1.ClusterServiceVersion) {
				c.Namespace, c.Spec.CustomResourceDefinitions = "dev", in.CSV.Spec.CustomResourceDefinitions
			}))
		}, "ClusterServiceVersion dev/kite.v1.0.0 owns Kite, too"},
		"it needs somebody": {func(in *Install) {
			wind := []v1alpha1.CRDDescription{{Name: "winds.example.com", Version: "v1", Kind: "Wind"}}
			in.CSV.Spec.CustomResourceDefinitions.Required = wind
			in.Others = append(in.Others, other("wind.v1", func(c *v1alpha1.ClusterServiceVersion) { c.Spec.CustomResourceDefinitions.Owned = wind }))
		}, "the operator needs Wind of ClusterServiceVersion ops/wind.v1"},
	} {
		t.Run(name, func(t *testing.T) {
			in := kite()
			test.change(in)
			got := in.Refusals()
			if test.want == "" && len(got) > 0 || test.want != "" && (len(got) != 1 || !strings.Contains(got[0], test.want)) {
				t.Errorf("%q, want %q", got, test.want)
			}
		})
	}
}

func TestTheExtensionAsksForTheSame(t *testing.T) {
	for name, test := range map[string]struct {
		change func(*Install)
		wish   Preferences
		want   string
	}{
		"one namespace": {func(*Install) {}, Preferences{},
			`{"namespace":"ops","source":{"sourceType":"Catalog","catalog":{"packageName":"kite","version":"1.0.0","channels":["stable"]}},"config":{"configType":"Inline","inline":{"watchNamespace":"ops"}}}`},
		"all, from one catalog": {func(in *Install) { in.Groups[0].Status.Namespaces, in.Subscription.Spec.Channel = []string{""}, "" }, Preferences{Name: "k", Catalog: "toys"},
			`{"namespace":"ops","source":{"sourceType":"Catalog","catalog":{"packageName":"kite","version":"1.0.0","selector":{"matchLabels":{"olm.operatorframework.io/metadata.name":"toys"}}}}}`},
		"several, configured": {func(in *Install) {
			in.Groups[0].Status.Namespaces = []string{"a", "b"}
			in.Subscription.Spec.Config = &v1alpha1.SubscriptionConfig{Env: []corev1.EnvVar{{Name: "A", Value: "b"}}}
		}, Preferences{}, `{"namespace":"ops","source":{"sourceType":"Catalog","catalog":{"packageName":"kite","version":"1.0.0","channels":["stable"]}},` +
			`"config":{"configType":"Inline","inline":{"deploymentConfig":{"env":[{"name":"A","value":"b"}]},"watchNamespaces":["a","b"]}}}`},
	} {
		t.Run(name, func(t *testing.T) {
			in := kite()
			test.change(in)
			e := must.Value(in.Extension(test.wish))(t)
			got := must.Value(json.Marshal(e.Spec))(t)
			must.Equal(t, "got", string(got), test.want)
			must.Equal(t, "annotations", e.Annotations[AdoptsKey], "ops/kite.v1.0.0")
		})
	}
}
