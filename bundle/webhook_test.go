package bundle

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	admissionv1 "k8s.io/api/admissionregistration/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation"

	"fairlead.dev/fairlead/api/operators/v1alpha1"
	"fairlead.dev/fairlead/test/must"
)

func ptr[T any](v T) *T { return &v }

func webhook(kind v1alpha1.WebhookAdmissionType, name string) v1alpha1.WebhookDescription {
	return v1alpha1.WebhookDescription{
		GenerateName: name, Type: kind, DeploymentName: "op", ContainerPort: 8443, WebhookPath: ptr("/check"),
		Rules: []admissionv1.RuleWithOperations{{
			Operations: []admissionv1.OperationType{"CREATE"},
			Rule:       admissionv1.Rule{APIGroups: []string{"example.com"}, APIVersions: []string{"v1"}, Resources: []string{"things"}},
		}},
		FailurePolicy: ptr(admissionv1.Fail), MatchPolicy: ptr(admissionv1.Exact), SideEffects: ptr(admissionv1.SideEffectClassNone),
		ObjectSelector: &metav1.LabelSelector{MatchLabels: map[string]string{"a": "b"}}, TimeoutSeconds: ptr(int32(5)),
		AdmissionReviewVersions: []string{"v1"},
	}
}

func withWebhooks(descriptions ...v1alpha1.WebhookDescription) *v1alpha1.ClusterServiceVersion {
	return testCSV(func(csv *v1alpha1.ClusterServiceVersion) { csv.Spec.WebhookDefinitions = descriptions })
}

func TestAdmissionWebhooks(t *testing.T) {
	validating := webhook(v1alpha1.ValidatingAdmissionWebhook, "vthing.kb.io")
	mutating := webhook(v1alpha1.MutatingAdmissionWebhook, "mthing.kb.io")
	mutating.ReinvocationPolicy = ptr(admissionv1.IfNeededReinvocationPolicy)
	mutating.DeploymentName, mutating.ContainerPort, mutating.WebhookPath = "op.v1", 0, nil
	csv := withWebhooks(validating, mutating)
	before := csv.DeepCopy()
	o := WebhookOptions{
		NamespaceSelector: &metav1.LabelSelector{MatchLabels: map[string]string{"olm.operatorgroup.uid/1": ""}},
		Certs:             map[string]ServingCert{"op": {CA: []byte("pem")}},
	}
	gotValidating := must.Value(ValidatingWebhooks(csv, o))(t)
	gotMutating := must.Value(MutatingWebhooks(csv, o))(t)

	meta := func(description v1alpha1.WebhookDescription) metav1.ObjectMeta {
		hash := must.Value(Hash62(description))(t)
		return metav1.ObjectMeta{
			Name: description.GenerateName + "-" + fnvHex("ns/op.v1.0.0/0"),
			Labels: map[string]string{
				"olm.managed": "true", "olm.owner": "op.v1.0.0", "olm.owner.namespace": "ns", "olm.owner.kind": "ClusterServiceVersion",
				"olm.webhook-description-generate-name": description.GenerateName, "olm.webhook-description-hash": hash,
			},
		}
	}
	wantValidating := []*admissionv1.ValidatingWebhookConfiguration{{
		TypeMeta:   metav1.TypeMeta{APIVersion: "admissionregistration.k8s.io/v1", Kind: "ValidatingWebhookConfiguration"},
		ObjectMeta: meta(validating),
		Webhooks: []admissionv1.ValidatingWebhook{{
			Name: "vthing.kb.io",
			ClientConfig: admissionv1.WebhookClientConfig{
				Service:  &admissionv1.ServiceReference{Namespace: "ns", Name: "op-service", Path: ptr("/check"), Port: ptr(int32(8443))},
				CABundle: []byte("pem"),
			},
			Rules: validating.Rules, FailurePolicy: ptr(admissionv1.Fail), MatchPolicy: ptr(admissionv1.Exact),
			NamespaceSelector: o.NamespaceSelector, ObjectSelector: validating.ObjectSelector,
			SideEffects: ptr(admissionv1.SideEffectClassNone), TimeoutSeconds: ptr(int32(5)), AdmissionReviewVersions: []string{"v1"},
		}},
	}}
	must.Equal(t, "validating", gotValidating, wantValidating)
	wantMutating := []*admissionv1.MutatingWebhookConfiguration{{
		TypeMeta:   metav1.TypeMeta{APIVersion: "admissionregistration.k8s.io/v1", Kind: "MutatingWebhookConfiguration"},
		ObjectMeta: meta(mutating),
		Webhooks: []admissionv1.MutatingWebhook{{
			Name: "mthing.kb.io",
			ClientConfig: admissionv1.WebhookClientConfig{
				Service: &admissionv1.ServiceReference{Namespace: "ns", Name: "op-v1-service", Port: ptr(int32(443))},
			},
			Rules: mutating.Rules, FailurePolicy: ptr(admissionv1.Fail), MatchPolicy: ptr(admissionv1.Exact),
			NamespaceSelector: o.NamespaceSelector, ObjectSelector: mutating.ObjectSelector,
			SideEffects: ptr(admissionv1.SideEffectClassNone), TimeoutSeconds: ptr(int32(5)), AdmissionReviewVersions: []string{"v1"},
			ReinvocationPolicy: ptr(admissionv1.IfNeededReinvocationPolicy),
		}},
	}}
	must.Equal(t, "mutating", gotMutating, wantMutating)
	gotValidating[0].Webhooks[0].Rules[0].APIGroups[0] = "changed"
	gotMutating[0].Webhooks[0].NamespaceSelector.MatchLabels["changed"] = ""
	if diff := cmp.Diff(before, csv); diff != "" || len(o.NamespaceSelector.MatchLabels) != 1 {
		t.Errorf("the configurations share values with what they were made from:\n%s", diff)
	}
}

// TestWebhookNames shows that names never clash: within a ClusterServiceVersion, between versions and namespaces.
func TestWebhookNames(t *testing.T) {
	hook := webhook(v1alpha1.ValidatingAdmissionWebhook, "v.kb.io")
	seen := map[string]bool{}
	for _, place := range []struct{ namespace, name string }{{"a", "op.v1"}, {"a", "op.v2"}, {"b", "op.v1"}} {
		csv := withWebhooks(hook, webhook(v1alpha1.MutatingAdmissionWebhook, "v.kb.io"), hook)
		csv.Namespace, csv.Name = place.namespace, place.name
		configurations := must.Value(ValidatingWebhooks(csv, WebhookOptions{}))(t)
		for _, configuration := range configurations {
			if !strings.HasPrefix(configuration.Name, "v.kb.io-") {
				t.Errorf("name %q does not start with the generateName", configuration.Name)
			}
			seen[configuration.Name] = true
		}
	}
	must.Equal(t, "len(seen)", len(seen), 6)
}

func TestCheckWebhookRules(t *testing.T) {
	tests := map[string]struct {
		groups, resources []string
		forbidden         bool
		says              string
	}{
		"an API of the operator":          {groups: []string{"example.com"}, resources: []string{"*"}},
		"the core group":                  {groups: []string{""}, resources: []string{"pods"}},
		"every group":                     {groups: []string{"example.com", "*"}, resources: []string{"things"}, forbidden: true, says: "webhook rules cannot include all groups"},
		"the classic group":               {groups: []string{"operators.coreos.com"}, resources: []string{"subscriptions"}, forbidden: true},
		"the new group":                   {groups: []string{"olm.operatorframework.io"}, resources: []string{"clusterextensions"}, forbidden: true},
		"a group that ends like it":       {groups: []string{"binding.operators.coreos.com"}, resources: []string{"*"}},
		"admission: every resource":       {groups: []string{"admissionregistration.k8s.io"}, resources: []string{"*"}, forbidden: true},
		"admission: with subresources":    {groups: []string{"admissionregistration.k8s.io"}, resources: []string{"*/*"}, forbidden: true},
		"admission: a kind":               {groups: []string{"admissionregistration.k8s.io"}, resources: []string{"MutatingWebhookConfiguration"}, forbidden: true},
		"admission: a resource":           {groups: []string{"admissionregistration.k8s.io"}, resources: []string{"x", "validatingwebhookconfigurations"}, forbidden: true},
		"admission: a policy":             {groups: []string{"admissionregistration.k8s.io"}, resources: []string{"validatingadmissionpolicies"}},
		"webhook configurations of other": {groups: []string{"example.com"}, resources: []string{"validatingwebhookconfigurations"}},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			for _, kind := range []v1alpha1.WebhookAdmissionType{v1alpha1.ValidatingAdmissionWebhook, v1alpha1.MutatingAdmissionWebhook} {
				hook := webhook(kind, "w.kb.io")
				hook.Rules[0].APIGroups, hook.Rules[0].Resources = tc.groups, tc.resources
				_, err := ValidatingWebhooks(withWebhooks(hook), WebhookOptions{})
				if kind == v1alpha1.MutatingAdmissionWebhook {
					_, err = MutatingWebhooks(withWebhooks(hook), WebhookOptions{})
				}
				if errors.Is(err, ErrForbiddenRule) != tc.forbidden {
					t.Errorf("%s: error %v, want forbidden %v", kind, err, tc.forbidden)
				}
				if tc.forbidden {
					wantError(t, err, "op.v1.0.0", "w.kb.io", "rules[0]", tc.says)
				}
			}
		})
	}
}

func conversionCSV(change ...func(*v1alpha1.ClusterServiceVersion)) *v1alpha1.ClusterServiceVersion {
	hook := webhook(v1alpha1.ConversionWebhook, "c.kb.io")
	hook.ConversionCRDs = []string{"things.example.com", "others.example.com"}
	csv := withWebhooks(webhook(v1alpha1.ValidatingAdmissionWebhook, "v.kb.io"), hook)
	csv.Spec.CustomResourceDefinitions.Owned = []v1alpha1.CRDDescription{{Name: "things.example.com"}, {Name: "others.example.com"}}
	for _, f := range change {
		f(csv)
	}
	return csv
}

func TestConversions(t *testing.T) {
	o := WebhookOptions{Certs: map[string]ServingCert{"op": {CA: []byte("pem")}}}
	want := func(path string, crds ...string) []Conversion {
		var out []Conversion
		for _, crd := range crds {
			out = append(out, Conversion{CRD: crd, GenerateName: "c.kb.io", Spec: &apiextensionsv1.CustomResourceConversion{
				Strategy: apiextensionsv1.WebhookConverter,
				Webhook: &apiextensionsv1.WebhookConversion{
					ClientConfig: &apiextensionsv1.WebhookClientConfig{
						Service:  &apiextensionsv1.ServiceReference{Namespace: "ns", Name: "op-service", Path: ptr(path), Port: ptr(int32(8443))},
						CABundle: []byte("pem"),
					},
					ConversionReviewVersions: []string{"v1"},
				},
			}})
		}
		return out
	}
	tests := map[string]struct {
		csv  *v1alpha1.ClusterServiceVersion
		want []Conversion
	}{
		"none":           {csv: testCSV()},
		"two CRDs":       {csv: conversionCSV(), want: want("/check", "things.example.com", "others.example.com")},
		"a default path": {csv: conversionCSV(func(csv *v1alpha1.ClusterServiceVersion) { csv.Spec.WebhookDefinitions[1].WebhookPath = nil }), want: want("/", "things.example.com", "others.example.com")},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			got := must.Value(Conversions(tc.csv, o))(t)
			must.Equal(t, "result", got, tc.want)
		})
	}
}

func TestConversionsRefuse(t *testing.T) {
	tests := map[string]struct {
		change func(*v1alpha1.ClusterServiceVersion)
		want   string
	}{
		"another install mode": {func(csv *v1alpha1.ClusterServiceVersion) {
			csv.Spec.InstallModes = append(csv.Spec.InstallModes, v1alpha1.InstallMode{Type: v1alpha1.InstallModeTypeOwnNamespace, Supported: true})
		}, "AllNamespaces as the only"},
		"no install mode": {func(csv *v1alpha1.ClusterServiceVersion) { csv.Spec.InstallModes = nil }, "AllNamespaces as the only"},
		"install modes twice": {func(csv *v1alpha1.ClusterServiceVersion) {
			csv.Spec.InstallModes = append(csv.Spec.InstallModes, csv.Spec.InstallModes[0])
		}, "more than once"},
		"no CRD":                 {func(csv *v1alpha1.ClusterServiceVersion) { csv.Spec.WebhookDefinitions[1].ConversionCRDs = nil }, "needs conversionCRDs"},
		"a CRD that is not ours": {func(csv *v1alpha1.ClusterServiceVersion) { csv.Spec.CustomResourceDefinitions.Owned = nil }, "things.example.com is not among the owned"},
		"a CRD of the manager": {func(csv *v1alpha1.ClusterServiceVersion) {
			csv.Spec.WebhookDefinitions[1].ConversionCRDs[0] = "installplans.operators.coreos.com"
			csv.Spec.CustomResourceDefinitions.Owned[0].Name = "installplans.operators.coreos.com"
		}, "installplans.operators.coreos.com: this API group is of operator lifecycle management itself"},
		"two for one CRD": {func(csv *v1alpha1.ClusterServiceVersion) {
			second := webhook(v1alpha1.ConversionWebhook, "second.kb.io")
			second.ConversionCRDs = []string{"others.example.com"}
			csv.Spec.WebhookDefinitions = append(csv.Spec.WebhookDefinitions, second)
		}, "second.kb.io: CRD others.example.com is converted by webhook c.kb.io already"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			_, err := Conversions(conversionCSV(tc.change), WebhookOptions{})
			wantError(t, err, "op.v1.0.0", tc.want)
		})
	}
	// An unsupported mode that is named is no obstacle.
	csv := conversionCSV(func(csv *v1alpha1.ClusterServiceVersion) {
		csv.Spec.InstallModes = append(csv.Spec.InstallModes, v1alpha1.InstallMode{Type: v1alpha1.InstallModeTypeOwnNamespace})
	})
	if _, err := Conversions(csv, WebhookOptions{}); err != nil {
		t.Error(err)
	}
}

func TestConversionCheck(t *testing.T) {
	crd := &apiextensionsv1.CustomResourceDefinition{ObjectMeta: metav1.ObjectMeta{Name: "things.example.com"}}
	conversion := Conversion{CRD: crd.Name, GenerateName: "c.kb.io"}
	if err := conversion.Check(crd); err != nil {
		t.Error(err)
	}
	crd.Spec.PreserveUnknownFields = true
	wantError(t, conversion.Check(crd), "things.example.com", "c.kb.io", "preserveUnknownFields")
}

// TestLongWebhookNames shows that a generateName may be as long as the name of a webhook, which is longer than the value of a label: real
// operators have some. The names of the configurations and their labels are such as the API server takes, and no two names are the same.
func TestLongWebhookNames(t *testing.T) {
	long := strings.Repeat("a-very-long-name.", 14) + "example.com" // 249 bytes
	hooks := []v1alpha1.WebhookDescription{
		webhook(v1alpha1.ValidatingAdmissionWebhook, long[:62]+".x"), webhook(v1alpha1.ValidatingAdmissionWebhook, long[:62]+".y"),
		webhook(v1alpha1.ValidatingAdmissionWebhook, long), webhook(v1alpha1.ValidatingAdmissionWebhook, long+"a"),
		webhook(v1alpha1.ValidatingAdmissionWebhook, long[:62]+"s"),
	}
	b := loadTest(t, nil)
	b.CSV.Spec.WebhookDefinitions = hooks
	must.Empty(t, "findings", Validate(b).Errors())
	configurations := must.Value(ValidatingWebhooks(withWebhooks(hooks...), WebhookOptions{}))(t)
	names := map[string]bool{}
	for i, configuration := range configurations {
		names[configuration.Name] = true
		must.Empty(t, fmt.Sprintf("name %s", configuration.Name), validation.IsDNS1123Subdomain(configuration.Name))
		must.Equal(t, "the webhook is called", configuration.Webhooks[0].Name, hooks[i].GenerateName)
		for key, value := range configuration.Labels {
			must.Empty(t, fmt.Sprintf("label %s of %s", key, configuration.Name), validation.IsValidLabelValue(value))
		}
	}
	must.Equal(t, "len(names)", len(names), len(hooks))
	must.Equal(t, "the label that has room for all of it", configurations[4].Labels[v1alpha1.WebhookGenerateNameLabel], long[:62]+"s")
}
