package operatorcondition

import (
	"errors"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// TestContendedQuotaIsTold: no event follows a conflict that is not about the OperatorCondition or its roles.
func TestContendedQuotaIsTold(t *testing.T) {
	for resource, told := range map[string]bool{"resourcequotas": true, "operatorconditions": false} {
		err := quiet(apierrors.NewConflict(schema.GroupResource{Resource: resource}, "x", errors.New("modified")))
		if (err != nil) != told {
			t.Errorf("of a conflict about %s remains %v", resource, err)
		}
	}
}
