package clusterserviceversion

import (
	"cmp"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/runtime/schema"
	apiregistrationv1 "k8s.io/kube-aggregator/pkg/apis/apiregistration/v1"

	"fairlead.dev/fairlead/internal/rollout/serving"
	"fairlead.dev/fairlead/test/must"
)

// askedInAllWays is a cluster with an operator that the API server asks in all ways: by three webhooks and an APIService. Its certificates live as long as is said,
// as the world of tests has it where that is 0.
func askedInAllWays(t *testing.T, life time.Duration) *cluster {
	t.Helper()
	k := newCluster(t, newGroup(""), newCRD("things.example.com", "v1"))
	k.c.limits.certificate = cmp.Or(life, k.c.limits.certificate)
	k.serve(schema.GroupVersionKind{Group: "things.example.com", Version: "v1", Kind: "Thing"})
	k.serve(schema.GroupVersionKind{Group: "things.example.com", Version: "v1", Kind: "Other"})
	k.create(newCSV("op.v1", withWebhooks, withAPIService, withoutAccounts))
	k.pass("op.v1")
	k.rollOut()
	k.answer("True")
	expect(t, k.pass("op.v1"), toSucceeded, "InstallSucceeded", "")
	return k
}

// believed checks that all clients of that operator believe a server that shows any of some certificates, and returns how many checks that were.
func (k *cluster) believed(certificates ...serving.Certificate) (checks int) {
	k.t.Helper()
	trusted := k.authorities()
	s := &apiregistrationv1.APIService{}
	k.get("", apiService, s)
	trusted["api"] = s.Spec.CABundle
	must.Equal(k.t, "clients", len(trusted), 4)
	for name, ca := range trusted {
		for _, shown := range certificates {
			checks++
			must.NoErrorf(k.t, k.believes(ca, shown, "manager-service.operators.svc"), "%s: client %s", k.clock.Now(), name)
		}
	}
	return checks
}
