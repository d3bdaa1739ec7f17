package copiedcsv

import (
	"errors"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"fairlead.dev/fairlead/test/must"
)

// TestContendedQuotaIsTold: no event follows a conflict that is not about the copy.
func TestContendedQuotaIsTold(t *testing.T) {
	for resource, told := range map[string]bool{"resourcequotas": true, "clusterserviceversions": false} {
		err := quiet(apierrors.NewConflict(schema.GroupResource{Resource: resource}, "x", errors.New("modified")))
		must.Equal(t, "an error of a conflict about "+resource+" remains", (err != nil), told)
	}
}
