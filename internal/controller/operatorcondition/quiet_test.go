package operatorcondition

import (
	"errors"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"fairlead.dev/fairlead/internal/reconcile"
	"fairlead.dev/fairlead/test/must"
)

// TestContendedQuotaIsTold: no event follows a conflict that is not about the OperatorCondition or its roles.
func TestContendedQuotaIsTold(t *testing.T) {
	for resource, told := range map[string]bool{"resourcequotas": true, "operatorconditions": false} {
		err := reconcile.IgnoreSuperseded(apierrors.NewConflict(schema.GroupResource{Resource: resource}, "x", errors.New("modified")), watched...)
		must.Equal(t, "an error of a conflict about "+resource+" remains", (err != nil), told)
	}
}
