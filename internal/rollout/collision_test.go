package rollout

import (
	"testing"

	"fairlead.dev/fairlead/test/must"

	"k8s.io/apimachinery/pkg/runtime/schema"
)

// TestCollisions: an error has one advice, that of its fact where the fact has one; of several each remedy is given once, with its objects.
func TestCollisions(t *testing.T) {
	collision := func(name, claimant, remedy string) *CollisionError {
		return &CollisionError{Ref: Ref{GroupVersionKind: schema.GroupVersionKind{Kind: "Role"}, Namespace: "ns", Name: name}, Owner: "ClusterServiceVersion op.v1", Claimant: claimant, Remedy: remedy}
	}
	users := Unmarked(configMap("a", "theirs"))
	must.Equal(t, "of another owner", collision("a", "is controlled by Deployment web", "").Error(),
		"Role ns/a is wanted by ClusterServiceVersion op.v1 but is controlled by Deployment web; remove or rename one of the two")
	must.Equal(t, "of a user", collision("a", users, "").Error(), "Role ns/a is wanted by ClusterServiceVersion op.v1 but exists, and nothing says that it belongs to an operator: "+
		"delete or rename it, or let operators have it by giving it the label olm.managed=true")
	for name, test := range map[string]struct {
		all  []*CollisionError
		want []string
	}{
		"none": {nil, nil},
		"one":  {[]*CollisionError{collision("a", "x", "do this")}, []string{"do this"}},
		"the same": {[]*CollisionError{collision("a", "x", "do this"), collision("b", "y", "do this")},
			[]string{"do this"}},
		"several": {[]*CollisionError{collision("a", "x", "do this"), collision("b", "y", ""), collision("c", "z", "do this")},
			[]string{"of Role ns/a, Role ns/c: do this", "of Role ns/b: remove or rename one of the two"}},
		"many": {[]*CollisionError{collision("a", "x", ""), collision("b", "x", "do this"), collision("c", "x", "do this"), collision("d", "x", "do this"), collision("e", "x", "do this")},
			[]string{"of Role ns/a: remove or rename one of the two", "of Role ns/b, Role ns/c, Role ns/d and 1 more: do this"}},
		"one whose fact has it":     {[]*CollisionError{collision("a", users, "")}, nil},
		"beside one whose fact has": {[]*CollisionError{collision("a", users, ""), collision("b", "x", "do this")}, []string{"of Role ns/b: do this"}},
	} {
		must.Equal(t, name, Remedies(test.all), test.want)
	}
}
