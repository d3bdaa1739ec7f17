package clusterserviceversion

import (
	"strings"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"fairlead.dev/fairlead/test/must"
)

// TestRefusedMetadata: a CSV whose annotations the cluster refuses, as it does those of very many target namespaces, says so,
// and goes on once they are accepted.
func TestRefusedMetadata(t *testing.T) {
	k := newCluster(t, newGroup(""), newCSV("op.v1", withoutAccounts))
	refuse := true
	k.api.Before = func(w string) error {
		if refuse && strings.HasPrefix(w, "patch ClusterServiceVersion") {
			return apierrors.NewInvalid(schema.GroupKind{Kind: "ClusterServiceVersion"}, "op.v1", nil)
		}
		return nil
	}
	for range 2 {
		k.fails("op.v1")
		csv := k.csv("op.v1")
		expect(t, csv, toPending, "RequirementsUnknown", "")
		must.Contain(t, "message", csv.Status.Message, "is invalid")
	}
	refuse = false
	expect(t, k.pass("op.v1"), toInstalling, "InstallWaiting", "")
}
