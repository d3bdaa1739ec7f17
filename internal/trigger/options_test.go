package trigger

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/event"
)

func TestWithin(t *testing.T) {
	for name, test := range map[string]struct {
		limits    []string
		namespace string
		want      bool
	}{
		"no limits":                {nil, "a", true},
		"a namespace of its own":   {[]string{"a", "b"}, "b", true},
		"another namespace":        {[]string{"a", "b"}, "c", false},
		"an object of the cluster": {[]string{"a"}, "", true},
	} {
		o := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: test.namespace}}
		within := Within(test.limits)
		if got := within.Create(event.CreateEvent{Object: o}); got != test.want {
			t.Errorf("%s: created: %t", name, got)
		}
		if got := within.Update(event.UpdateEvent{ObjectOld: o, ObjectNew: o}); got != test.want {
			t.Errorf("%s: updated: %t", name, got)
		}
		if got := within.Delete(event.DeleteEvent{Object: o}); got != test.want {
			t.Errorf("%s: deleted: %t", name, got)
		}
	}
}
