package clusterserviceversion

import (
	"bytes"
	"slices"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	apiregistrationv1 "k8s.io/kube-aggregator/pkg/apis/apiregistration/v1"

	"fairlead.dev/fairlead/api/operators/v1alpha1"
	"fairlead.dev/fairlead/test/must"
)

const apiService = "v1.things.example.com"

func withAPIService(csv *v1alpha1.ClusterServiceVersion) {
	csv.Spec.APIServiceDefinitions.Owned = []v1alpha1.APIServiceDescription{
		{Name: "things", Group: "things.example.com", Version: "v1", Kind: "Thing", DeploymentName: "manager", ContainerPort: 5443},
		{Name: "others", Group: "things.example.com", Version: "v1", Kind: "Other", DeploymentName: "manager", ContainerPort: 5443},
	}
}

// answer lets the cluster reach the server of the aggregated API, or not.
func (k *cluster) answer(status apiregistrationv1.ConditionStatus) {
	k.t.Helper()
	s := &apiregistrationv1.APIService{}
	k.get("", apiService, s)
	s.Status.Conditions = []apiregistrationv1.APIServiceCondition{{Type: apiregistrationv1.Available, Status: status, Message: "no endpoints"}}
	must.NoError(k.t, k.client.Status().Update(k.t.Context(), s))
}

// withAPI is a cluster with an operator that runs and serves an aggregated API.
func withAPI(t *testing.T) *cluster {
	t.Helper()
	k := newCluster(t, newGroup(""))
	k.create(newCSV("op.v1", withAPIService, withoutAccounts))
	expect(t, k.pass("op.v1"), toInstalling, "InstallWaiting", "")
	k.rollOut()
	expect(t, k.pass("op.v1"), toInstalling, "InstallWaiting", "apiServices not installed: waiting for APIService v1.things.example.com to become available")
	k.answer("False")
	expect(t, k.pass("op.v1"), toInstalling, "InstallWaiting", "apiServices not installed: waiting for APIService v1.things.example.com to become available: no endpoints")
	k.answer("True")
	k.serve(schema.GroupVersionKind{Group: "things.example.com", Version: "v1", Kind: "Other"})
	expect(t, k.pass("op.v1"), toInstalling, "InstallWaiting", "apiServices not installed: waiting for APIService v1.things.example.com to serve kind Thing")
	k.serve(schema.GroupVersionKind{Group: "things.example.com", Version: "v1", Kind: "Thing"})
	expect(t, k.pass("op.v1"), toSucceeded, "InstallSucceeded", "")
	k.wrote()
	return k
}

func TestOwnedAPIService(t *testing.T) {
	k := withAPI(t)
	k.pass("op.v1")
	must.Empty(t, "writes", k.wrote())
	s := &apiregistrationv1.APIService{}
	k.get("", apiService, s)
	serving, _ := k.servingCertificate()
	if s.Spec.GroupPriorityMinimum != 2000 || s.Spec.VersionPriority != 15 || *s.Spec.Service.Port != 5443 || s.Spec.Service.Name != "manager-service" ||
		!bytes.Equal(s.Spec.CABundle, serving.CABundle) || !ownedBy(s, k.csv("op.v1")) {
		t.Errorf("APIService: %+v", s)
	}
}

func TestAPIServiceThatFails(t *testing.T) {
	k := withAPI(t)
	k.answer("False")
	csv := k.pass("op.v1")
	expect(t, csv, toInstalling, "InstallWaiting", "")
	if !slices.Contains(history(csv), "Failed/ComponentUnhealthy") {
		t.Errorf("history: %v", history(csv))
	}
	k.answer("True")
	expect(t, k.pass("op.v1"), toSucceeded, "InstallSucceeded", "")
}

func TestAPIServiceThatIsChanged(t *testing.T) {
	k := withAPI(t)
	edit(k, "", apiService, &apiregistrationv1.APIService{}, func(s *apiregistrationv1.APIService) { s.Spec.Service.Name = "elsewhere" })
	expect(t, k.pass("op.v1"), toSucceeded, "InstallSucceeded", "")
	s := &apiregistrationv1.APIService{}
	if k.get("", apiService, s); s.Spec.Service.Name != "manager-service" {
		t.Error("the APIService was not healed")
	}
	k.delete(s)
	expect(t, k.pass("op.v1"), toInstalling, "InstallWaiting", "")
	must.Equal(t, "the APIService was not made again", !k.get("", apiService, s), false)
}

func TestAdoptableAPIServices(t *testing.T) {
	owned := func(namespace, name string) map[string]string {
		other := newCSV(name)
		other.Namespace = namespace
		return managedLabels(other)
	}
	elsewhere := newCSV("other")
	elsewhere.Namespace = "other"
	going := elsewhere.DeepCopy()
	going.Status.Phase = toReplacing
	tests := map[string]struct {
		labels  map[string]string
		other   *v1alpha1.ClusterServiceVersion
		message string
	}{
		"its own":                  {owned(ns, "op.v1"), nil, ""},
		"of what it replaces":      {owned(ns, "op.v0"), nil, ""},
		"of one on its way out":    {owned("other", "other"), going, ""},
		"of one that is gone":      {owned("other", "other"), nil, ""},
		"of another":               {owned("other", "other"), elsewhere, "unable to adopt APIService: APIService v1.things.example.com belongs to ClusterServiceVersion other/other; delete it or them first"},
		"of no CSV at all":         {nil, nil, "unable to adopt APIService: APIService v1.things.example.com belongs to an owner that is no ClusterServiceVersion; delete it or them first"},
		"of something else's name": {map[string]string{"olm.owner": "x", "olm.owner.namespace": ns, "olm.owner.kind": "Other"}, nil, "unable to adopt APIService: APIService v1.things.example.com belongs to an owner that is no ClusterServiceVersion; delete it or them first"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			k := newCluster(t, newGroup(""), newCSV("op.v1", withAPIService, withoutAccounts, replacing("op.v0")),
				&apiregistrationv1.APIService{ObjectMeta: metav1.ObjectMeta{Name: apiService, Labels: tc.labels}})
			if tc.other != nil {
				k.create(tc.other.DeepCopy())
			}
			csv := k.pass("op.v1")
			if tc.message == "" {
				expect(t, csv, toInstalling, "InstallWaiting", "")
				return
			}
			expect(t, csv, toFailed, "OwnerConflict", tc.message)
			k.delete(&apiregistrationv1.APIService{ObjectMeta: metav1.ObjectMeta{Name: apiService}})
			expect(t, k.pass("op.v1"), toInstalling, "InstallWaiting", "")
		})
	}
}
