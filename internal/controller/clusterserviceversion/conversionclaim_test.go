package clusterserviceversion

import (
	"errors"
	"maps"
	"strings"
	"testing"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	v1 "fairlead.dev/fairlead/api/operators/v1"
	"fairlead.dev/fairlead/api/operators/v1alpha1"
	"fairlead.dev/fairlead/bundle"
	"fairlead.dev/fairlead/internal/rollout/crd"
	"fairlead.dev/fairlead/test/must"
)

// TestOnlyWhatWasBroughtIsConverted: who converts a CRD reads and changes all of its objects, so listing it is not enough.
func TestOnlyWhatWasBroughtIsConverted(t *testing.T) {
	brought := func(namespace, name string) map[string]string {
		return map[string]string{bundle.InstalledAlongsideKey(namespace, name): namespace + "/" + name}
	}
	adoptable := func(by string) map[string]string { return map[string]string{v1alpha1.AdoptableByAnnotation: by} }
	joined := func(origin string) map[string]string { // brought for this CSV, and created by a plan of a namespace
		annotations := brought(ns, "op.v1")
		annotations[v1alpha1.OriginAnnotation] = v1alpha1.OriginInstallPlan + "/" + origin
		return annotations
	}
	both := brought("other", "op.v1")
	maps.Copy(both, joined(ns))
	for name, tc := range map[string]struct {
		annotations map[string]string
		account     string // what the account of the group may do, if there is one
		other       bool   // the operator of the other namespace exists
		converts    bool
	}{
		"no InstallPlan brought it":                                  {annotations: nil},
		"one of another namespace brought it":                        {annotations: brought("other", "op.v1")},
		"it was brought for another CSV beside it":                   {annotations: brought(ns, "other.v1")},
		"it may be adopted in another namespace":                     {annotations: adoptable("other")},
		"nothing may adopt it":                                       {annotations: adoptable("")},
		"it was brought for this CSV":                                {annotations: brought(ns, "op.v1"), converts: true},
		"it may be adopted here and elsewhere":                       {annotations: adoptable("other, " + ns), converts: true},
		"it may be adopted everywhere":                               {annotations: adoptable("*"), converts: true},
		"a plan of the namespace created it, with an account":        {annotations: joined(ns), account: "nothing", converts: true},
		"the operator that it was created for is gone":               {annotations: joined("other"), account: "nothing"},
		"the same, the account may patch it":                         {annotations: joined("other"), account: "patch", converts: true},
		"it may be adopted here by an account":                       {annotations: adoptable(ns), account: "nothing"},
		"it may be adopted here by an account that may patch it":     {annotations: adoptable(ns), account: "patch", converts: true},
		"an operator elsewhere joined, and exists":                   {annotations: both, account: "nothing", other: true},
		"an operator elsewhere joined, and is gone":                  {annotations: both, account: "nothing", converts: true},
		"an operator elsewhere joined, and the account may patch it": {annotations: both, account: "patch", other: true, converts: true},
	} {
		t.Run(name, func(t *testing.T) {
			crd := newCRD("things.example.com", "v1")
			crd.Annotations = tc.annotations
			k := newCluster(t, newGroup(""), crd)
			if tc.account != "" {
				edit(k, ns, "group", &v1.OperatorGroup{}, func(g *v1.OperatorGroup) {
					g.Spec.ServiceAccountName, g.Status.ServiceAccountRef = "installer", limitedGroup().Status.ServiceAccountRef
				})
				k.c.accounts = everyAccount{k.api.As("operators/installer")}
				k.api.Authorize = func(_, verb, kind, name string) error {
					if tc.account != "patch" && verb == "patch" && kind == "CustomResourceDefinition" {
						return apierrors.NewForbidden(schema.GroupResource{Resource: "customresourcedefinitions"}, name, errors.New("RBAC"))
					}
					return nil
				}
			}
			if tc.other {
				other := newCSV("op.v1")
				other.Namespace = "other"
				k.create(other)
			}
			k.create(newCSV("op.v1", withWebhooks, withoutAccounts))
			k.pass("op.v1")
			k.rollOut()
			k.c.writtenAt.Clear()
			_, err := k.reconcile("op.v1")
			if tc.converts {
				expect(t, k.csv("op.v1"), toSucceeded, "InstallSucceeded", "")
				if service := converterOf(k.conversion("things.example.com")); err != nil || service.Namespace != ns {
					t.Errorf("converted by %v; %v", service, err)
				}
				return
			}
			want := "no InstallPlan brought the CRD for ClusterServiceVersion operators/op.v1"
			if tc.account != "" {
				want = "so converting it takes an account that may patch it"
			}
			if got := k.csv("op.v1").Status.Message; err == nil || !strings.Contains(got, want) || tc.account == "" && !strings.Contains(got, "kubectl annotate crd things.example.com operators.fairlead.dev/adoptable-by=operators") {
				t.Errorf("%v: %s", err, got)
			}
			if got := k.conversion("things.example.com"); got != nil {
				t.Errorf("the conversion is %+v", got)
			}
		})
	}
}

// TestAConversionThatLeadsHereStays: what an earlier version of the manager or another implementation set up goes on, without a word about who brought it.
func TestAConversionThatLeadsHereStays(t *testing.T) {
	crd := newCRD("things.example.com", "v1")
	crd.Annotations = nil
	k := newCluster(t, newGroup(""), crd)
	k.convertedBy(ns)
	k.installed(newCSV("op.v1", withWebhooks, withoutAccounts))
	must.Equal(t, "its authorities are not brought up to date", len(k.conversion("things.example.com").Webhook.ClientConfig.CABundle) == 0, false)
}

// converterOf is what a conversion leads to.
func converterOf(c *apiextensionsv1.CustomResourceConversion) types.NamespacedName {
	return crd.ConverterOf(c).NamespacedName
}
